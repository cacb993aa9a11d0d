# SPDX-License-Identifier: Apache-2.0
"""Convert lists of strings to the bytes of a blob and back (SPEC 6.6)."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.wire.writer import varint


def join_strings(values: Sequence[bytes]) -> bytes:
    """Return strings as bytes: each after its length, a protobuf varint."""
    return b"".join([part for value in values for part in (varint(len(value)), value)])


def split_strings(data: bytes | memoryview) -> tuple[bytes, ...] | None:
    """Return the strings that `join_strings` joined; None if these bytes are not its result."""
    data = bytes(data)
    values: list[bytes] = []
    at = 0
    while at < len(data):
        length = shift = 0
        while True:
            if at == len(data) or shift > 28:
                return None
            byte = data[at]
            at += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if length > len(data) - at or (shift > 7 and not byte):
            return None
        values.append(data[at : at + length])
        at += length
    return tuple(values)
