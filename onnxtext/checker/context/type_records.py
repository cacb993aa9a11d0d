# SPDX-License-Identifier: Apache-2.0
"""Collect types that are written as `TypeProto` records: only records can lack required fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from onnxtext.ast.model import Function, ValueInfo
from onnxtext.ast.records import FieldValue, Record
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.ast.types import DecoratedDim, Type
from onnxtext.checker.context.checked_model import CheckedModel, cache_in_memo
from onnxtext.checker.context.finding import Place
from onnxtext.checker.context.model_items import (
    TYPES,
    inner_types,
    structured_attributes,
    type_uses,
)
from onnxtext.checker.context.resolved_fields import field_of


class TypeRecord(NamedTuple):
    """A type that is written as a `TypeProto` record, and the `name` of its value or attribute.

    `place` is the declaration of the type. `required` tells whether an empty record is an error.
    """

    record: Record
    place: Place
    name: str
    required: bool


@cache_in_memo
def type_records(subject: CheckedModel) -> list[TypeRecord]:
    """Return every type that is written as a record, or that `@set` or `@unset` changes."""
    return [*_value_type_records(subject), *_attribute_type_records(subject)]


def has_record(value: ValueInfo) -> bool:
    """Whether decorators replace the type of a value by a record, or change fields of the type."""
    for decorator in value.decorators:
        if decorator.name in ("type.set", "type.unset"):
            return True
        if decorator.name == "set" and any(item.key == "type" for item in decorator.arguments):
            return True
    return value.type is not None and _is_changed(value.type)


def _value_type_records(subject: CheckedModel) -> Iterator[TypeRecord]:
    lift = subject.resolved.type_record
    declared = [use.type for use in type_uses(subject)]
    changed = {id(type) for type in declared if _is_decorated(type) and _is_changed(type)}
    for scope in subject.scopes:
        for kind in (scope.inputs, scope.outputs, scope.infos):
            required = scope.kind == "main" and kind is not scope.infos
            for value in kind:
                if (value.decorators or _is_decorated(value.type)) and has_record(value):
                    record = lift(value)
                    if record is not None:
                        yield TypeRecord(record, Place(value, ("type",)), value.name, required)
        for node in scope.nodes if changed else ():
            for index, type in enumerate(node.output_types):
                if type is not None and id(type) in changed:
                    record = lift(ValueInfo(node.outputs[index], type))
                    if record is not None:
                        place = Place(node, ("output_types", index))
                        yield TypeRecord(record, place, node.outputs[index], False)


def _attribute_type_records(subject: CheckedModel) -> Iterator[TypeRecord]:
    for node, index, attribute in structured_attributes(subject):
        yield from _records_of_attribute(subject, attribute, Place(node, ("attributes", index)))
    for scope in subject.scopes:
        if isinstance(scope.owner, Function):
            for index, item in enumerate(scope.owner.attributes):
                if isinstance(item, Attribute):
                    place = Place(scope.original, ("attributes", index))
                    yield from _records_of_attribute(subject, item, place)


def _records_of_attribute(
    subject: CheckedModel, attribute: Attribute, place: Place
) -> Iterator[TypeRecord]:
    value = attribute.value
    records: list[FieldValue | None] = []
    if isinstance(value, Record):
        records.append(field_of(value, "tp"))
        several = field_of(value, "type_protos")
        records += several if isinstance(several, tuple) else ()
    else:
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, TYPES) and _is_changed(item):
                records.append(subject.resolved.type_record(ValueInfo("", item)))
    for record in records:
        if isinstance(record, Record):
            yield TypeRecord(record, place, attribute.name, True)


_class_of: Callable[[object], type] = type


def _is_decorated(type: Type | None) -> bool:
    """Whether a type may contain decorators. The test is fast, but exact only for tensor types."""
    return type is not None and (
        bool(type.decorators)
        or not hasattr(type, "shape")
        or DecoratedDim in map(_class_of, type.shape or ())
    )


def _is_changed(type: Type) -> bool:
    """Whether `@set` or `@unset` changes a type or a type nested in it."""
    return any(
        decorator.name in ("set", "unset")
        for inner in inner_types(type)
        for item in (inner, *(getattr(inner, "shape", None) or ()))
        for decorator in getattr(item, "decorators", ())
    )
