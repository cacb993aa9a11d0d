# SPDX-License-Identifier: Apache-2.0
"""Both cores read the same literals and operators, and report the same errors."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onnxtext.select_core import core
from onnxtext.tensor.element_types import ELEMENTS
from tests.syntax.cores import assert_same_in_both

pytestmark = pytest.mark.skipif(core() != "native", reason="the native core does not run")

INTEGERS = [
    *("0", "1", "-1", "-0", "00", "+1", "15", "16", "-8", "127", "128", "-129", "255", "256"),
    *(
        str(sign * 2**bits + add)
        for bits in (31, 32, 63, 64)
        for sign in (1, -1)
        for add in (-1, 0)
    ),
    *("9" * digits for digits in (18, 19, 20, 40)),
]
DECIMALS = [
    *(
        "1.5",
        "-0.1",
        "0.0",
        "-0.0",
        "1.",
        "1e5",
        "1E5",
        "1e+5",
        "2.5e-3",
        "1.5E+2",
        "1e30",
        "1e-30",
    ),
    *(
        "448.0",
        "449.0",
        "240.5",
        "57344.0",
        "65504.0",
        "65520.0",
        "1e400",
        "0.0009765625",
        "3.3e-5",
    ),
    *("1.0625", "1.1875", "2.125", "0.100000001490116119384765625", "1e", "1.5.5", "1e+-5", "nan"),
]
SPECIAL = ["inf", "-inf", "nan", "-nan", "+inf", "Inf", "infinity", "nan(0x7f800001)", "nan()"]
OTHERS = [
    *SPECIAL,
    "true",
    "false",
    "True",
    "truefalse",
    "0x1f",
    "0x1p3",
    "-inf",
    '"s"',
    "1+2j",
    "...",
    "",
    "a",
]
STORED = [
    *('external("w.bin", 0, 8)', 'external("w.bin", 01)', 'external("w", 1, 2, 3)', "external()"),
    *('external(b"\\xff", 5)', "external(1)", 'external("w", "1")', 'external("w") raw_data("")'),
    *('["location": "w"]', 'blob"0123456789abcdef"', 'file"w.bin#a"', "raw_data()", "{}", "[]"),
    *("[ ]", "{ }", "12", "{,}", "[[]]"),
]


@st.composite
def initializers(draw: st.DrawFn) -> str:
    """Return a type, a name and data that often fit together."""
    dims = draw(st.sampled_from(["", "[]", "[0]", "[1]", "[2]", "[3]", "[2, 2]", "[N]", "[0, 2]"]))
    items = st.sampled_from([*INTEGERS, *DECIMALS, *OTHERS])
    few = st.sampled_from(draw(st.lists(items, min_size=1, max_size=3)))
    found = ", ".join(draw(st.lists(few, max_size=4)))
    form = draw(st.sampled_from(["{%s}", "[%s]", "%s", "[[%s], [1, 1]]", "{ %s , }"]))
    data = draw(st.sampled_from([form % found, form % found, *STORED]))
    type = draw(st.sampled_from([*ELEMENTS, "seq(float)", "sparse(float[2])", "undefined"]))
    return f"{type}{dims} t = {data}"


@pytest.mark.thorough
@given(st.lists(initializers(), min_size=1, max_size=3))
@example(["float16[2] t = {1.5, 3}", "bool[3] t = {true, 1, false}", "float8e4m3fn[1] t = [0.1]"])
@example(["float[0] t = -8", "float[2] t = {0, ...}", "float[2, 2] t = {{1, 2}, {3, 4}}"])
@example(["uint64[1] t = {18446744073709551615}", "int64[1] t = [-9223372036854775808]"])
def test_both_cores_read_the_same_initializers(items: list[str]) -> None:
    assert_same_in_both(f"g () => () <{', '.join(items)}> {{}}")


@pytest.mark.parametrize("digits", [15, 16, 17, 18, 19, 20, 21, 400])
@pytest.mark.parametrize("zeros", [0, 1, 18, 400])
def test_both_cores_read_the_same_long_decimals(digits: int, zeros: int) -> None:
    number = ("18446744073709551617" * 20)[:digits]  # 2**64 + 1: a mantissa of 64 bits would be 1
    forms = [f"0.{'0' * zeros}{number}", f"-{'0' * zeros}{number}.0", f"{number[:5]}.{number[5:]}"]
    for type in ("float", "double", "bfloat16"):
        for form in forms:
            assert_same_in_both(f"g () => () <{type}[1] t = {{{form}}}> {{}}")


PARTS = [*DECIMALS, *SPECIAL, "0", "12", "-3", ".5", "", "0x1", "16777217.0", "1.4e-45"]
COMPLEXES = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(PARTS),
    st.sampled_from(["+", "-", "", "+", " +", "+-"]),
    st.sampled_from(PARTS),
    st.sampled_from(["j", "j", "j", "J", "", "i", "jj", " j"]),
)


@pytest.mark.thorough
@given(
    st.sampled_from(["complex64", "complex128"]),
    st.sampled_from(["[%s]", "{%s}", "[%s, ...]", "{ %s , }", "[[%s]]"]),
    st.lists(st.one_of(COMPLEXES, st.just("1.5-2.0j"), st.sampled_from(PARTS)), max_size=3),
    st.integers(0, 3),
)
@example("complex64", "[%s]", ["1.0+2.0j", "-0.0-inf" + "j", "nan+1.5e3j"], 3)
@example("complex128", "{%s}", ["1", "2.5"], 1)
def test_both_cores_read_the_same_complex_numbers(
    type: str, form: str, items: list[str], count: int
) -> None:
    data = form % ", ".join(items)
    assert_same_in_both(f"g () => () <{type}[{count}] t = {data}> {{}}")


@given(st.text('ab\\"\n\u00e9', max_size=8))
def test_both_cores_read_the_same_backslashes(text: str) -> None:
    assert_same_in_both(f'g () => () {{ x = A <b = "{text}"> () }}')


@pytest.mark.thorough
@given(
    st.lists(st.sampled_from([*INTEGERS, *DECIMALS, *OTHERS]), min_size=1, max_size=4),
    st.sampled_from(["[%s]", "[%s,]", "[\n    %s,\n  ]", "[ %s , , ]"]),
)
@example(["nan", "-inf", "1.5"], "[%s]")
@example(["9223372036854775807", "-9223372036854775808"], "[%s,]")
@example(["1", ""], "[%s,]")
@example(["1.5"], "[ %s , ]")
def test_both_cores_read_the_same_attributes(items: list[str], form: str) -> None:
    for kind in ("", ": int", ": float", ": ints", ": floats"):
        value = form % ", ".join(items) if kind.endswith("s") or len(items) > 1 else items[0]
        assert_same_in_both(f"g () => () {{ x = A <b{kind} = {value}> () }}")


@pytest.mark.thorough
@given(
    st.lists(
        st.sampled_from(
            ["a", "Op", "ä", '"q.r"', '""', 'b"\\xff"', ".", ".", ".", " ", "\n", "// c\n"]
        ),
        min_size=1,
        max_size=7,
    )
)
@example(["a", ".", "b", ".", "Op"])
@example(["a", ".", "b", ".", '"Op"'])
@example(["a", " ", ".", "b", ".", "Op"])
@example([".", "a", ".", "b", ".", "Op"])
def test_both_cores_read_the_same_operators(parts: list[str]) -> None:
    for end in ("", ":o"):
        assert_same_in_both(f"g () => () {{ x = {''.join(parts)}{end} () }}")
