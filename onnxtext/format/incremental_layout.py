# SPDX-License-Identifier: Apache-2.0
"""Texts that differ from their printed form in blanks and commas only get the lines of that form.

Comments and blank lines go to the line where the code before them ends. What then still has to be
put right is what `light` does. It gives up where a comment stands within a printed line.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate, pairwise

from onnxtext.format.trivia_spans import BLANK_LINE

_MARK = "\0"
"""Placeholder for a comment or blank line; `use_printed_lines` rejects texts that contain it."""

_ODD = re.compile(
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r'|"[^"\\]*(?:\\.[^"\\]*)*"'
    r"|(#[^\n]*)|\n[ \t\v\f\r]*(?=\n)",
    re.DOTALL,
)
"""A string; a comment; the line break before a blank line."""

_CLOSING = (">", "]", "}", ")")
_LAST_COMMA = re.compile(r",(?=\0*[>\]})])")


def use_printed_lines(text: str, printed: str) -> str | None:
    """The text in the lines of its printed form; None if more than blanks and commas differ.

    Args:
        text: the text, without a byte order mark.
        printed: what the printer makes of its syntax tree.
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

    code = _ODD.sub(take_out, text) if "#" in text or BLANK_LINE.search(text) else text
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
    """The printed lines with comments and blank lines; None if a comment does not fit there."""
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
            lines[bisect_right(ends, at) - 1] += mark  # behind the blank lines of the printed form
        elif mark != "\n":
            return None
        last = at
    return "".join(head) + "\n".join(lines) + "\n"
