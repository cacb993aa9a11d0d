# SPDX-License-Identifier: Apache-2.0
"""Convert lists of strings to the bytes of a blob and back (SPEC 6.6)."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.select_core import core, core_module
from onnxtext.wire.writer import delimited, varint


def join_strings(values: Sequence[bytes]) -> bytes:
    """Return strings as the bytes of a blob: each as the varint of its length, then its bytes."""
    if core() == "native":
        joined: bytes = core_module("tensor.varints").string_fields(0, values)
        return joined
    return b"".join([part for value in values for part in (varint(len(value)), value)])


def fields_of_strings(key: bytes, data: bytes | memoryview) -> bytes | None:
    """Encode the strings in `data` as a repeated field.

    `key` is the encoded key of the field, one byte; `data` is a result of `join_strings`.

    Returns:
        The encoded field; None if `data` is not a result of `join_strings`.
    """
    if core() == "native":
        fields: bytes | None = core_module("tensor.varints").fields_of_strings(key[0], data)
        return fields
    values = split_strings(data)
    return None if values is None else b"".join([delimited(key, value) for value in values])


def split_strings(data: bytes | memoryview) -> tuple[bytes, ...] | None:
    """Return the strings that `join_strings` encoded as `data`; None if `data` is invalid."""
    if core() == "native":
        split: tuple[bytes, ...] | None = core_module("tensor.varints").split_strings(data)
        return split
    data = bytes(data)
    values: list[bytes] = []
    offset = 0
    while offset < len(data):
        length = shift = 0
        while True:
            if offset == len(data) or shift > 28:
                return None
            byte = data[offset]
            offset += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if length > len(data) - offset or (shift > 7 and not byte):
            return None
        values.append(data[offset : offset + length])
        offset += length
    return tuple(values)
