# SPDX-License-Identifier: Apache-2.0
"""Convert any message to a record with the field names of the schema, and back.

If the schema has no such field, or only one with another wire type, the field's key in the record
is its number. The syntax of its value (`7`, `5i32`, `9i64`, `"…"` or `{…}`) then gives the wire
type (SPEC 12).
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from onnxtext.ast.records import Field, FieldValue, Fixed, Number, Record, Word
from onnxtext.proto.descriptors import FieldSpec, MessageSpec, message_spec
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.float_literals import float32_bits, float32_text, float64_bits, float64_text
from onnxtext.wire.reader import (
    WireError,
    WireField,
    read_fields,
    read_group,
    read_varint,
    to_int64,
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
"""Maximum nesting of records; more deeply nested messages are written as bytes."""


Data = bytes | memoryview


class RecordError(ValueError):
    """A record does not match its message type.

    Attributes:
        mark: the wrong word, such as the name of a field; "" if unknown.
    """

    def __init__(self, message: str, mark: str = "") -> None:
        super().__init__(message)
        self.mark = mark


# ---- Lowering -------------------------------------------------------------------------------


def lower_record(spec: MessageSpec, record: Record, depth: int = 0) -> bytes:
    """Encode a record as a message.

    Args:
        spec: the type of the message.
        record: the fields of the message.
        depth: the number of enclosing records.

    Raises:
        RecordError: a key is an unknown name or the number of a known field, or a value has the
            wrong type.
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
        RecordError: the message has no such field.
    """
    field = spec.by_name.get(name or "")
    if field is None:
        if name is None:
            raise RecordError(f"a value of {spec.name} needs a field name")
        raise RecordError(
            f"{spec.name} has no field `{name}`; its fields are {', '.join(sorted(spec.by_name))}",
            name,
        )
    return field


def lower_field(field: FieldSpec, value: FieldValue, depth: int = 0) -> bytes:
    """Encode a field of the schema; for a list, encode all its items.

    Args:
        field: the spec of the field.
        value: the value of the field.
        depth: the number of records that enclose the message with the field.

    Raises:
        RecordError: the value has the wrong type.
    """
    if not field.repeated:
        return tag(field.number, field.wire_type) + _scalar(field, value, depth)
    if not isinstance(value, tuple):
        raise RecordError(f"the value of `{field.name}` must be a list, […]", field.name)
    if field.packed:
        data = b"".join([_scalar(field, item, depth) for item in value])
        return delimited(tag(field.number, LENGTH), data) if data else b""
    key = tag(field.number, field.wire_type)
    return b"".join([key + _scalar(field, item, depth) for item in value])


def _scalar(field: FieldSpec, value: FieldValue, depth: int) -> bytes:
    """Encode one value, without the key of its field."""
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
                f"`{field.name}` has no value `{text}`; its values are {', '.join(numbers)}",
                text,
            )
        case "float", Number(text):
            return _float(text, float32_bits).to_bytes(4, "little")
        case "double", Number(text):
            return _float(text, float64_bits).to_bytes(8, "little")
        case kind, Number(text) if kind in _RANGES:
            return varint(_integer(text, *_RANGES[kind]))
    forms = {"message": "a record, {…}", "string": "a string", "bytes": "a string"}
    form = forms.get(field.kind, "a number")
    raise RecordError(f"the value of `{field.name}` must be {form}", field.name)


def _float(text: str, to_bits: Callable[[str], int]) -> int:
    try:
        return to_bits(text)
    except LiteralError as error:
        raise RecordError(error.message) from None


def _integer(text: str, low: int, high: int) -> int:
    try:
        value = int(text, 0) if "x" in text else int(text)
    except ValueError:
        raise RecordError(f"`{text[:40]}` is not an integer", text) from None
    if not low <= value <= high:
        raise RecordError(f"`{text[:40]}` is not between {low} and {high}", text)
    return value


def lower_unknown(spec: MessageSpec, number: int, value: FieldValue, depth: int = 0) -> bytes:
    """Encode a field whose key is a number, because the schema does not have such a field.

    Args:
        spec: the type of the message that contains the field.
        number: the field's number.
        value: its value.
        depth: the number of records that enclose the message. If it is at least `MAX_RECORD_DEPTH`,
            `number` may also be the number of a schema field: texts write a message field at this
            depth as its number and raw bytes, not as its name and a record.

    Raises:
        RecordError: the schema has this field with this wire type, the number is invalid, or the
            syntax of the value gives no wire type.
    """
    data = lower_numbered(number, value)
    field = spec.by_number.get(number)
    if field is not None and depth < MAX_RECORD_DEPTH:
        (item,) = read_fields(data, 0, len(data))
        if is_known(field, data, item):
            raise RecordError(
                f"field {number} of {spec.name} is `{field.name}`; write its name instead of its "
                "number"
            )
    return data


def lower_numbered(number: int, value: FieldValue, *, in_group: bool = False) -> bytes:
    """Encode a field by its number; the syntax of the value gives the wire type.

    Args:
        number: the field's number.
        value: its value.
        in_group: whether the field is in an unknown group, where protobuf allows the number 0.

    Raises:
        RecordError: the number is invalid, or the syntax of the value gives no wire type.
    """
    if not number and not in_group:
        raise RecordError("a field number must be between 1 and 536870911")
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
                    raise RecordError("the fields of an unknown group must have numbers as keys")
                inside.append(lower_numbered(field.key, field.value, in_group=True))
            return tag(number, GROUP) + b"".join(inside) + tag(number, END_GROUP)
    raise RecordError(
        f"the value of the unknown field {number} must be like 7, 5i32, 9i64, a string or a record"
    )


# ---- Lifting --------------------------------------------------------------------------------


def lift_record(spec: MessageSpec, data: bytes | memoryview, depth: int = 0) -> Record:
    """Decode a message to a record.

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

    Return None if the field's key in a record must be its number, because its wire type or enum
    value is not in the schema, or because its message is nested too deeply.

    Args:
        field: the spec of the field.
        data: the bytes that contain the wire field.
        item: the position of the wire field.
        depth: the number of records that enclose the message with the field.
    """
    if item.wire_type == field.wire_type:
        value = _lift_scalar(field, data[item.value : item.end], depth)
        return None if value is None else [value]
    if field.accepts(item.wire_type):
        return _lift_packed(field, data[item.value : item.end])
    return None


def is_known(field: FieldSpec, data: bytes | memoryview, item: WireField) -> bool:
    """Whether the wire type and the enum value of a wire field are in the schema."""
    if item.wire_type != field.wire_type or field.kind != "enum":
        return field.accepts(item.wire_type)
    number = _stored_value(field, read_varint(data, item.value, item.end)[0])
    return any(value == number for _, value in field.enum)


def _lift_packed(field: FieldSpec, payload: bytes) -> list[FieldValue] | None:
    """Decode the payload of a packed list."""
    if field.wire_type == VARINT:
        values: list[FieldValue] = []
        offset = 0
        while offset < len(payload):
            number, offset = read_varint(payload, offset, len(payload))
            values.append(Number(str(_stored_value(field, number))))
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
    """Decode one value; return None if the field's key in a record must be its number."""
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
    number = _stored_value(field, read_varint(payload, 0, len(payload))[0])
    if field.kind == "enum":
        for name, value in field.enum:
            if value == number:
                return Word(name)
        return None
    return Number(str(number))


def _stored_value(field: FieldSpec, number: int) -> int:
    """Return the value that protobuf stores for a varint; a 32-bit field keeps the low 32 bits."""
    match field.kind:
        case "int64":
            return to_int64(number)
        case "int32" | "enum":
            low = number & 0xFFFF_FFFF
            return low - (1 << 32) if low >> 31 else low
        case "uint32":
            return number & 0xFFFF_FFFF
        case "bool":
            return int(number != 0)
    return number


def lift_numbered(data: Data, item: WireField) -> FieldValue:
    """Decode a wire field to a value whose syntax gives the wire type (see `lower_numbered`)."""
    payload = bytes(data[item.value : item.end])
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
        tuple([Field(field.number, lift_numbered(data, field)) for field in read_group(data, item)])
    )


def canonical_unknown_fields(message: str, data: Data) -> Data:
    """Encode the unknown fields of a message canonically; protobuf copies them as they are.

    Otherwise, a varint that is longer than necessary would differ from the encoding of a record.

    Args:
        message: the name of the message type.
        data: its encoding by protobuf.

    Returns:
        The new encoding; `data` itself if nothing changes.
    """
    spec = message_spec(message)
    view = memoryview(data)
    parts: list[Data] = []
    last = 0
    for item in read_fields(data, 0, len(data)):
        field = spec.by_number.get(item.number)
        if field is None or not is_known(field, data, item):
            new = lower_numbered(item.number, lift_numbered(data, item))
            if new == data[item.start : item.end]:
                continue
        elif field.kind == "message":
            inside = view[item.value : item.end]
            encoded = canonical_unknown_fields(field.message, inside)
            if encoded is inside:
                continue
            new = delimited(tag(item.number, LENGTH), bytes(encoded))
        else:
            continue
        parts += [view[last : item.start], new]
        last = item.end
    return b"".join([*parts, view[last:]]) if parts else data
