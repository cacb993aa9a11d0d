# SPDX-License-Identifier: Apache-2.0
"""Many short decimals at once, by arithmetic on eight digits at a time.

The C library reads one number after the other; here all numbers of a block go through each step
together. The last eight digits of a number are a word of eight bytes, and so are the eight before
them; what stands before the number is masked, and three multiplications make eight digits an
integer. Integers below 10^15, divided by a power of ten of at most 10^15, give doubles that are
rounded once, for both are exact doubles (W. D. Clinger, "How to Read Floating Point Numbers
Accurately", 1990).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from onnxtext.tensor.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Places = NDArray[np.intp]
    Words = NDArray[np.uint64]

PAD = 16
"""How many blanks are before and behind a block, at least, so that every word begins in it."""

_MOST_DIGITS = 15
_LONGEST = 24
_WORD_SCALE = 100_000_000
_POINT, _MINUS, _COMMA, _ZERO = b".-,0"


@dataclass(slots=True)
class Runs:
    """Where the numbers of a block are.

    Attributes:
        starts: of each number.
        points: where its point is; one before its start if it has none.
        ends: behind its last character.
    """

    starts: Places
    points: Places
    ends: Places


def find_runs(block: Bytes) -> Runs | None:
    """Find the numbers: runs of characters that are behind the comma in ASCII.

    Args:
        block: the characters, with blanks at both ends.

    Returns:
        Where they are; None if one begins with a point or has two, unless that can be seen from
        its first digit, which is none.
    """
    inside = block > _COMMA
    change = inside[1:] != inside[:-1]
    change |= block[1:] == _POINT
    places = np.flatnonzero(change)
    places += 1
    if places.size % 3 == 0 and (block.take(places[1::3]) == _POINT).all():
        # Mostly all numbers have one: start, point and end alternate. They surely do if the last
        # of three is no part of a number, for between two ends there is a start, and just one.
        ends = np.ascontiguousarray(places[2::3])
        if not inside.take(ends).any():
            return Runs(places[0::3], places[1::3], ends)
    is_point = block.take(places) == _POINT
    points = places[is_point]
    if not inside.take(points - 1).all():
        return None
    edges = places[~is_point]
    runs = Runs(edges[0::2], edges[0::2] - 1, np.ascontiguousarray(edges[1::2]))
    # Before a point there are the edges of the numbers before its own, and where its own starts.
    owners = (np.flatnonzero(is_point) - np.arange(points.size)) // 2
    if (owners[1:] == owners[:-1]).any():
        return None
    runs.points[owners] = points
    return runs


def read_runs(block: Bytes, runs: Runs) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Read the numbers that are plain: at most 15 digits, a minus and a point at most.

    Args:
        block: the characters, as for `find_runs`; as many as whole words.
        runs: where the numbers are.

    Returns:
        The numbers, and which could not be read like this.
    """
    tables = _tables()
    words = block.view(np.uint64)
    minus = block.take(runs.starts) == _MINUS
    starts, points = runs.starts + minus, runs.points
    whole = points < starts
    if any_whole := bool(whole.any()):
        points = np.where(whole, starts - 1, points)
    size = runs.ends - points
    size -= 1
    np.minimum(size, _LONGEST, out=size)
    high, low = _words_before(words, runs.ends)
    high ^= tables.zeros
    high &= tables.high.take(size)
    low ^= tables.zeros
    low &= tables.low.take(size)
    odd = (_not_digits(low) | _not_digits(high)) != 0
    values = (_number(high) * _WORD_SCALE + _number(low)).astype(np.float64)
    scale = tables.powers.take(size)
    digits = points - starts
    first = block.take(starts) - np.uint8(_ZERO)
    odd |= first > 9
    if any_whole:
        scale[whole], first[whole], digits[whole] = 1.0, 0, 1
    if (digits == 1).all():
        values += first * scale
        odd |= size >= _MOST_DIGITS
    else:
        low = _words_before(words, points)[1]
        low ^= tables.zeros
        low &= tables.low.take(np.where(whole, 0, np.minimum(digits, _LONGEST)))
        values += _number(low) * scale
        odd |= (_not_digits(low) != 0) | (digits > 8) | (size + digits > _MOST_DIGITS)
    values /= scale
    bits = values.view(np.uint64)
    bits |= minus.astype(np.uint64) << np.uint64(63)
    return values, odd


def _words_before(words: Words, ends: Places) -> tuple[Words, Words]:
    """The sixteen bytes before each end, the first of them lowest, as two words."""
    at = ends >> 3
    # A word is in two aligned ones; where it is aligned itself, shifting by 64 bits gives 0.
    right = ((ends & 7) << 3).view(np.uint64)
    left = np.uint64(64) - right
    middle = words.take(at - 1)
    low = middle >> right
    low |= words.take(at) << left
    middle <<= left
    middle |= words.take(at - 2) >> right
    return middle, low


def _number(word: Words) -> Words:
    """The number that eight digits make, each a byte from 0 to 9, the first of them lowest."""
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


def _not_digits(word: Words) -> Words:
    """Not 0 if some byte is above 9."""
    above = word + np.uint64(0x7676767676767676)
    above |= word
    above &= np.uint64(0x8080808080808080)
    return above


@dataclass(frozen=True, slots=True)
class _Tables:
    """What is looked up by the number of digits; the last entry is also that of -1.

    Attributes:
        zeros: the character 0 in every byte.
        low: keeps so many of the last eight digits.
        high: keeps so many digits, less eight, of the eight before.
        powers: ten to that power, as far as it is exact.
    """

    zeros: np.uint64
    low: Words
    high: Words
    powers: NDArray[np.float64]


@cache
def _tables() -> _Tables:
    counts = range(_LONGEST + 1)
    kept = [(1 << 64) - (1 << 64 - 8 * min(max(n, 0), 8)) for n in range(-8, _LONGEST + 1)]
    powers = [10.0 ** min(n, 22) for n in counts]
    return _Tables(
        np.uint64(int.from_bytes(b"0" * 8, "little")),
        np.array(kept[8:], np.uint64),
        np.array(kept[: _LONGEST + 1], np.uint64),
        np.array(powers, np.float64),
    )
