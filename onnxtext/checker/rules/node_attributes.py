# SPDX-License-Identifier: Apache-2.0
"""Rules for attributes of nodes: they have distinct names and match the operator's schema."""

from __future__ import annotations

from collections.abc import Container, Iterator
from operator import attrgetter

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import Attribute, AttributeType
from onnxtext.ast.types import TensorType
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import (
    Finding,
    Place,
    Repair,
    did_you_mean,
    quote,
    with_schema_origin,
)
from onnxtext.checker.context.operator_resolution import resolve_targets
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.inference.function_needs import float_for_int
from onnxtext.diagnostics import Severity, Subject
from onnxtext.suggestions import nearest_name
from onnxtext.tensor.element_types import ELEMENTS

_NAME_AND_TYPE = attrgetter("name", "type")


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Compare the attributes of nodes with the schemas of the operators."""
    resolved = resolve_targets(subject)
    fitting: set[tuple[object, ...]] = set()
    for scope in subject.scopes:
        # Skip a node if an earlier, valid node has the same operator and attribute types.
        for node, target in zip(scope.nodes, resolved[id(scope)], strict=True):
            key = id(target), *map(_NAME_AND_TYPE, node.attributes)
            if key in fitting:
                continue
            findings = list(_duplicates(node))
            if type(target) is Signature and not target.deprecated:
                for finding in _misfits(node, target):
                    # A newer version of the package that defines the operator may accept further
                    # attributes, but rarely changes types or makes attributes optional.
                    is_certain = finding.code != "attribute-unknown"
                    findings.append(with_schema_origin(finding, target, is_certain=is_certain))
            yield from findings
            if not findings:
                fitting.add(key)


def _misfits(node: Node, signature: Signature) -> Iterator[Finding]:
    unknown: dict[Severity | None, list[Finding]] = {}
    taken: set[str | None] = {attribute.name for attribute in node.attributes}
    for index, attribute in enumerate(node.attributes):
        for finding in _misfit(node, index, attribute, signature, taken):
            taken.add(finding.subject and finding.subject.suggestion)
            if finding.code == "attribute-unknown" and finding.help == _NO_ADVICE:
                unknown.setdefault(finding.severity, []).append(finding)
            else:
                yield finding
    for findings in unknown.values():
        yield _joined(node, findings)
    yield from _missing(node, signature)


_NO_ADVICE = "remove the attribute, or correct its name"


def _joined(node: Node, findings: list[Finding]) -> Finding:
    """Join findings about unknown attributes of one node: probably, its operator is wrong."""
    if len(findings) < 2:
        return findings[0]
    names = [quote(item.subject.name) for item in findings if item.subject]
    hidden = len(names) - 4
    last = f"{hidden} more" if hidden > 1 else names[-1]
    listed = ", ".join(names[:4] if hidden > 1 else names[:-1])
    return findings[0]._replace(
        message=f"`{node.op_type}` has no attributes {listed} and {last}",
        places=tuple(item.places[0] for item in findings),
        help="remove the attributes, or correct the operator",
    )


def _missing(node: Node, signature: Signature) -> Iterator[Finding]:
    present = {attribute.name for attribute in node.attributes}
    for name, formal in sorted(signature.attributes.items()):
        if formal.required and name not in present:
            kind = AttributeType(formal.type).name.lower()
            yield Finding(
                "attribute-required",
                f"`{node.op_type}` needs the attribute `{name}`",
                (Place(node, ("op_type",)),),
                help=f"add the attribute; its type is `{kind}`",
                subject=Subject("attribute", name),
            )


def _duplicates(node: Node) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for index, attribute in enumerate(node.attributes):
        if attribute.name in first:
            message = f"this {quote(node.op_type)} has two attributes {quote(attribute.name)}"
            earlier = Place(node, ("attributes", first[attribute.name]), "first occurrence")
            places = (Place(node, ("attributes", index)), earlier)
            yield Finding("attribute-duplicate", message, places, "remove one of them")
        first.setdefault(attribute.name, index)


EXAMPLES = {
    "float": ", such as `1.0`",
    "int": ", such as `1`",
    "string": ', such as `"text"`',
    "floats": ", such as `[1.0, 2.0]`",
    "ints": ", such as `[1, 2]`",
    "strings": ', such as `["a", "b"]`',
    "tensor": ", such as `float[2] [1, 2]`",
}
"""Maps attribute types to example values, each written as the end of a help text."""


def _misfit(
    node: Node, index: int, attribute: Attribute, signature: Signature, taken: Container[str | None]
) -> Iterator[Finding]:
    """Report an unknown attribute, or one of the wrong type; suggest no name that is `taken`."""
    formal = signature.attributes.get(attribute.name)
    if formal is not None and (attribute.type == formal.type or attribute.type is None):
        return
    if formal is None:
        if not attribute.name or "" in signature.attributes or signature.is_open:
            return
        free = (name for name in signature.attributes if name not in taken)
        suggestion = nearest_name(attribute.name, free)
        help = did_you_mean(suggestion, _NO_ADVICE)
        inputs = [item.name for item in signature.inputs]
        if attribute.name in inputs:  # an attribute of an earlier version, such as `axes`
            suggestion, position = None, inputs.index(attribute.name) + 1
            passed = any(node.inputs[position - 1 : position])
            advice = "remove it, or change" if passed else "pass it as"
            help = f"{advice} input {position}: in this version of the operator, it is an input"
        names = ", ".join(f"`{name}`" for name in sorted(signature.attributes))
        # onnx does not check the names of attributes of this operator alone.
        accepted = signature.is_standard and signature.name == "LayerNormalization"
        severity: Severity | None = "warning" if accepted else None
        yield Finding(
            "attribute-unknown",
            f"`{node.op_type}` has no attribute {quote(attribute.name)}",
            (Place(node, ("attributes", index)),),
            help=help,
            notes=(f"its attributes: {names}" if names else "it has no attributes",),
            severity="info" if attribute.name.startswith("__") else severity,
            repair=rename_repair(node, attribute.name, suggestion),
            subject=Subject("attribute", attribute.name, suggestion),
        )
        return
    assert attribute.type is not None
    expected = AttributeType(formal.type).name.lower()
    example = EXAMPLES.get(expected, "")
    value = attribute.value
    element = value.element if isinstance(value, TensorType) else ""
    if isinstance(value, bytes):
        element = value.decode("ascii", "replace").lower()
    if expected == "int" and element in ELEMENTS:
        example = f", such as `{ELEMENTS[element].number}`, the number of `{element}`"
    yield Finding(
        "attribute-type",
        f"the attribute `{attribute.name}` of `{node.op_type}` must have the type `{expected}`, "
        f"but has the type `{attribute.type.name.lower()}`",
        (Place(node, ("attributes", index, "value")),),
        help=f"write a value of type `{expected}`{example}",
        repair=float_for_int(node, attribute, AttributeType(formal.type)),
        subject=Subject("attribute", attribute.name),
    )


def rename_repair(node: Node, wrong: str, right: str | None) -> Repair | None:
    """Return the repair that renames an attribute from `wrong` to `right`; None without `right`."""
    if right is None:
        return None
    from onnxtext.printer.quoting import quote_word  # a slow import, rarely needed

    return Repair("respell", node, (wrong, quote_word(right)))


RULES = (
    Rule("attribute-unknown"),
    Rule("attribute-required", needs_valid_syntax=True),
    Rule("attribute-type"),
    Rule("attribute-duplicate"),
)
