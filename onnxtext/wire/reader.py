# SPDX-License-Identifier: Apache-2.0
"""Read the protobuf wire format: the fields of a message with their byte offsets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from onnxtext.wire.writer import END_GROUP, FIXED32, FIXED64, GROUP, LENGTH, VARINT

MAX_MESSAGE_DEPTH = 100
"""Maximum nesting of messages and groups in protobuf."""


class WireError(ValueError):
    """The bytes are not a valid protobuf message or byte patch.

    Attributes:
        message: the problem, without the offset.
        offset: byte offset of the error.
    """

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"{message} at byte {offset:#x}")
        self.message = message
        self.offset = offset


def check_depth(depth: int) -> None:
    """Check the nesting depth of a message.

    Raises:
        WireError: `depth` is greater than `MAX_MESSAGE_DEPTH`.
    """
    if depth > MAX_MESSAGE_DEPTH:
        raise WireError(f"messages are nested more than {MAX_MESSAGE_DEPTH} levels deep", 0)


class WireField(NamedTuple):
    """The position of a field in the bytes of a message.

    Attributes:
        number: the field's number.
        wire_type: the wire type.
        start: offset of the field's key.
        value: offset of the field's value: after the key and, if there is one, the length.
        end: offset after the field; for a group, after its end key.
    """

    number: int
    wire_type: int
    start: int
    value: int
    end: int


def read_varint(data: bytes | memoryview, offset: int, end: int) -> tuple[int, int]:
    """Return the varint at offset `offset` (modulo 2**64, like protobuf), and the offset after it.

    Raises:
        WireError: the varint does not end within ten bytes or before `end`.
    """
    value = 0
    shift = 0
    start = offset
    if offset < end and data[offset] < 128:
        return data[offset], offset + 1
    while offset < end:
        byte = data[offset]
        offset += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFF_FFFF_FFFF_FFFF, offset
        shift += 7
        if shift == 70:
            raise WireError("a varint is longer than ten bytes", start)
    raise WireError("the data ends inside a varint", start)


def to_int64(value: int) -> int:
    """Convert an unsigned 64-bit number to the int64 with the same bits."""
    return value - (1 << 64) if value >> 63 else value


def read_fields(data: bytes | memoryview, start: int, end: int) -> Iterator[WireField]:
    """Yield the fields of the message from offset `start` to `end`.

    Raises:
        WireError: the next bytes are not a valid field.
    """
    make = tuple.__new__
    offset = start
    while offset < end:
        begin = offset
        key = data[offset]
        offset += 1
        if key >= 128:
            key, offset = read_varint(data, begin, end)
        number, wire_type = key >> 3, key & 7
        if not 1 <= number < 1 << 29:
            raise WireError(f"the field number {number} is invalid", begin)
        value = offset
        if wire_type == LENGTH:
            size = data[offset] if offset < end else 128
            offset += 1
            if size >= 128:
                size, offset = read_varint(data, value, end)
            value = offset
            offset += size
        elif wire_type == VARINT:
            offset += 1
            if value >= end or data[value] >= 128:
                _, offset = read_varint(data, value, end)
        elif wire_type == FIXED32:
            offset += 4
        elif wire_type == FIXED64:
            offset += 8
        elif wire_type == GROUP:
            offset = _skip_group(data, offset, end, number)
        else:
            raise WireError(f"the wire type {wire_type} is invalid", begin)
        if offset > end:
            raise WireError("a field reaches beyond the end of its message", begin)
        # Calling `tuple.__new__` is twice as fast as calling the class.
        yield make(WireField, (number, wire_type, begin, value, offset))


def read_group(data: bytes | memoryview, group: WireField) -> Iterator[WireField]:
    """Yield the fields in a group, given the group as a field.

    Unlike `read_fields`, accept all field numbers, even 0.

    Raises:
        WireError: the next bytes are not a valid field.
    """
    offset = group.value
    while offset < group.end:
        begin = offset
        key, value = read_varint(data, begin, group.end)
        number, wire_type = key >> 3, key & 7
        if wire_type == END_GROUP:
            return
        value, offset = _skip(data, value, group.end, number, wire_type, begin)
        yield WireField(number, wire_type, begin, value, offset)


def _skip(
    data: bytes | memoryview, offset: int, end: int, number: int, wire_type: int, begin: int
) -> tuple[int, int]:
    """Return the start and end of a field's value; `offset` is the offset after the field's key."""
    value = offset
    if wire_type == GROUP:
        return value, _skip_group(data, offset, end, number)
    if wire_type == VARINT:
        return value, read_varint(data, offset, end)[1]
    if wire_type == LENGTH:
        size, value = read_varint(data, offset, end)
        return value, value + size
    if wire_type in (FIXED64, FIXED32):
        return value, offset + (8 if wire_type == FIXED64 else 4)
    raise WireError(f"the wire type {wire_type} is invalid", begin)


def _skip_group(data: bytes | memoryview, offset: int, end: int, number: int) -> int:
    """Return the offset after the end key of group `number`, without recursion for inner groups."""
    open_groups = [number]
    begin = offset
    while open_groups:
        if offset >= end:
            raise WireError("a group is never closed", begin)
        start = offset
        key, offset = read_varint(data, offset, end)
        number, wire_type = key >> 3, key & 7
        if wire_type == END_GROUP:
            if number != open_groups.pop():
                raise WireError("a group ends with the end tag of another group", start)
        elif wire_type == GROUP:
            open_groups.append(number)
            if len(open_groups) > MAX_MESSAGE_DEPTH:
                raise WireError(
                    f"groups are nested more than {MAX_MESSAGE_DEPTH} levels deep", start
                )
        else:
            _, offset = _skip(data, offset, end, number, wire_type, start)
    return offset
