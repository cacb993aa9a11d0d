# SPDX-License-Identifier: Apache-2.0
"""Convert unknown fields, which the schema lacks, to record fields keyed by number, and back.

The syntax of a value (`7`, `5i32`, `9i64`, `"…"` or `{…}`) gives the wire type (SPEC 12).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from onnxtext.ast.records import Field, FieldValue, Fixed, Number, Record
from onnxtext.proto.descriptors import FieldSpec, MessageSpec, message_spec
from onnxtext.wire.reader import WireField, read_fields, read_group, read_varint, to_int64
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

Data = bytes | memoryview
MAX_RECORD_DEPTH = 100
"""Maximum nesting of records; more deeply nested messages are written as bytes."""


class RecordError(ValueError):
    """A record, a decorator or an entry of `explicit` is invalid.

    Attributes:
        mark: the wrong word, such as the name of a field; "" if unknown.
        expected: the words of which one is misspelled, or the right form of the decorator, such as
            `@doc("text")`; () if unknown.
    """

    def __init__(self, message: str, mark: str = "", expected: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.mark = mark
        self.expected = tuple(expected)


def parse_integer(text: str, low: int, high: int) -> int:
    """Parse a decimal or hexadecimal integer from `low` to `high`.

    Raises:
        RecordError: the text is not an integer, or the integer is out of range.
    """
    try:
        value = int(text, 0) if "x" in text else int(text)
    except ValueError:
        if not text.lstrip("-").isdecimal():
            raise RecordError(f"`{text[:40]}` is not an integer", text) from None
        value = high + 1  # Python does not convert integers of several thousand digits
    if not low <= value <= high:
        raise RecordError(f"`{text[:40]}` is not between {low} and {high}", text)
    return value


def lower_unknown(spec: MessageSpec, number: int, value: FieldValue, depth: int = 0) -> bytes:
    """Encode a field whose key is a number; the schema must not know the field (see `is_known`).

    Args:
        spec: the type of the message that contains the field.
        number: the field's number.
        value: the field's value.
        depth: the number of records that enclose the message. At `MAX_RECORD_DEPTH` or more, the
            schema may know the field: texts write a message field at this depth as its number and
            raw bytes, not as its name and a record.

    Raises:
        RecordError: the schema knows the field, the number is 0, or the value is out of range or
            gives no wire type.
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
        value: the field's value.
        in_group: whether the field is in an unknown group, where protobuf allows the number 0.

    Raises:
        RecordError: the number is 0 outside of a group, or the value is out of range or gives no
            wire type.
    """
    if not number and not in_group:
        raise RecordError("a field number must be between 1 and 536870911")
    match value:
        case Number(text):
            return tag(number, VARINT) + varint(parse_integer(text, -(1 << 63), (1 << 64) - 1))
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


def is_known(field: FieldSpec, data: bytes | memoryview, item: WireField) -> bool:
    """Whether the schema knows a wire field: its wire type and, for an enum, its value."""
    if item.wire_type != field.wire_type or field.kind != "enum":
        return field.accepts(item.wire_type)
    number = stored_value(field, read_varint(data, item.value, item.end)[0])
    return any(value == number for _, value in field.enum)


def stored_value(field: FieldSpec, number: int) -> int:
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
    """Encode the unknown fields of a message canonically, as `lower_numbered` does.

    Protobuf copies these fields unchanged, with varints that may be longer than necessary.

    Args:
        message: the name of the message type.
        data: the encoding of the message by protobuf.

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
