# SPDX-License-Identifier: Apache-2.0
"""Rules for attributes that hold for every operator: name, type, value, reference."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.byte_strings import is_utf8
from onnxtext.ast.model import Function, Node
from onnxtext.ast.records import Record, Word
from onnxtext.ast.tensors_and_attributes import Attribute, AttributeType, Reference
from onnxtext.checker.context.checked_model import CheckedModel, cache_by_id, cache_in_memo
from onnxtext.checker.context.finding import Finding, Place, Repair, did_you_mean, quote
from onnxtext.checker.context.model_items import NUMERIC, attributes_of_unusual_nodes
from onnxtext.checker.context.operator_resolution import Target, resolve_targets
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.resolved_fields import field_of
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.diagnostics import Severity, Subject

_FIELDS = {
    "f": 1, "i": 2, "s": 3, "t": 4, "g": 5, "floats": 6, "ints": 7, "strings": 8, "tensors": 9,
    "graphs": 10, "sparse_tensor": 11, "sparse_tensors": 12, "tp": 13, "type_protos": 14,
}  # fmt: skip
"""For each value field of AttributeProto, the number of its `AttributeType`."""
_SINGLE = frozenset({4, 5, 11, 13})
"""The types whose value is a single message: TENSOR, GRAPH, SPARSE_TENSOR and TYPE_PROTO.

An absent message has no default value, unlike an absent number or string.
"""


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Check the attributes of nodes and functions against the rules that hold for all operators."""
    for node, index, attribute in attributes_of_unusual_nodes(subject):
        if attribute.type in NUMERIC and attribute.name and attribute.value is not None:
            continue
        yield from _check_attribute(subject, attribute, Place(node, ("attributes", index)))
    for scope in subject.scopes:
        if scope.kind == "function" and scope.function:
            for number, item in enumerate(scope.function.attributes):
                place = Place(scope.original, ("attributes", number))
                if isinstance(item, Attribute):
                    yield from _check_attribute(subject, item, place, is_parameter=True)
                elif not item:
                    yield _unnamed_attribute(place)
    yield from _references(subject)


def _check_attribute(
    subject: CheckedModel, attribute: Attribute, place: Place, *, is_parameter: bool = False
) -> Iterator[Finding]:
    value = attribute.value
    if not attribute.name:
        yield _unnamed_attribute(place)
    if is_parameter and isinstance(value, Reference):
        yield Finding(
            "attribute-ref-outside-function",
            f"the default of {quote(attribute.name)} is the reference `@{value.name}`",
            (place,),
            help="write a value, or remove the default",
        )
        return
    if isinstance(value, Record):
        yield from _record(subject, attribute.name, value, place)
    elif value is None and not is_parameter and attribute.type is not None:
        if attribute.type in _SINGLE:
            yield _without_value(attribute.name, attribute.type, place, None)
        elif attribute.type in (1, 2, 3) and subject.is_selected("attribute-value-mismatch"):
            yield _without_value(attribute.name, attribute.type, place, "hint")
    elif attribute.type is None and subject.ir_version != 1:
        if isinstance(value, Reference):
            yield _untyped_reference(subject, attribute.name, value.name, place)
        else:
            yield _untyped(attribute.name, place)
    strings = value if isinstance(value, tuple) else (value,)
    for item in strings:
        if isinstance(item, bytes) and not is_utf8(item):
            yield Finding(
                "attribute-string-utf8",
                f"a string of the attribute {quote(attribute.name)} is not UTF-8",
                (place._replace(part=(*place.part, "value")),),
                help="encode it as UTF-8, or store the bytes in a `uint8` tensor",
            )
            break


def _unnamed_attribute(place: Place) -> Finding:
    message = "the attribute has no name"
    return Finding("attribute-name-missing", message, (place,), help="name it, or remove it")


def _untyped(name: str, place: Place) -> Finding:
    return Finding(
        "attribute-type-missing",
        f"the attribute {quote(name)} has no `type`",
        (place,),
        help="write a value that implies a type, or add a type to its record, such as `type: INT`",
        subject=Subject("attribute", name),
    )


def _untyped_reference(subject: CheckedModel, name: str, parameter: str, place: Place) -> Finding:
    """Report a reference without a type: an attribute `name` that refers to `parameter`."""
    type = _type_of(subject, name, parameter, place.item)
    from onnxtext.printer.quoting import quote_word  # only for errors: the import is slow

    reference = f"@{quote_word(parameter)}"
    typed = f"`{quote_word(name)}: {type or 'float'} = {reference}`"
    return Finding(
        "attribute-type-missing",
        f"the reference {quote(name)} to `{reference}` has no `type`",
        (place,),
        help=f"write its type: {typed}" + ("" if type else ", if it is a float"),
        repair=Repair("respell", place.item, (name, f"{name}: {type}")) if type else None,
        subject=Subject("attribute", name),
    )


def _type_of(subject: CheckedModel, name: str, parameter: str, node: Node) -> str | None:
    """Return the name of the type that a reference should have, such as `float`; None if unknown.

    Return the first known type of: the attribute `name` in the operator's schema, the attribute
    `name` of the called function, the attribute `parameter` of the enclosing function.
    """
    scope, target = _nodes_of_functions(subject).get(id(node), (None, None))
    if type(target) is Signature and name in target.attributes:
        return AttributeType(target.attributes[name].type).name.lower()
    called_function = target.function if type(target) is Scope else None
    enclosing = scope.function if scope is not None else None
    for owner, names in ((called_function, name), (enclosing, parameter)):
        for item in owner.attributes if owner is not None else ():
            if isinstance(item, Attribute) and item.name == names and item.type is not None:
                return item.type.name.lower()
    return None


@cache_in_memo
def _nodes_of_functions(subject: CheckedModel) -> dict[int, tuple[Scope, Target]]:
    """Map the `id()` of each node in a function to (scope, operator or called function)."""
    resolved = resolve_targets(subject)
    return {
        id(node): (scope, target)
        for scope in subject.scopes
        if scope.function is not None
        for node, target in zip(scope.nodes, resolved[id(scope)], strict=True)
    }


def _without_value(
    name: str, type: AttributeType, place: Place, severity: Severity | None
) -> Finding:
    return Finding(
        "attribute-value-mismatch",
        f"the attribute {quote(name)} has type `{type.name.lower()}`, but no value",
        (place,),
        help="give it a value, or remove the attribute",
        severity=severity,
        subject=Subject("attribute", name),
    )


def _record(subject: CheckedModel, name: str, record: Record, place: Place) -> Iterator[Finding]:
    """Check an attribute that is written as a record, such as `a = {type: INT, i: 1, f: 1.0}`."""
    word = field_of(record, "type")
    type = AttributeType.__members__.get(word.text) if isinstance(word, Word) else None
    if type is None and subject.ir_version != 1:
        yield _untyped(name, place)
    stored = [
        str(field.key)
        for field in record.fields
        if field.key in _FIELDS and field.value not in ((), None)
    ]
    code = "attribute-value-mismatch"
    if field_of(record, "ref_attr_name") not in (None, b"") and stored:
        code = "attribute-ref-outside-function"
        problem = f"has both a reference and a value (`{stored[0]}`)"
        help = "keep the reference or the value, not both"
    elif len(stored) > 1:
        problem = "has more than one value: " + ", ".join(f"`{field}`" for field in stored)
        help = "keep one, and remove the others"
    elif stored and type is not None and _FIELDS[stored[0]] != type:
        problem = f"has type `{type.name.lower()}`, but its value is in the field `{stored[0]}`"
        help = "move the value to the field of its type, or change the type"
    else:
        return
    yield Finding(code, f"the attribute {quote(name)} {problem}", (place,), help)


def _references(subject: CheckedModel) -> Iterator[Finding]:
    if not any(
        type(item.value) is Reference for _, _, item in attributes_of_unusual_nodes(subject)
    ):
        return
    parameters_of = cache_by_id(_parameters)
    for scope in subject.scopes:
        parameters = parameters_of(scope.function)
        for node in scope.nodes:
            for index, attribute in enumerate(node.attributes):
                if type(attribute.value) is Reference:
                    yield from _reference(subject, scope, node, index, parameters)


Parameters = dict[str, tuple[int, AttributeType | None]]
"""Maps the attribute parameters of a function to (0-based index, declared type or None)."""


def _parameters(function: Function | None) -> Parameters:
    return {
        item.name if isinstance(item, Attribute) else item: (index, getattr(item, "type", None))
        for index, item in enumerate(function.attributes if function is not None else ())
    }


def _reference(
    subject: CheckedModel, scope: Scope, node: Node, index: int, parameters: Parameters
) -> Iterator[Finding]:
    attribute = node.attributes[index]
    assert isinstance(attribute.value, Reference)
    name = attribute.value.name
    place = Place(node, ("attributes", index, "value"))
    if scope.function is None:
        if scope.outermost.kind not in ("nodes", "fragment"):
            message = f"`@{name}` refers to a function parameter, but is not in a function"
            help = "write the value itself"
            yield Finding("attribute-ref-outside-function", message, (place,), help)
        return
    if name not in parameters:
        lacks = f"has no attribute parameter {quote(name)}"
        message = f"the function {quote(scope.function.name)} {lacks}"
        help = "declare it as a parameter of the function, or write the value itself"
        help = did_you_mean(subject.nearest(name, parameters), help)
        yield Finding("attribute-ref-unknown", message, (place,), help)
        return
    position, type = parameters[name]
    if type is not None and attribute.type is not None and type != attribute.type:
        used = f"is used as `{attribute.type.name.lower()}` here"
        message = f"the parameter {quote(name)} has type `{type.name.lower()}`, but {used}"
        places = (place, Place(scope.function, ("attributes", position), "declared"))
        help = "change the type of the parameter, or refer to another parameter"
        yield Finding("attribute-ref-unknown", message, places, help)


RULES = (
    Rule("attribute-name-missing"),
    Rule("attribute-type-missing"),
    Rule("attribute-value-mismatch"),
    Rule("attribute-ref-outside-function"),
    Rule("attribute-ref-unknown", needs_valid_syntax=True),
    Rule("attribute-string-utf8", level="warning"),
)
