# SPDX-License-Identifier: Apache-2.0
"""A text in chunks: lines, or in very long lines the entries of a list.

A chunk is only a guess at where statements end. Chunks are cut some at a time, so that the lines
of a literal of many megabytes, which is read as one token, are never made.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, pairwise

LONG_LINE = 5000
"""Lines longer than this are cut before the types in a list."""

_WINDOW = 1 << 18
_RESOURCES = "\nresources {\n"
_ENTRY = re.compile(
    r", (?=(?:b?float|u?int|double|bool|string|complex|seq|map|opt|sparse)[a-z0-9_]*[\[ (])"
)


class Chunks:
    """Where one is in a text. Each chunk is followed by one character that belongs to none.

    Attributes:
        here: some chunks in a row.
        line: which of them is the next.
        at: where that begins; behind the end of the text if there is none.
        end: where the chunk before it ends.
        is_opaque: whether the next chunk is no statement surely, and not in `here` but for its
            place: resources, which may have millions of lines, and pieces of literals.
    """

    __slots__ = ("_begin", "_starts", "_stop", "_text", "at", "end", "here", "is_opaque", "line")

    def __init__(self, text: str) -> None:
        self._text = text
        self.end = -1
        self.load(0)

    def load(self, at: int) -> None:
        """Make chunks from an offset on, and that of the offset the next one."""
        text = self._text
        self.line = 0
        self.at = self._begin = at
        self._starts: list[int] = []
        self._stop, is_line = self._find_stop(at)
        resources = text.find(_RESOURCES, max(at - 1, 0), self._stop + 1)
        if 0 <= resources == at - 1:
            self._stop = len(text)
            self.is_opaque = True
        else:
            self._stop = self._stop if resources < 0 else resources
            self.is_opaque = not is_line
        self.here: list[str] = [""] if self.is_opaque else _cut(text[at : self._stop])

    def _find_stop(self, at: int) -> tuple[int, bool]:
        """Where the chunks from an offset on end, and whether with a line or an entry."""
        text = self._text
        limit = at + _WINDOW
        if limit >= len(text):
            return len(text), True
        stop = text.find("\n", limit, limit + _WINDOW)
        if stop < 0:
            stop = text.rfind("\n", at, limit)
        if stop < 0:
            for entry in _ENTRY.finditer(text, at, limit):
                stop = entry.start() + 1
        return (stop, True) if stop >= 0 else (limit - 1, False)

    def more(self) -> bool:
        """Whether there is a next chunk; it is in `here` then."""
        if self.line == len(self.here) and self.at <= len(self._text):
            self.load(self.at)
        return self.line < len(self.here)

    def ahead(self, count: int) -> None:
        """See to it that so many chunks are in `here` from the next one on, if there are."""
        few = len(self.here) - self.line < count and self._stop < len(self._text)
        if few and not self._text.startswith(_RESOURCES, self._stop):
            self.load(self.at)

    def pass_one(self) -> None:
        """Go on behind the next chunk."""
        self.more()
        self.end = self._next_end()
        self.at = self.end + 1
        self.line += 1

    def pass_over(self, offset: int) -> None:
        """Go on behind the chunk in which an offset lies, which may be far away."""
        if offset > self._stop:
            self.load(offset)
        while self.end < offset:
            self.pass_one()

    def skip_to(self, offset: int) -> None:
        """Pass over the chunks before the one in which an offset lies."""
        if offset > self._stop:
            self.load(max(self._text.rfind("\n", self.at, offset) + 1, self.at))
        while self.line < len(self.here) and self._next_end() < offset:
            self.pass_one()

    def find(self, offset: int) -> None:
        """Make the chunk in which an offset lies the next one, wherever that is."""
        if not self._begin <= offset <= self._stop:
            self.load(self._text.rfind("\n", 0, offset) + 1)
        self.back_to(offset)

    def back_to(self, offset: int) -> None:
        """Make the chunk in which an offset lies the next one; if it is not here, begin there."""
        if not self._begin <= offset <= self._stop:
            self.load(offset)
        if not self._starts:
            sizes = (len(chunk) + 1 for chunk in self.here[:-1])
            self._starts = list(accumulate(sizes, initial=self._begin))
        self.line = bisect_right(self._starts, offset) - 1
        self.at = self._starts[self.line]

    def _next_end(self) -> int:
        """Where the next chunk ends."""
        return self._stop if self.is_opaque else self.at + len(self.here[self.line])


def _cut(text: str) -> list[str]:
    """The chunks of a part of a text that ends with a line."""
    lines = text.split("\n")
    if max(map(len, lines)) <= LONG_LINE:
        return lines
    return [
        chunk for line in lines for chunk in (_entries(line) if len(line) > LONG_LINE else (line,))
    ]


def _entries(line: str) -> list[str]:
    """A line, cut between a comma and the blank behind it."""
    starts = [0, *(entry.end() for entry in _ENTRY.finditer(line))]
    return [line[start : end - 1] for start, end in pairwise([*starts, len(line) + 1])]
