# SPDX-License-Identifier: Apache-2.0
"""Source texts and positions in them.

A `Span` holds character offsets; lines and columns are computed only when a position is shown.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field
from typing import NamedTuple

from onnxtext.quick_dataclass import dataclass

STRING = r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""|"[^"\\]*(?:\\.[^"\\]*)*"'
"""Matches a string literal; needs `re.DOTALL`. Try it before `COMMENT`: strings may contain `#`."""

LINE_STRING = r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""|"(?:[^"\\\n]|\\.)*"?'
"""Matches a string literal in a text with errors: an unclosed string ends with its line."""

COMMENT = r"#[^\n]*"

STRING_OR_COMMENT = re.compile(f"({STRING}|{COMMENT})", re.DOTALL)
"""Finds the string literals and comments of a text; it skips a quote that is never closed."""

SECTIONS = (
    "metadata", "quantization", "training", "configuration", "order", "encoding", "resources",
)  # fmt: skip
"""The keywords of the sections, in canonical order (SPEC 13)."""

_MAX_COUNTED = 8
"""`position` uses `line_starts` after it has searched this many times the length of the text."""

NAMED_SECTION = "configuration"
"""The keyword of the section that has a name between its keyword and its brace."""


class Span(NamedTuple):
    """A half-open range of character offsets, `start <= end`."""

    start: int
    end: int


class Position(NamedTuple):
    """Line and column for display; both are 1-based."""

    line: int
    column: int


@dataclass(slots=True)
class Source:
    """A text and its name in messages.

    Attributes:
        text: the whole text; lines end with LF or CRLF.
        name: a file name, or a placeholder such as `<stdin>` or `<string>`.
    """

    text: str
    name: str
    _line_starts: list[int] = field(init=False, repr=False, compare=False)
    _last: tuple[int, int, int] = field(init=False, repr=False, compare=False)

    def __init__(self, text: str, name: str = "<string>") -> None:
        """Create a source.

        Args:
            text: the whole text; a subclass of `str`, which the native core rejects, is converted.
            name: a file name, or a placeholder.
        """
        self.text = text if type(text) is str else str.__str__(text)
        self.name = name
        self._line_starts = []
        self._last = 0, 1, 0

    @property
    def line_starts(self) -> list[int]:
        """The offset of the first character of each line, computed once."""
        if not self._line_starts:
            starts = [0]
            find = self.text.find
            offset = find("\n")
            while offset >= 0:
                starts.append(offset + 1)
                offset = find("\n", offset + 1)
            self._line_starts = starts
        return self._line_starts

    def position(self, offset: int) -> Position:
        """Return the line and column of a character offset, which is clamped to the text."""
        offset = max(0, min(offset, len(self.text)))
        if self._line_starts:
            line = bisect_right(self._line_starts, offset)
            start = self._line_starts[line - 1]
        else:
            start = line_start(self.text, offset)
            line = self._count_lines(start)
        before = self.text[start:offset].removeprefix("\ufeff")
        return Position(line, len(before) + 1)

    def _count_lines(self, start: int) -> int:
        """Return the number of the line that starts at `start`: count from the last position.

        For a few positions, this is faster than computing `line_starts`. After many calls, it
        computes `line_starts` for the following ones.
        """
        last, line, counted = self._last
        line += self.text.count("\n", last, start) - self.text.count("\n", start, last)
        counted += abs(start - last)
        self._last = start, line, counted
        if counted > _MAX_COUNTED * len(self.text):
            _ = self.line_starts
        return line

    def line(self, number: int) -> str:
        """Return the text of a line (1-based) without its line end."""
        start = self.line_starts[number - 1]
        end = self.text.find("\n", start)
        text = self.text[start:] if end < 0 else self.text[start:end]
        return text.removesuffix("\r")

    def with_line_ends(self, text: str) -> str:
        """Return `text`, with CRLF line endings if the first line of this source ends in CRLF."""
        end = self.text.find("\n")
        if end < 1 or self.text[end - 1] != "\r":
            return text
        return text.replace("\r\n", "\n").replace("\n", "\r\n")


def line_start(text: str, offset: int) -> int:
    """Return the offset of the start of the line that contains an offset."""
    return text.rfind("\n", 0, offset) + 1


def find_by_quote(text: str, quotes: str, start: int = 0) -> int:
    """Return `text.find(quotes, start)`; `quotes` must contain a `"`.

    This function searches for the quote first. In texts of many megabytes, where quotes are rare,
    it is several times as fast as `str.find`.
    """
    before = quotes.index('"')
    offset = start + before - 1
    for _ in range(16):
        offset = text.find('"', offset + 1)
        if offset < 0 or text.startswith(quotes, offset - before):
            return max(offset - before, -1)
    return text.find(quotes, offset + 1 - before)
