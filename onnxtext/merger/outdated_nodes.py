# SPDX-License-Identifier: Apache-2.0
"""Find nodes of one side that do not fit the operator set versions that the other side imports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from onnxtext.ast.model import Function, Graph, Model, Node
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.visit import walk_nodes
from onnxtext.checker.context.checked_model import CheckedModel, FunctionKey, function_key
from onnxtext.checker.context.finding import Finding, Place, quote
from onnxtext.checker.context.scopes import imported_opsets
from onnxtext.checker.context.signatures import Schemas, Signature, schema_of

_Imports = Mapping[str, int]
"""Maps each imported domain to its version."""
_Body = tuple[_Imports, Graph | Function]
"""The imports that apply to a main graph or function, and the graph or function."""
_MAIN = ("", "", "")


def find_outdated_nodes(subject: CheckedModel, sides: Sequence[Model]) -> Iterator[Finding]:
    """Find nodes that fit the operator set version of one side, but not the version of the other.

    A version does not fit if it lacks the operator, rejects the node's attributes or number of
    inputs or outputs, or changes the default of an attribute that the node omits. Nodes that are
    also outdated on the other side, before the merge, are not reported.
    """
    assert subject.model is not None
    merged, *before = [_bodies(model) for model in (subject.model, *sides)]
    for key, body in merged.items():
        for side, other in zip(before, reversed(before), strict=True):
            if key in side and key in other:
                yield from _outdated_in(body, side[key], other[key], subject.schemas)


def _outdated_in(body: _Body, side: _Body, other: _Body, schemas: Schemas) -> Iterator[Finding]:
    """Find nodes in `body` that fit the imports of `side`, but not the changed imports of `other`.

    `body` is a graph or function in the merge, `side` on one side, and `other` on the other side.
    """
    versions, before = body[0], side[0]
    changed = {
        domain
        for domain, version in versions.items()
        if before.get(domain, version) != version == other[0].get(domain)
    }
    if not changed:
        return
    steps = {domain: (before[domain], versions[domain]) for domain in changed}
    found, kept = [_outdated(part[1], steps, schemas) for part in (body, other)]
    kept_keys = {(node.op_type, node.outputs) for node, _ in kept}
    # If the side only renamed a node, both sides have the same number of outdated nodes.
    more = Counter([node.op_type for node, _ in found])
    more.subtract([node.op_type for node, _ in kept])
    for node, problem in found:
        if more[node.op_type] > 0 and (node.op_type, node.outputs) not in kept_keys:
            domain = plain_domain(node.domain)
            message = (
                f"`{node.op_type}` is written for version {before[domain]} of "
                f"{quote(domain or 'ai.onnx')}, and {problem} version {versions[domain]}"
            )
            yield Finding("operator-version", message, (Place(node),), "")


def _outdated(
    root: Graph | Function, steps: Mapping[str, tuple[int, int]], schemas: Schemas
) -> list[tuple[Node, str]]:
    """Return (node, reason) for each node that fits the old, but not the new version of its domain.

    `steps` maps each domain whose import changed to its old and new version.
    """
    result = []
    for node in walk_nodes(root):
        domain = plain_domain(node.domain)
        if domain in steps:
            old, new = [schemas.find(domain, node.op_type, version) for version in steps[domain]]
            if problem := _problem(node, old, new):
                result.append((node, problem))
    return result


def _problem(node: Node, old: Signature | None, new: Signature | None) -> str:
    """Return the problem of a node with the schema `new`: it does not fit, or a default differs.

    The result is the verb of a message, before the version. It is "" if there is no problem, or if
    the node does not fit the schema `old` either.
    """
    if old is None or old is new or not _fits(node, old):
        return ""
    if new is None or not _fits(node, new):
        return "does not fit"
    present = {attribute.name for attribute in node.attributes}
    changed = sorted(_changed_defaults(old, new) - present)
    return f"has another default of {quote(changed[0])} in" if changed else ""


def _fits(node: Node, signature: Signature) -> bool:
    """Whether a signature allows a node's attributes and its numbers of inputs and outputs."""
    present = {attribute.name for attribute in node.attributes}
    return (
        signature.min_inputs <= len(node.inputs) <= signature.max_inputs
        and signature.min_outputs <= len(node.outputs) <= signature.max_outputs
        and (signature.is_open or present <= signature.attributes.keys())
    )


def _changed_defaults(old: Signature, new: Signature) -> set[str]:
    """Return the attributes that have different defaults of the same type in two versions.

    Strings are ignored: GridSample renamed `bilinear` to `linear`. Operators of schema files are
    ignored, too: their signatures have no defaults.
    """
    if old.origin or new.origin or old.since == new.since:
        return set()
    before, after = [schema_of(signature).attributes for signature in (old, new)]
    return {
        name
        for name in before.keys() & after.keys()
        if before[name].type == after[name].type
        and before[name].type.name != "STRING"
        and before[name]._default_value != after[name]._default_value
        and b"" not in (before[name]._default_value, after[name]._default_value)
    }


def _bodies(model: Model) -> dict[FunctionKey, _Body]:
    """Return the main graph and the functions of a model, with the imports that apply to each."""
    result: dict[FunctionKey, _Body] = {
        function_key(function): (imported_opsets(function.opset_imports), function)
        for function in model.functions
    }
    result[_MAIN] = imported_opsets(model.opset_imports), model.graph
    return result
