# SPDX-License-Identifier: Apache-2.0
"""Collect types that are written as `TypeProto` records: only records can lack required fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from onnxtext.ast.model import Function, ValueInfo
from onnxtext.ast.records import FieldValue, Record
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.ast.types import Type
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


_Candidate = tuple[FieldValue | None, Place, str, bool]
"""The fields of a `TypeRecord`, except that `record` may be None or any `FieldValue`."""


@cache_in_memo
def type_records(subject: CheckedModel) -> list[TypeRecord]:
    """Return every type that is written as a record, or that `@set` or `@unset` changes."""
    candidates = (*_of_values(subject), *_of_attributes(subject))
    return [
        TypeRecord(record, place, name, required)
        for record, place, name, required in candidates
        if isinstance(record, Record)
    ]


def has_record(value: ValueInfo) -> bool:
    """Whether decorators replace the type of a value by a record, or change fields of the type."""
    for decorator in value.decorators:
        if decorator.name in ("type.set", "type.unset"):
            return True
        if decorator.name == "set" and any(item.key == "type" for item in decorator.arguments):
            return True
    return value.type is not None and _is_changed(value.type)


def _of_values(subject: CheckedModel) -> Iterator[_Candidate]:
    lift = subject.resolved.type_record
    has_changed = any(_is_changed(use.type) for use in type_uses(subject))
    for scope in subject.scopes:
        for kind in (scope.inputs, scope.outputs, scope.infos):
            required = scope.kind == "main" and kind is not scope.infos
            for value in kind:
                if (has_changed or value.decorators) and has_record(value):
                    yield lift(value), Place(value, ("type",)), value.name, required
        for node in scope.nodes if has_changed else ():
            for index, type in enumerate(node.output_types):
                if type is not None and _is_changed(type):
                    name, place = node.outputs[index], Place(node, ("output_types", index))
                    yield lift(ValueInfo(name, type)), place, name, False


def _of_attributes(subject: CheckedModel) -> Iterator[_Candidate]:
    attributes: list[tuple[Attribute, object, int]] = [
        (item, node, index) for node, index, item in structured_attributes(subject)
    ]
    attributes += [
        (item, scope.original, index)
        for scope in subject.scopes
        if isinstance(scope.owner, Function)
        for index, item in enumerate(scope.owner.attributes)
        if isinstance(item, Attribute)
    ]
    for attribute, owner, index in attributes:
        value, place = attribute.value, Place(owner, ("attributes", index))
        if isinstance(value, Record):
            several = field_of(value, "type_protos")
            for record in (field_of(value, "tp"), *(several if isinstance(several, tuple) else ())):
                yield record, place, attribute.name, True
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, TYPES) and _is_changed(item):
                record = subject.resolved.type_record(ValueInfo("", item))
                yield record, place, attribute.name, True


def _is_changed(type: Type) -> bool:
    """Whether `@set` or `@unset` changes a type or a type nested in it."""
    return any(
        decorator.name in ("set", "unset")
        for inner in inner_types(type)
        for item in (inner, *(getattr(inner, "shape", None) or ()))
        for decorator in getattr(item, "decorators", ())
    )
