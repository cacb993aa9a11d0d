# SPDX-License-Identifier: Apache-2.0
"""Large literals: reading in bulk with numpy equals reading element by element."""

from __future__ import annotations

import math
import random
import struct
import sys
from collections.abc import Callable
from unittest import mock

import onnx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import onnxtext
from onnxtext.tensor import number_lists as readers
from onnxtext.tensor import parse_literals as parse
from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.tensor.parse_literals import parse_field, parse_typed
from tests.seeds import draws
from tests.tensor.raw import outcome, parse_raw

NUMERIC = [name for name, element in ELEMENTS.items() if element.bits >= 2]

plain_numbers = st.one_of(
    st.integers(-300, 300).map(str),
    st.decimals(-200, 200, places=3).map(str),
    st.floats(width=32, allow_nan=False).map(repr),
    st.floats().map(repr),
    st.from_regex(r"-?[0-9]{1,18}(\.[0-9]{0,18})?([eE][-+]?[0-9]{1,3})?", fullmatch=True),
)

ODD = ["nan", "-inf", "0x1.8p3", "-0", "1e400", "-.5", "+1", "1.", ".", "-", "1-2", "1.2.3"]
BIG = str(1 << 64)
odd_numbers = st.sampled_from([*ODD, BIG, "true", "é", "]", "_", "1_1", "1\x01", "", "1 2"])
numbers = st.one_of(plain_numbers, plain_numbers, plain_numbers, odd_numbers)
commas = st.sampled_from([", ", ", ", ", ", ",", ",\n  ", ", \t", " , "])
shapes = st.one_of(
    st.lists(st.integers(1, 5), max_size=3), st.sampled_from([[0], [2, 0], [3, 1, 7], [40, 2]])
)


def agree(read: Callable[..., object], *arguments: object) -> None:
    """Compare reading in bulk, also of short literals, with reading element by element."""
    with mock.patch.object(parse, "parse_small", return_value=None):
        with mock.patch.object(readers, "SHORT", 1):
            fast = outcome(read, *arguments)
        with mock.patch.object(readers, "SHORT", sys.maxsize):
            assert fast == outcome(read, *arguments)


@st.composite
def literals(draw: st.DrawFn, shape: list[int]) -> str:
    """Draw a literal, nested or flat, mostly valid."""
    items = draw(st.lists(numbers, min_size=math.prod(shape), max_size=math.prod(shape)))
    if draw(st.booleans()):
        return f"[{draw(commas).join(items)}]"
    comma, behind = draw(commas), draw(st.sampled_from(["", ",", ",\n ", " ,"]))
    for size in reversed(shape):
        rows = range(0, len(items), max(size, 1))
        items = [f"[{comma.join(items[at : at + size])}{behind}]" for at in rows]
    return comma.join(items)


@pytest.mark.thorough
@settings(max_examples=draws(400))
@given(st.data(), st.sampled_from(NUMERIC), shapes)
def test_reading_in_bulk_changes_nothing(data: st.DataObject, name: str, shape: list[int]) -> None:
    text = data.draw(literals(shape))
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(text)))
        instead = data.draw(st.sampled_from(["", ",", "[", "]", "],[", " ", "1", ".", "#\n", "\0"]))
        text = text[:at] + instead + text[at + data.draw(st.integers(0, 2)) :]
    agree(parse_raw, ELEMENTS[name], text, shape)


@settings(max_examples=draws(200))
@given(st.lists(numbers), commas, st.sampled_from(NUMERIC), st.sampled_from(["", ",", "..."]))
def test_braces_are_read_alike(items: list[str], comma: str, name: str, end: str) -> None:
    text = f"{{{comma.join(items)}{end}}}"
    agree(parse_typed, ELEMENTS[name], text)
    for field in ("float_data", "int32_data", "int64_data", "double_data", "uint64_data"):
        agree(parse_field, field, text)
    agree(parse.parse_ints, f"[{text[1:-1]}]")
    agree(parse.parse_floats, f"[{text[1:-1]}]")


@pytest.mark.parametrize("name", ["float", "float16", "double", "int8", "int64", "uint64"])
def test_plain_literals_are_read_in_bulk(name: str) -> None:
    """Otherwise, the tests above would compare the slow path with itself."""
    point = ".25" if ELEMENTS[name].kind == "float" else ""
    rows = [
        ", ".join(f"{17 * index % 100}{point}" for index in range(row, row + 8)) for row in range(9)
    ]
    nested = ",\n  ".join(f"[\n    {row},\n  ]" for row in rows)
    for text, shape in ((f"[\n  {nested},\n]", [9, 8]), (f"[{', '.join(rows)}]", [72])):
        with mock.patch.object(readers, "SHORT", sys.maxsize):
            expected = parse_raw(ELEMENTS[name], text, shape)
        with mock.patch.object(readers, "read_each", side_effect=AssertionError):
            assert parse_raw(ELEMENTS[name], text, shape) == expected


@given(st.integers(0, 10**17), st.integers(0, 17), st.booleans())
@example(9007199254740993, 1, False)
def test_decimals_are_rounded_once(digits: int, point: int, minus: bool) -> None:
    text = str(digits).rjust(point + 1, "0")
    text = ("-" if minus else "") + text[: len(text) - point] + "." + text[len(text) - point :]
    for name in ("float", "double", "float16", "bfloat16"):
        agree(parse_raw, ELEMENTS[name], f"[{', '.join([text] * 3)}]", [3])


@given(st.lists(st.tuples(st.integers(0, 10**18 - 1), st.integers(-330, 307)), min_size=1))
@example([(9007199254740993, 15), (9007199254740995, 15), (0, 90)])  # halfway, zero
@example([(10**18 - 1, 307), (1, -292), (22250738585072011, -308), (49406564584124654, -324)])
def test_texts_have_the_nearest_float64(numbers: list[tuple[int, int]]) -> None:
    texts = [f"{str(n)[0]}.{str(n)[1:] or 0}e{exponent}" for n, exponent in numbers]
    text = f"<ir_version: 10>\ng () => () <double[{len(texts)}] c = [{', '.join(texts)}]> {{}}"
    stored = onnx.ModelProto.FromString(onnxtext.to_binary(text)).graph.initializer[0].raw_data
    assert stored == struct.pack(f"<{len(texts)}d", *map(float, texts))


@pytest.mark.parametrize("count", range(13, 20))
def test_numbers_of_many_digits_are_read_alike(count: int) -> None:
    """If the digits are no exact double, dividing them by a power of ten would round twice."""
    chance = random.Random(count)
    texts = []
    for point in [*range(1, count), *range(1, count)] * 4:
        digits = str(chance.randrange(10 ** (count - 1), 10**count))
        whole = digits[:point] if chance.random() < 0.7 else "0"
        texts.append(f"{chance.choice(('', '-'))}{whole}.{digits[point:]}")
    # The many short numbers in between let all numbers be read in bulk.
    numbers = [number for text in texts for number in (*["0.5"] * 9, text)]
    expected = struct.pack(f"<{len(numbers)}d", *map(float, numbers))
    assert parse_raw(ELEMENTS["double"], f"[{', '.join(numbers)}]", [len(numbers)]) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[1.5,, 2.5, 3.5]",
        "[1.5,, 2.5 3.5]",
        "[1.5, +2.5, 3.5]",
        "[1.5, !2.5, 3.5]",
        "[1.5, 2.5, (3.5]",
        "[1.5, 2.5 3.5,,]",
        "[[1.5,, 2.5 3.5]]",
        "[1.5, , 2.5, 3.5]",
        "[,1.5, 2.5, 3.5]",
        "[1.5, 2.5, 3.5,,]",
        "[1.5, 2.5 3.5]",
        "[1.5, 2.5, 3.5 4.5,]",
        "[1.5, 2.5, 3.5,]",
        "[[1.5, 2.5,, 3.5]]",
        "[[1.5, 2.5, 3.5,,]]",
        "[[1.5, 2.5, 3.5],,]",
        "[[,1.5, 2.5, 3.5]]",
        "[[1.5, 2.5, 3.5]",
        "[[1.5, 2.5], [3.5]]",
    ],
)
@pytest.mark.parametrize("shape", [[3], [2], [4], [1, 3], [3, 1], [2, 2]])
def test_commas_and_brackets_are_read_alike(text: str, shape: list[int]) -> None:
    for element in ("float", "double"):
        agree(parse_raw, ELEMENTS[element], text, shape)
        agree(parse_raw, ELEMENTS[element], text.replace("1.5,", "0.25,\n" * 20 + "1.5,"), shape)
    agree(parse_raw, ELEMENTS["int32"], text.replace(".5", ""), shape)
