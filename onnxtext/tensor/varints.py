# SPDX-License-Identifier: Apache-2.0
"""Encode and decode packed protobuf varints in bulk.

A varint has seven bits per byte, lowest first; the top bit is set if another byte follows
(https://protobuf.dev/programming-guides/encoding). Negative numbers of the types int32 and int64
are encoded as their two's complement in 64 bits, which takes ten bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onnxtext.select_core import core, core_module
from onnxtext.tensor.lazy_numpy import np
from onnxtext.wire.writer import signed_varint, varint

if TYPE_CHECKING:
    from numpy.typing import NDArray

VARINT_FIELDS = {"int32_data": "<i4", "int64_data": "<i8", "uint64_data": "<u8"}
"""The numpy types of the fields of `TensorProto` whose entries are varints."""

_LETTERS = {"<i4": "i", "<i8": "q", "<u8": "Q"}
_SHORT = 256
"""The size in bytes below which entries or varints are converted faster without numpy."""

_MAX_VARINT_BYTES = 10
_CUT_OFF = "the last varint is cut off"
_TOO_LONG = "a varint is longer than ten bytes"
_FEW = 1 << 10
"""Minimum number of values to encode with numpy."""
CHUNK = 1 << 20
"""Maximum number of values to encode at a time, to limit the memory."""


def pack_varints(values: NDArray[Any]) -> bytes:
    """Encode integers as minimal varints, one after the other.

    Returns:
        The payload of a packed field, without key and length.
    """
    wide = np.uint64 if values.dtype.kind == "u" else np.int64
    numbers = np.ascontiguousarray(values).astype(wide, copy=False).view(np.uint64)
    if not numbers.size:
        return b""
    greatest = int(numbers.max())
    if greatest < 0x80:
        return numbers.astype(np.uint8).tobytes()
    lengths = np.ones(numbers.size, np.int64)
    for index in range(1, (greatest.bit_length() + 6) // 7):
        lengths += numbers >= np.uint64(1 << (7 * index))
    ends = np.cumsum(lengths)
    places = ends - lengths
    out = np.empty(int(ends[-1]), np.uint8)
    while True:
        out[places] = (numbers & np.uint64(0x7F)).astype(np.uint8) | np.uint8(0x80)
        continued = np.flatnonzero(numbers >= np.uint64(0x80))
        if not continued.size:
            break
        numbers, places = numbers[continued] >> np.uint64(7), places[continued] + 1
    out[ends - 1] &= 0x7F
    return out.tobytes()


def int_fields(key: bytes, values: Sequence[int] | bytes) -> bytes:
    """Encode a repeated int64 field without packing: each value gets its own key.

    `key` is the encoded key of the field, one byte. `values` may be the bytes of a little-endian
    int64 array.
    """
    if isinstance(values, bytes) and core() == "native":
        result: bytes = core_module("tensor.varints").int_fields(key[0], values)
        return result
    size = len(values) // 8 if isinstance(values, bytes) else len(values)
    if size < _FEW:
        few = struct.unpack(f"<{size}q", values) if isinstance(values, bytes) else values
        return b"".join([key + signed_varint(value) for value in few])
    parts = []
    for start in range(0, size, CHUNK):
        if isinstance(values, bytes):
            numbers = np.frombuffer(values, "<i8")[start : start + CHUNK]
        else:
            numbers = np.array(values[start : start + CHUNK], np.int64)
        pairs = np.full((len(numbers), 2), key[0], np.int64)
        pairs[:, 1] = numbers
        parts.append(pack_varints(pairs.reshape(-1)))
    return b"".join(parts)


def float_fields(key: bytes, data: bytes | memoryview) -> bytes:
    """Encode a repeated float field without packing: each value gets its own key.

    `key` is as for `int_fields`; `data` has little-endian float32 values.
    """
    if core() == "native":
        fields: bytes = core_module("tensor.varints").float_fields(key[0], data)
        return fields
    if len(data) < 4 * _FEW:
        return b"".join([key + data[index : index + 4] for index in range(0, len(data), 4)])
    encoded = np.full((len(data) // 4, 5), key[0], np.uint8)
    encoded[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 4)
    return encoded.tobytes()


def unpack_varints(data: bytes | memoryview) -> NDArray[np.uint64]:
    """Decode the payload of a packed field of varints.

    Bits beyond the 64th are dropped, as in protobuf. For fields of type int32 and int64, the caller
    must view the result as int64.

    Raises:
        ValueError: The last varint is cut off, or a varint is longer than ten bytes.
    """
    if len(data) < _SHORT:
        return np.array(_few_varints(data), np.uint64)
    octets = np.frombuffer(data, np.uint8)
    ends = _ends(octets)
    if ends.size == octets.size:
        return octets.astype(np.uint64)
    places = np.concatenate(([0], ends[:-1] + 1))
    values = (octets[places] & 0x7F).astype(np.uint64)
    which = np.flatnonzero(ends > places)
    for index in range(1, _MAX_VARINT_BYTES):
        offset = places[which] + index
        values[which] |= (octets[offset] & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * index)
        which = which[ends[which] > offset]
        if not which.size:
            break
    return values


def pack_entries(field: str, entries: bytes) -> bytes:
    """Encode the entries of a numeric field of `TensorProto` as the payload of a packed field.

    `entries` is a little-endian array of the field's protobuf type.
    """
    kind = VARINT_FIELDS.get(field)
    if kind is None or not entries:
        return entries
    if core() == "native":
        packed: bytes = core_module("tensor.varints").pack(entries, int(kind[2]))
        return packed
    if len(entries) <= _SHORT:
        count = len(entries) // int(kind[2])
        return b"".join(map(varint, struct.unpack(f"<{count}{_LETTERS[kind]}", entries)))
    values = np.frombuffer(entries, kind)
    return pack_varints(values.astype(np.int64) if kind == "<i4" else values)


def pack_integers(values: tuple[int, ...]) -> bytes:
    """Encode int64 values as the payload of a packed field."""
    if core() == "native":
        packed: bytes | None = core_module("tensor.varints").pack_integers(values)
        if packed is not None:
            return packed
    return pack_entries("int64_data", struct.pack(f"<{len(values)}q", *values))


def fields_of_packed(key: bytes, data: bytes | memoryview) -> bytes | None:
    """Convert the payload of a packed int64 field to unpacked fields, one for each value.

    The native core does in one step what `unpack_entries` and `int_fields` do in two.

    `key` is as for `int_fields`.

    Returns:
        The encoded fields; None if the Python core is selected, or `data` is not a list of varints.
    """
    if core() == "python":
        return None
    fields: bytes | None = core_module("tensor.varints").fields_of_packed(key[0], data)
    return fields


def unpack_entries(field: str, data: bytes | memoryview) -> bytes:
    """Decode the payload of a packed field: the inverse of `pack_entries`.

    Raises:
        ValueError: the data is not a list of entries of this field.
    """
    kind = VARINT_FIELDS.get(field)
    if kind is None:
        width = 8 if field == "double_data" else 4
        if len(data) % width:
            raise ValueError(f"the number of bytes, {len(data)}, is not a multiple of {width}")
        return bytes(data)
    if core() == "native":
        unpacked: bytes | None = core_module("tensor.varints").unpack(data, int(kind[2]))
        if unpacked is not None:
            return unpacked
    values = unpack_varints(data)
    if kind == "<i4":
        numbers = values.view(np.int64)
        narrow = numbers.astype("<i4")
        if not np.array_equal(narrow, numbers):
            raise ValueError("an entry does not fit in 32 bits")
        return narrow.tobytes()
    return values.astype("<u8", copy=False).tobytes()


def _few_varints(data: bytes | memoryview) -> list[int]:
    """Decode varints one by one; raise the errors of `unpack_varints`."""
    values: list[int] = []
    value = shift = 0
    for octet in bytes(data):
        if shift == 7 * _MAX_VARINT_BYTES:
            raise ValueError(_TOO_LONG)
        value |= (octet & 0x7F) << shift
        shift += 7
        if octet < 0x80:
            values.append(value & 0xFFFFFFFFFFFFFFFF)
            value = shift = 0
    if shift:
        raise ValueError(_CUT_OFF)
    return values


def _ends(octets: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Return the index of the last byte of every varint; raise the errors of `unpack_varints`."""
    ends = np.flatnonzero(octets < 0x80)
    if octets.size and (not ends.size or ends[-1] != octets.size - 1):
        raise ValueError(_CUT_OFF)
    if ends.size and int(np.diff(ends, prepend=-1).max()) > _MAX_VARINT_BYTES:
        raise ValueError(_TOO_LONG)
    return ends
