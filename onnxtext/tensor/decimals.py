# SPDX-License-Identifier: Apache-2.0
"""Parse many short decimals at once, with vectorized arithmetic on eight digits at a time.

Each step processes all numbers of a block. The last eight digits of a number are one word of eight
bytes, the eight before them another; bytes before the number are masked, and three multiplications
convert eight digits to an integer. An integer below 10^15, multiplied or divided by a power of ten
up to 10^22, is rounded only once, because both are exact doubles (W. D. Clinger, "How to Read
Floating Point Numbers Accurately", 1990).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from onnxtext.tensor.lazy_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Places = NDArray[np.intp]
    Words = NDArray[np.uint64]

PAD = 16
"""Minimum padding before and after a block, in bytes, so that every word is inside the block."""

_MOST_DIGITS = 15
_MOST_POWER = 22  # the largest power of ten that is an exact double
_LONGEST = 24  # longer fractions are treated as having this length
_E = ord("e")
_WORD_SCALE = 100_000_000
_POINT, _MINUS, _COMMA, _ZERO = b".-,0"


@dataclass(slots=True)
class Runs:
    """The positions of the numbers in a block.

    Attributes:
        starts: the start of each number.
        points: the position of the point of each number; its start minus one if it has none.
        ends: the position after the last character of each number.
        has_points: whether all numbers are known to have a point.
        exponents: the exponents of ten; None if no number has one.
    """

    starts: Places
    points: Places
    ends: Places
    has_points: bool = False
    exponents: Exponents | None = None


@dataclass(slots=True)
class Exponents:
    """The exponents of the numbers in a block.

    Attributes:
        values: the exponent of each number; 0 if it has none.
        ends: the position after the digits before the exponent, for each number.
        present: whether each number has an exponent.
        odd: whether each number has an exponent that is not one or two digits.
    """

    values: Places
    ends: Places
    present: NDArray[np.bool_]
    odd: NDArray[np.bool_]


def find_runs(block: Bytes, *, has_letters: bool = True) -> Runs | None:
    """Find the numbers: runs of characters above the comma in ASCII.

    Args:
        block: the characters, with padding at both ends.
        has_letters: whether there may be letters, such as the `e` of an exponent.

    Returns:
        The positions of the numbers; None if a number begins with a point or has two points. If the
        first character of a number is not a digit, `read_runs` detects this instead.
    """
    runs = _find_edges(block)
    if runs is not None and has_letters and (block >= ord("E")).any():
        runs.exponents = _find_exponents(block, runs.ends)
    return runs


def _find_edges(block: Bytes) -> Runs | None:
    inside = block > _COMMA
    change = inside[1:] != inside[:-1]
    change |= block[1:] == _POINT
    places = np.flatnonzero(change)
    places += 1
    if places.size % 3 == 0:
        # Usually all numbers have a point, so that start, point and end alternate. This is certain
        # if every third place is an end: one start and one point are between two ends.
        ends = np.ascontiguousarray(places[2::3])
        if not inside.take(ends).any():
            return Runs(places[0::3], places[1::3], ends, has_points=True)
    is_point = block.take(places) == _POINT
    points = places[is_point]
    if not inside.take(points - 1).all():
        return None
    edges = places[~is_point]
    runs = Runs(edges[0::2], edges[0::2] - 1, np.ascontiguousarray(edges[1::2]))
    # A point follows two edges (start, end) of each earlier number, and the start of its own.
    owners = (np.flatnonzero(is_point) - np.arange(points.size)) // 2
    if (owners[1:] == owners[:-1]).any():
        return None
    runs.points[owners] = points
    return runs


def _find_exponents(block: Bytes, ends: Places) -> Exponents:
    """Parse `e5`, `e15`, `e-5` and `e-15` at the ends of numbers."""
    last, second, third, fourth = (block.take(ends - back) for back in range(1, 5))
    third_is_e, fourth_is_e = third | 0x20 == _E, fourth | 0x20 == _E
    short = second | 0x20 == _E
    long = third_is_e & ~short
    longest = fourth_is_e & ~short & ~long
    minus = (long & (second == _MINUS)) | (longest & (third == _MINUS))
    ones, tens = last - np.uint8(_ZERO), second - np.uint8(_ZERO)
    two = (long & ~minus) | longest
    values = ones.astype(np.intp) + np.where(two, tens, np.uint8(0)).astype(np.intp) * 10
    odd = (ones > 9) | (two & (tens > 9)) | (longest & ~minus)
    present = short | long | longest
    return Exponents(
        np.where(present, np.where(minus, -values, values), 0),
        ends - (short * 2 + long * 3 + longest * 4),
        present,
        odd & present,
    )


def read_runs(block: Bytes, runs: Runs) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Read plain numbers: at most 15 digits, optionally with a minus, a point, a small exponent.

    Args:
        block: the characters, as for `find_runs`; their number is a multiple of eight.
        runs: the positions of the numbers.

    Returns:
        The numbers, and a mask of those that are not plain, whose values may be wrong.
    """
    tables = _tables()
    words = block.view(np.uint64)
    minus = block.take(runs.starts) == _MINUS
    starts, points = runs.starts + minus, runs.points
    whole = None
    if not runs.has_points:
        whole = points < starts
        points = np.where(whole, starts - 1, points)
    ends = runs.ends if runs.exponents is None else runs.exponents.ends
    size = ends - points
    size -= 1
    np.minimum(size, _LONGEST, out=size)
    if runs.exponents is not None:
        np.maximum(size, 0, out=size)
    high, low = _words_before(words, ends)
    high ^= tables.zeros
    high &= tables.high.take(size)
    low ^= tables.zeros
    low &= tables.low.take(size)
    odd = _not_digits(low, high) != 0
    values = (_number(high) * _WORD_SCALE + _number(low)).astype(np.float64)
    scale = tables.powers.take(size)
    digits = points - starts
    first = block.take(starts) - np.uint8(_ZERO)
    odd |= first > 9
    before, decimals = digits, size
    if whole is not None:
        scale[whole], first[whole] = 1.0, 0
        before, decimals = np.where(whole, 0, digits), np.where(whole, 0, size)
        digits[whole] = 1
    if (digits == 1).all():
        values += first * scale
        odd |= size >= _MOST_DIGITS
    else:
        low = _words_before(words, points)[1]
        low ^= tables.zeros
        low &= tables.low.take(np.minimum(before, _LONGEST))
        values += _number(low) * scale
        odd |= (_not_digits(low, low) != 0) | (digits > 8) | (size + digits > _MOST_DIGITS)
    if runs.exponents is None:
        values /= scale
    else:
        odd |= _apply_exponents(values, runs.exponents, decimals) | (ends <= starts)
    bits = values.view(np.uint64)
    bits |= minus.astype(np.uint64) << np.uint64(63)
    return values, odd


def _apply_exponents(
    values: NDArray[np.float64], exponents: Exponents, decimals: Places
) -> NDArray[np.bool_]:
    """Multiply or divide integers by powers of ten.

    Args:
        values: the integers; changed in place.
        exponents: the exponents in the text.
        decimals: the number of digits after the point.

    Returns:
        A mask of results that may be wrong, because the exponent is odd, or the power of ten is
        not an exact double.
    """
    powers = exponents.values - decimals
    odd: NDArray[np.bool_] = exponents.odd | (np.abs(powers) > _MOST_POWER)
    np.clip(powers, -_MOST_POWER, _MOST_POWER, out=powers)
    scale = _tables().powers.take(np.abs(powers))
    np.copyto(values, np.where(powers < 0, values / scale, values * scale))
    return odd


def _words_before(words: Words, ends: Places) -> tuple[Words, Words]:
    """Return the sixteen bytes before each end as two little-endian words, in order."""
    at = ends >> 3
    # A word spans two aligned ones; if it is aligned itself, shifting by 64 bits gives 0.
    right = ((ends & 7) << 3).view(np.uint64)
    left = np.uint64(64) - right
    middle = words.take(at - 1)
    low = middle >> right
    low |= words.take(at) << left
    middle <<= left
    middle |= words.take(at - 2) >> right
    return middle, low


def _number(word: Words) -> Words:
    """Convert eight digits to an integer: bytes from 0 to 9, the first digit in the lowest byte."""
    pairs = word * np.uint64(10)
    pairs += word >> np.uint64(8)
    quads = pairs >> np.uint64(16)
    mask = np.uint64(0x000000FF000000FF)
    pairs &= mask
    quads &= mask
    pairs *= np.uint64(1_000_000 << 32 | 100)
    quads *= np.uint64(10_000 << 32 | 1)
    pairs += quads
    pairs >>= np.uint64(32)
    return pairs


def _not_digits(one: Words, other: Words) -> Words:
    """Return a value that is not 0 if some byte of either word is above 9."""
    carry = np.uint64(0x7676767676767676)
    above = one + carry
    above |= one
    above |= other
    above |= other + carry
    above &= np.uint64(0x8080808080808080)
    return above


@dataclass(frozen=True, slots=True)
class _Tables:
    """Lookup tables, indexed by the number of digits.

    Attributes:
        zeros: the character 0 in every byte.
        low: the masks that keep the digits in the last eight bytes.
        high: the masks that keep the digits in the eight bytes before.
        powers: the powers of ten, up to the largest exact one.
    """

    zeros: np.uint64
    low: Words
    high: Words
    powers: NDArray[np.float64]


@cache
def _tables() -> _Tables:
    counts = range(_LONGEST + 1)
    kept = [(1 << 64) - (1 << 64 - 8 * min(max(n, 0), 8)) for n in range(-8, _LONGEST + 1)]
    powers = [10.0 ** min(n, _MOST_POWER) for n in counts]
    return _Tables(
        np.uint64(int.from_bytes(b"0" * 8, "little")),
        np.array(kept[8:], np.uint64),
        np.array(kept[: _LONGEST + 1], np.uint64),
        np.array(powers, np.float64),
    )
