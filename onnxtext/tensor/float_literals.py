# SPDX-License-Identifier: Apache-2.0
"""Convert one floating-point literal to its bits and back.

The literals of the official syntax have digits before the point, no leading plus, and the words
``inf``, ``infinity`` and ``nan`` in any letter case. There are two extensions: hexadecimal floats
(``0x1.8p3``), and NaNs that the official syntax cannot express (``nan(0x7f800001)``, or ``0x7e01``
in the formats of at most 16 bits). The functions that read a literal raise `LiteralError` if it is
invalid.
"""

from __future__ import annotations

import functools
import math
import re
import struct
from typing import TYPE_CHECKING

from onnxtext.select_core import core, core_module
from onnxtext.tensor.element_types import ElementType
from onnxtext.tensor.errors import LiteralError, quote_token
from onnxtext.tensor.float_formats import FORMATS, FloatFormat, round_double, value_of
from onnxtext.tensor.lazy_numpy import np
from onnxtext.tensor.number_spellings import not_a_float

if TYPE_CHECKING:
    from fractions import Fraction

FLOAT_PATTERN = (
    r"(?:[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?"
    r"|0[xX][0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?[pP][+-]?[0-9]+"
    r"|(?i:inf(?:inity)?)"
    r"|(?i:nan)(?:\(0[xX][0-9a-fA-F]+\))?)"
)
"""The regular expression of a floating-point literal without its sign."""

_FLOAT = re.compile(f"-?{FLOAT_PATTERN}")
_PLAIN = re.compile(r"-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"-?[0-9]+")
_BITS = re.compile(r"0[xX][0-9a-fA-F]+")
_HEX = re.compile(r"0x([0-9a-f]+)(?:\.([0-9a-f]*))?p([+-]?[0-9]+)")
_FLOAT32 = FORMATS["float"]
_SINGLE, _WORD = struct.Struct("<f"), struct.Struct("<I")
_DOUBLE, _QUAD = struct.Struct("<d"), struct.Struct("<Q")
_DOUBLE_INF = 0x7FF0000000000000
BELOW_FLOAT32 = 0x1FFFFFFF
"""The mask of the low mantissa bits of a double, which a float32 does not have."""

HALFWAY = 0x10000000
"""The result of `bits & BELOW_FLOAT32` for a double halfway between two normal float32 values."""


def float32_bits(text: str) -> int:
    """Return the IEEE bits of one float32 literal, rounded once, half to even.

    The text has no blanks around it; integers are allowed.

    Raises:
        LiteralError: `text` is not a literal, a finite number is out of range, or the bits in
            ``nan(...)`` are not a NaN of this width.
    """
    if _PLAIN.fullmatch(text):
        value = float(text)
        double: int = _QUAD.unpack(_DOUBLE.pack(value))[0]
        # Rounding to a double first changes the result only if that double is exactly halfway.
        if double & BELOW_FLOAT32 != HALFWAY and 1e-37 < abs(value) < 1e38:
            bits: int = _WORD.unpack(_SINGLE.pack(value))[0]
            return bits
    return _float_bits(_FLOAT32, text)


def float64_bits(text: str) -> int:
    """Return the IEEE bits of one float64 literal, rounded once, half to even.

    Accept the literals of `float32_bits`, but with the range and the NaNs of float64; raise the
    same errors.
    """
    if _FLOAT.fullmatch(text) is None:
        raise not_a_float(text, 64)
    minus = text[0] == "-"
    magnitude = text[minus:].lower()
    if magnitude[0] == "n":
        return _nan_bits(magnitude, minus, 64, text)
    bits: int = struct.unpack("<Q", struct.pack("<d", _double(magnitude, text, "double")))[0]
    return bits | minus << 63


def narrow_bits(element: ElementType, text: str) -> int:
    """Return the code of one literal of a format of at most 16 bits.

    A hexadecimal integer such as ``0x7e01`` is the code itself. All other literals are values:
    decimals with a point or exponent, words such as ``inf``, and hexadecimal floats. A value is
    rounded once, half to even.

    Raises:
        LiteralError: `text` is not a valid literal, or the number is out of range. A decimal
            integer without a point is not allowed, because it could be a code or a value.
    """
    form = FORMATS[element.name]
    if _BITS.fullmatch(text):
        code = int(text, 16)
        if code >> form.bits:
            raise LiteralError(
                f"expected at most {form.bits} bits for {form.name}, found {quote_token(text)}",
                length=len(text),
                help=f"the largest code is `0x{(1 << form.bits) - 1:x}`",
            )
        return code
    if _INTEGER.fullmatch(text):
        raise _bare_integer(form, text)
    return _float_bits(form, text)


@functools.lru_cache(maxsize=4096)
def float32_text(bits: int, *, point: bool = False) -> str:
    """Return the shortest decimal that reads as exactly these float32 bits.

    With `point`, the text does not look like an integer: ``1.0`` rather than ``1``.

    Returns:
        The text, in the spelling of `format_elements.format_rows`; ``nan(0x…)`` for NaNs other than
        ``nan`` and ``-nan``.
    """
    if bits & 0x7FFFFFFF >= 0x7F800000:
        return _special_text(bits, 32, 0x7F800000, 0x7FC00000)
    if core() == "native":
        text: str = core_module("tensor.decimals").texts(bits.to_bytes(4, "little"), 4, point)[0]
        return text
    import orjson  # only here: orjson and numpy are slow to import

    value = np.array([bits], np.uint32).view(np.float32)
    return _spell(orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1].decode(), point)


@functools.lru_cache(maxsize=4096)
def float64_text(bits: int) -> str:
    """Return the shortest decimal that reads as exactly these float64 bits.

    Spell the number as `float32_text` does without `point`.
    """
    if bits & 0x7FFFFFFFFFFFFFFF >= _DOUBLE_INF:
        return _special_text(bits, 64, _DOUBLE_INF, 0x7FF8000000000000)
    import orjson  # only here, because the import is slow

    return _spell(orjson.dumps(struct.unpack("<d", struct.pack("<Q", bits))[0]).decode(), False)


def _spell(text: str, point: bool) -> str:
    text = text.replace("e+", "e")  # orjson writes a plus in exponents since 3.13
    return text if point else text.removesuffix(".0")


def _special_text(bits: int, width: int, infinity: int, nan: int) -> str:
    """Return the text of an infinity or NaN, given the bits of the words `inf` and `nan`."""
    sign = 1 << (width - 1)
    minus = "-" if bits & sign else ""
    if bits & ~sign == infinity:
        return f"{minus}inf"
    return f"{minus}nan" if bits & ~sign == nan else f"nan(0x{bits:0{width // 4}x})"


def _float_bits(form: FloatFormat, text: str) -> int:
    """Return the code of a literal in the format `form`; raise `LiteralError` if it has none."""
    if _FLOAT.fullmatch(text) is None:
        raise not_a_float(text, form.bits)
    minus = text[0] == "-"
    magnitude = text[minus:].lower()
    if magnitude[0] == "n":
        return _narrow_nan(form, magnitude, minus, text)
    if magnitude[0] == "i":
        if form.infinity is None:
            raise _no_infinity(form, text)
        return form.infinity | (form.sign if minus else 0)
    value = _double(magnitude, text, form.name)
    code, halfway = round_double(form, value)
    if halfway:
        code = _round_by_digits(form, magnitude, value)
    if not form.zero and (minus or value == 0 or code < 0):
        raise LiteralError(
            f"expected a power of two from 2^-127 to 2^127 for {form.name}, "
            f"found {quote_token(text)}",
            length=len(text),
            help="this format has no sign, no zero and no smaller numbers",
        )
    if code > form.top:
        raise _overflow(form.name, text)
    return code | (form.sign if minus and (code or form.minus_zero) else 0)


def _double(magnitude: str, text: str, name: str) -> float:
    """Return the double of a number without sign; `text` and `name` are for the overflow error."""
    if magnitude[0] == "i":
        return math.inf
    try:
        value = float.fromhex(magnitude) if "x" in magnitude else float(magnitude)
    except OverflowError:
        value = math.inf
    if value == math.inf:
        raise _overflow(name, text)
    return value


def _round_by_digits(form: FloatFormat, magnitude: str, value: float) -> int:
    """Round the literal `magnitude` by its digits: its double `value` is halfway between codes."""
    from decimal import Decimal
    from fractions import Fraction

    exact = _exact_hex(magnitude) if "x" in magnitude else Decimal(magnitude)
    middle = Fraction(value) if "x" in magnitude else Decimal(value)
    even = round_double(form, value)[0]
    if exact == middle:
        return even
    # `value` is halfway between the codes `upper - 1` and `upper`; choose by the exact number.
    upper = round_double(form, math.nextafter(value, math.inf))[0]
    return upper if exact > middle else upper - 1


def _exact_hex(magnitude: str) -> Fraction:
    """Return the exact value of a hexadecimal float; its exponent must not be huge."""
    from fractions import Fraction

    match = _HEX.fullmatch(magnitude)
    assert match is not None
    integer, fraction, exponent = match[1], match[2] or "", match[3]
    power = int(exponent.lstrip("+-0") or "0")  # int() rejects thousands of leading zeros
    shift = (-power if exponent[0] == "-" else power) - 4 * len(fraction)
    significand = int(integer + fraction, 16)
    return Fraction(significand << shift) if shift >= 0 else Fraction(significand, 1 << -shift)


def _narrow_nan(form: FloatFormat, magnitude: str, minus: bool, text: str) -> int:
    """Return the code of the NaN `text`; `magnitude` is the text in lower case without a sign."""
    if form.bits == 32:
        return _nan_bits(magnitude, minus, 32, text)
    code = form.minus_nan if minus else form.nan
    if len(magnitude) == 3 and code is not None:
        return code
    if len(magnitude) > 3 and not minus:
        bits = int(magnitude[4:-1], 16)
        if not bits >> form.bits and math.isnan(value_of(form, bits)):
            return bits
    if form.nan is None:
        message, fix = f"{form.name} has no nan", "write a number"
    elif len(magnitude) == 3:
        message, fix = f"{form.name} has no nan with a sign", "write `nan`"
    else:
        message = f"expected a value or bits of {form.name}, found {quote_token(text)}"
        fix = f"write the bits of a nan of {form.name}, such as `0x{form.nan:x}`"
    raise LiteralError(message, length=len(text), help=fix)


def _nan_bits(magnitude: str, minus: bool, width: int, text: str) -> int:
    """Return the bits of the NaN `text`; `magnitude` is the text in lower case without a sign."""
    infinity, nan = (0x7F800000, 0x7FC00000) if width == 32 else (_DOUBLE_INF, 0x7FF8 << 48)
    sign = 1 << (width - 1)
    bits = int(magnitude[4:-1], 16) if len(magnitude) > 3 else nan
    if bits >> width or bits & ~sign <= infinity:
        raise LiteralError(
            f"expected the {width} bits of a nan, found {quote_token(text)}",
            length=len(text),
            help=f"nan is `nan(0x{nan:x})`; the smallest bits of a nan are `0x{infinity + 1:x}`",
        )
    return bits | (sign if minus else 0)


def _overflow(name: str, text: str) -> LiteralError:
    fix = f"write `{'-' if text[0] == '-' else ''}inf` if infinity is meant"
    form = FORMATS.get(name)
    if form is not None and form.infinity is None:
        largest = value_of(form, form.top)
        fix = f"the largest number is `{largest!r}`"
    return LiteralError(
        f"{quote_token(text)} is out of range for {name}", length=len(text), help=fix
    )


def _no_infinity(form: FloatFormat, text: str) -> LiteralError:
    largest = value_of(form, form.top)
    fix = f"write the largest number, `{largest!r}`"
    if form.signed and text[0] == "-":
        fix = f"write the lowest number, `{-largest!r}`"
    return LiteralError(f"{form.name} has no infinity", length=len(text), help=fix)


def _bare_integer(form: FloatFormat, text: str) -> LiteralError:
    fix = f"write `{text}.0` for the value"
    if text[0] != "-" and len(text) < 20 and int(text) >> form.bits == 0:
        fix += f" or `0x{int(text):0{(form.bits + 3) // 4}x}` for the bits"
    return LiteralError(
        f"{quote_token(text)} could be a value or the bits of {form.name}",
        length=len(text),
        help=fix,
    )
