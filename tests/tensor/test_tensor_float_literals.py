# SPDX-License-Identifier: Apache-2.0
"""float32 and float64: every literal is rounded once, every bit pattern has a shortest text."""

from __future__ import annotations

import math
import re
import struct
from fractions import Fraction

import numpy as np
import onnx.parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.float_literals import float32_bits, float32_text, float64_bits, float64_text
from onnxtext.tensor.format_elements import format_rows
from tests.tensor.raw import parse_raw

FLOAT, DOUBLE = ELEMENTS["float"], ELEMENTS["double"]
FLT_MAX = 0x7F7FFFFF

HALFWAY = [
    ("1.00000017881393432617187499", 0x3F800001),
    ("1.000000178813934326171875", 0x3F800002),
    ("1.00000017881393432617187501", 0x3F800002),
    ("1.00000005960464477539062500", 0x3F800000),
    ("1.00000005960464477539062501", 0x3F800001),
    ("7.0064923216240853546186479164495807e-46", 0x00000001),
    ("7.0064923216240853546186479164495806e-46", 0x00000000),
    ("7.00649232162408535461864791644958e-46", 0x00000000),
    ("3.40282356779733661637539395458142568447e38", FLT_MAX),
    ("16777217", 0x4B800000),
    ("16777217.0000000000000000000000001", 0x4B800001),
    ("16777219", 0x4B800002),
    ("16777218.99999999999999999999999999", 0x4B800001),
    ("0x1.000001p0", 0x3F800000),
    ("0x1.00000100000000000000000001p0", 0x3F800001),
    ("0x1.000002ffffffffffffffffp0", 0x3F800001),
    ("0x1p-150", 0),
    ("0x1.0000000000000000000000001p-150", 1),
    ("0x1.fffffeffffffffffffp127", FLT_MAX),
]


@pytest.mark.parametrize(("text", "bits"), HALFWAY)
def test_float32_is_rounded_once(text: str, bits: int) -> None:
    assert float32_bits(text) == bits
    assert float32_bits(f"-{text}") == bits | 1 << 31
    many = f"[{', '.join([text, '0.5', f'-{text}'] * 50)}]"
    found = np.frombuffer(parse_raw(FLOAT, many, [150]), np.uint32).reshape(50, 3)
    assert (found == [bits, 0x3F000000, bits | 1 << 31]).all()


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("0", 0),
        ("-0", 1 << 31),
        ("-0.0", 1 << 31),
        ("-1e-99999999999999999999999", 1 << 31),
        ("0e99999999999999999999999", 0),
        ("1.", 0x3F800000),
        ("007", 0x40E00000),
        ("1.e2", 0x42C80000),
        ("1E+2", 0x42C80000),
        ("inf", 0x7F800000),
        ("-Infinity", 0xFF800000),
        ("INF", 0x7F800000),
        ("nan", 0x7FC00000),
        ("-nan", 0xFFC00000),
        ("NaN", 0x7FC00000),
        ("nan(0x7f800001)", 0x7F800001),
        ("-nan(0x7f800001)", 0xFF800001),
        ("nan(0xff800001)", 0xFF800001),
        ("-nan(0xff800001)", 0xFF800001),
        ("NAN(0X7FFFFFFF)", 0x7FFFFFFF),
        ("0x1.8p3", 0x41400000),
        ("-0X1.P0", 0xBF800000),
        ("0x0p0", 0),
        ("0x" + "0" * 5000 + "1p+" + "0" * 5000 + "1", 0x40000000),
        ("0x1p-99999999999999999", 0),
        ("0." + "0" * 5000 + "1e5001", 0x3F800000),
        ("1" + "0" * 5000 + "e-5000", 0x3F800000),
    ],
)
def test_float32_literals_give_their_bits(text: str, bits: int) -> None:
    assert float32_bits(text) == bits


def test_float64_literals_give_their_bits() -> None:
    for text, value in (("0.1", 0.1), ("-0", -0.0), ("5e-324", 5e-324), ("0x1.8p3", 12.0)):
        assert float64_bits(text) == struct.unpack("<Q", struct.pack("<d", value))[0]
    assert float64_bits("nan") == 0x7FF8000000000000
    assert float64_bits("-nan") == 0xFFF8000000000000
    assert float64_bits("-inf") == 0xFFF0000000000000
    assert float64_bits("nan(0x7ff0000000000001)") == 0x7FF0000000000001
    assert float64_bits("0x1.00000000000008p0") == 0x3FF0000000000000
    assert float64_bits("0x1.000000000000080000000001p0") == 0x3FF0000000000001


BAD = {
    "": None,
    "01e": "write digits after the `e`",
    "1e+": "write digits after the `e`",
    "- 5": "write the sign directly before the digits",
    "a_b": None,
    " 1": None,
    "1 ": None,
    "1,": None,
    "--1": None,
    "- inf": None,
    "nan()": None,
    "nan(7)": None,
    "nan (0x7f800001)": None,
    "infinit": None,
    "nan_": None,
    "true": None,
    "\u0661": None,
    "1\u0661": None,
    "1\x00": None,
    "1\n": None,
}


OTHER = {
    ".5": ("number-without-zero", "0.5"),
    "-.5": ("number-without-zero", "-0.5"),
    "+1": ("number-plus-sign", "1"),
    "+.5": ("number-plus-sign", "0.5"),
    "+inf": ("number-plus-sign", "inf"),
    "1_0": ("number-separator", "10"),
    "1f": ("number-suffix", "1"),
    "0x10": ("number-hex", "16"),
    "0x80000000": ("number-hex", "2147483648"),
    "-0x80000000": ("number-hex", "-2147483648"),
    "0x7f800000": ("number-hex", "2139095040"),
}


@pytest.mark.parametrize("text", OTHER)
def test_floats_in_other_spellings_are_errors_with_a_correction(text: str) -> None:
    for read in (float32_bits, float64_bits):
        with pytest.raises(LiteralError) as caught:
            read(text)
        assert caught.value.length == len(text)
        assert (caught.value.code, caught.value.instead) == OTHER[text]


def test_hexadecimal_integers_may_be_bits_of_a_nan() -> None:
    for text, read in (("0x7f800001", float32_bits), ("0x7ff0000000000001", float64_bits)):
        for minus in ("", "-"):
            with pytest.raises(LiteralError) as caught:
                read(minus + text)
            value = f"{minus}{int(text, 16)}"
            help = f"write `{value}` for the value or `{minus}nan({text})` for the bits of a nan"
            assert (caught.value.help, caught.value.instead) == (help, None)


@pytest.mark.parametrize("text", BAD)
def test_invalid_floats_are_errors(text: str) -> None:
    for read in (float32_bits, float64_bits):
        with pytest.raises(LiteralError, match="expected a number, found ") as caught:
            read(text)
        assert caught.value.length == len(text)
        if BAD[text]:
            assert caught.value.help == BAD[text]


@pytest.mark.parametrize(
    "text",
    ["3.40282356779733661637539395458142568448e38", "1e39", "-1e400", "0x1.ffffffp127", "0x1p9999"],
)
def test_overflow_is_an_error(text: str) -> None:
    with pytest.raises(LiteralError, match="out of range for float") as caught:
        float32_bits(text)
    minus = "-" if text[0] == "-" else ""
    assert caught.value.help == f"write `{minus}inf` if infinity is meant"


@pytest.mark.parametrize("text", ["1e309", "-1e400", "0x1p1024"])
def test_overflow_of_double_is_an_error(text: str) -> None:
    with pytest.raises(LiteralError, match="out of range for double"):
        float64_bits(text)


@pytest.mark.parametrize(
    "text", ["nan(0x7f800000)", "nan(0x1)", "nan(0x17f800001)", "-nan(0x3f800000)", "nan(0x0)"]
)
def test_a_payload_must_be_a_nan(text: str) -> None:
    with pytest.raises(LiteralError, match="expected the 32 bits of a nan"):
        float32_bits(text)
    with pytest.raises(LiteralError, match="expected the 64 bits of a nan"):
        float64_bits(text)


@pytest.mark.parametrize(
    ("value", "text", "with_point"),
    [
        (1.0, "1", "1.0"),
        (0.5, "0.5", "0.5"),
        (-0.0, "-0", "-0.0"),
        (1e22, "1e22", "1e22"),
        (1e-5, "0.00001", "0.00001"),
        (1e-7, "1e-7", "1e-7"),
        (1e10, "10000000000", "10000000000.0"),
        (16777216.0, "16777216", "16777216.0"),
        (float("inf"), "inf", "inf"),
        (float("-inf"), "-inf", "-inf"),
    ],
)
def test_floats_are_spelled_as_expected(value: float, text: str, with_point: str) -> None:
    single = struct.unpack("<I", struct.pack("<f", value))[0]
    double = struct.unpack("<Q", struct.pack("<d", value))[0]
    assert (float32_text(single), float32_text(single, point=True)) == (text, with_point)
    assert float64_text(double) == text


def test_spelling_of_the_ranges_does_not_depend_on_orjson() -> None:
    def single(text: str) -> str:
        return float32_text(float32_bits(text))

    def double(text: str) -> str:
        return float64_text(float64_bits(text))

    assert [single(f"1e{n}") for n in (-7, -6, 12, 13)] == [
        "1e-7",
        "0.000001",
        "1000000000000",
        "1e13",
    ]
    assert [double(f"1e{n}") for n in (-6, -5, 15, 16)] == [
        "1e-6",
        "0.00001",
        "1000000000000000",
        "1e16",
    ]
    assert (single("3.4028235e38"), double("1.5e300")) == ("3.4028235e38", "1.5e300")


def test_nans_are_spelled_with_their_bits() -> None:
    for bits, text in (
        (0x7FC00000, "nan"),
        (0xFFC00000, "-nan"),
        (0x7F800001, "nan(0x7f800001)"),
        (0xFFFFFFFF, "nan(0xffffffff)"),
    ):
        assert float32_text(bits) == float32_text(bits, point=True) == text
        assert float32_bits(text) == bits
    for bits, text in (
        (0x7FF8000000000000, "nan"),
        (0xFFF8000000000000, "-nan"),
        (0x7FF0000000000001, "nan(0x7ff0000000000001)"),
    ):
        assert float64_text(bits) == text
        assert float64_bits(text) == bits


def nearest(value: Fraction, code: int, width: int) -> bool:
    """Whether the float of these bits is the one nearest to `value`, ties to even."""
    form = {32: "<If", 64: "<Qd"}[width]

    def exact(bits: int) -> Fraction:
        number = struct.unpack("<" + form[2], struct.pack(form[:2], bits))[0]
        beyond = Fraction(2) ** {32: 128, 64: 1024}[width]
        return Fraction(number) if math.isfinite(number) else beyond

    here = abs(exact(code) - value)
    around = [abs(exact(c) - value) for c in (code - 1, code + 1) if c >= 0]
    return all(here < other or (here == other and code % 2 == 0) for other in around)


DECIMALS = st.builds(
    lambda whole, fraction, power: f"{whole}.{fraction}e{power}",
    st.integers(0, 10**20),
    st.from_regex("[0-9]{0,30}", fullmatch=True),
    st.integers(-70, 17),
)


@given(DECIMALS)
def test_float32_is_correctly_rounded(text: str) -> None:
    assert nearest(Fraction(text.replace(".e", "e")), float32_bits(text), 32)


@given(DECIMALS)
def test_float64_is_correctly_rounded(text: str) -> None:
    assert nearest(Fraction(text.replace(".e", "e")), float64_bits(text), 64)


@given(st.integers(0, FLT_MAX - 1), st.integers(-3, 3), st.integers(0, 25))
def test_float32_is_correctly_rounded_near_halfway_points(
    code: int, nudge: int, place: int
) -> None:
    low, high = np.array([code, code + 1], np.uint32).view(np.float32)
    middle = (Fraction(float(low)) + Fraction(float(high))) / 2
    value = middle + Fraction(nudge, 10 ** (place + 45))
    if value < 0:
        return
    digits = value * 10**200  # all halfway points have less than 200 decimals
    assert digits.denominator == 1
    text = f"{digits.numerator}e-200"
    found = float32_bits(text)
    assert nearest(value, found, 32)
    bulk = parse_raw(FLOAT, f"[{f'{text}, ' * 4}]", [4])
    assert np.frombuffer(bulk, np.uint32).tolist() == [found] * 4


def significant(text: str) -> int:
    """Count the significant digits of a decimal."""
    return len(text.lstrip("-").lower().split("e")[0].replace(".", "").strip("0"))


def check_float32(bits: np.ndarray, sample: int) -> None:
    data = bits.astype("<u4").tobytes()
    rows = format_rows(FLOAT, data, 16)
    assert parse_raw(FLOAT, f"[{','.join(rows)}]", [bits.size]) == data
    for index in np.linspace(0, bits.size - 1, sample).astype(int).tolist():
        code = int(bits[index])
        text = rows[index // 16].split(", ")[index % 16]
        assert float32_text(code) == text
        assert float32_bits(text) == code
        if "n" not in text:
            shortest = np.format_float_scientific(bits[index : index + 1].view(np.float32)[0])
            assert significant(text) == significant(shortest), text


def test_float32_patterns_round_trip() -> None:
    bits = np.random.default_rng(1).integers(0, 1 << 32, 100_000, dtype=np.uint32)
    check_float32(bits, 20_000)


def test_float32_edges_round_trip() -> None:
    exponents = np.arange(512, dtype=np.uint32) << 23
    near = np.arange(-3, 4, dtype=np.int64)
    bits = ((exponents[:, None] + near) % (1 << 32)).astype(np.uint32).reshape(-1)
    check_float32(bits, bits.size)


@pytest.mark.slow
def test_float32_of_every_exponent_round_trips() -> None:
    rng = np.random.default_rng(2)
    for top in range(512):  # sign and exponent: subnormals, all normals, infinity and NaNs
        low = rng.choice(1 << 23, 24_000, replace=False).astype(np.uint32)
        low[:4] = 0, 1, (1 << 23) - 1, 1 << 22
        check_float32(low | np.uint32(top << 23), 200)


def test_float64_patterns_round_trip() -> None:
    bits = np.random.default_rng(3).integers(0, 1 << 64, 100_000, dtype=np.uint64)
    bits[:4096] = np.arange(4096, dtype=np.uint64) << np.uint64(52)
    bits[4096:5000] = np.arange(904, dtype=np.uint64)
    data = bits.astype("<u8").tobytes()
    rows = format_rows(DOUBLE, data, 8)
    assert parse_raw(DOUBLE, f"[{','.join(rows)}]", [bits.size]) == data
    texts = ", ".join(rows).split(", ")
    for index in range(0, bits.size, 7):
        text, code = texts[index], int(bits[index])
        assert float64_text(code) == text
        assert float64_bits(text) == code
        if "n" not in text:
            shortest = np.format_float_scientific(bits[index : index + 1].view(np.float64)[0])
            assert significant(text) == significant(shortest)


@given(st.one_of(DECIMALS, st.sampled_from([text for text, _ in HALFWAY if "x" not in text])))
def test_agrees_with_the_official_parser(text: str) -> None:
    graph = onnx.parser.parse_graph(
        f"g () => () <float[1] w = {{{text}}}, double[1] d = {{{text}}}> {{}}"
    )
    single, double = graph.initializer
    assert np.float32(single.float_data[0]).view(np.uint32) == float32_bits(text)
    assert np.float64(double.double_data[0]).view(np.uint64) == float64_bits(text)


@given(st.integers(0, (1 << 32) - 1))
def test_point_keeps_a_float_from_looking_like_an_integer(bits: int) -> None:
    text = float32_text(bits, point=True)
    assert float32_bits(text) == bits
    assert re.search(r"[.en]", text)
    assert float32_bits(float32_text(bits)) == bits
