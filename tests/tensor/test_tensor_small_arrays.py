# SPDX-License-Identifier: Apache-2.0
"""The fast path without numpy reads short literals to the same bytes, or leaves them to numpy."""

from __future__ import annotations

import struct
from unittest import mock

import numpy as np
import onnx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import onnxtext
from onnxtext.tensor import parse_literals as parse
from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.tensor.float_literals import float32_bits, float64_bits
from onnxtext.tensor.small_arrays import MAX_SMALL_LENGTH, flatten, parse_small

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def halfway(value: float) -> str:
    """The decimals of the number exactly between a float32 and the next one."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    (other,) = struct.unpack("<f", struct.pack("<I", (bits + 1) & 0xFFFFFFFF))
    return f"{(value + other) / 2:.40e}".replace("e+", "e")


def spelled(value: float) -> str:
    return repr(value).replace("e+", "e")


@given(FLOATS.map(spelled) | FLOATS.map(halfway) | st.from_regex(r"-?[0-9]{1,12}", fullmatch=True))
@example("1.00000017881393432617187499")  # a decimal that float64 rounds to exactly halfway
@example("7.038531e-26")
@example("1e-45")
@example("3.5e38")
@example("1e400")
@example("-0.0")
def test_short_float_lists_give_the_same_bits(text: str) -> None:
    result = parse_small(ELEMENTS["float"], f"[{text}, 1]", 2)
    if result is not None:
        assert result == struct.pack("<If", float32_bits(text), 1)
    result = parse_small(ELEMENTS["double"], f"[{text}]", 1)
    if result is not None:
        assert result == struct.pack("<Q", float64_bits(text))


def test_decimals_without_numpy_cover_most_floats() -> None:
    texts = [f"{index / 64}" for index in range(-400, 400)]
    assert all(parse_small(ELEMENTS["float"], f"[{text}]", 1) is not None for text in texts)


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "uint16", "int32", "int64", "uint64"])
@given(number=st.integers(-(1 << 65), 1 << 65))
def test_short_integer_lists_give_the_same_bytes(name: str, number: int) -> None:
    element = ELEMENTS[name]
    result = parse_small(element, f"[{number}, 7]", 2)
    low = -(1 << (element.bits - 1)) if element.kind == "int" else 0
    high = low + (1 << element.bits)
    size = element.bits // 8
    if result is not None:
        assert low <= number < high
        assert result[:size] == (number % (1 << element.bits)).to_bytes(size, "little")
    elif low <= number < high:
        assert abs(number) >= 10**18


@pytest.mark.parametrize(
    "text",
    ["[1 2]", "[1 ,2]", "[1_0, 2]", "[+1, 2]", "[.5, 2]", "[5., 2]", "[nan, 2]", "[0x1, 2]", "[]",
     "[1, 2,,]", "[,1, 2]", "[1, 2}", "{1, 2}", "[1, ...]", "[[1, 2]]", "[1, 2, 3]", "1, 2",
     "[1e9999, 2]", "[" + "1, " * MAX_SMALL_LENGTH + "1]", "[\u0661, 2]"],
)  # fmt: skip
def test_other_literals_are_left_to_the_slow_path(text: str) -> None:
    assert parse_small(ELEMENTS["float"], text, 2) is None
    assert parse_small(ELEMENTS["int64"], text, 2) is None


SMALL = st.lists(st.integers(-(10**17), 10**17), min_size=1, max_size=9)


@given(SMALL, st.lists(FLOATS.map(spelled), min_size=1, max_size=9))
def test_scalars_and_lists_of_attributes_are_read_without_numpy(
    integers: list[int], floats: list[str]
) -> None:
    texts = [f"[{', '.join(map(str, integers))}]", f"[{', '.join(floats)}]"]

    def read() -> list[object]:
        return [
            *[parse.parse_scalar(ELEMENTS["int64"], str(number)) for number in integers],
            *[parse.parse_scalar(ELEMENTS["float"], text) for text in floats],
            parse.parse_ints(texts[0]),
            parse.parse_floats(texts[1]),
        ]

    found = read()
    with mock.patch.object(parse, "parse_small", return_value=None):
        assert read() == found


@pytest.mark.parametrize("text", ["[0, 2, 1, 3]", "[-1]", "[\n  1,\n]"])
def test_small_lists_take_no_numpy(text: str) -> None:
    with mock.patch.object(parse, "flat_elements", side_effect=AssertionError("read in bulk")):
        parse.parse_ints(text)
        parse.parse_floats(text)
    with mock.patch.object(parse, "Elements", side_effect=AssertionError("read in bulk")):
        parse.parse_scalar(ELEMENTS["float"], "0.35355338")


BLANKS = st.text(" \t\n\v\f\r", max_size=6)


@given(numbers=st.lists(st.integers(-99, 99), min_size=1, max_size=9), data=st.data())
def test_blanks_and_a_trailing_comma_change_nothing(
    numbers: list[int], data: st.DataObject
) -> None:
    def spaced(separator: str) -> str:
        return separator + data.draw(BLANKS)

    items = "".join(f"{spaced(',') if index else ''}{one}" for index, one in enumerate(numbers))
    inside = data.draw(BLANKS) + items + data.draw(st.sampled_from(["", ","])) + data.draw(BLANKS)
    for name in ("float", "int64"):
        expected = parse_small(ELEMENTS[name], str(numbers), len(numbers))
        assert expected is not None
        assert parse_small(ELEMENTS[name], f"[{inside}]", len(numbers)) == expected
        assert parse_small(ELEMENTS[name], f"{{{inside}}}", None, "{}") == expected


@pytest.mark.parametrize("dims", [[30], [10, 3], [2, 5, 1, 3], [30, 1]])
@pytest.mark.parametrize("name", ["float", "int64"])
def test_small_literals_as_we_print_them_are_read_without_numpy(name: str, dims: list[int]) -> None:
    array = np.arange(30).reshape(dims).astype({"float": np.float32}.get(name, np.int64))
    tensor = onnx.numpy_helper.from_array(array, "w")
    graph = onnx.helper.make_graph([], "g", [], [], [tensor])
    text = onnxtext.from_binary(onnx.helper.make_model(graph).SerializeToString())
    _, _, literal = text.partition("w = ")
    literal = literal[: literal.rindex("]") + 1]
    assert "\n" in literal or len(dims) == 1
    with mock.patch.object(parse, "nested_elements", side_effect=AssertionError("read in bulk")):
        assert parse.read_raw(ELEMENTS[name], literal, dims) == array.tobytes()


@pytest.mark.parametrize(
    ("text", "dims", "flat"),
    [
        ("[[1, 2], [3, 4]]", [2, 2], "[1,2,3,4]"),
        ("[\n  [1, 2],\n  [3, 4],\n]", [2, 2], "[1,2,3,4]"),
        ("[[[1, 2]], [[3, 4]]]", [2, 1, 2], "[1,2,3,4]"),
        ("[[1, 2], [3, 4]]", [2, 1, 2], "[1,2,3,4]"),
        ("[[1 2, 3], [4, 5]]", [2, 2], None),
        ("[[1, 2], [3, 4]]", [4], None),
        ("[[1, 2], [3]]", [2, 2], None),
        ("[[1, 2], [3, 4]], []", [2, 2], None),
        ("[[1, 2],, [3, 4]]", [2, 2], None),
        ("[[1, 2,,], [3, 4]]", [2, 2], None),
        ("[[1, 2], [3, 4]] 5", [2, 2], None),
        ("[[1, 2], [3, 4] 5]", [2, 2], None),
        ("[[1, 2], 3 [4, 5]]", [2, 2], None),
        ("5 [[1, 2], [3, 4]]", [2, 2], None),
        ("[[]]", [1 << 40, 1 << 40], None),
    ],
)
def test_nested_literals_are_flattened(text: str, dims: list[int], flat: str | None) -> None:
    assert flatten(text, dims) == flat
