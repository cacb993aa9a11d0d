# SPDX-License-Identifier: Apache-2.0
"""The binary floating-point formats: the values of codes (bit patterns), and rounding to codes.

A decimal is first read as a double, then rounded to the format. The code is right unless the double
is exactly halfway between two codes. (Every halfway point is a double. So the first step may move a
decimal onto a halfway point, but not across it.) The functions report halfway doubles, and the
caller rounds these by the digits of the decimal (`float_literals`). So every code is as if rounded
only once, as by ``std::from_chars<float>`` in the official parser.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from onnxtext.tensor.lazy_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class FloatFormat(NamedTuple):
    """A floating-point format of at most 32 bits.

    Attributes:
        name: Name of the element type.
        bits: Width of a code, in bits.
        mantissa: Width of the mantissa field, in bits.
        bias: The bias of the exponent field.
        top: The code of the largest finite number.
        infinity: The code of infinity; None if the format has no infinity.
        nan: The code of ``nan``; None if the format has no NaN.
        minus_nan: The code of ``-nan``; None if the format has no such code.
        signed: Whether the top bit is a sign; false only for float8e8m0.
        minus_zero: Whether the format has a code for minus zero.
        zero: Whether zero and subnormals exist; false only for float8e8m0.
    """

    name: str
    bits: int
    mantissa: int
    bias: int
    top: int
    infinity: int | None
    nan: int | None
    minus_nan: int | None
    signed: bool = True
    minus_zero: bool = True
    zero: bool = True

    @property
    def sign(self) -> int:
        """The mask of the sign bit; 0 for a format without a sign."""
        return 1 << (self.bits - 1) if self.signed else 0


_FORMATS = (
    FloatFormat("float", 32, 23, 127, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0xFFC00000),
    FloatFormat("float16", 16, 10, 15, 0x7BFF, 0x7C00, 0x7E00, 0xFE00),
    FloatFormat("bfloat16", 16, 7, 127, 0x7F7F, 0x7F80, 0x7FC0, 0xFFC0),
    FloatFormat("float8e4m3fn", 8, 3, 7, 0x7E, None, 0x7F, 0xFF),
    FloatFormat("float8e4m3fnuz", 8, 3, 8, 0x7F, None, 0x80, None, minus_zero=False),
    FloatFormat("float8e5m2", 8, 2, 15, 0x7B, 0x7C, 0x7E, 0xFE),
    FloatFormat("float8e5m2fnuz", 8, 2, 16, 0x7F, None, 0x80, None, minus_zero=False),
    FloatFormat("float8e8m0", 8, 0, 127, 0xFE, None, 0xFF, None, False, False, False),
    FloatFormat("float6e2m3", 6, 3, 1, 0x1F, None, None, None),
    FloatFormat("float6e3m2", 6, 2, 3, 0x1F, None, None, None),
    FloatFormat("float4e2m1", 4, 1, 1, 0x7, None, None, None),
)

FORMATS: Mapping[str, FloatFormat] = MappingProxyType({f.name: f for f in _FORMATS})
"""Every format of at most 32 bits by element name. Double has no entry: it needs no rounding.

Sources: IEEE 754; ONNX's float8 documentation (arXiv 2209.05433 and 2206.02915 for the ``fn``
and ``fnuz`` kinds); the OCP MX specification for float8e8m0, float6 and float4.
"""


def round_double(form: FloatFormat, magnitude: float) -> tuple[int, bool]:
    """Round one non-negative finite double to the code of `form`, half to even.

    Returns:
        The code, and whether `magnitude` is exactly halfway between two codes. The code is greater
        than ``form.top`` on overflow, and negative if `magnitude` is too small for float8e8m0.
    """
    bits: int = struct.unpack("<Q", struct.pack("<d", magnitude))[0]
    exponent = bits >> 52
    if form.zero and exponent <= 1023 - form.bias:
        scaled = magnitude * 2.0 ** (form.bias - 1 + form.mantissa)  # exact: times a power of two
        return round(scaled), scaled % 1.0 == 0.5
    shift = 52 - form.mantissa
    half = 1 << (shift - 1)
    code = (bits + half - 1 + ((bits >> shift) & 1)) >> shift
    return code - ((1023 - form.bias) << form.mantissa), bits & (2 * half - 1) == half


def round_doubles(
    form: FloatFormat, values: NDArray[np.float64]
) -> tuple[NDArray[np.uint32], NDArray[np.intp]] | None:
    """Round an array of finite doubles to codes of `form`, half to even.

    Returns:
        The codes, and the 0-based indices of values that are exactly halfway between two codes;
        the caller must compute the codes of these values again. None if another value is out of
        the range of the format.
    """
    return _round_floats(values) if form.bits == 32 else _round_narrow(form, values)


def _round_floats(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.uint32], NDArray[np.intp]] | None:
    """Round to float32 with the processor's conversion."""
    with np.errstate(over="ignore", under="ignore"):
        rounded = values.astype(np.float32)
    bits = values.view(np.uint64)
    half = (bits & np.uint64(0x1FFFFFFF)) == np.uint64(0x10000000)
    magnitude = np.abs(values)
    tiny = magnitude < 2.0**-126
    if tiny.any():
        half[tiny] = (magnitude[tiny] * 2.0**149) % 1.0 == 0.5
    if (np.isinf(rounded) & ~half).any():
        return None
    return rounded.view(np.uint32), np.flatnonzero(half)


def _round_narrow(
    form: FloatFormat, values: NDArray[np.float64]
) -> tuple[NDArray[np.uint32], NDArray[np.intp]] | None:
    """Round to a format narrower than float32, by integer arithmetic."""
    magnitude = np.abs(values)
    bits = magnitude.view(np.int64)
    shift = 52 - form.mantissa
    middle = 1 << (shift - 1)
    code = (bits + ((bits >> shift) & 1) + (middle - 1)) >> shift
    code -= (1023 - form.bias) << form.mantissa
    half = (bits & (2 * middle - 1)) == middle
    if form.zero:
        tiny = magnitude < 2.0 ** (1 - form.bias)
        if tiny.any():
            scaled = magnitude[tiny] * 2.0 ** (form.bias - 1 + form.mantissa)
            code[tiny] = np.rint(scaled).astype(np.int64)
            half[tiny] = scaled % 1.0 == 0.5
    minus = np.signbit(values)
    wrong = ~half & ((code > form.top) | (code < 0))
    if not form.signed:
        wrong |= minus | (magnitude == 0)
    if wrong.any():
        return None
    if not form.minus_zero:
        minus &= code != 0
    code |= np.where(minus, form.sign, 0)
    return code.astype(np.uint32), np.flatnonzero(half)


def value_of(form: FloatFormat, code: int) -> float:
    """Return the value of a code of a format; NaN for a code that is not a number."""
    magnitude = code & ~form.sign
    if code == form.nan or (magnitude > form.top and magnitude != form.infinity):
        return math.nan
    if magnitude == form.infinity:
        value = math.inf
    else:
        exponent, fraction = divmod(magnitude, 1 << form.mantissa)
        if exponent or not form.zero:
            fraction += 1 << form.mantissa
        value = math.ldexp(fraction, max(exponent, form.zero) - form.bias - form.mantissa)
    return -value if code & form.sign else value
