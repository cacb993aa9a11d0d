# SPDX-License-Identifier: Apache-2.0
"""Find multi-line strings: code that reads single lines has to skip them."""

from __future__ import annotations

import re
from bisect import bisect_left

from onnxtext.source import COMMENT, LINE_STRING, STRING, Span

_PIECES = re.compile(rf'{STRING}|{COMMENT}|(?P<single>")', re.DOTALL)
_PIECES_OF_LINES = re.compile(f"{LINE_STRING}|{COMMENT}", re.DOTALL)


class TextBlocks:
    """The multi-line strings of a text.

    Attributes:
        is_paired: whether each quote is matched. If not, each string `"…"` is assumed to end in its
            first line, so that an unmatched quote does not affect later lines.
    """

    def __init__(self, text: str) -> None:
        self.is_paired = True
        self._spans: list[Span] = []
        for piece in _PIECES.finditer(text):
            self.is_paired = self.is_paired and piece.lastgroup is None
            self._add(text, *piece.span())
        if not self.is_paired:
            self._spans = []
            for piece in _PIECES_OF_LINES.finditer(text):
                self._add(text, *piece.span())

    def _add(self, text: str, start: int, end: int) -> None:
        """Add the span of a string if it has several lines."""
        if text.find("\n", start, end) >= 0:
            self._spans.append(Span(start, end))

    def before(self, offset: int) -> Span:
        """Return the span of the last multi-line string that begins before an offset, or (0, 0)."""
        number = bisect_left(self._spans, (offset,))
        return self._spans[number - 1] if number else Span(0, 0)
