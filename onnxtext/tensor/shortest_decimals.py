# SPDX-License-Identifier: Apache-2.0
"""Find the shortest decimals of floats of at most 16 bits, a page of 256 codes at a time.

A float16 or bfloat16 is printed as the shortest decimal that rounds to the same code. If several
decimals are shortest, the closest to the value is printed. This is numpy's rule for float16;
``str`` of an ml_dtypes bfloat16 gives more digits. Formats of at most 8 bits are so coarse that the
rule would give misleading numbers (450.0 for 448, 1000.0 for 1024). So their values are printed
like float32 values.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import orjson

from onnxtext.tensor.float_formats import FORMATS, FloatFormat, round_doubles, values_of
from onnxtext.tensor.lazy_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@functools.cache
def narrow_texts(name: str, page: int) -> tuple[str, ...]:
    """Return the texts of one page of codes: the 256 or fewer codes from ``256 * page`` on.

    Args:
        name: The element type's name.
        page: The high byte of the codes; 0 for formats of at most 8 bits.

    Returns:
        The text of each code. A number is a decimal with a point or exponent, an infinity is
        ``inf`` or ``-inf``. A NaN is ``nan`` or ``-nan`` if this word is read as exactly the code
        of the NaN; otherwise it is the code itself, such as ``0x7e01``.
    """
    form = FORMATS[name]
    codes = range(page << 8, min((page + 1) << 8, 1 << form.bits))
    values = values_of(name)[codes.start : codes.stop]
    # With 16 bits all codes of a page have the same sign, so work on positive numbers.
    minus = codes.start & form.sign if form.bits == 16 else 0
    finite = np.isfinite(values)
    sizes = np.where(finite, np.abs(values) if minus else values, 0.0)
    texts = iter(_decimals(form, sizes, np.arange(len(codes)) + (codes.start & ~minus)))
    return tuple(
        (f"-{text}" if minus else text) if number else _special(form, code, value)
        for code, value, number, text in zip(
            codes, values.tolist(), finite.tolist(), texts, strict=True
        )
    )


def _special(form: FloatFormat, code: int, value: float) -> str:
    """Return the text of an infinity or NaN."""
    if math.isinf(value):
        return str(value)
    if code == form.nan:
        return "nan"
    if code == form.minus_nan:
        return "-nan"
    return f"0x{code:0{(form.bits + 3) // 4}x}"


def _decimals(
    form: FloatFormat, values: NDArray[np.float64], codes: NDArray[np.int64]
) -> list[str]:
    """Return the shortest decimals of finite values; `codes` are the codes of the values."""
    if form.bits <= 8:
        return _spell(values.astype(np.float32))
    chosen = values.copy()
    left = np.flatnonzero(values)  # zeros need no digits
    digits = 0
    while left.size:
        digits += 1
        joined = (f"%.{digits - 1}e," * left.size) % tuple(values[left].tolist())
        tried = np.array(joined.split(",")[:-1], np.float64)
        fits = _codes(form, tried) == codes[left]
        chosen[left[fits]] = tried[fits]
        left = left[~fits]
        # Below a power of two, codes are twice as dense as above it. So if the closest decimal is
        # below and rounds to another code, the next decimal above may still round to this code.
        for index in left[codes[left] & ((1 << form.mantissa) - 1) == 0]:
            upper = _decimal_above(float(values[index]), digits)
            if _codes(form, np.array([upper]))[0] == codes[index]:
                chosen[index] = upper
                left = left[left != index]
    return _spell(chosen)


def _codes(form: FloatFormat, values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Round decimals of few digits, given as doubles, to codes; -1 if they overflow.

    If a double is exactly halfway between two codes, rounding it can be wrong, because the decimal
    may be slightly above or below the double. With so few digits, this happens in neither 16-bit
    format; a test tries all codes.
    """
    below, top = values_of(form.name)[form.top - 1 : form.top + 1].tolist()
    rounded = round_doubles(form, np.minimum(values, top))
    assert rounded is not None
    codes = rounded[0].astype(np.int64)
    codes[values >= top + (top - below) / 2] = -1
    return codes


def _decimal_above(value: float, digits: int) -> float:
    """Return the smallest decimal with `digits` digits that is at least `value`."""
    from decimal import ROUND_CEILING, Context, Decimal  # a slow import, rarely needed

    exact = Decimal(value)
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    # With 200 digits, every value of a 16-bit format is exact.
    return float(exact.quantize(step, ROUND_CEILING, Context(prec=200)))


def _spell(values: NDArray[np.floating]) -> list[str]:
    """Format numbers like orjson, but without the plus that new versions write in exponents."""
    text = orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY).decode().replace("e+", "e")
    return text[1:-1].split(",")
