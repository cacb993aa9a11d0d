# SPDX-License-Identifier: Apache-2.0
"""Rules that compare nodes with operators: existence, deprecation, input and output counts."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.model import Node
from onnxtext.ast.qualified_names import plain_domain, qualified_name
from onnxtext.checker.context.checked_model import CheckedModel, cache_in_memo
from onnxtext.checker.context.finding import Finding, Place, Repair, quote, with_schema_origin
from onnxtext.checker.context.operator_resolution import resolve_targets
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.diagnostics import Severity, Subject
from onnxtext.plurals import count_noun

_EXPERIMENTAL = frozenset(
    {"ATen", "Affine", "ConstantFill", "Crop", "DynamicSlice", "GRUUnit", "GivenTensorFill",
     "ImageScaler", "ParametricSoftplus", "Scale", "ScaledTanh"}
)  # fmt: skip
"""Removed experimental operators, which the official checker accepts."""
_SUCCESSORS = {"Upsample": "Resize", "Scatter": "ScatterElements"}


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find missing, unknown and deprecated operators, and wrong numbers of inputs or outputs."""
    resolved = resolve_targets(subject)
    unknown: dict[tuple[str, str, int], list[Place]] = {}
    unknown_domains: dict[str, list[Place]] = {}
    only_in_table: dict[tuple[str, str], list[Place]] = {}
    fitting: set[tuple[int, int, int]] = set()
    for scope in subject.scopes:
        for node, target in zip(scope.nodes, resolved[id(scope)], strict=True):
            inputs, outputs = node.inputs, node.outputs
            form = id(target), len(inputs), len(outputs)
            if form in fitting and "" not in inputs and "" not in outputs:
                continue  # an earlier, valid node has the same operator and counts
            if not node.op_type:
                help = "write the operator before the inputs: `y = Relu (x)`"
                yield Finding("op-type-missing", "the node has no `op_type`", (Place(node),), help)
            if not outputs:
                yield Finding(
                    "node-no-output",
                    f"this {quote(node.op_type)} has no outputs",
                    (Place(node),),
                    help="name its outputs: `y = …`",
                    subject=Subject("operator", qualified_name(node.domain, node.op_type)),
                )
            if target is None:
                if node.op_type:
                    _record_unknown(subject, scope, node, unknown, unknown_domains)
            elif type(target) is Signature:
                if target.origin and not target.domain:
                    key = target.name, target.origin
                    only_in_table.setdefault(key, []).append(Place(node, ("op_type",)))
                if target.deprecated:
                    yield with_schema_origin(_deprecated(node, target), target)
                else:
                    findings = [_with_origin(item, node, target) for item in _arity(node, target)]
                    yield from findings
                    if not findings and outputs and node.op_type and not target.origin:
                        fitting.add(form)
    for (name, origin), places in only_in_table.items():
        lacks = f"the imported version of the standard operators has no {quote(name)}"
        message, help = f"{lacks}, but {origin} has it", "other runtimes may reject the model"
        yield Finding("op-unknown", message, tuple(places), help, severity="info")
    for operator, places in unknown.items():
        yield _unknown(subject, operator, places)
    for domain, places in unknown_domains.items():
        message = (
            f"operators of {quote(domain)} are unknown, so nodes that use them are not checked"
        )
        describe = "describe the operators in a schema file (`onnxtext schemas --help`)"
        help = f"to check them, {describe}, or define them as functions of the model"
        yield Finding("op-unknown-domain", message, tuple(places), help)


def _record_unknown(
    subject: CheckedModel,
    scope: Scope,
    node: Node,
    unknown: dict[tuple[str, str, int], list[Place]],
    unknown_domains: dict[str, list[Place]],
) -> None:
    """Record a node with an unknown operator, unless another rule reports or accepts the node.

    `unknown` maps (domain, operator, version) to places of nodes, for known domains.
    `unknown_domains` maps other domains to places of nodes.
    """
    domain = plain_domain(node.domain)
    place = Place(node, ("op_type",))
    version = (scope.opsets or {}).get(domain)
    if version is None or version < 1:
        return  # reported as opset-domain-not-imported or opset-version-invalid
    functions = _functions(subject)
    if node.op_type in functions.get(domain, ()):
        return  # reported as function-overload-unknown
    if subject.schemas.knows(domain):
        if domain == "" and node.op_type in _EXPERIMENTAL:
            return
    elif domain not in functions and not any(subject.schemas.tables(domain)):
        unknown_domains.setdefault(domain, []).append(place)
        return
    unknown.setdefault((domain, node.op_type, version), []).append(place)


@cache_in_memo
def _functions(subject: CheckedModel) -> dict[str, list[str]]:
    """Map each domain to the names of its functions; each name occurs once per overload."""
    result: dict[str, list[str]] = {}
    for domain, name, _ in subject.functions:
        result.setdefault(domain, []).append(name)
    return result


def _unknown(subject: CheckedModel, key: tuple[str, str, int], places: list[Place]) -> Finding:
    """Report the nodes at `places`, which use an unknown operator: (domain, operator, version)."""
    domain, name, version = key
    schemas = subject.schemas
    shown = qualified_name(domain, name)
    history = schemas.history(domain, name)
    functions = _functions(subject)
    repair = suggestion = None
    help = f"correct its name, or define a function {quote(shown)}"
    severity: Severity | None = None
    if history:
        message = f"there is no operator {quote(shown)} in version {version} of its operator set"
        help = f"it was added in version {history[0]}: import that version or a later version"
    else:
        message = f"there is no operator {quote(shown)}"
        if subject.may_suggest:
            suggestion = subject.nearest(name, [*functions.get(domain, ()), *schemas.names(domain)])
        other = next(
            (d for d in ("", "ai.onnx.ml") if d != domain and schemas.history(d, name)), None
        )
        if suggestion:
            help = f"did you mean {quote(suggestion)}?"
            from onnxtext.printer.quoting import quote_word  # a slow import, rarely needed

            right = f"{domain}.{quote_word(suggestion)}" if domain else quote_word(suggestion)
            repair = Repair("respell", places[0].item, (shown, right))
        elif other is not None:
            meant = quote(f"{other}.{name}") if other else f"the standard operator {quote(name)}"
            help = f"did you mean {meant}?"
        tables = [] if schemas.knows(domain) else list(schemas.tables(domain))
        if tables and domain not in functions:
            origins = ", ".join([table.origin for table in tables])
            if suggestion is None and other is None and all(table.tentative for table in tables):
                # The operator may be in another version of the package.
                problem = f"{quote(shown)} is not an operator of {origins}"
                message = f"{problem}, so nodes that use it are not checked"
                describe = "describe it in a schema file (`onnxtext schemas --help`)"
                help = f"to check them, {describe}, or define it as a function of the model"
                return Finding("op-unknown-domain", message, tuple(places), help)
            message += f" in {origins}"
            severity = "warning" if suggestion is None or tables[0].tentative else None
        elif not schemas.knows(domain):
            message += f": {quote(domain)} has functions in this model, but none with this name"
            # A domain may have both functions in the model and operators in the runtime.
            severity = "warning" if suggestion is None else None
    similar = f"{domain}.{suggestion}" if domain and suggestion else suggestion
    return Finding(
        "op-unknown",
        message,
        tuple(places),
        help=help,
        severity=severity,
        repair=repair,
        subject=Subject("operator", shown, similar),
    )


def _deprecated(node: Node, signature: Signature) -> Finding:
    successor = _SUCCESSORS.get(node.op_type) if signature.is_standard else None
    reason = signature.source.deprecated if signature.source is not None else None
    help = reason or "import an older version of the operator set, or use another operator"
    return Finding(
        "op-deprecated",
        f"`{node.op_type}` has been deprecated since version {signature.since} of its operator set",
        (Place(node, ("op_type",)),),
        help=f"use `{successor}`" if successor else help,
    )


def _with_origin(finding: Finding, node: Node, signature: Signature) -> Finding:
    # A newer version of the package that defines the operator may accept more inputs, but rarely
    # requires fewer inputs.
    is_certain = finding.code == "optional-input-missing" or (
        finding.code == "input-count" and len(node.inputs) < signature.min_inputs
    )
    return with_schema_origin(finding, signature, is_certain=is_certain)


def _arity(node: Node, signature: Signature) -> Iterator[Finding]:
    inputs, outputs = node.inputs, node.outputs
    if not signature.min_inputs <= len(inputs) <= signature.max_inputs:
        yield _count(node, signature, "input", len(inputs))
    if not signature.min_outputs <= len(outputs) <= signature.max_outputs and outputs:
        yield _count(node, signature, "output", len(outputs))
    # If there are too many inputs, an input without a name is surplus rather than missing.
    for index, name in enumerate(inputs if len(inputs) <= signature.max_inputs else ()):
        formal = None if name else signature.input(index)
        # Standard operators need all variadic inputs, other operators only the first `min_inputs`.
        listed = formal is not None and formal.option == "variadic"
        required = listed and (not signature.origin or index < signature.min_inputs)
        if formal is not None and (required or formal.option == "single"):
            message = f"the required input `{formal.name}` of `{node.op_type}` is missing"
            help = f"write the name of a value as the input `{formal.name}`"
            yield Finding(
                "optional-input-missing", message, (Place(node, ("inputs", index)),), help
            )
    for index, name in enumerate(outputs if len(outputs) <= signature.max_outputs else ()):
        formal = None if name else signature.output(index)
        if formal is not None and formal.option == "single":
            message = f"the required output `{formal.name}` of `{node.op_type}` has no name"
            help = "name the output, even if nothing uses it"
            yield Finding(
                "output-empty-required", message, (Place(node, ("outputs", index)),), help
            )


def _count(node: Node, signature: Signature, kind: str, count: int) -> Finding:
    verb, formals = "takes", signature.inputs
    min_count, max_count = signature.min_inputs, signature.max_inputs
    if kind == "output":
        verb, formals = "has", signature.outputs
        min_count, max_count = signature.min_outputs, signature.max_outputs
    if min_count == max_count:
        expected = count_noun(min_count, kind)
    elif max_count >= 1 << 30:
        expected = f"{min_count} or more {kind}s"
    elif min_count == 0:
        expected = f"at most {count_noun(max_count, kind)}"
    else:
        expected = f"{min_count} to {max_count} {kind}s"
    place = Place(node, (f"{kind}s",) if count else ())
    help = f"add {count_noun(min_count - count, f'missing {kind}')}"
    if count > max_count:
        place = Place(node, (f"{kind}s", max_count))
        help = f"remove {count_noun(count - max_count, f'extra {kind}')}"
    names = ", ".join(
        formal.name + {"single": "", "optional": "?", "variadic": "…"}[formal.option]
        for formal in formals
    )
    return Finding(
        f"{kind}-count",
        f"`{node.op_type}` {verb} {expected}, not {count}",
        (place,),
        help=help,
        notes=(f"its {kind}s: ({names})",) if names else (),
    )


RULES = (
    Rule("op-type-missing"),
    Rule("node-no-output"),
    Rule("op-unknown", needs_valid_syntax=True),
    Rule("op-unknown-domain", level="info", needs_valid_syntax=True),
    Rule("op-deprecated"),
    Rule("input-count", needs_valid_syntax=True),
    Rule("output-count", needs_valid_syntax=True),
    Rule("optional-input-missing", needs_valid_syntax=True),
    Rule("output-empty-required"),
)
