# SPDX-License-Identifier: Apache-2.0
"""Literals in brackets: nesting, counting, every element type, every error."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from onnxtext.tensor import number_lists
from onnxtext.tensor.element_types import ELEMENTS, ElementType
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.format_elements import format_rows
from onnxtext.tensor.parse_literals import parse_scalar, read_raw
from onnxtext.tensor.repeated_bytes import Repetition
from tests.seeds import draws
from tests.tensor.raw import RAW, outcome, parse_raw

FLOAT, INT64 = ELEMENTS["float"], ELEMENTS["int64"]


def nest(texts: list[str], dims: list[int], tail: str = "", blank: str = " ") -> str:
    """Write elements nested over all dims, optionally with trailing commas."""
    if not dims:
        return texts[0]
    step = math.prod(dims[1:])
    parts = [nest(texts[i * step : (i + 1) * step], dims[1:], tail, blank) for i in range(dims[0])]
    return f"[{blank}{f',{blank}'.join(parts)}{tail if parts else ''}{blank}]"


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=4),
    st.sampled_from(["", ",", " ,", ",\n"]),
    st.sampled_from(["", " ", "\n", " \t\n\v\f\r", "# comment, with [brackets]\n"]),
)
def test_flat_nested_and_squeezed_mean_the_same(dims: list[int], tail: str, blank: str) -> None:
    values = list(range(math.prod(dims)))
    texts = list(map(str, values))
    data = np.array(values, np.int64).tobytes()
    squeezed = [size for size in dims if size != 1]
    for shape in ([len(values)], dims, squeezed):
        if shape:
            assert parse_raw(INT64, nest(texts, shape, tail, blank), dims) == data


@pytest.mark.parametrize("blank", ["", " ", "\n    ", " " * 500])
@pytest.mark.parametrize("tail", ["", ","])
def test_nesting_of_large_literals_must_fit_the_dims(blank: str, tail: str) -> None:
    dims = [5, 1, 7, 9]
    values = np.random.default_rng(0).standard_normal(315).astype(np.float32)
    texts = format_rows(FLOAT, values.tobytes(), 1)
    for shape in (dims, [5, 7, 9], [315]):
        assert parse_raw(FLOAT, nest(texts, shape, tail, blank), dims) == values.tobytes()
    for shape in ([5, 9, 7], [7, 5, 9], [45, 7], [5, 63], [5, 7, 1, 9], [1, 5, 7, 9]):
        with pytest.raises(LiteralError):
            parse_raw(FLOAT, nest(texts, shape, tail, blank), dims)


def test_tensors_of_rank_zero_are_read() -> None:
    assert parse_scalar(FLOAT, "1e-05") == np.float32(1e-5).tobytes()
    assert parse_scalar(FLOAT, " nan ") == b"\0\0\xc0\x7f"
    assert parse_scalar(ELEMENTS["bool"], "true") == b"\1"
    assert parse_scalar(ELEMENTS["int4"], "-8") == b"\x08"
    assert parse_scalar(ELEMENTS["float16"], "0x7e01") == b"\x01\x7e"
    assert parse_scalar(ELEMENTS["complex64"], "1+2j") == np.complex64(1 + 2j).tobytes()
    assert parse_raw(FLOAT, "[1]", []) == np.float32(1).tobytes()


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("", "expected an element, found nothing", 0),
        ("1,2", "expected one element, found `,`", 1),
        ("\u0661", "expected one element, found `\u0661`", 0),
        ("[1]", "expected a number, found `[1]`", 0),
        (" x", "expected a number, found `x`", 1),
    ],
)
def test_invalid_scalars_are_errors(text: str, message: str, offset: int) -> None:
    with pytest.raises(LiteralError) as caught:
        parse_scalar(FLOAT, text)
    assert (caught.value.message, caught.value.offset) == (message, offset)


@pytest.mark.parametrize(
    ("text", "dims"),
    [("[]", [0]), ("[]", [0, 3]), ("[[], []]", [2, 0]), ("[[], [],]", [2, 0, 3]), ("[]", [2, 0])],
)
def test_literals_without_elements_are_empty(text: str, dims: list[int]) -> None:
    assert parse_raw(FLOAT, text, dims) == b""


@pytest.mark.parametrize("element", RAW, ids=lambda e: e.name)
@pytest.mark.parametrize("count", [1, 2, 5, 8, 1001])
def test_splats_repeat_the_last_element(element: ElementType, count: int) -> None:
    text = {"bool": "true", "complex": "1.0-2.0j"}.get(element.kind, "1.0")
    text = text if element.kind not in ("int", "uint") else "1"
    expected = parse_raw(element, f"[{', '.join([text] * count)}]", [count])
    assert parse_raw(element, f"[{text}, ...]", [count]) == expected
    assert parse_raw(element, f"[ {text} , ... ,\n]", [1, count]) == expected
    if count > 1:
        assert parse_raw(element, f"[{text}, {text}, ...]", [count]) == expected


@pytest.mark.parametrize("name", ["int2", "int4", "float4e2m1", "float6e2m3", "int8", "complex64"])
@pytest.mark.parametrize("found", [1, 2, 3, 4, 5])
def test_long_splats_of_packed_elements_continue_within_a_byte(name: str, found: int) -> None:
    """They are not expanded: the repeated bytes begin at the next byte boundary."""
    element = ELEMENTS[name]
    count = (1 << 16) * 8 // element.bits + 9
    texts = ["1.0" if index % 2 else "0.0" for index in range(found)]
    if element.kind == "int":
        texts = [text[0] for text in texts]
    whole = [*texts, *[texts[-1]] * (count - found)]
    data = read_raw(element, f"[{', '.join(texts)}, ...]", [count])
    assert isinstance(data, Repetition)
    assert data.expand() == parse_raw(element, f"[{', '.join(whole)}]", [count])


def test_a_splat_repeats_the_bits_of_the_last_element() -> None:
    assert parse_raw(FLOAT, "[1, nan(0x7f800001), ...]", [3])[4:] == b"\1\0\x80\x7f" * 2
    assert parse_raw(FLOAT, "[1, -0, ...]", [3])[4:] == b"\0\0\0\x80" * 2
    assert parse_raw(FLOAT, f"[{'0, ' * 99}7, ...]", [200])[-4:] == np.float32(7).tobytes()


INTEGERS = [element for element in RAW if element.kind in ("int", "uint")]


@pytest.mark.parametrize("element", INTEGERS, ids=lambda e: e.name)
@pytest.mark.parametrize("padding", [0, 200])
def test_integers_reach_their_limits(element: ElementType, padding: int) -> None:
    low, high = (
        (0, (1 << element.bits) - 1)
        if element.kind == "uint"
        else (-(1 << (element.bits - 1)), (1 << (element.bits - 1)) - 1)
    )
    some = f"{'1, ' * padding}{low}, {high}"
    count = padding + 2
    data = parse_raw(element, f"[{some}]", [count])
    texts = ", ".join(format_rows(element, data, 7, count))
    assert texts == some
    assert parse_raw(element, f"[{'1, ' * padding}{low:#x}, {high:#x}]", [count]) == data
    for value in (low - 1, high + 1, 10**30):
        for text in (str(value), hex(value)):
            with pytest.raises(LiteralError, match=f"expected {low} to {high}, found") as caught:
                parse_raw(element, f"[{'1, ' * padding}{text}]", [padding + 1])
            assert (caught.value.offset, caught.value.length) == (1 + 3 * padding, len(text))


NOT_INTEGERS = [
    "1.0",
    "1e2",
    "true",
    "+1",
    "- 1",
    "1_0",
    "nan",
    "",
    "\u0661",
    "1f",
    "0x",
    "--1",
    "-",
]


@pytest.mark.parametrize("text", NOT_INTEGERS)
@pytest.mark.parametrize("name", ["int64", "uint64", "int8", "uint4"])
@pytest.mark.parametrize("padding", [0, 200])
def test_invalid_integers_are_errors(name: str, text: str, padding: int) -> None:
    with pytest.raises(LiteralError) as caught:
        parse_raw(ELEMENTS[name], f"[{'1, ' * padding}{text}, 2]", [padding + 2])
    assert caught.value.offset == 1 + 3 * padding
    fixes = {"1.0": "1", "1e2": "100", "true": "1", "1_0": "10", "+1": "1", "1f": "1"}
    assert caught.value.instead == fixes.get(text)


def test_many_leading_zeros_are_allowed() -> None:
    assert parse_raw(INT64, f"[{'0' * 5000}7]", [1]) == np.int64(7).tobytes()
    with pytest.raises(LiteralError, match=r"found `1000.*\.\.\."):
        parse_raw(INT64, f"[1{'0' * 5000}]", [1])


@pytest.mark.parametrize("padding", [0, 100])
@pytest.mark.parametrize("text", ["0", "1", "True", "TRUE", "truefalse", "falsetrue", "2", "", "t"])
def test_bools_must_be_words(text: str, padding: int) -> None:
    with pytest.raises(LiteralError) as caught:
        parse_raw(ELEMENTS["bool"], f"[{'true, ' * padding}{text}, false]", [padding + 2])
    assert caught.value.offset == 1 + 6 * padding
    fix = {"0": "write `false`", "1": "write `true`"}.get(text)
    if fix:
        assert caught.value.help == fix


@given(st.lists(st.booleans(), max_size=100))
def test_bools_become_bytes(values: list[bool]) -> None:
    text = ",".join("true" if value else "false" for value in values)
    assert parse_raw(ELEMENTS["bool"], f"[{text}]", [len(values)]) == bytes(values)


@pytest.mark.parametrize("padding", [0, 100])
@pytest.mark.parametrize(
    ("text", "real", "imaginary"),
    [
        ("1.0+2.0j", 0x3F800000, 0x40000000),
        ("-0.0-1.0j", 0x80000000, 0xBF800000),
        ("1+2j", 0x3F800000, 0x40000000),
        ("1e0-2e-0j", 0x3F800000, 0xC0000000),
        ("3", 0x40400000, 0),
        ("-0", 0x80000000, 0),
        ("nan-nanj", 0x7FC00000, 0xFFC00000),
        ("-inf+infj", 0xFF800000, 0x7F800000),
        ("nan(0x7f800001)-nan(0x7f800001)j", 0x7F800001, 0xFF800001),
        ("0x1p0+0x1p1j", 0x3F800000, 0x40000000),
        ("1.00000017881393432617187499+0j", 0x3F800001, 0),
    ],
)
def test_complex_numbers_are_read(text: str, real: int, imaginary: int, padding: int) -> None:
    data = parse_raw(ELEMENTS["complex64"], f"[{'1, ' * padding}{text}]", [padding + 1])
    assert np.frombuffer(data, "<u4")[-2:].tolist() == [real, imaginary]
    if "(" not in text:
        wide = parse_raw(ELEMENTS["complex128"], f"[{text}]", [1])
        both = np.frombuffer(wide, "<f8").astype(np.float32).view(np.uint32).tolist()
        if "00000" not in text:
            assert both == [real, imaginary]


@pytest.mark.parametrize("padding", [0, 100])
@pytest.mark.parametrize("text", ["2.0j", "1.0+2.0", "1.0+-2.0j", "1+2i", "1 + 2j", "j", "1e39+1j"])
def test_invalid_complex_numbers_are_errors(text: str, padding: int) -> None:
    with pytest.raises(LiteralError) as caught:
        parse_raw(ELEMENTS["complex64"], f"[{'1, ' * padding}{text}]", [padding + 1])
    assert 0 <= caught.value.offset - (1 + 3 * padding) <= 1
    if text == "2.0j":
        assert caught.value.help == "write both parts, as `1.0+2.0j`"


def test_strings_are_never_raw() -> None:
    for read in (lambda e, t: parse_raw(e, t, [1]), parse_scalar):
        with pytest.raises(LiteralError, match="expected strings in braces") as caught:
            read(ELEMENTS["string"], ' ["a"]')
        assert caught.value.help == "write `{…}`"
        assert (caught.value.offset, caught.value.length) == (1, 5)


MISTAKES: list[tuple[str, list[int], str, int]] = [
    ("[1,2,3,4,5]", [2, 3], "expected 6 elements for [2, 3], found 5", 0),
    ("[]", [], "expected 1 element for [], found 0", 0),
    ("[1, 2]", [], "expected 1 element for [], found 2", 0),
    ("[1]", [0], "expected 0 elements for [0], found 1", 0),
    ("[1, ...]", [0], "expected 0 elements for [0], found 1", 0),
    ("[1]", [-1], "expected dimensions of at least 0, found [-1]", 0),
    ("[[1,2,3],[4,5]]", [2, 3], "expected 3 elements here for [2, 3], found 2", 13),
    ("[[1,2,3]]", [2, 3], "expected 2 rows here for [2, 3], found 1", 8),
    ("[[1,2],[3,4],[5,6]]", [2, 2], "expected 2 rows here for [2, 2], found 3", 18),
    ("[[1,2],[1,2],[3,4]]", [2, 2], "expected 2 rows here for [2, 2], found 3", 7),
    ("[[1,2],[3,4],[3,4]]", [2, 2], "expected 2 rows here for [2, 2], found 3", 13),
    ("[[1],[1],[1],[3]]", [3, 1], "expected 3 rows here for [3, 1], found 4", 9),
    ("[[1,2],[1,2],[3,4],[3,4]]", [3, 2], "expected 3 rows here for [3, 2], found 4", 24),
    ("[[1,2,],[4,],]", [2, 2], "expected 2 elements here for [2, 2], found 1", 11),
    ("[[1],[,]]", [2, 1], "expected an element before `,`", 6),
    ("[[1],[2,,]]", [2, 1], "expected an element before `,`", 8),
    ("[[1],[]]", [2, 1], "expected an element", 8),
    ("[[],[1]]", [2, 1], "expected an element before `,`", 3),
    ("[[1],,[2]]", [2, 1], "expected an element before `,`", 5),
    ("[,[1],[2]]", [2, 1], "expected an element before `,`", 1),
    ("[[1]]", [1], "expected 1 level of brackets for [1], found 2", 0),
    ("[[[1]]]", [1, 1], "expected 1 or 2 levels of brackets for [1, 1], found 3", 0),
    (" [ [1,2]]", [2, 1, 1], "expected 1 or 3 levels of brackets for [2, 1, 1], found 2", 1),
    ("[[1,2] [3,4]]", [2, 2], "expected `,` or `]`, found `[`", 7),
    ("[[1,2],3,4]", [2, 2], "expected `[` for [2, 2], found `3`", 7),
    ("[[1,2],[[3],4]]", [2, 2], "expected an element for [2, 2], found `[`", 8),
    ("[1,[2]]", [2], "expected an element for [2], found `[`", 3),
    ("[[1,2],[3,4]] 5", [2, 2], "expected `]` at the end", 14),
    ("[[1,2],[3,4]]]", [2, 2], "expected nothing after `]`, found `]`", 13),
    ("[[1,2],[3,4]", [2, 2], "expected `]` at the end", 11),
    ("x[[1,2],[3,4]]", [2, 2], "expected `[`", 0),
    ("[[0, ...]]", [1, 4], "expected no `...` in nested brackets", 5),
    ("[[],[],[]]", [2, 0], "expected 2 rows here for [2, 0], found 3", 9),
    ("[[1],[]]", [2, 0], "expected 0 elements for [2, 0], found 1", 0),
    ("[1,,2]", [2], "expected an element before `,`", 3),
    ("[,1]", [1], "expected an element before `,`", 1),
    ("[,]", [0], "expected an element before `,`", 1),
    ("[1,,]", [1], "expected an element before `,`", 3),
    ("[1 2]", [2], "expected `,` between two elements", 2),
    ("[1\n2]", [2], "expected `,` between two elements", 2),
    ("[1.0 # x\n 2.0]", [2], "expected `,` between two elements", 4),
    ("[...]", [2], "expected an element and a comma before `...`", 1),
    ("[, ...]", [2], "expected an element and a comma before `...`", 3),
    ("[0 ...]", [2], "expected an element and a comma before `...`", 3),
    ("[0,, ...]", [2], "expected an element before `,`", 3),
    ("[0, ..., 1]", [3], "expected `...` after the last element only", 4),
    ("[0, ...]", [1 << 40], "expected at most 2 GiB of data", 0),
    ("1", [1], "expected `[`", 0),
    ("{1}", [1], "expected `[`", 0),
    ("[1", [1], "expected `]` at the end", 1),
    ("[1]]", [1], "expected an element, found `]`", 2),
    ("[1}", [1], "expected `]` at the end", 2),
    ("[{1}]", [1], "expected an element, found `{`", 1),
    ("", [1], "expected `[`", 0),
    ("[", [1], "expected `]` at the end", 0),
    ("]", [1], "expected `[`", 0),
    ("[\u0661]", [1], "expected a number, found `\u0661`", 1),
    ("[[1],[\u0661]]", [2, 1], "expected a number, found `\u0661`", 6),
    ("[1\u00a0]", [1], "expected a number, found `\\xa0`", 2),
    ("[1\x1c]", [1], "expected a number, found `1\x1c`", 1),
    ("[1\x00]", [1], "expected a number, found `1\x00`", 1),
    ('[1, "a"]', [2], 'expected a number, found `"a"`', 4),
    ("[1, 2 # ]", [2], "expected `]` at the end", 4),
]


@pytest.mark.parametrize(("text", "dims", "message", "offset"), MISTAKES)
def test_invalid_literals_are_errors(text: str, dims: list[int], message: str, offset: int) -> None:
    with pytest.raises(LiteralError) as caught:
        parse_raw(FLOAT, text, dims)
    assert (caught.value.message, caught.value.offset) == (message, offset)
    with pytest.raises(LiteralError):
        parse_raw(INT64, text, dims)


def test_huge_dims_take_no_time() -> None:
    for text in ("[[1, 2], [3, 4]]", "[1, 2]", "[[], []]"):
        with pytest.raises(LiteralError):
            parse_raw(FLOAT, text, [1 << 40, 1 << 40])
        with pytest.raises(LiteralError):
            parse_raw(FLOAT, text, [1 << 60, 0, 1 << 60])


PLAIN = st.sampled_from(["0", "-1", "7", "1.5", "-0.25", "1e3", "1.", "2.5E-3", "100", "16777217"])
ODD = st.sampled_from(
    ["nan", "-nan", "inf", "-INF", "nan(0x7f800001)", "0x1.8p3", "1e-400", "16777217.0000000001"]
)
BLANKS = st.sampled_from(["", " ", "\n", "\t", " \r\n ", "\v", "\f"])
NOISE = st.sampled_from([*"0123456789.,+-eE nxij_\n()tf#\x00\x1c", "1", "e+", "...", "0x", "inf"])


@st.composite
def texts(draw: Any) -> str:
    """Long lists of numbers, some with an error."""
    elements = draw(st.lists(st.one_of(PLAIN, PLAIN, PLAIN, ODD), min_size=3, max_size=12))
    elements *= 30
    blank = draw(BLANKS)
    text = f"[{f',{blank}'.join(elements)}{draw(st.sampled_from(['', ',', ' ,', '...']))}]"
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 2))
        text = text[:place] + draw(NOISE) + text[place + length :]
    return text


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["float", "double", "float16", "float8e4m3fn", "int64", "uint8"])
@settings(max_examples=draws(300))
@given(texts(), st.integers(0, 3))
@example("[" + "1.0, " * 100 + "1e400]", 0)
@example("[" + "1.0, " * 100 + "3.5e38]", 0)
@example("[" + "1.0, " * 100 + "-]", 0)
@example("[" + "1.0, " * 100 + ", 1.0]", 0)
@example("[" + "1, " * 100 + "- 5]", 0)
@example("[" + "1, " * 100 + "-, 5]", 0)
@example("[, " + "1, " * 100 + "]", 0)
@example("[" + "1, " * 100 + "+5]", 0)
@example("[" + "1, " * 100 + "9223372036854775808]", 0)
@example("[" + ".5, " * 100 + "]", 0)
@example("[" + "1.0, " * 100 + "1e5.5]", 0)
@example("[" + "1, " * 100 + ", 5]", 0)
@example("[" + "1, " * 100 + " \n,\t, 5]", 0)
@example("[" + "1 , " * 100 + "5]", 0)
@example("[" + "1 , " * 100 + " , 5]", 0)
@example("[" + "1 , " * 100 + "-\n, 5]", 0)
def test_bulk_and_scalar_reading_agree(name: str, text: str, extra: int) -> None:
    element = ELEMENTS[name]
    if element.kind in ("int", "uint"):
        text = text.replace(".5", "5").replace("1.,", "1,")
    dims = [text.count(",") + 1 - text.endswith(",]") + extra * text.count("...")]
    fast = outcome(parse_raw, element, text, dims)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(number_lists, "SHORT", 1 << 60)
        assert outcome(parse_raw, element, text, dims) == fast


@given(st.lists(st.integers(1, 4), min_size=2, max_size=3), st.data())
def test_damaged_nesting_is_rejected(dims: list[int], data: st.DataObject) -> None:
    """A missing or extra bracket or comma is an error, except trailing commas."""
    values = list(map(str, range(math.prod(dims))))
    text = nest(values, dims, blank="")
    place = data.draw(st.integers(0, len(text)))
    change = data.draw(st.sampled_from(["[", "]", ",", ""]))
    damaged = text[:place] + change + text[place + (not change) :]
    try:
        found = parse_raw(INT64, damaged, dims)
    except LiteralError as error:
        place = error.offset
    else:
        place = 0
        kept = damaged.replace(",]", "]").replace("[", " ").replace("]", " ").split(",")
        assert found == np.array([int(part) for part in kept], np.int64).tobytes()
        assert damaged.count("[") == damaged.count("]")
    assert 0 <= place <= len(damaged)
