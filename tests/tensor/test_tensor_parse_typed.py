# SPDX-License-Identifier: Apache-2.0
"""Literals in braces and lists in attributes mean the same as in the official parser."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onnxtext.tensor.element_types import ELEMENTS, ElementType
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.parse_literals import parse_field, parse_floats, parse_ints, parse_typed
from tests.elements import each_known
from tests.seeds import draws
from tests.tensor.raw import WIDTHS

# Elements narrower than six bits are packed, a documented difference.
OFFICIAL = [e for e in ELEMENTS.values() if e.kind != "string" and e.elements_per_entry == 1]
PACKED = [e for e in ELEMENTS.values() if e.elements_per_entry > 1]


def official(element: ElementType, literal: str) -> bytes | None:
    """Return the entries that the official parser reads; None if it rejects the literal."""
    text = f"g () => () <{element.name}[1] w = {literal}> {{}}"
    try:
        tensor = onnx.parser.parse_graph(text).initializer[0]
    except (onnx.parser.ParseError, RuntimeError, IndexError, ValueError):
        return None
    assert not tensor.raw_data
    entries = np.array(getattr(tensor, element.field), WIDTHS[element.field])
    return entries.tobytes()


def ours(element: ElementType, literal: str) -> bytes | None:
    try:
        return parse_typed(element, literal)
    except LiteralError:
        return None


NUMBERS = st.one_of(
    st.integers(-(1 << 66), 1 << 66).map(str),
    st.integers(-(1 << 33), 1 << 33).map(str),
    st.integers(-300, 300).map(str),
    st.sampled_from(
        [
            str(sign * (1 << bits) + n)
            for sign in (1, -1)
            for bits in (31, 63, 64)
            for n in (-1, 0, 1)
        ]
    ),
    st.floats().map(str),
    st.floats(width=32).map(str),
    st.from_regex(r"-?[0-9]{1,3}(\.[0-9]{0,3})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
    st.sampled_from(
        ["-0", "007", "1.", "1.e2", "inf", "-INFINITY", "NaN", "-nan", "1e39", "1e400"]
    ),
)
BAD = st.sampled_from([".5", "+1", "- 5", "1_0", "1e", "", "--1", "x", "infinit", "1 2", "- inf"])
SPACES = st.sampled_from(["", " ", "\n", " # comment {,\n", "\t\v\f\r"])


def is_our_extension(element: ElementType, literal: str) -> bool:
    """Whether a literal is an extension that the official parser rejects."""
    words = any(mark in literal for mark in (".", "e", "E", "n", "N"))
    return element.kind == "float" and element.bits <= 16 and words


@each_known(OFFICIAL)
@settings(max_examples=draws(60))
@given(st.lists(st.one_of(NUMBERS, NUMBERS, NUMBERS, BAD), max_size=4), SPACES, st.booleans())
def test_agrees_with_the_official_parser(
    element: ElementType, texts: list[str], blank: str, many: bool
) -> None:
    some = texts * 60 if many else texts
    literal = f"{{{blank}{f'{blank},{blank}'.join(some)}{blank}}}"
    expected, found = official(element, literal), ours(element, literal)
    if expected is None and texts and texts[-1] == "" and some[:-1]:
        return  # a trailing comma, which we allow
    if expected is None and is_our_extension(element, literal):
        return
    assert found == expected, literal[:200]


@each_known(OFFICIAL)
@given(st.lists(st.integers(-(1 << 31), (1 << 31) - 1), min_size=1, max_size=200))
def test_integers_mean_the_same_as_in_the_official_parser(
    element: ElementType, values: list[int]
) -> None:
    literal = f"{{{', '.join(map(str, values))}}}"
    assert ours(element, literal) == official(element, literal)


@pytest.mark.parametrize(
    ("name", "text", "entries"),
    [
        ("int8", "300", [300]),
        ("uint8", "-1", [-1]),
        ("float16", "70000", [70000]),
        ("bool", "2", [2]),
        ("uint32", "-1", [(1 << 64) - 1]),
        ("uint32", "4294967296", [1 << 32]),
        ("uint64", "-18446744073709551615", [1]),
        ("uint64", "18446744073709551615", [(1 << 64) - 1]),
        ("int64", "-9223372036854775808", [-(1 << 63)]),
        ("int4", "-8, 7, 1", [0x78, 0x01]),
        ("uint4", "15, 0, 1", [0x0F, 0x01]),
        ("int2", "-2, 1, 0, -1, 1", [0b11000110, 1]),
        ("uint2", "3, 2, 1, 0", [0b00011011]),
        ("float4e2m1", "1.0, 2, 15, 0xf", [0x22, 0xFF]),
        ("float16", "15360, 1.0, 0x3c00, nan, -inf", [15360, 15360, 15360, 0x7E00, 0xFC00]),
        ("bfloat16", "1.0, 16256", [16256, 16256]),
        ("float8e4m3fn", "448.0, -1", [0x7E, -1]),
        ("float6e2m3", "7.5, 31, 64", [31, 31, 64]),
        ("float8e8m0", "1024.0, 0", [0x89, 0]),
        ("bool", "true, false, 1, -7", [1, 0, 1, -7]),
        ("bool", "true, false", [1, 0]),
        ("int16", "0x10, -0x10", [16, -16]),
        ("complex64", "1, 2.5, 3.0-4.0j, 5", [1, 2.5, 3, -4, 5]),
        ("complex128", "1.0+2.0j", [1, 2]),
        ("float", "1, 0x1.8p3", [1, 12]),
    ],
)
@pytest.mark.parametrize("times", [1, 100])
def test_entries_are_read(name: str, text: str, entries: list[Any], times: int) -> None:
    element = ELEMENTS[name]
    if len(text.split(",")) % element.elements_per_entry:
        times = 1  # elements would not begin a byte
    expected = np.array(entries * times, WIDTHS[element.field]).tobytes()
    assert parse_typed(element, f"{{{', '.join([text] * times)}}}") == expected
    assert parse_typed(element, f"{{{', '.join([text] * times)},\n}}") == expected


@pytest.mark.parametrize("element", [e for e in ELEMENTS.values() if e.kind != "string"])
def test_empty_braces_have_no_entries(element: ElementType) -> None:
    assert parse_typed(element, "{}") == parse_typed(element, " { # nothing\n } ") == b""


@each_known(PACKED)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 200, 203])
def test_narrow_elements_are_packed_as_the_schema_says(element: ElementType, count: int) -> None:
    codes = np.random.default_rng(count).integers(0, 1 << element.bits, count)
    values = codes
    if element.kind == "int":
        values = np.where(codes >> (element.bits - 1), codes - (1 << element.bits), codes)
    data = parse_typed(element, f"{{{', '.join(map(str, values.tolist()))}}}")
    tensor = onnx.TensorProto(
        dims=[count], data_type=element.number, int32_data=np.frombuffer(data, "<i4").tolist()
    )
    array = onnx.numpy_helper.to_array(tensor)
    assert ((array.view(np.uint8) & ((1 << element.bits) - 1)) == codes).all()


@pytest.mark.parametrize("times", [0, 100])
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("int4", "8", "expected -8 to 7, found `8`"),
        ("uint4", "-1", "expected 0 to 15, found `-1`"),
        ("int2", "2", "expected -2 to 1, found `2`"),
        ("uint2", "4", "expected 0 to 3, found `4`"),
        ("float4e2m1", "16", "expected 0 to 15, found `16`"),
        ("float4e2m1", "7.0", "`7.0` is out of range for float4e2m1"),
        ("int8", "2147483648", "expected -128 to 127, found `2147483648`"),
        ("float16", "2147483648", "expected 0 to 65535, found `2147483648`"),
        ("int8", "1.0", "expected an integer, found `1.0`"),
        ("int64", "9223372036854775808", None),
        (
            "uint64",
            "18446744073709551616",
            "expected 0 to 18446744073709551615, found `18446744073709551616`",
        ),
        (
            "uint32",
            "-18446744073709551616",
            "expected 0 to 4294967295, found `-18446744073709551616`",
        ),
        ("bool", "2147483648", "expected 0 to 1, found `2147483648`"),
        ("bool", "True", "expected an integer, found `True`"),
        ("bool", "yes", None),
        ("float", "1, ...", None),
        ("complex64", "1j", None),
        ("float16", "0x10000", "expected at most 16 bits for float16, found `0x10000`"),
    ],
)
def test_invalid_entries_are_errors(name: str, text: str, message: str | None, times: int) -> None:
    with pytest.raises(LiteralError) as caught:
        parse_typed(ELEMENTS[name], f"{{{'1, ' * times}{text}}}")
    if message is not None:
        assert caught.value.message == message
    if "..." in text:
        help = "`...` is only valid in the brackets of a tensor, `[0, ...]`"
        assert caught.value.help is not None
        assert caught.value.help.startswith(help)
        assert caught.value.offset == 3 * times + 4
    else:
        assert (caught.value.offset, caught.value.length) == (3 * times + 1, len(text))


def test_errors_among_bools_and_integers_are_reported() -> None:
    with pytest.raises(LiteralError, match="expected an integer, found `tru`") as caught:
        parse_typed(ELEMENTS["bool"], "{1, false, tru}")
    assert caught.value.offset == 11
    with pytest.raises(LiteralError, match="expected numbers, found strings"):
        parse_typed(ELEMENTS["string"], '{"a"}')


@pytest.mark.parametrize("text", ["[1]", "{1", "1}", "{[1]}", "{{1}}", "{,}", "{1,,}", "{1 2}", ""])
def test_wrong_brackets_are_errors(text: str) -> None:
    with pytest.raises(LiteralError):
        parse_typed(ELEMENTS["float"], text)
    with pytest.raises(LiteralError):
        parse_field("int32_data", text)


@pytest.mark.parametrize(
    ("field", "texts", "low", "high"),
    [
        ("int32_data", "1, -2", -(1 << 31), (1 << 31) - 1),
        ("int64_data", "1, -2", -(1 << 63), (1 << 63) - 1),
        ("uint64_data", "1, 2", 0, (1 << 64) - 1),
    ],
)
def test_integer_fields_are_read_by_name(field: str, texts: str, low: int, high: int) -> None:
    for times in (1, 100):
        literal = f"{{{', '.join([texts] * times)}, {low}, {high},}}"
        values = [*(int(t) for t in texts.split(",")), *()] * times + [low, high]
        assert parse_field(field, literal) == np.array(values, WIDTHS[field]).tobytes()
        for bad in (str(low - 1), str(high + 1), "1.0", "0x1", "true", "nan"):
            with pytest.raises(LiteralError):
                parse_field(field, literal[:-1] + f"{bad}}}")


def test_float_fields_are_read_by_name() -> None:
    text = "{1, 2.5, -nan, nan(0x7f800001), 1.00000017881393432617187499}"
    assert np.frombuffer(parse_field("float_data", text), "<u4").tolist() == [
        0x3F800000,
        0x40200000,
        0xFFC00000,
        0x7F800001,
        0x3F800001,
    ]
    wide = parse_field("double_data", "{0.1, nan(0x7ff0000000000001)}")
    assert np.frombuffer(wide, "<u8").tolist() == [0x3FB999999999999A, 0x7FF0000000000001]
    assert parse_field("float_data", "{}") == b""
    with pytest.raises(LiteralError, match="expected the 64 bits"):
        parse_field("double_data", "{nan(0x7f800001)}")


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=60))
def test_integer_attributes_are_read(values: list[int]) -> None:
    assert parse_ints(str(values)) == tuple(values)
    assert parse_ints(f"[{','.join(map(str, values))}{',' if values else ''}]") == tuple(values)


@pytest.mark.parametrize("padding", [0, 100])
@pytest.mark.parametrize(
    "text",
    [
        "1.0",
        "0x1",
        "9223372036854775808",
        "-9223372036854775809",
        "nan",
        "+1",
        "a",
        "- 5",
        "\u0661",
    ],
)
def test_invalid_integer_attributes_are_errors(text: str, padding: int) -> None:
    with pytest.raises(LiteralError) as caught:
        parse_ints(f"[{'1, ' * padding}{text}]")
    assert caught.value.offset == 1 + 3 * padding
    assert caught.value.length == len(text)


@given(st.lists(st.floats(width=32), max_size=60))
def test_float_attributes_are_read(values: list[float]) -> None:
    expected = struct.pack(f"<{len(values)}f", *values)
    found = np.frombuffer(parse_floats(str(values)), "<f4")
    np.testing.assert_array_equal(found, np.frombuffer(expected, "<f4"))
    if not any(map(math.isnan, values)):
        assert found.tobytes() == expected


def test_float_attributes_have_any_float_literal() -> None:
    assert parse_floats("[]") == b""
    bits = np.frombuffer(parse_floats("[1.0, 2, nan, -nan, nan(0x7f800001),]"), "<u4").tolist()
    assert bits == [0x3F800000, 0x40000000, 0x7FC00000, 0xFFC00000, 0x7F800001]
    for text in ("[1e39]", "[a]", "[1,,2]", "[[1]]", "1", "[1, ...]"):
        with pytest.raises(LiteralError):
            parse_floats(text)
    for text in ("[1, ...]", "[[1]]", "[1,,2]"):
        with pytest.raises(LiteralError):
            parse_ints(text)
