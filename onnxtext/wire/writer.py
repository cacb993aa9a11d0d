# SPDX-License-Identifier: Apache-2.0
"""Writing the protobuf wire format, canonically: shortest varints."""

from __future__ import annotations

from collections.abc import Sequence

Piece = bytes | memoryview
"""A part of an encoded message. Weights stay views of what they were read from."""

MOST_BYTES = (1 << 31) - 1
"""The longest message that protobuf reads and writes."""

VARINT, FIXED64, LENGTH, GROUP, END_GROUP, FIXED32 = range(6)
"""Wire types (protobuf encoding specification)."""


def varint(value: int) -> bytes:
    """A varint; a negative value is encoded as the 64-bit number with the same bits."""
    if 0 <= value < 128:
        return _SMALL[value]
    if value < 0:
        value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


_SMALL = [bytes((value,)) for value in range(128)]


def tag(number: int, wire_type: int) -> bytes:
    """The key of a field."""
    return varint(number << 3 | wire_type)


def delimited(key: bytes, data: bytes) -> bytes:
    """A length-delimited field: its key, the length and the data."""
    return key + varint(len(data)) + data


def delimited_pieces(key: bytes, pieces: Sequence[Piece]) -> list[Piece]:
    """A length-delimited field whose data is in pieces; nothing is copied."""
    return [key, varint(sum(map(len, pieces))), *pieces]
