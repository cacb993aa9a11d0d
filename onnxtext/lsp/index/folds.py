# SPDX-License-Identifier: Apache-2.0
"""Find ranges to fold: brackets over several lines, comments, sections, long strings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.lsp.index.document import DocumentVersion
from onnxtext.source import COMMENT, LINE_STRING, STRING

_PLAIN = r'[^()\[\]{}<>"#\r\n]*'
_MAX = "{0,20}"
"""Limits the repetitions of groups: `re` keeps a state for each one until the match ends."""
_INSIDE = rf'{_PLAIN}(?:"[^"\\\r\n]*"(?!"){_PLAIN}){_MAX}'
_FLAT = rf"\({_INSIDE}\)|\[{_INSIDE}\]|<{_INSIDE}(?:\[{_INSIDE}\]{_INSIDE}){_MAX}(?<!=)>"
_SKIPPED = rf"(?:{_FLAT})(?:{_PLAIN}(?:{_FLAT})){_MAX}"
"""Matches bracketed lists in a line, which cannot be folded: skipping them saves most of the time.
"""
_BRACKETS = rf"{_SKIPPED}|=>|[()\[\]{{}}<>]"
_PIECES = re.compile(f"{STRING}|{COMMENT}|{_BRACKETS}", re.DOTALL)
_PIECES_OF_LINES = re.compile(f"{LINE_STRING}|{COMMENT}|{_BRACKETS}", re.DOTALL)
_PAIRS = {")": "(", "]": "[", "}": "{", ">": "<"}


def find_folds(version: DocumentVersion) -> Iterator[tuple[int, int, bool]]:
    """Yield (first line, last line, is comment) for each range to fold; lines count from 0."""
    lines = version.lines
    pieces = _PIECES if version.index.text_blocks.is_paired else _PIECES_OF_LINES
    open_brackets: list[tuple[str, int]] = []
    comment: tuple[int, int] | None = None
    line, following = 0, lines.line_start(1)
    for piece in pieces.finditer(version.text):
        text = piece.group()
        if piece.start() >= following:
            line = lines.line_of(piece.start())
            following = lines.line_start(line + 1)
        if text[0] == "#":
            alone = not version.text[lines.line_start(line) : piece.start()].strip()
            if comment is not None and alone and comment[1] == line - 1:
                comment = comment[0], line
                continue
            if comment is not None and comment[1] > comment[0]:
                yield *comment, True
            comment = (line, line) if alone else None
        elif text in ("(", "[", "{", "<"):
            open_brackets.append((text, line))
        elif text in _PAIRS:
            start = _close(open_brackets, _PAIRS[text])
            if start is not None and line - 1 > start:
                yield start, line - 1, False
        elif text[0] == '"' and "\n" in text:
            end = lines.line_of(piece.end())
            if end - 1 > line:
                yield line, end - 1, False
    if comment is not None and comment[1] > comment[0]:
        yield *comment, True


def _close(open_brackets: list[tuple[str, int]], opener: str) -> int | None:
    """Pop the open bracket `opener` and all brackets opened after it; return the line of `opener`.

    Only the innermost open brackets are searched. Return None if `opener` is not among them.
    """
    for depth in range(len(open_brackets) - 1, max(len(open_brackets) - 8, -1), -1):
        if open_brackets[depth][0] == opener:
            line = open_brackets[depth][1]
            del open_brackets[depth:]
            return line
    return None
