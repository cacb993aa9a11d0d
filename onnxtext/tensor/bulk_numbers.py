# SPDX-License-Identifier: Apache-2.0
"""Read large numeric literals fast, in parts that fit into the processor's caches.

This fast path handles common literals: numbers of usual lengths, each followed directly by a comma,
brackets that match the dimensions, no comments. For other literals it returns None, and
`bracket_nesting` and `numbers` (the slow path) read the literal and report errors. A code is an
element's value as an integer, or the bits of a float.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnxtext.tensor.bracket_nesting import Elements, PlainText, shapes_of
from onnxtext.tensor.decimals import PAD, Runs, find_runs, read_runs
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.float_formats import FORMATS, round_doubles
from onnxtext.tensor.lazy_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from onnxtext.tensor.decimals import Bytes, Places

    Codes = NDArray[Any]
    Coding = Callable[[NDArray[np.float64], Runs, NDArray[np.bool_]], Codes | None]

_PART = 1 << 18
_USUAL = 4
_COMMA, _SPACE, _LINE, _OPEN, _ELEMENTS = b", \n[0"


def read_elements(
    text: str,
    coding: Coding,
    read: Callable[[Elements], Codes],
    *,
    dims: Sequence[int] | None = None,
) -> list[Codes] | None:
    """Read a large literal of numbers.

    Args:
        text: the literal with its outer brackets.
        coding: converts doubles to codes: from `as_floats`, `as_doubles` or `as_integers`.
        read: converts unusual elements to the same codes, such as a function of `numbers`.
        dims: the dimensions, if the literal may be nested.

    Returns:
        The codes of all elements, in parts; None if the literal needs the slow path.
    """
    if text[:1] + text[-1:] not in ("[]", "{}"):
        return None
    is_plain = isinstance(text, PlainText)
    start, end, nesting = 1, len(text) - 1, None
    if dims is not None and text.find("[", 1) > 0:
        start, end, nesting = 0, len(text), _Nesting()
    codes: list[Codes] = []
    count = 0
    for first, last in _parts(text, start, end):
        part = _read_part(text[first:last], is_plain, last == end, nesting, count)
        found = None if part is None else _codes(*part, coding, read, first == start)
        if found is None:
            return None
        codes.append(found)
        count += found.size
    if nesting is not None and not any(map(nesting.is_over, shapes_of(dims or ()))):
        return None
    return codes


# ---- Doubles to codes -----------------------------------------------------------------------


def as_floats(name: str) -> Coding:
    """Return a function that converts doubles to codes of a float format of at most 32 bits.

    Args:
        name: the element type. If it has at most 16 bits, the function marks numbers without a
            point as odd, so that `read` converts them.
    """
    form = FORMATS[name]

    def coding(values: NDArray[np.float64], runs: Runs, odd: NDArray[np.bool_]) -> Codes | None:
        if form.bits < 32:
            odd |= runs.points < runs.starts
        values[odd] = 1.0  # exists in every format
        rounded = round_doubles(form, values)
        if rounded is None:
            return None
        odd[rounded[1]] = True
        return rounded[0]

    return coding


def as_doubles(values: NDArray[np.float64], runs: Runs, odd: NDArray[np.bool_]) -> Codes | None:
    """Convert doubles to codes: return their bits."""
    return values.view(np.uint64)


def as_integers(low: int, high: int, dtype: str) -> Coding:
    """Return a function that converts doubles to integers in a range.

    Args:
        low: the least allowed value.
        high: the greatest allowed value.
        dtype: the type of the result.
    """

    def coding(values: NDArray[np.float64], runs: Runs, odd: NDArray[np.bool_]) -> Codes | None:
        odd |= runs.points >= runs.starts
        if runs.exponents is not None:
            odd |= runs.exponents.present
        values[odd] = max(low, 0)
        if values.min() < low or values.max() > high:
            return None
        return values.astype(dtype)

    return coding


def _codes(
    chars: Bytes, runs: Runs, coding: Coding, read: Callable[[Elements], Codes], is_first: bool
) -> Codes | None:
    """Return the codes of the numbers of a part; None if they need the slow path."""
    values, odd = read_runs(chars, runs)
    codes = coding(values, runs, odd)
    if codes is None:
        return None
    if odd.any():
        places = np.flatnonzero(odd)
        if is_first and places.size > values.size // _USUAL:
            return None
        data = chars.tobytes()
        starts, ends = runs.starts[places].tolist(), runs.ends[places].tolist()
        texts = [data[start:end] for start, end in zip(starts, ends, strict=True)]
        try:
            codes[places] = read(Elements(b",".join(texts)))
        except LiteralError:
            return None
    return codes


# ---- Commas, blanks and brackets ------------------------------------------------------------


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split a text after commas, but not before "]"; yield (start, end) offsets of the parts."""
    while end - start > _PART:
        cut = text.rfind(",", start, start + _PART)
        while cut > 0 and text[cut + 1 : cut + 65].lstrip()[:1] == "]":
            cut = text.rfind(",", start, cut)
        if cut < 0:
            break
        yield start, cut + 1
        start = cut + 1
    yield start, end


def _read_part(
    text: str, is_plain: bool, is_last: bool, nesting: _Nesting | None, count: int
) -> tuple[Bytes, Runs] | None:
    """Find the numbers of a part, and check the commas between them.

    Args:
        text: the part.
        is_plain: whether it is part of a `PlainText`.
        is_last: whether no part follows.
        nesting: collects the brackets; None if brackets are not allowed.
        count: how many numbers precede the part.

    Returns:
        The characters and the offsets of the numbers; None if the literal needs the slow path.
    """
    if not text.isascii():
        return None
    size = PAD + len(text)
    buffer = bytearray(b" ") * (size + PAD + -size % 8)
    buffer[PAD:size] = text.encode("ascii")
    chars = np.frombuffer(buffer, np.uint8)
    brackets, kinds = np.empty(0, np.intp), np.empty(0, np.uint8)
    if nesting is not None:
        brackets = sparse_places((chars | 6) == (_OPEN | 6))
        kinds = chars[brackets]
        chars[brackets] = _SPACE
    runs = find_runs(chars, has_letters=not is_plain)
    if runs is None or not runs.starts.size:
        return None
    commas = int(np.count_nonzero(chars == _COMMA))
    if not (is_plain or _has_blanks_only(chars, commas, runs)):
        return None
    followed = chars.take(runs.ends) == _COMMA
    singles = runs.starts.size
    if brackets.size and nesting is not None:
        gaps = _distinct(np.searchsorted(runs.starts, brackets))
        chars[brackets] = kinds
        commas -= nesting.add(chars, gaps, runs, count)
        gaps = gaps[gaps > 0] - 1
        singles -= gaps.size
        followed[gaps] = True
    elif is_last and not followed[-1]:
        singles -= 1
        followed[-1] = True
    return (chars, runs) if commas == singles and followed.all() else None


def _has_blanks_only(chars: Bytes, commas: int, runs: Runs) -> bool:
    """Whether there are only blanks besides the numbers and `commas` commas."""
    rest = chars.size - int((runs.ends - runs.starts).sum()) - commas
    rest -= int(np.count_nonzero(chars == _SPACE)) + int(np.count_nonzero(chars == _LINE))
    return not rest or rest == sum(np.count_nonzero(chars == blank) for blank in b"\t\v\f\r")


def sparse_places(mask: NDArray[np.bool_]) -> Places:
    """Return the indices at which a mask is true; fast if there are few.

    Args:
        mask: the mask, whose size must be a multiple of eight.
    """
    words = np.flatnonzero(mask.view(np.uint64) != 0)
    within = np.flatnonzero(mask.reshape(-1, 8)[words])
    places: Places = words[within >> 3] * 8 + (within & 7)
    return places


def _distinct(places: Places) -> Places:
    """Remove duplicates from sorted offsets."""
    return places[np.flatnonzero(np.diff(places, prepend=-1))]


@dataclass(slots=True)
class _Nesting:
    """The brackets of a literal, in groups without numbers in between.

    Attributes:
        found: by part, the groups of brackets with their commas, and a 0 instead of the elements
            before each group: `[[1, 2], [3, 4]]` gives `[[0],[0]]`.
        counts: by part, how many elements precede each group.
    """

    found: list[bytes] = field(default_factory=list)
    counts: list[Places] = field(default_factory=list)

    def add(self, chars: Bytes, gaps: Places, runs: Runs, count: int) -> int:
        """Collect the brackets of a part.

        Args:
            chars: the part, with its brackets.
            gaps: for each group of brackets, how many numbers of the part precede it.
            runs: the numbers of the part.
            count: how many numbers precede the part.

        Returns:
            How many commas are next to brackets.
        """
        # Copy from the last character of a number, which becomes the 0, to the next number.
        count_here = runs.starts.size
        starts = np.where(gaps > 0, runs.ends[gaps - 1] - 1, 0)
        ends = np.where(
            gaps < count_here, runs.starts[np.minimum(gaps, count_here - 1)], chars.size
        )
        sizes = ends - starts
        ends = np.cumsum(sizes)
        firsts = ends - sizes
        around = chars.take(np.arange(ends[-1]) + np.repeat(starts - firsts, sizes))
        around[firsts[gaps > 0]] = _ELEMENTS
        around = around[around > _SPACE]
        self.found.append(around.tobytes())
        self.counts.append(gaps + count)
        return int(np.count_nonzero(around == _COMMA))

    def is_over(self, shape: Sequence[int]) -> bool:
        """Whether the brackets match a shape; trailing commas are allowed."""
        if 0 in shape or not self.counts:
            return False
        rows = 1
        for size in shape[:-1]:
            rows *= size
        counts = _distinct(np.concatenate(self.counts))
        if counts.size != rows + 1 or (counts != np.arange(rows + 1) * shape[-1]).any():
            return False
        expected = b"[0]"
        for size in reversed(shape[:-1]):
            expected = b"[" + b",".join([expected] * size) + b"]"
        return b"".join(self.found).replace(b",]", b"]") == expected
