# SPDX-License-Identifier: Apache-2.0
"""Format texts that differ from their printed form only in whitespace and commas.

The text gets the lines of the printed form; comments and blank lines go to the line on which the
code before them ends. `incremental_lines` formats the comments afterwards. A text with a comment
within a printed line is left to `document`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate, pairwise

from onnxtext.format.trivia_spans import BLANK_LINE
from onnxtext.source import COMMENT, STRING

_MARK = "\0"
"""Placeholder for a comment or blank line; `use_printed_lines` rejects texts that contain it."""

_STRING_OR_TRIVIA = re.compile(rf"{STRING}|{COMMENT}|\n[ \t\v\f\r]*(?=\n)", re.DOTALL)
"""A string; a comment; the line break before a blank line."""

_CLOSING = (">", "]", "}", ")")
_LAST_COMMA = re.compile(r",(?=\0*[>\]})])")


def use_printed_lines(text: str, printed: str) -> str | None:
    """Rewrite a text with the lines of its printed form; None if other tokens differ.

    Args:
        text: the text, without a byte order mark.
        printed: its printed syntax tree.
    """
    if _MARK in text or "# fmt:" in text:
        return None
    marks: list[str] = []

    def take_out(found: re.Match[str]) -> str:
        whole = found[0]
        if whole[0] == '"':
            return whole
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        behind = whole[0] == "#" and not before.isspace() and before
        marks.append(f"  {whole.rstrip()}" if behind else f"\n{whole.strip()}")
        return _MARK

    code = _STRING_OR_TRIVIA.sub(take_out, text) if "#" in text or BLANK_LINE.search(text) else text
    tokens = _LAST_COMMA.sub("", "".join(code.split())).split(_MARK)
    whole = "".join(tokens)
    if not marks:
        return printed if whole == _LAST_COMMA.sub("", "".join(printed.split())) else None
    lines = printed.split("\n")[:-1]
    bare = ["".join(line.split()) for line in lines]
    for index, (line, after) in enumerate(pairwise(bare)):
        if after[:1] in _CLOSING and line[-1:] == ",":
            bare[index] = line[:-1]
    return _placed(lines, bare, marks, tokens) if whole == "".join(bare) else None


def _placed(lines: list[str], bare: list[str], marks: list[str], tokens: list[str]) -> str | None:
    """Insert comments and blank lines into printed lines; None if one is within a line."""
    head: list[str] = []
    ends = list(accumulate(map(len, bare)))
    last = -1
    for mark, at in zip(marks, accumulate(map(len, tokens)), strict=False):
        line = bisect_left(ends, at)
        if not at:
            head.append(mark[1:] + "\n")
        elif mark[0] == " ":
            if ends[line] != at or at == last:
                return None
            lines[line] += mark
        elif ends[line] == at:
            lines[bisect_right(ends, at) - 1] += mark  # behind printed blank lines
        elif mark != "\n":
            return None
        last = at
    return "".join(head) + "\n".join(lines) + "\n"
