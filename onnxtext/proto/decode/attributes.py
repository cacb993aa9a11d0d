# SPDX-License-Identifier: Apache-2.0
"""Decode the values of attributes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from onnxtext import ast
from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.tensors_and_attributes import ITEM_TYPES
from onnxtext.proto.decode.types_and_tensors import (
    Data,
    doc_decorator,
    lift_sparse_tensor,
    lift_tensor,
    lift_type,
)
from onnxtext.wire.reader import WireField, read_fields, read_varint, to_int64
from onnxtext.wire.writer import FIXED32, LENGTH, VARINT

_A = ast.AttributeType
VALUE_FIELDS = {
    _A.FLOAT: 2,
    _A.INT: 3,
    _A.STRING: 4,
    _A.TENSOR: 5,
    _A.GRAPH: 6,
    _A.FLOATS: 7,
    _A.INTS: 8,
    _A.STRINGS: 9,
    _A.TENSORS: 10,
    _A.GRAPHS: 11,
    _A.TYPE_PROTO: 14,
    _A.TYPE_PROTOS: 15,
    _A.SPARSE_TENSOR: 22,
    _A.SPARSE_TENSORS: 23,
}
"""Maps an attribute type to the number of the field that holds the value."""

_WIRE_TYPES = {2: FIXED32, 3: VARINT, 7: FIXED32, 8: VARINT}
"""The wire types of value fields that are not length-delimited."""
_VALUES = set(VALUE_FIELDS.values())


@dataclass(slots=True)
class AttributeFields:
    """The fields of an `AttributeProto`, by purpose.

    Attributes:
        data: the whole message.
        name: the name of the attribute; "" if absent.
        type: the type of the attribute; None if absent or unknown.
        reference: the field `ref_attr_name`; None if absent.
        values: the fields that hold values.
        decorators: `@doc` if the attribute has a doc string, otherwise ().
        is_whole: whether the other fields of this class have all fields of the message.
    """

    data: Data
    name: str = ""
    type: ast.AttributeType | None = None
    reference: str | None = None
    values: list[WireField] = field(default_factory=list)
    decorators: tuple[ast.Decorator, ...] = ()
    is_whole: bool = True

    @classmethod
    def read(cls, data: Data) -> AttributeFields:
        """Read the fields of an attribute.

        Raises:
            WireError: the bytes are not a message.
        """
        result = cls(data)
        for item in read_fields(data, 0, len(data)):
            number = item.number
            if number in _VALUES:
                result.values.append(item)
            elif number == 1 and item.wire_type == LENGTH:
                result.name = to_text(data[item.value : item.end])
            elif number == 20 and item.wire_type == VARINT:
                kind = read_varint(data, item.value, item.end)[0]
                result.type = ast.AttributeType(kind) if 1 <= kind <= 14 else None
            elif number == 21 and item.wire_type == LENGTH:
                result.reference = to_text(data[item.value : item.end])
            elif number == 13 and item.wire_type == LENGTH:
                result.decorators = (doc_decorator(data[item.value : item.end]),)
            else:
                result.is_whole = False
        return result

    def record(self) -> ast.Record:
        """Decode the whole message to a record, without its name and doc string."""
        from onnxtext.proto.convert_records import lift_record
        from onnxtext.proto.descriptors import message_spec

        record = lift_record(message_spec("AttributeProto"), self.data)
        return ast.Record(tuple([f for f in record.fields if f.key not in ("name", "doc_string")]))


def attribute_value(
    fields: AttributeFields, lift_graph: Callable[[Data], ast.Graph]
) -> ast.AttributeValue | None:
    """Return the value of an attribute.

    For an attribute with a type but no value, return an empty list if its type is a list type,
    otherwise None. If no other syntax can express the value, return a `Record` of the attribute's
    fields, without its name and doc string.

    Args:
        fields: the attribute.
        lift_graph: a function that decodes a `GraphProto`.

    Raises:
        WireError: the bytes of the value are not of its type.
    """
    kind = fields.type
    if fields.reference is not None:
        return fields.record() if fields.values else ast.Reference(fields.reference)
    if kind is None:
        return fields.record()
    number = VALUE_FIELDS[kind]
    wire_type = _WIRE_TYPES.get(number, LENGTH)
    items = fields.values
    if any(item.number != number or item.wire_type != wire_type for item in items):
        return fields.record()
    if kind in ITEM_TYPES:
        value = _list(kind, fields.data, items, lift_graph)
    elif not items:
        return None
    else:
        value = _single(kind, fields.data, items[-1], lift_graph)
    return fields.record() if value is None else value


def _single(
    kind: ast.AttributeType, data: Data, item: WireField, lift_graph: Callable[[Data], ast.Graph]
) -> ast.AttributeValue | None:
    """Decode the value in a wire field as type `kind`; None if the syntax cannot express it."""
    if kind is _A.INT:
        return to_int64(read_varint(data, item.value, item.end)[0])
    inside = data[item.value : item.end]
    match kind:
        case _A.FLOAT:
            return ast.Float32(int.from_bytes(inside, "little"))
        case _A.STRING:
            return bytes(inside)
        case _A.TENSOR:
            return expressible_tensor(inside)
        case _A.GRAPH:
            return lift_graph(inside)
        case _A.TYPE_PROTO:
            return lift_type(inside)
    return expressible_sparse(inside)


def _list(
    kind: ast.AttributeType,
    data: Data,
    items: list[WireField],
    lift_graph: Callable[[Data], ast.Graph],
) -> ast.AttributeValue | None:
    """Decode a list of type `kind` from wire fields; None if the syntax cannot express an item."""
    if kind is _A.INTS:
        return tuple([to_int64(read_varint(data, item.value, item.end)[0]) for item in items])
    if kind is _A.FLOATS:
        return ast.Floats(b"".join([data[item.value : item.end] for item in items]))
    values: list[Any] = [_single(ITEM_TYPES[kind], data, item, lift_graph) for item in items]
    return None if any(value is None for value in values) else tuple(values)


def expressible_tensor(data: Data) -> ast.Tensor | None:
    """Decode a `TensorProto`; return None if the syntax cannot express it."""
    type, name, values, decorators, is_whole = lift_tensor(data)
    if not is_whole:
        return None
    if type.element == "undefined" and not isinstance(values, ast.FieldData):
        return None
    return ast.Tensor(type, values, name, tuple(decorators))


def expressible_sparse(data: Data) -> ast.SparseTensor | None:
    """Decode a `SparseTensorProto`; return None if the syntax cannot express it."""
    return lift_sparse_tensor(data)[0]
