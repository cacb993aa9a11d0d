# SPDX-License-Identifier: Apache-2.0
"""Look up defaults and versions in operator schemas; check whether a node fits a schema."""

from __future__ import annotations

from functools import cache
from typing import Any

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import Reference
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Schemas, Signature, schema_of
from onnxtext.editing.opsets.model_facts import ModelFacts
from onnxtext.plurals import count_noun
from onnxtext.proto.decode.lift import lift_fragment
from onnxtext.schemas.type_strings import text_spelling

NONE = object()
"""The result of `default_of` for an attribute without a default."""


@cache
def default_of(signature: Signature, name: str) -> object:
    """Return the default of an attribute in the form of the syntax tree; `NONE` if it has none."""
    data = schema_of(signature).attributes[name]._default_value
    if not data:
        return NONE
    lifted: Any = lift_fragment(data, "AttributeProto").item
    return lifted.value if lifted.name else NONE


def changes_between(
    schemas: Schemas, domain: str, name: str, current: int, target: int
) -> list[int]:
    """Return the versions between `current` and `target` that changed an operator.

    The newer of `current` and `target` is included, the older is excluded. The versions are
    in the order of a conversion: ascending if `target` is newer, descending if it is older.
    """
    history = schemas.history(domain, name)
    if current <= target:
        return [since for since in history if current < since <= target]
    return [since for since in reversed(history) if target < since <= current]


def misfit_reason(
    node: Node, signature: Signature, before: Signature, facts: ModelFacts, scope: Scope
) -> str | None:
    """Return the reason why a node does not fit a schema; None if it fits.

    A value of unknown type fits if the conversion created it. It also fits if `signature` allows
    all types that `before` allows, or all types of the value in the calls of its function.
    """
    if signature.deprecated:
        return f"`{node.op_type}` is deprecated since version {signature.since}"
    return (
        _attributes(node, signature)
        or _count(node.inputs, signature.min_inputs, signature.max_inputs, "input")
        or _count(node.outputs, signature.min_outputs, signature.max_outputs, "output")
        or _types(node, signature, before, facts, scope)
    )


def _attributes(node: Node, signature: Signature) -> str | None:
    formals = signature.attributes
    for attribute in node.attributes:
        formal = formals.get(attribute.name)
        if formal is None:
            return f"it has no attribute `{attribute.name}`"
        differs = attribute.type is not None and attribute.type != formal.type
        if differs and not isinstance(attribute.value, Reference):
            return f"its attribute `{attribute.name}` has another type"
    present = {attribute.name for attribute in node.attributes}
    for name, formal in formals.items():
        if formal.required and name not in present:
            return f"it needs the attribute `{name}`"
    return None


def _count(names: tuple[str, ...], min_count: int, max_count: int, kind: str) -> str | None:
    if min_count <= len(names) <= max_count:
        return None
    bound = f"least {count_noun(min_count, kind)}"
    if len(names) > max_count:
        bound = f"most {count_noun(max_count, kind)}"
    verb = "takes" if kind == "input" else "gives"
    return f"it {verb} at {bound}, but this node has {len(names)}"


def _types(
    node: Node, signature: Signature, before: Signature, facts: ModelFacts, scope: Scope
) -> str | None:
    bound: dict[str, tuple[str, str]] = {}  # for type variables: (type, first value with it)
    pairs = [
        *[(name, signature.input(i), before.input(i)) for i, name in enumerate(node.inputs)],
        *[(name, signature.output(i), before.output(i)) for i, name in enumerate(node.outputs)],
    ]
    for name, formal, old in pairs:
        if not name or formal is None:
            continue
        allowed = signature.allowed(formal.type)
        text = facts.element_type(scope, name)
        if text is None:
            if facts.is_new(name) or old is None or before.allowed(old.type) <= allowed:
                continue
            inferred = facts.element_types(scope, name)
            if inferred and inferred <= allowed and old.type == formal.type:
                continue
            return f"not all types are allowed, and the type of `{name}` is unknown: declare it"
        if text not in allowed and not any(item.startswith("opaque") for item in allowed):
            return f"`{name}` cannot be `{text_spelling(text)}`"
        if formal.type in signature.variables and formal.homogeneous:
            first, other = bound.setdefault(formal.type, (text, name))
            if first != text:
                return (
                    f"`{other}` and `{name}` must have the same type, but are "
                    f"`{text_spelling(first)}` and `{text_spelling(text)}`"
                )
    return None
