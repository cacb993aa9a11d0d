# SPDX-License-Identifier: Apache-2.0
"""Find the shortest decimal of a float of at most 16 bits.

A float16 or bfloat16 is printed as the shortest decimal that rounds to the same code. If several
decimals are shortest, the closest to the value is printed. This is numpy's rule for float16;
``str`` of an ml_dtypes bfloat16 gives more digits. Formats of at most 8 bits are so coarse that the
rule would give misleading numbers (450.0 for 448, 1000.0 for 1024). So their values are printed
like float32 values.
"""

from __future__ import annotations

import functools
import math
from itertools import count

from onnxtext.tensor.float_formats import FORMATS, FloatFormat, value_of
from onnxtext.tensor.float_literals import float32_bits, float32_text


class NarrowTexts(dict[int, str]):
    """Maps the codes of an element type to their texts; a text is computed when it is needed."""

    def __init__(self, name: str) -> None:
        """Create the map of the element type `name`, without any text."""
        self._name = name

    def __missing__(self, code: int) -> str:
        """Compute the text of a code, and keep it."""
        text = self[code] = narrow_text(self._name, code)
        return text


narrow_texts = functools.cache(NarrowTexts)
"""Returns the map of an element type of at most 16 bits; all callers share it."""


def narrow_text(name: str, code: int) -> str:
    """Return the text of a code of a format of at most 16 bits.

    Returns:
        For a number, a decimal with a point or exponent; for an infinity, ``inf`` or ``-inf``; for
        a NaN, ``nan`` or ``-nan`` if this word is read as exactly the code of the NaN, otherwise
        the code itself, such as ``0x7e01``.
    """
    import orjson  # only here, because the import is slow

    form = FORMATS[name]
    value = value_of(form, code)
    if math.isnan(value):
        words = {form.nan: "nan", form.minus_nan: "-nan"}
        return words.get(code) or f"0x{code:0{(form.bits + 3) // 4}x}"
    if math.isinf(value):
        return str(value)
    if form.bits <= 8:
        return float32_text(float32_bits(repr(value)), point=True)
    text = orjson.dumps(_shortest(form, abs(value), code & ~form.sign)).decode()
    # New versions of orjson write a plus in exponents.
    return f"{'-' if code & form.sign else ''}{text.replace('e+', 'e')}"


def _shortest(form: FloatFormat, value: float, code: int) -> float:
    """Return the shortest decimal of a finite value that is not negative; `code` is its code.

    If the double of a decimal is exactly halfway between two codes, but not the decimal itself, the
    result can be wrong. With so few digits, this happens in neither 16-bit format; a test tries all
    codes.
    """
    exponent, fraction = divmod(code, 1 << form.mantissa)
    half = math.ldexp(0.5, max(exponent, 1) - form.bias - form.mantissa)
    is_power = exponent > 1 and not fraction
    # Below a power of two, codes are twice as dense as above it.
    low, high = value - (half / 2 if is_power else half), value + half
    for digits in count():
        text = f"{value:.{digits}e}"
        number = float(text)
        if is_power and number < low:  # the next decimal above may still be near enough
            significand, exponent_text = text.replace(".", "").split("e")
            number = float(f"{int(significand) + 1}e{int(exponent_text) - digits}")
        if low < number < high or (number in (low, high) and not code & 1):
            return number
    raise AssertionError("the exact decimal of the value rounds to its code")
