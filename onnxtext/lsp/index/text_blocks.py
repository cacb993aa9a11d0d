# SPDX-License-Identifier: Apache-2.0
"""Find the strings of several lines, which a reader of single lines has to skip."""

from __future__ import annotations

import re
from bisect import bisect_left

from onnxtext.source import COMMENT, LINE_STRING, Span

_STRING_OR_COMMENT = re.compile(f"{LINE_STRING}|{COMMENT}", re.DOTALL)


class TextBlocks:
    """The strings in three quotes of a text, without those on one line."""

    def __init__(self, text: str) -> None:
        self._spans: list[Span] = []
        if '"""' in text:
            spans = (piece.span() for piece in _STRING_OR_COMMENT.finditer(text))
            self._spans = [Span(*span) for span in spans if text.find("\n", *span) >= 0]

    def before(self, offset: int) -> Span:
        """Return the last string that begins before an offset; an empty span if there is none."""
        number = bisect_left(self._spans, (offset,))
        return self._spans[number - 1] if number else Span(0, 0)
