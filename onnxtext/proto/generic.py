# SPDX-License-Identifier: Apache-2.0
"""The generic form: any message as a record in the schema's own field names, and back.

A field the schema does not know, or whose wire type is not the schema's, has its number as key;
the form of its value then gives the wire type (SPEC 12).
"""

from __future__ import annotations

import struct

from onnxtext.ast.records import Field, FieldValue, Fixed, Number, Record, Word
from onnxtext.proto.schema import FieldSpec, MessageSpec, message_spec
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.floats import float32_bits, float32_text, float64_bits, float64_text
from onnxtext.wire.reader import (
    WireError,
    WireField,
    read_fields,
    read_group,
    read_varint,
    signed,
)
from onnxtext.wire.writer import (
    END_GROUP,
    FIXED32,
    FIXED64,
    GROUP,
    LENGTH,
    VARINT,
    delimited,
    tag,
    varint,
)

_RANGES = {
    "int32": (-(1 << 31), (1 << 31) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
    "uint32": (0, (1 << 32) - 1),
    "uint64": (0, (1 << 64) - 1),
    "bool": (0, 1),
    "enum": (-(1 << 31), (1 << 31) - 1),
}
MAX_RECORD_DEPTH = 100


class RecordError(ValueError):
    """A record that does not fit its message; the message says how."""


# ---- Lowering -------------------------------------------------------------------------------


def lower_record(spec: MessageSpec, record: Record, depth: int = 0) -> bytes:
    """A message from its record.

    Args:
        spec: the type of the message.
        record: its fields.
        depth: how many records stand around it.

    Raises:
        RecordError: a name is no field, a number is a known field, or a value does not fit.
    """
    known: dict[int, list[bytes]] = {}
    strangers: list[bytes] = []
    for item in record.fields:
        if isinstance(item.key, int):
            strangers.append(lower_unknown(spec, item.key, item.value, depth))
        else:
            field = find_field(spec, item.key)
            known.setdefault(field.number, []).append(lower_field(field, item.value, depth))
    return b"".join([b"".join(known[number]) for number in sorted(known)] + strangers)


def find_field(spec: MessageSpec, name: str | None) -> FieldSpec:
    """A field of a message by its name.

    Raises:
        RecordError: there is none.
    """
    field = spec.by_name.get(name or "")
    if field is None:
        if name is None:
            raise RecordError(f"a value without a field of {spec.name}")
        raise RecordError(
            f"`{name}` is no field of {spec.name}; it has {', '.join(sorted(spec.by_name))}"
        )
    return field


def lower_field(field: FieldSpec, value: FieldValue, depth: int = 0) -> bytes:
    """A known field: its key and value, or for a list those of every item.

    Args:
        field: of the schema.
        value: its value.
        depth: how many records stand around the one of the field.

    Raises:
        RecordError: the value does not fit the field.
    """
    if not field.repeated:
        return tag(field.number, field.wire_type) + _scalar(field, value, depth)
    if not isinstance(value, tuple):
        raise RecordError(f"the value of `{field.name}` is a list, […]")
    if field.packed:
        data = b"".join([_scalar(field, item, depth) for item in value])
        return delimited(tag(field.number, LENGTH), data) if data else b""
    key = tag(field.number, field.wire_type)
    return b"".join([key + _scalar(field, item, depth) for item in value])


def _scalar(field: FieldSpec, value: FieldValue, depth: int) -> bytes:
    """A value without its key."""
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
                f"`{text}` is no value of `{field.name}`; it has {', '.join(numbers)}"
            )
        case "float", Number(text):
            return _float(text, float32_bits).to_bytes(4, "little")
        case "double", Number(text):
            return _float(text, float64_bits).to_bytes(8, "little")
        case kind, Number(text) if kind in _RANGES:
            return varint(_integer(text, *_RANGES[kind]))
    forms = {"message": "a record, {…}", "string": "a string", "bytes": "a string"}
    raise RecordError(f"the value of `{field.name}` is {forms.get(field.kind, 'a number')}")


def _float(text: str, bits: object) -> int:
    assert callable(bits)
    try:
        value: int = bits(text)
    except LiteralError as error:
        raise RecordError(error.message) from None
    return value


def _integer(text: str, low: int, high: int) -> int:
    try:
        value = int(text, 0) if "x" in text else int(text)
    except ValueError:
        raise RecordError(f"`{text[:40]}` is no whole number") from None
    if not low <= value <= high:
        raise RecordError(f"`{text[:40]}` does not lie between {low} and {high}")
    return value


def lower_unknown(spec: MessageSpec, number: int, value: FieldValue, depth: int = 0) -> bytes:
    """A field by its number that the schema does not know, or not with this wire type.

    Args:
        spec: the type of the message it stands in.
        number: the field's number.
        value: its value.
        depth: how many records stand around that of the message. Messages that are nested deeper
            than records are read are bytes by number.

    Raises:
        RecordError: the schema knows the field, or the value has no wire type.
    """
    data = lower_stranger(number, value)
    field = spec.by_number.get(number)
    if field is not None and depth < MAX_RECORD_DEPTH:
        (item,) = read_fields(data, 0, len(data))
        if is_known(field, data, item):
            raise RecordError(
                f"field {number} of {spec.name} is `{field.name}`; write its name instead of its "
                "number"
            )
    return data


def lower_stranger(number: int, value: FieldValue, *, in_group: bool = False) -> bytes:
    """A field by its number; the form of the value gives the wire type.

    Args:
        number: the field's number.
        value: its value.
        in_group: whether it stands in an unknown group, where protobuf reads a number 0 too.

    Raises:
        RecordError: the value has no wire type.
    """
    if not number and not in_group:
        raise RecordError("a field's number is between 1 and 536870911")
    match value:
        case Number(text):
            return tag(number, VARINT) + varint(_integer(text, -(1 << 63), (1 << 64) - 1))
        case Fixed(bits, 32):
            return tag(number, FIXED32) + struct.pack("<I", bits)
        case Fixed(bits, 64):
            return tag(number, FIXED64) + struct.pack("<Q", bits)
        case bytes():
            return delimited(tag(number, LENGTH), value)
        case Record(fields):
            inside = []
            for field in fields:
                if not isinstance(field.key, int):
                    raise RecordError("the fields of an unknown group have numbers as keys")
                inside.append(lower_stranger(field.key, field.value, in_group=True))
            return tag(number, GROUP) + b"".join(inside) + tag(number, END_GROUP)
    raise RecordError(
        f"the value of the unknown field {number} is 7, 5i32, 9i64, a string or a record"
    )


# ---- Lifting --------------------------------------------------------------------------------


def lift_record(spec: MessageSpec, data: bytes | memoryview, depth: int = 0) -> Record:
    """The record of an encoded message.

    Raises:
        WireError: the bytes are no message.
    """
    data = bytes(data)
    fields: list[Field] = []
    lists: dict[int, list[FieldValue]] = {}
    for item in read_fields(data, 0, len(data)):
        field = spec.by_number.get(item.number)
        values = known_values(field, data, item, depth) if field is not None else None
        if field is None or values is None:
            fields.append(Field(item.number, lift_stranger(data, item)))
        elif not field.repeated:
            fields.append(Field(field.name, values[0]))
        elif item.number in lists:
            lists[item.number].extend(values)
        else:
            lists[item.number] = values
            fields.append(Field(field.name, ()))
    return Record(
        tuple(
            [
                Field(f.key, tuple(lists[spec.by_name[f.key].number]))
                if isinstance(f.key, str) and spec.by_name[f.key].repeated
                else f
                for f in fields
            ]
        )
    )


def known_values(
    field: FieldSpec, data: bytes, item: WireField, depth: int = 0
) -> list[FieldValue] | None:
    """The values that one wire field gives a known field; None if its wire type is not its own."""
    if item.wire_type == field.wire_type:
        value = _lift_scalar(field, data[item.value : item.end], depth)
        return None if value is None else [value]
    if field.repeated and item.wire_type == LENGTH and field.wire_type != LENGTH:
        return _lift_packed(field, data[item.value : item.end])
    return None


def is_known(field: FieldSpec, data: bytes, item: WireField) -> bool:
    """Whether one wire field gives a known field values; nothing inside it is read."""
    if item.wire_type != field.wire_type:
        return field.repeated and item.wire_type == LENGTH and field.wire_type != LENGTH
    if field.kind != "enum":
        return True
    number = _stored(field, read_varint(data, item.value, item.end)[0])
    return any(value == number for _, value in field.enum)


def _lift_packed(field: FieldSpec, payload: bytes) -> list[FieldValue] | None:
    if field.wire_type == VARINT:
        values: list[FieldValue] = []
        at = 0
        while at < len(payload):
            number, at = read_varint(payload, at, len(payload))
            values.append(Number(str(_stored(field, number))))
        return values
    size = 4 if field.wire_type == FIXED32 else 8
    if len(payload) % size:
        raise WireError(f"a packed list of {field.kind} ends inside an item", 0)
    lifted = [
        _lift_scalar(field, payload[at : at + size], 0) for at in range(0, len(payload), size)
    ]
    return [value for value in lifted if value is not None]


def _lift_scalar(field: FieldSpec, payload: bytes, depth: int) -> FieldValue | None:
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
    number = _stored(field, read_varint(payload, 0, len(payload))[0])
    if field.kind == "enum":
        for name, value in field.enum:
            if value == number:
                return Word(name)
        return None
    return Number(str(number))


def _stored(field: FieldSpec, number: int) -> int:
    """The value that protobuf stores for a varint: fields narrower than it take its low bits."""
    match field.kind:
        case "int64":
            return signed(number)
        case "int32" | "enum":
            low = number & 0xFFFF_FFFF
            return low - (1 << 32) if low >> 31 else low
        case "uint32":
            return number & 0xFFFF_FFFF
        case "bool":
            return int(number != 0)
    return number


def lift_stranger(data: bytes, item: WireField) -> FieldValue:
    """The value of a field that is written by its number."""
    payload = data[item.value : item.end]
    match item.wire_type:
        case 0:
            return Number(str(read_varint(payload, 0, len(payload))[0]))
        case 1:
            return Fixed(int.from_bytes(payload, "little"), 64)
        case 5:
            return Fixed(int.from_bytes(payload, "little"), 32)
        case 2:
            return payload
    return Record(
        tuple([Field(field.number, lift_stranger(data, field)) for field in read_group(data, item)])
    )
