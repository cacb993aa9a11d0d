# SPDX-License-Identifier: Apache-2.0
"""Write the protobuf wire format canonically, with shortest varints."""

from __future__ import annotations

from collections.abc import Sequence

Piece = bytes | memoryview
"""A part of an encoded message. A `memoryview` refers to the bytes of the input: no copy."""

MAX_MESSAGE_BYTES = (1 << 31) - 1
"""Maximum size of a protobuf message, in bytes."""

VARINT, FIXED64, LENGTH, GROUP, END_GROUP, FIXED32 = range(6)
"""Wire types (protobuf encoding specification)."""


def varint(value: int) -> bytes:
    """Encode an integer as a varint; encode a negative integer as 64-bit two's complement.

    Raises:
        OverflowError: the integer has more than 64 bits.
    """
    if -128 <= value < 128:
        return _SMALL[value]
    if not -(1 << 63) <= value < 1 << 64:
        raise OverflowError("a varint has at most 64 bits")
    if value < 0:
        value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def signed_varint(value: int) -> bytes:
    """Encode a signed 64-bit integer as a varint.

    Raises:
        OverflowError: the integer does not fit in 64 bits with a sign.
    """
    if value >= 1 << 63:
        raise OverflowError("an int64 is less than 2^63")
    return varint(value)


_SMALL = [bytes((value,)) for value in range(128)]
_SMALL += [bytes((value & 255 | 128, *[255] * 8, 1)) for value in range(-128, 0)]
"""The varints of 0 to 127 and, at negative indexes, of -128 to -1."""


def tag(number: int, wire_type: int) -> bytes:
    """Encode the key of a field: its number and wire type."""
    return varint(number << 3 | wire_type)


def delimited(key: bytes, data: bytes) -> bytes:
    """Encode a length-delimited field; `key` is a result of `tag`."""
    size = len(data)
    return key + (_SMALL[size] if size < 128 else varint(size)) + data


def text_field(key: bytes, text: str) -> bytes:
    """Encode a `string` field, in one call, because most fields are strings."""
    data = text.encode("utf-8", "surrogateescape")
    size = len(data)
    return key + (_SMALL[size] if size < 128 else varint(size)) + data


def delimited_pieces(key: bytes, pieces: Sequence[Piece]) -> list[Piece]:
    """Encode a length-delimited field whose data is in pieces; return the pieces of the field."""
    return [key, varint(sum(map(len, pieces))), *pieces]
