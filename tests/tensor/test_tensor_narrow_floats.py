# SPDX-License-Identifier: Apache-2.0
"""Floats of at most 16 bits: every code round-trips, and every decimal is rounded correctly."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxtext.tensor import shortest_decimals
from onnxtext.tensor.element_types import ELEMENTS, ElementType, raw_size
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.float_formats import FORMATS, round_double, round_doubles, value_of
from onnxtext.tensor.float_literals import narrow_bits
from onnxtext.tensor.format_elements import format_rows, format_typed, is_splat
from onnxtext.tensor.packing import pack
from onnxtext.tensor.parse_literals import parse_scalar, parse_typed
from tests.tensor.raw import parse_raw

DTYPES: dict[str, Any] = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8e8m0": ml_dtypes.float8_e8m0fnu,
    "float6e2m3": ml_dtypes.float6_e2m3fn,
    "float6e3m2": ml_dtypes.float6_e3m2fn,
    "float4e2m1": ml_dtypes.float4_e2m1fn,
}
NARROW = [ELEMENTS[name] for name in DTYPES]
each_narrow = pytest.mark.parametrize("element", NARROW, ids=lambda e: e.name)


def test_every_narrow_float_type_is_tested() -> None:
    narrow = {e.name for e in ELEMENTS.values() if e.kind == "float" and e.bits <= 16}
    assert set(DTYPES) == narrow


def codes_of(element: ElementType) -> np.ndarray:
    return np.arange(1 << element.bits, dtype=np.uint16 if element.bits == 16 else np.uint8)


def raw_of(element: ElementType, codes: np.ndarray) -> bytes:
    if element.bits < 8:
        return pack(codes.astype(np.uint8), element.bits).tobytes()
    return codes.astype(f"<u{element.bits // 8}").tobytes()


def narrow_text(element: ElementType, code: int) -> str:
    return shortest_decimals.narrow_text(element.name, code)


@functools.cache
def values_of(name: str) -> np.ndarray:
    form = FORMATS[name]
    return np.array([value_of(form, code) for code in range(1 << form.bits)])


@each_narrow
def test_values_are_those_of_ml_dtypes(element: ElementType) -> None:
    with np.errstate(invalid="ignore"):
        official = codes_of(element).view(DTYPES[element.name]).astype(np.float64)
    np.testing.assert_array_equal(values_of(element.name), official)
    assert (np.signbit(values_of(element.name)) == np.signbit(official))[official == 0].all()


@each_narrow
def test_every_code_round_trips_alone(element: ElementType) -> None:
    form = FORMATS[element.name]
    for code, value in enumerate(values_of(element.name).tolist()):
        text = narrow_text(element, code)
        assert narrow_bits(element, text) == code, text
        assert re.search(r"[.exn]", text), text
        if not np.isnan(value):
            assert np.signbit(float(text)) == np.signbit(value)
        elif code not in (form.nan, form.minus_nan):
            assert text == f"0x{code:0{element.bits // 4}x}"


@each_narrow
@pytest.mark.parametrize("row", [1, 16])
def test_every_code_round_trips_in_bulk(element: ElementType, row: int) -> None:
    codes = codes_of(element)
    data = raw_of(element, codes)
    rows = format_rows(element, data, row, codes.size)
    texts = [narrow_text(element, code) for code in codes.tolist()]
    assert rows == [", ".join(texts[i : i + row]) for i in range(0, len(texts), row)]
    assert parse_raw(element, f"[{','.join(rows)}]", [codes.size]) == data
    nested = f"[[{'],['.join(rows)}]]"
    assert parse_raw(element, nested, [codes.size // row, row]) == data
    finite = codes[np.isfinite(values_of(element.name))]  # no 0x…: takes the fast path
    rows = format_rows(element, raw_of(element, finite), row, finite.size)
    assert parse_raw(element, f"[{','.join(rows)}]", [finite.size]) == raw_of(element, finite)


@each_narrow
def test_every_code_round_trips_in_braces(element: ElementType) -> None:
    codes = codes_of(element)
    entries = codes if element.bits > 4 else np.frombuffer(raw_of(element, codes), np.uint8)
    data = entries.astype("<i4").tobytes()
    row = format_typed(element, data)
    assert row is not None
    assert parse_typed(element, f"{{{row}}}") == data
    assert parse_typed(element, f"{{{','.join(map(str, codes.tolist()))}}}") == data


@each_narrow
def test_every_code_round_trips_as_bits(element: ElementType) -> None:
    codes = codes_of(element).tolist()
    text = f"[{', '.join(map(hex, codes))}]"
    assert parse_raw(element, text, [len(codes)]) == raw_of(element, codes_of(element))
    with pytest.raises(LiteralError, match=f"expected at most {element.bits} bits") as caught:
        narrow_bits(element, hex(len(codes)))
    assert caught.value.help == f"the largest code is `{len(codes) - 1:#x}`"


def test_sixteen_bits_are_printed_without_numpy() -> None:
    """Importing numpy takes longer than converting a small model."""
    code = (
        "import sys; from onnxtext.tensor.shortest_decimals import narrow_text; "
        "print(narrow_text('float16', 0x3555), 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "0.3333 False\n"


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_sixteen_bits_print_the_shortest_decimal(name: str) -> None:
    """No decimal with fewer digits is read as the same code, and no decimal is closer."""
    top = FORMATS[name].top
    with localcontext(Context(prec=400)):
        exact = [Decimal(float(value)) for value in values_of(name)[: top + 1]]
        exact.append(2 * exact[-1] - exact[-2])
        for code in range(1, top + 1):
            value = exact[code]
            low, high = (exact[code - 1] + value) / 2, (value + exact[code + 1]) / 2
            text = narrow_text(ELEMENTS[name], code)
            for digits in range(1, 10):
                step = Decimal(1).scaleb(value.adjusted() - digits + 1)
                found = [value.quantize(step, r) for r in (ROUND_FLOOR, ROUND_CEILING)]
                found = [d for d in found if low < d < high or (code % 2 == 0 and d in (low, high))]
                if found:
                    break
            least = min(abs(d - value) for d in found)
            assert Decimal(text) in [d for d in found if abs(d - value) == least], (code, text)


def test_float16_prints_the_digits_of_numpy() -> None:
    for code in range(0, 0x7C00, 7):
        theirs = str(np.array([code], np.uint16).view(np.float16)[0])
        assert float(theirs) == float(narrow_text(ELEMENTS["float16"], code))


@pytest.mark.parametrize(
    ("name", "code", "text"),
    [
        ("float16", 0x3C00, "1.0"),
        ("float16", 0xB800, "-0.5"),
        ("float16", 0x2E66, "0.1"),
        ("float16", 0x8000, "-0.0"),
        ("float16", 0x0001, "6e-8"),
        ("float16", 0x7BFF, "65500.0"),
        ("float16", 0x7E00, "nan"),
        ("float16", 0xFE00, "-nan"),
        ("float16", 0x7E01, "0x7e01"),
        ("float16", 0xFC00, "-inf"),
        ("bfloat16", 0x3DCD, "0.1"),
        ("bfloat16", 0x7F7F, "3.39e38"),
        ("bfloat16", 0x7FC1, "0x7fc1"),
        ("float8e4m3fn", 0x7E, "448.0"),
        ("float8e4m3fn", 0x36, "0.875"),
        ("float8e4m3fn", 0x7F, "nan"),
        ("float8e4m3fn", 0xFF, "-nan"),
        ("float8e4m3fnuz", 0x80, "nan"),
        ("float8e5m2", 0x7C, "inf"),
        ("float8e5m2", 0x7E, "nan"),
        ("float8e5m2", 0x7D, "0x7d"),
        ("float8e5m2fnuz", 0x80, "nan"),
        ("float8e8m0", 0x7F, "1.0"),
        ("float8e8m0", 0x89, "1024.0"),
        ("float8e8m0", 0x00, "5.877472e-39"),
        ("float8e8m0", 0xFE, "1.7014118e38"),
        ("float8e8m0", 0xFF, "nan"),
        ("float6e2m3", 0x1F, "7.5"),
        ("float6e3m2", 0x1F, "28.0"),
        ("float4e2m1", 0x7, "6.0"),
        ("float4e2m1", 0x8, "-0.0"),
    ],
)
def test_narrow_floats_are_spelled_as_expected(name: str, code: int, text: str) -> None:
    assert narrow_text(ELEMENTS[name], code) == text
    assert narrow_bits(ELEMENTS[name], text) == code


def nearest_code(element: ElementType, value: Fraction) -> int | None:
    """Round by definition: to the nearest number with unbounded exponents, ties to even."""
    form = FORMATS[element.name]
    values = values_of(element.name)
    size = abs(value)
    exact = [Fraction(float(values[code])) for code in range(form.top + 1)]
    # The value of the next code, as if it were a number.
    exact.append(exact[-1] * 2 if form.mantissa == 0 else 2 * exact[-1] - exact[-2])
    if form.mantissa and (form.top + 1) % (1 << form.mantissa) == 1:
        exact[-1] = exact[-2] + 2 * (exact[-2] - exact[-3])
    if not form.zero and (size < exact[0] * Fraction(3, 4) or value < 0):
        return None
    best = min(abs(number - size) for number in exact)
    code = min((c for c, n in enumerate(exact) if abs(n - size) == best), key=lambda c: c % 2)
    if code > form.top:
        return None
    return code | (form.sign if value < 0 and (code or form.minus_zero) else 0)


SMALL = [element for element in NARROW if element.bits <= 8]


@pytest.mark.parametrize("element", SMALL, ids=lambda e: e.name)
@given(
    st.one_of(
        st.fractions(-600, 600).map(lambda f: f.limit_denominator(1 << 20)),
        st.integers(0, 254).map(lambda n: Fraction(3, 2) * Fraction(2) ** (n - 130)),
        st.integers(-1300, 1300).map(lambda n: Fraction(n, 64)),
    ),
    st.integers(-1, 1),
)
def test_decimals_are_correctly_rounded(element: ElementType, value: Fraction, nudge: int) -> None:
    value = Fraction(round(value * (1 << 200)), 1 << 200) + Fraction(nudge, 10**220)
    digits = value * 10**220
    assert digits.denominator == 1
    text = f"{digits.numerator}e-220"
    expected = nearest_code(element, value)
    if expected is None:
        with pytest.raises(LiteralError):
            narrow_bits(element, text)
        with pytest.raises(LiteralError):
            parse_raw(element, f"[1.0, {text}]", [2])
        return
    assert narrow_bits(element, text) == expected
    data = raw_of(element, np.array([expected] * 4))
    assert parse_raw(element, f"[{f'{text}, ' * 4}]", [4]) == data


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@given(st.data())
def test_sixteen_bits_round_correctly_near_halfway_points(name: str, data: st.DataObject) -> None:
    element, form = ELEMENTS[name], FORMATS[name]
    code = data.draw(st.integers(0, form.top - 1))
    low, high = (Fraction(float(v)) for v in values_of(name)[code : code + 2])
    nudge = data.draw(st.integers(-1, 1))
    digits = ((low + high) / 2 + Fraction(nudge, 10**210)) * 10**210
    assert digits.denominator == 1
    expected = code if nudge < 0 else code + 1 if nudge > 0 else code + code % 2
    text = f"{digits.numerator}e-210"
    assert narrow_bits(element, text) == expected
    assert narrow_bits(element, f"-{text}") == expected | 0x8000
    bulk = parse_raw(element, f"[{f'{text}, ' * 3}-{text}]", [4])
    assert np.frombuffer(bulk, "<u2").tolist() == [expected] * 3 + [expected | 0x8000]


@each_narrow
def test_scalar_and_bulk_rounding_agree(element: ElementType) -> None:
    form = FORMATS[element.name]
    values = values_of(element.name)[: form.top + 1]
    middles = (values[1:] + values[:-1]) / 2
    tried = np.concatenate(
        (values, middles, np.nextafter(middles, np.inf), np.nextafter(middles, 0))
    )
    rounded = round_doubles(form, tried)
    assert rounded is not None
    one_by_one = [round_double(form, value) for value in tried.tolist()]
    assert rounded[0].tolist() == [code for code, _ in one_by_one]
    assert rounded[1].tolist() == [i for i, (_, half) in enumerate(one_by_one) if half]
    assert {*rounded[1].tolist()} == {*range(values.size, values.size + middles.size)}


@pytest.mark.parametrize(
    ("name", "text", "message", "fix"),
    [
        (
            "float16",
            "15360",
            "`15360` could be a value or the bits of float16",
            "write `15360.0` for the value or `0x3c00` for the bits",
        ),
        (
            "float16",
            "-1",
            "`-1` could be a value or the bits of float16",
            "write `-1.0` for the value",
        ),
        (
            "float4e2m1",
            "16",
            "`16` could be a value or the bits of float4e2m1",
            "write `16.0` for the value",
        ),
        (
            "float16",
            "65520.0",
            "`65520.0` is out of range for float16",
            "write `inf` if infinity is meant",
        ),
        (
            "float16",
            "-65520.0",
            "`-65520.0` is out of range for float16",
            "write `-inf` if infinity is meant",
        ),
        (
            "float16",
            "1e999",
            "`1e999` is out of range for float16",
            "write `inf` if infinity is meant",
        ),
        (
            "float8e4m3fn",
            "465.0",
            "`465.0` is out of range for float8e4m3fn",
            "the largest number is `448.0`",
        ),
        (
            "float4e2m1",
            "7.0",
            "`7.0` is out of range for float4e2m1",
            "the largest number is `6.0`",
        ),
        (
            "float8e4m3fn",
            "inf",
            "float8e4m3fn has no infinity",
            "write the largest number, `448.0`",
        ),
        ("float6e2m3", "-inf", "float6e2m3 has no infinity", "write the lowest number, `-7.5`"),
        ("float8e8m0", "-inf", "float8e8m0 has no infinity", None),
        ("float6e3m2", "nan", "float6e3m2 has no nan", "write a number"),
        ("float4e2m1", "-nan", "float4e2m1 has no nan", "write a number"),
        ("float8e5m2fnuz", "-nan", "float8e5m2fnuz has no nan with a sign", "write `nan`"),
        (
            "float16",
            "nan(0x3c00)",
            "expected a value or bits of float16, found `nan(0x3c00)`",
            "write the bits of a nan of float16, such as `0x7e00`",
        ),
        ("float16", "-0x1", "expected a number, found `-0x1`", None),
        ("float16", "0x", "expected a number, found `0x`", None),
        ("float16", "", "expected a number, found nothing", None),
        ("float16", "1_0.0", "a number cannot have `_` between its digits", None),
    ],
)
def test_invalid_narrow_floats_are_errors(
    name: str, text: str, message: str, fix: str | None
) -> None:
    with pytest.raises(LiteralError) as caught:
        narrow_bits(ELEMENTS[name], text)
    assert caught.value.message == message
    if fix is not None:
        assert caught.value.help == fix
    with pytest.raises(LiteralError) as caught:
        parse_raw(ELEMENTS[name], f"[{'1.0, ' * 100}{text}, 1.0]", [102])
    assert caught.value.offset == 501
    with pytest.raises(LiteralError):
        parse_scalar(ELEMENTS[name], text)


@pytest.mark.parametrize("text", ["0.0", "-1.0", "-0.0", "1e-40", "0x0p0", "-0x1p0"])
def test_float8e8m0_has_neither_sign_nor_zero(text: str) -> None:
    element = ELEMENTS["float8e8m0"]
    with pytest.raises(LiteralError, match=r"expected a power of two from 2\^-127 to 2\^127"):
        narrow_bits(element, text)
    with pytest.raises(LiteralError) as caught:
        parse_raw(element, f"[{'1.0, ' * 100}{text}]", [101])
    assert (caught.value.offset, caught.value.length) == (501, len(text))


def test_formats_without_minus_zero_read_it_as_zero() -> None:
    for name in ("float8e4m3fnuz", "float8e5m2fnuz"):
        for text in ("-0.0", "-1e-30"):
            assert narrow_bits(ELEMENTS[name], text) == 0
            assert parse_raw(ELEMENTS[name], f"[{f'{text}, ' * 99}]", [99]) == bytes(99)
    assert narrow_bits(ELEMENTS["float4e2m1"], "-0.0") == 8


def test_hexadecimal_floats_are_values() -> None:
    assert narrow_bits(ELEMENTS["float16"], "0x1.8p1") == 0x4200
    assert narrow_bits(ELEMENTS["float16"], "0x1.002p0") == 0x3C00
    assert narrow_bits(ELEMENTS["float16"], "0x1.00200000000000000000001p0") == 0x3C01


@each_narrow
def test_bulk_reading_gives_the_raw_size(element: ElementType) -> None:
    for count in (0, 1, 2, 3, 5, 1000):
        data = parse_raw(element, f"[{'1.0, ' * count}]", [count])
        assert len(data) == raw_size(element, count)


def test_nans_can_be_written_by_their_bits_as_in_wider_formats() -> None:
    assert narrow_bits(ELEMENTS["float16"], "nan(0x7e01)") == 0x7E01
    assert narrow_bits(ELEMENTS["bfloat16"], "nan(0xffc1)") == 0xFFC1


@pytest.mark.parametrize("name", ["int2", "int4", "float6e2m3"])
@pytest.mark.parametrize("more", [0, 1, 3])
def test_splats_are_found_block_by_block(
    name: str, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unpacking all elements of 4 bits at once would take twice the memory of the tensor."""
    monkeypatch.setattr("onnxtext.tensor.format_elements.BLOCK", 2)
    element = ELEMENTS[name]
    count = 64 + more
    one = pack(np.full(count, 1, np.uint8), element.bits)
    assert is_splat(element, one.tobytes(), count)
    for at in (0, 7, 40, count - 1):
        codes = np.full(count, 1, np.uint8)
        codes[at] = 2
        assert not is_splat(element, pack(codes, element.bits).tobytes(), count)
