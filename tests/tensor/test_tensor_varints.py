# SPDX-License-Identifier: Apache-2.0
"""Varints round-trip, and non-minimal ones are detected."""

from __future__ import annotations

import random
import struct
from unittest import mock

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxtext.ast.tensors_and_attributes import FieldData, TypedData
from onnxtext.ast.types import TensorType
from onnxtext.proto.encode.types_and_tensors import lower_tensor
from onnxtext.select_core import core
from onnxtext.tensor import varints
from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.tensor.varints import (
    VARINT_FIELDS,
    float_fields,
    int_fields,
    pack_entries,
    pack_varints,
    unpack_entries,
    unpack_varints,
)
from tests.running import using

INT64 = st.one_of(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(0, 300), st.integers(-3, 3))
UINT64 = st.one_of(st.integers(0, (1 << 64) - 1), st.integers(0, 300))
EDGES = [0, *(n for k in range(1, 10) for n in ((1 << 7 * k) - 1, 1 << 7 * k)), (1 << 64) - 1]


def reference(value: int) -> bytes:
    """Encode one varint as protobuf describes it."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


@given(st.lists(INT64))
def test_signed_values_round_trip(values: list[int]) -> None:
    data = pack_varints(np.array(values, np.int64))
    assert data == b"".join(map(reference, values))
    assert unpack_varints(data).view(np.int64).tolist() == values


@given(st.lists(UINT64))
def test_unsigned_values_round_trip(values: list[int]) -> None:
    data = pack_varints(np.array(values, np.uint64))
    assert data == b"".join(map(reference, values))
    assert unpack_varints(memoryview(data)).tolist() == values


def test_values_at_the_edges_round_trip() -> None:
    data = pack_varints(np.array(EDGES, np.uint64))
    assert data == b"".join(map(reference, EDGES))
    assert unpack_varints(data).tolist() == EDGES
    assert unpack_varints(b"\0" + data[::-1][:0] + data)[1:].tolist() == EDGES


def test_narrow_arrays_and_views_are_packed() -> None:
    assert pack_varints(np.array([-1, 1], np.int32)) == reference(-1) + b"\1"
    assert pack_varints(np.array([255, 1], np.uint8)) == b"\xff\1\1"
    assert pack_varints(np.arange(10)[::3]) == b"\0\3\6\x09"
    assert pack_varints(np.array([], np.int64)) == b""


def test_many_values_are_packed_as_by_protobuf() -> None:
    values = np.random.default_rng(0).integers(-(1 << 62), 1 << 62, 50_000)
    values >>= np.arange(50_000) % 60
    data = pack_varints(values)
    tensor = onnx.TensorProto(int64_data=values.tolist()).SerializeToString()
    assert tensor.endswith(data)
    assert (unpack_varints(data).view(np.int64) == values).all()


@pytest.mark.parametrize(
    ("data", "values"),
    [
        (b"\x80\x00", [0]),
        (b"\x81\x80\x00", [1]),
        (b"\xff" * 9 + b"\x7f", [(1 << 64) - 1]),
        (b"\x80" * 9 + b"\x02", [0]),
    ],
)
def test_bits_beyond_the_64th_and_padding_are_dropped(data: bytes, values: list[int]) -> None:
    assert unpack_varints(data).tolist() == values


@pytest.mark.parametrize("data", [b"\x80", b"\x01\x80", b"\xff" * 9])
def test_cut_off_varints_are_errors(data: bytes) -> None:
    with pytest.raises(ValueError, match="cut off"):
        unpack_varints(data)


@pytest.mark.parametrize("data", [b"\x80" * 10 + b"\x00", b"\x01" + b"\xff" * 11 + b"\x00"])
def test_too_long_varints_are_errors(data: bytes) -> None:
    with pytest.raises(ValueError, match="longer than ten bytes"):
        unpack_varints(data)


def test_no_bytes_give_no_values() -> None:
    assert unpack_varints(b"").tolist() == []


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 64, 65, 1000])
@pytest.mark.parametrize(
    ("element", "field"), [("int32", "<i4"), ("int64", "<i8"), ("uint64", "<u8")]
)
def test_short_lists_are_packed_as_long_ones(count: int, element: str, field: str) -> None:
    random = np.random.default_rng(count)
    info = np.iinfo(field)
    values = random.integers(info.min, info.max, count, field, endpoint=True)
    values[::3] = random.integers(0, 200, values[::3].size)
    name = ELEMENTS[element].field
    data = FieldData(((name, values.tobytes()),))
    lowered = b"".join(lower_tensor(TensorType(element, (count,)), None, data))
    tensor = onnx.TensorProto.FromString(lowered)
    assert list(getattr(tensor, name)) == values.tolist()
    assert tensor.SerializeToString() == lowered


def test_short_lists_are_packed_without_numpy() -> None:
    data = TypedData(struct.pack("<4q", 1, -1, 300, 0))
    with mock.patch.object(varints, "pack_varints", side_effect=AssertionError):
        lower_tensor(TensorType("int64", (4,)), "w", data)


@pytest.mark.parametrize("count", [0, 1, 1023, 1024, 5000])
def test_unpacked_fields_are_written_as_by_protobuf(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few values, many values and several chunks are written as by protobuf."""
    monkeypatch.setattr("onnxtext.tensor.varints.CHUNK", 1500)
    chance = random.Random(count)
    ints = [chance.choice([0, 1, -1, 127, 128, -(1 << 63), (1 << 63) - 1]) for _ in range(count)]
    floats = [chance.random() for _ in range(count)]
    wanted = onnx.AttributeProto(ints=ints).SerializeToString()
    assert int_fields(b"\x40", tuple(ints)) == wanted
    assert int_fields(b"\x40", struct.pack(f"<{count}q", *ints)) == wanted
    wanted = onnx.AttributeProto(floats=floats).SerializeToString()
    assert float_fields(b"\x3d", struct.pack(f"<{count}f", *floats)) == wanted


@pytest.mark.skipif(core() != "native", reason="the native core does not run")
@given(st.sampled_from(["<i4", "<i8", "<u8"]), st.binary(max_size=400))
def test_the_core_packs_and_unpacks_as_python_does(kind: str, data: bytes) -> None:
    field = next(name for name, held in VARINT_FIELDS.items() if held == kind)
    entries = data[: len(data) // 8 * 8]

    def outcome() -> list[object]:
        result: list[object] = [pack_entries(field, entries), float_fields(b"\x3d", entries)]
        result += [
            int_fields(b"\x40", entries),
            unpack_entries(field, pack_entries(field, entries)),
        ]
        try:
            return [*result, unpack_entries(field, data)]
        except ValueError as error:
            return [*result, str(error)]

    native = outcome()
    with using("python", varints):
        assert outcome() == native
