# SPDX-License-Identifier: Apache-2.0
"""Rows of text round-trip, and look the same as those of the scalar writers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onnxtext.tensor.element_types import ELEMENTS, ElementType, raw_size
from onnxtext.tensor.float_literals import float32_text, float64_text
from onnxtext.tensor.format_elements import (
    format_field,
    format_floats,
    format_rows,
    format_typed,
    is_expressible,
    is_splat,
    is_typed_expressible,
)
from onnxtext.tensor.packing import pack
from onnxtext.tensor.parse_literals import parse_field, parse_floats, parse_ints, parse_typed
from tests.seeds import draws
from tests.tensor.raw import RAW, WIDTHS, parse_raw

each_raw = pytest.mark.parametrize("element", RAW, ids=lambda e: e.name)


def random_raw(element: ElementType, count: int, seed: int) -> bytes:
    """Draw the bytes of elements of this type."""
    rng = np.random.default_rng(seed)
    if element.kind == "bool":
        return rng.integers(0, 2, count, dtype=np.uint8).tobytes()
    if element.bits < 8:
        return pack(rng.integers(0, 1 << element.bits, count, np.uint8), element.bits).tobytes()
    return rng.bytes(raw_size(element, count))


@each_raw
@settings(max_examples=draws(50))
@given(st.integers(0, 70), st.integers(1, 20), st.integers(0, 99))
def test_raw_data_round_trips(element: ElementType, count: int, row: int, seed: int) -> None:
    data = random_raw(element, count, seed)
    rows = format_rows(element, data, row, count)
    sizes = [text.count(", ") + 1 for text in rows]
    assert sizes == [row] * (count // row) + [count % row] * (count % row > 0)
    assert ", ".join(rows) == ", ".join(format_rows(element, memoryview(data), 1, count))
    assert parse_raw(element, f"[{', '.join(rows)}]", [count]) == data
    assert (
        parse_raw(element, "[\n  " + ",\n  ".join([*rows, ""]) + "]", [count]) == data or not rows
    )


@each_raw
def test_unaligned_data_prints_the_same(element: ElementType) -> None:
    data = random_raw(element, 48, 5)
    shifted = memoryview(b"x" + data)[1:]
    assert format_rows(element, shifted, 8, 48) == format_rows(element, data, 8, 48)
    assert is_splat(element, shifted, 48) == is_splat(element, data, 48)


@pytest.mark.parametrize(
    ("name", "dtype", "values", "rows"),
    [
        ("float", "<f4", [1, 2, 0.5, -0.0, 10, 1e22, 1e-7, 100.5], ["1, 2, 0.5", "-0, 10, 1e22"]),
        ("double", "<f8", [1, 0.1, 1e300, -2, 0, 1e16], ["1, 0.1, 1e300", "-2, 0, 1e16"]),
        ("float", "<f4", [np.nan, np.inf, -np.inf], ["nan, inf, -inf"]),
        ("float16", "<f2", [1, -0.5, 0.1], ["1.0, -0.5, 0.1"]),
        ("int8", "i1", [-128, 127, 0], ["-128, 127, 0"]),
        ("uint64", "<u8", [0, (1 << 64) - 1], ["0, 18446744073709551615"]),
        ("bool", "?", [True, False, True], ["true, false, true"]),
        ("complex64", "<f4", [1, 2, -0.0, -1, 1e10, 0.5], None),
        ("complex128", "<f8", [np.inf, -np.inf], ["inf-infj"]),
    ],
)
def test_elements_are_spelled_as_expected(
    name: str, dtype: str, values: list[Any], rows: list[str] | None
) -> None:
    found = format_rows(ELEMENTS[name], np.array(values, dtype).tobytes(), 3)
    if rows is None:
        rows = ["1.0+2.0j, -0.0-1.0j, 10000000000.0+0.5j"]
    assert found[: len(rows)] == rows


def test_narrow_integers_are_unpacked() -> None:
    assert format_rows(ELEMENTS["int4"], b"\x78\x01", 4, 3) == ["-8, 7, 1"]
    assert format_rows(ELEMENTS["int4"], b"\x78\x01", 4) == ["-8, 7, 1, 0"]
    assert format_rows(ELEMENTS["uint4"], b"\x78", 4) == ["8, 7"]
    assert format_rows(ELEMENTS["int2"], b"\xc6", 4) == ["-2, 1, 0, -1"]
    assert format_rows(ELEMENTS["uint2"], b"\xc6\x01", 4, 5) == ["2, 1, 0, 3", "1"]
    assert format_rows(ELEMENTS["float4e2m1"], b"\x72", 4) == ["1.0, 6.0"]


@pytest.mark.parametrize(
    ("name", "text", "bits"), [("float", float32_text, 32), ("double", float64_text, 64)]
)
@given(st.data())
def test_rows_and_scalars_print_the_same(name: str, text: Any, bits: int, data: Any) -> None:
    codes = data.draw(st.lists(st.integers(0, (1 << bits) - 1), min_size=1, max_size=40))
    raw = np.array(codes, f"<u{bits // 8}").tobytes()
    assert ", ".join(format_rows(ELEMENTS[name], raw, 7)) == ", ".join(map(text, codes))
    if bits == 32:
        assert format_floats(raw) == ", ".join(text(c, point=True) for c in codes)


def test_special_floats_among_many_are_printed() -> None:
    values = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    codes = values.view(np.uint32)
    codes[::7] = np.arange(143) % 3 * 0x400001 + 0x7F800000
    codes[5::90] = 0xFFC00000
    for width in (1, 16, 1000, 2000):
        rows = format_rows(ELEMENTS["float"], values.tobytes(), width)
        assert ", ".join(rows) == ", ".join(map(float32_text, codes.tolist()))


@pytest.mark.parametrize(
    ("name", "data", "count"),
    [
        ("float", b"abc", None),
        ("float", b"abcd", 2),
        ("float", b"abcd", 0),
        ("complex64", b"abcd", None),
        ("bool", b"\x02", 1),
        ("bool", b"\0\1\xff", None),
        ("int4", b"\x10", 1),
        ("int4", b"\x00\x00", 1),
        ("uint2", b"\x04", 1),
        ("float6e2m3", b"\x40", 1),
        ("float6e2m3", b"\x00\x10", 2),
        ("string", b"", 0),
    ],
)
def test_data_that_no_literal_in_brackets_can_express(
    name: str, data: bytes, count: int | None
) -> None:
    assert not is_expressible(ELEMENTS[name], data, count)
    with pytest.raises(ValueError, match="not the raw data"):
        format_rows(ELEMENTS[name], data, 8, count)
    assert not is_splat(ELEMENTS[name], data, 2)


@each_raw
@settings(max_examples=draws(50))
@given(st.data())
def test_entries_round_trip_or_are_rejected(element: ElementType, data: Any) -> None:
    dtype = np.dtype(WIDTHS[element.field])
    small = st.integers(0, 300) if element.field == "int32_data" else st.integers(0, 1 << 31)
    info = st.integers(0, (1 << 8 * dtype.itemsize) - 1)
    codes = data.draw(st.lists(st.one_of(small, small, small, info), max_size=50))
    entries = np.array(codes, f"<u{dtype.itemsize}").tobytes()
    row = format_typed(element, entries)
    if row is not None:
        assert parse_typed(element, f"{{{row}}}") == entries
        many = format_typed(element, entries * 50)
        assert many is not None
        assert parse_typed(element, f"{{{many}}}") == entries * 50
    elif element.kind == "complex":
        assert len(codes) % 2
    else:
        assert element.elements_per_entry > 1
        assert any(code > 255 for code in codes)


@pytest.mark.parametrize(
    ("name", "entries", "row"),
    [
        ("float", [1, 0.5], "1, 0.5"),
        ("int8", [300, -1], "300, -1"),
        ("float16", [15360, 70000, -1, 0x7E01], "1.0, 70000, -1, 0x7e01"),
        ("float16", [15360, 0x7E00], "1.0, nan"),
        ("float6e2m3", [31, 64], "7.5, 64"),
        ("bool", [1, 0], "true, false"),
        ("bool", [1, 0, 2, -1], "true, false, 2, -1"),
        ("uint32", [(1 << 64) - 1], "18446744073709551615"),
        ("complex64", [1, 2, 3, -4], "1.0+2.0j, 3.0-4.0j"),
        ("complex64", [1], None),
        ("int4", [0x78, 0x01], "-8, 7, 1, 0"),
        ("int4", [-8], None),
        ("int4", [256], None),
    ],
)
def test_typed_entries_are_spelled_as_expected(
    name: str, entries: list[Any], row: str | None
) -> None:
    element = ELEMENTS[name]
    data = np.array(entries, WIDTHS[element.field]).tobytes()
    assert format_typed(element, data) == row


@pytest.mark.parametrize("element", RAW, ids=lambda element: element.name)
@pytest.mark.parametrize("count", range(5))
def test_entries_are_expressible_if_they_can_be_printed(element: ElementType, count: int) -> None:
    data = np.ones(count, WIDTHS[element.field]).tobytes()
    printed = format_typed(element, data, count)
    assert is_typed_expressible(element, data, count) == (printed is not None)


def test_typed_elements_narrower_than_six_bits_are_counted() -> None:
    data = np.array([0x78, 0x01], "<i4").tobytes()
    assert format_typed(ELEMENTS["int4"], data, 3) == "-8, 7, 1"
    assert format_typed(ELEMENTS["int4"], data, 4) == "-8, 7, 1, 0"
    assert format_typed(ELEMENTS["int4"], data, 5) is None
    assert format_typed(ELEMENTS["int4"], data, 2) is None
    assert format_typed(ELEMENTS["int4"], np.array([0x78, 0x11], "<i4").tobytes(), 3) is None
    unpacked = np.array([-8, 7, 1], "<i4").tobytes()  # what the official parser stores
    assert format_typed(ELEMENTS["int4"], unpacked, 3) is None
    assert format_typed(ELEMENTS["string"], b"") is None


@pytest.mark.parametrize("field", WIDTHS)
@given(st.data())
def test_fields_by_name_round_trip(field: str, data: Any) -> None:
    size = np.dtype(WIDTHS[field]).itemsize
    entries = data.draw(st.binary(max_size=40 * size).map(lambda b: b[: len(b) // size * size]))
    assert parse_field(field, f"{{{format_field(field, entries)}}}") == entries


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=40))
def test_integer_attributes_round_trip(values: list[int]) -> None:
    assert parse_ints(f"[{', '.join(map(str, values))}]") == tuple(values)


@given(st.binary(max_size=160).map(lambda b: b[: len(b) // 4 * 4]))
def test_float_attributes_round_trip(data: bytes) -> None:
    row = format_floats(data)
    assert parse_floats(f"[{row}]") == data
    assert all(re.search("[.en]", text) for text in row.split(", ") if row)


@each_raw
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 8, 1001, 70_000])
def test_splats_are_recognized(element: ElementType, count: int) -> None:
    one = random_raw(element, 1, 9)
    code = int.from_bytes(one, "little")
    if element.bits < 8:
        data = pack(np.full(count, code, np.uint8), element.bits).tobytes()
    else:
        data = one * count
    assert is_splat(element, data, count) == (count >= 2)
    if count < 2:
        return
    for place in {0, count // 2, count - 1}:
        if element.bits < 8:
            codes = np.full(count, code, np.uint8)
            codes[place] ^= 1
            other = pack(codes, element.bits).tobytes()
        else:
            width = element.bits // 8
            changed = bytearray(data)
            changed[place * width] ^= 1
            other = bytes(changed)
        assert not is_splat(element, other, count)
    assert not is_splat(element, data + b"\0", count)
    text = format_rows(element, one, 1, 1)[0]
    assert parse_raw(element, f"[{text}, ...]", [count]) == data


def test_splats_compare_bits() -> None:
    assert not is_splat(ELEMENTS["float"], np.array([0.0, -0.0], "<f4").tobytes(), 2)
    assert is_splat(ELEMENTS["float"], b"\1\0\x80\x7f" * 3, 3)
    assert not is_splat(ELEMENTS["complex64"], np.array([1, 2, 1, 3], "<f4").tobytes(), 2)
    assert is_splat(ELEMENTS["complex128"], np.array([1, 2] * 3, "<f8").tobytes(), 3)
