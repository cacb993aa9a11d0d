# SPDX-License-Identifier: Apache-2.0
"""Convert any message to a record with the field names of the schema, and back.

The key of a field is its number if the schema cannot express the field (see `known_values`).
"""

from __future__ import annotations

from collections.abc import Callable

from onnxtext.ast.records import Field, FieldValue, Number, Record, Word
from onnxtext.proto.descriptors import FieldSpec, MessageSpec, message_spec
from onnxtext.proto.unknown_fields import (
    MAX_RECORD_DEPTH,
    RecordError,
    lift_numbered,
    lower_unknown,
    parse_integer,
    stored_value,
)
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.float_literals import float32_bits, float32_text, float64_bits, float64_text
from onnxtext.wire.reader import WireError, WireField, read_fields, read_varint
from onnxtext.wire.writer import FIXED32, LENGTH, VARINT, delimited, tag, varint

_RANGES = {
    "int32": (-(1 << 31), (1 << 31) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
    "uint32": (0, (1 << 32) - 1),
    "uint64": (0, (1 << 64) - 1),
    "bool": (0, 1),
    "enum": (-(1 << 31), (1 << 31) - 1),
}


def lower_record(spec: MessageSpec, record: Record, depth: int = 0) -> bytes:
    """Encode a record as a message.

    Raises:
        RecordError: a key is not the name of a field or the number of an unknown field; or a value
            is invalid.
    """
    by_number: dict[int, list[bytes]] = {}
    unknown: list[bytes] = []
    for item in record.fields:
        if isinstance(item.key, int):
            unknown.append(lower_unknown(spec, item.key, item.value, depth))
        else:
            field = find_field(spec, item.key)
            by_number.setdefault(field.number, []).append(lower_field(field, item.value, depth))
    return b"".join([b"".join(by_number[number]) for number in sorted(by_number)] + unknown)


def find_field(spec: MessageSpec, name: str | None) -> FieldSpec:
    """Find a field of a message type by its name.

    Raises:
        RecordError: `name` is None, or the message type has no field called `name`.
    """
    field = spec.by_name.get(name or "")
    if field is None:
        if name is None:
            raise RecordError(f"a value of {spec.name} needs a field name")
        names = sorted(spec.by_name)
        message = f"{spec.name} has no field `{name}`; its fields are {', '.join(names)}"
        raise RecordError(message, name, names)
    return field


def lower_field(field: FieldSpec, value: FieldValue, depth: int = 0) -> bytes:
    """Encode a field of the schema; for a list, encode all its items.

    Args:
        field: the spec of the field.
        value: the value of the field.
        depth: the number of records that enclose the message with the field.

    Raises:
        RecordError: the value is invalid for the field.
    """
    if not field.repeated:
        return tag(field.number, field.wire_type) + _scalar(field, value, depth)
    if not isinstance(value, tuple):
        raise RecordError(f"the value of `{field.name}` must be a list, `[…]`", field.name)
    if field.packed:
        data = b"".join([_scalar(field, item, depth) for item in value])
        return delimited(tag(field.number, LENGTH), data) if data else b""
    key = tag(field.number, field.wire_type)
    return b"".join([key + _scalar(field, item, depth) for item in value])


def _scalar(field: FieldSpec, value: FieldValue, depth: int) -> bytes:
    """Encode one value, without the key of its field; reject a value that the field cannot have."""
    match field.kind, value:
        case "message", Record():
            data = lower_record(message_spec(field.message), value, depth + 1)
            return varint(len(data)) + data
        case (("string" | "bytes"), bytes()):
            return varint(len(value)) + value
        case "enum", Word(text):
            numbers = dict(field.enum)
            if text in numbers:
                return varint(numbers[text])
            raise RecordError(
                f"`{field.name}` has no value `{text}`; its values are {', '.join(numbers)}", text
            )
        case "float", Number(text):
            return _float(text, float32_bits).to_bytes(4, "little")
        case "double", Number(text):
            return _float(text, float64_bits).to_bytes(8, "little")
        case kind, Number(text) if kind in _RANGES:
            return varint(parse_integer(text, *_RANGES[kind]))
    forms = {
        "message": "a record, `{…}`",
        "string": "a string",
        "bytes": "a string",
        "enum": "a name or a number",
    }
    form = forms.get(field.kind, "a number")
    raise RecordError(f"the value of `{field.name}` must be {form}", field.name)


def _float(text: str, to_bits: Callable[[str], int]) -> int:
    try:
        return to_bits(text)
    except LiteralError as error:
        raise RecordError(error.message) from None


def lift_record(spec: MessageSpec, data: bytes | memoryview, depth: int = 0) -> Record:
    """Decode a message to a record; `depth` is the number of enclosing records.

    Raises:
        WireError: the bytes are not a message.
    """
    data = bytes(data)
    fields: list[tuple[str | int, FieldValue | list[FieldValue]]] = []
    lists: dict[int, list[FieldValue]] = {}
    for item in read_fields(data, 0, len(data)):
        field = spec.by_number.get(item.number)
        values = known_values(field, data, item, depth) if field is not None else None
        if field is None or values is None:
            fields.append((item.number, lift_numbered(data, item)))
        elif not field.repeated:
            fields.append((field.name, values[0]))
        elif item.number in lists:
            lists[item.number] += values
        else:
            lists[item.number] = values
            fields.append((field.name, values))
    return Record(tuple([Field(key, tuple(v) if isinstance(v, list) else v) for key, v in fields]))


def known_values(
    field: FieldSpec, data: bytes, item: WireField, depth: int = 0
) -> list[FieldValue] | None:
    """Return the values in a wire field: one value, or all values of a packed list.

    Return None if a record must write the field by its number: its wire type or enum value is not
    in the schema, or its message is nested too deeply.

    Args:
        field: the spec of the field.
        data: the bytes that contain the wire field.
        item: the position of the wire field.
        depth: the number of records that enclose the message with the field.

    Raises:
        WireError: the bytes are not a value of the field.
    """
    if item.wire_type == field.wire_type:
        value = _lift_scalar(field, data[item.value : item.end], depth)
        return None if value is None else [value]
    if field.accepts(item.wire_type):
        return _lift_packed(field, data[item.value : item.end])
    return None


def _lift_packed(field: FieldSpec, payload: bytes) -> list[FieldValue] | None:
    """Decode the payload of a packed list; raise `WireError` if the last item is cut off."""
    if field.wire_type == VARINT:
        values: list[FieldValue] = []
        offset = 0
        while offset < len(payload):
            number, offset = read_varint(payload, offset, len(payload))
            values.append(Number(str(stored_value(field, number))))
        return values
    size = 4 if field.wire_type == FIXED32 else 8
    if len(payload) % size:
        raise WireError(f"a packed list of {field.kind} ends inside an item", 0)
    lifted = [
        _lift_scalar(field, payload[index : index + size], 0)
        for index in range(0, len(payload), size)
    ]
    return [value for value in lifted if value is not None]


def _lift_scalar(field: FieldSpec, payload: bytes, depth: int) -> FieldValue | None:
    """Decode one value; return None if a record must write the field by its number."""
    match field.kind:
        case "message":
            if depth >= MAX_RECORD_DEPTH:
                return None
            return lift_record(message_spec(field.message), payload, depth + 1)
        case "string" | "bytes":
            return payload
        case "float":
            return Number(float32_text(int.from_bytes(payload, "little")))
        case "double":
            return Number(float64_text(int.from_bytes(payload, "little")))
    number = stored_value(field, read_varint(payload, 0, len(payload))[0])
    if field.kind == "enum":
        for name, value in field.enum:
            if value == number:
                return Word(name)
        return None
    return Number(str(number))
