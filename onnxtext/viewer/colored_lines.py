# SPDX-License-Identifier: Apache-2.0
"""Convert a text to colored lines for a page; shorten long strings and long lists of elements."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from onnxtext.highlight import classify
from onnxtext.lsp.index.positions import LineIndex
from onnxtext.show_model.annotate_text import STYLES, style_of
from onnxtext.viewer.page_model import ENCODING

CLASSES = ("", *dict.fromkeys([style.page for style in STYLES.values()]))
"""The CSS classes of tokens."""

MAX_COLORED_LENGTH = 2_000
"""Lists of elements, and strings, with more characters than this are shortened."""
_HEAD, _TAIL = 300, 40
"""Maximum numbers of characters shown at the start and at the end of a shortened list or string."""

Cut = tuple[int, int, str]
"""(start, end, mark): offsets of the omitted part, and the text that is shown in its place."""

_ELEMENTS = ("Number", "String", "Keyword.Constant", "Whitespace", "Comment")
_SEPARATOR = re.compile(r",\s+")
_MARKS = frozenset(",[]{}-+.")


@dataclass(slots=True)
class ColoredText:
    """The lines of a text for a page. Long parts are cut: each is replaced by a short mark.

    Attributes:
        lines: the lines, with marks in place of the cut parts.
        kinds: for each line, the flat list [class, length, class, length, …] of its tokens. A class
            is an index of `CLASSES`; a length is a number of UTF-16 code units.
        numbers: for each line, its 0-based number in the original text.
        cuts: the cut parts of the original text, each with its mark.
    """

    lines: list[str] = field(default_factory=list)
    kinds: list[list[int]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    _shown: LineIndex = field(default_factory=lambda: LineIndex("", ENCODING))
    _starts: list[int] = field(default_factory=list)
    _shifts: list[int] = field(default_factory=list)

    def place(self, offset: int) -> tuple[int, int]:
        """Convert an offset in the original text to (line, column) in `lines`.

        An offset in a cut part is converted to the end of its mark.
        """
        index = bisect_right(self._starts, offset) - 1
        if index < 0:
            return self._shown.place(offset)
        start, end, mark = self.cuts[index]
        if offset < end:
            return self._shown.place(start + self._shifts[index] + len(mark))
        return self._shown.place(offset + self._shifts[index + 1])

    def line(self, number: int) -> int:
        """Convert a 0-based line number of the original text to an index of `lines`."""
        return max(bisect_right(self.numbers, number) - 1, 0) if self.cuts else number

    def is_cut(self, start: int, end: int) -> bool:
        """Whether a part that was cut out begins in the range [start, end) of the original text."""
        index = bisect_right(self._starts, start - 1)
        return index < len(self._starts) and self._starts[index] < end


def color_lines(text: str) -> ColoredText:
    """Return the lines of a text, with long parts cut, and the CSS classes of their tokens."""
    pieces = list(classify(text, MAX_COLORED_LENGTH))
    result = ColoredText(cuts=list(find_cuts(pieces)))
    shift = 0
    result._shifts.append(0)
    parts, end = [], 0
    for start, stop, mark in result.cuts:
        parts += [text[end:start], mark]
        end = stop
        shift += len(mark) - (stop - start)
        result._starts.append(start)
        result._shifts.append(shift)
    shown = "".join([*parts, text[end:]])
    lines = result._shown = LineIndex(shown, ENCODING)
    bounds = [(lines.line_start(index), lines.line_end(index)) for index in range(lines.count)]
    result.lines = [shown[start:end] for start, end in bounds]
    result.kinds = list(_by_line(_with_marks(pieces, result.cuts), bounds, lines.width))
    result.numbers = _numbers(text, result)
    return result


def find_cuts(pieces: Iterable[tuple[int, str, str]]) -> Iterator[Cut]:
    """Yield the parts to cut: the middle of each long list of elements and each long string.

    `pieces` has (offset, kind, text) of the tokens.
    """
    run: list[tuple[int, str, str]] = []
    for piece in pieces:
        _, kind, text = piece
        if kind.startswith(_ELEMENTS) or (kind == "Punctuation" and _MARKS.issuperset(text)):
            run.append(piece)
            continue
        yield from _cut_of(run)
        run = []
    yield from _cut_of(run)


def _cut_of(run: list[tuple[int, str, str]]) -> Iterator[Cut]:
    """Yield the part to cut of the list or string with the tokens `run`; nothing if it is short.

    Blanks and comments at both ends are not cut; those at the end are removed from `run`.
    """
    blank = ("Whitespace", "Comment")
    while run and run[-1][1].startswith(blank):
        run.pop()
    first = next((n for n, piece in enumerate(run) if not piece[1].startswith(blank)), 0)
    text = "".join([piece for _, _, piece in run[first:]])
    if len(text) <= MAX_COLORED_LENGTH:
        return
    begin = run[first][0]
    separators = [match.end() for match in _SEPARATOR.finditer(text, 0, _HEAD)]
    start = max(separators, default=_HEAD)
    tail = _SEPARATOR.search(text, len(text) - _TAIL)
    end = tail.end() if tail is not None else max(len(text.rstrip(']}"')), len(text) - _TAIL)
    yield begin + start, begin + end, f" … {end - start:,} characters … "


def _with_marks(
    pieces: Iterable[tuple[int, str, str]], cuts: list[Cut]
) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of each token, with a mark in place of each cut part."""
    waiting = iter([*cuts, None])
    cut = next(waiting)
    for offset, kind, text in pieces:
        while cut is not None and cut[1] <= offset:
            cut = next(waiting)
        begin, end = offset, offset + len(text)
        while cut is not None and begin <= end:
            start, stop, mark = cut
            if start >= end:
                break
            if start >= begin:
                yield kind, text[begin - offset : start - offset]
                yield "Comment", mark
            begin = max(begin, min(stop, end))
            if stop > end:
                break
            cut = next(waiting)
        if begin < end:
            yield kind, text[begin - offset :]


def _by_line(
    pieces: Iterable[tuple[str, str]], bounds: list[tuple[int, int]], width_of: Callable[[str], int]
) -> Iterator[list[int]]:
    """Yield the tokens of each line as in `ColoredText.kinds`.

    `pieces` has (kind, text) of the tokens; `bounds` has the (start, end) of each line; `width_of`
    returns the number of UTF-16 code units of a part of a line.
    """
    line, offset = 0, 0
    found: list[int] = []
    for kind, piece in pieces:
        class_index = CLASSES.index(style_of(kind).page)
        end = offset + len(piece)
        while offset < end:
            _, stop = bounds[line]
            following = bounds[line + 1][0] if line + 1 < len(bounds) else end + 1
            part = piece[len(piece) - (end - offset) : len(piece) - (end - min(end, stop))]
            if offset < stop and part:
                width = width_of(part)
                if found and found[-2] == class_index:
                    found[-1] += width
                else:
                    found += (class_index, width)
            if end < following:
                break
            offset = following
            line += 1
            yield found
            found = []
        offset = end
    for _ in range(line, len(bounds)):
        yield found
        found = []


def _numbers(text: str, shown: ColoredText) -> list[int]:
    """Return, for each shown line, its number in the original text (`ColoredText.numbers`)."""
    if not shown.cuts:
        return list(range(len(shown.lines)))
    lines = LineIndex(text, ENCODING)
    result: list[int] = []
    for index in range(lines.count):
        if shown.place(lines.line_start(index)) == (len(result), 0):
            result.append(index)
    result += [result[-1]] * (len(shown.lines) - len(result))
    return result
