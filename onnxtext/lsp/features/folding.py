# SPDX-License-Identifier: Apache-2.0
"""Find folding ranges: brackets over several lines, comments, sections, long strings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types as t

from onnxtext.lsp.index.document import Document, Version
from onnxtext.source import COMMENT, STRING

if TYPE_CHECKING:
    from onnxtext.lsp.server.server import Server

_PIECES = re.compile(rf"{STRING}|{COMMENT}|=>|[()\[\]{{}}<>]", re.DOTALL)
_PAIRS = {")": "(", "]": "[", "}": "{", ">": "<"}
_MOST = 20_000
_LONGEST_GAP = 1000


def register(server: Server) -> None:
    """Add the request."""
    server.answer(t.TEXT_DOCUMENT_FOLDING_RANGE, folding)


async def folding(document: Document, params: t.FoldingRangeParams) -> list[t.FoldingRange]:
    """Return all folding ranges, nested ones included."""
    version, lengths = document.version, await document.lengths()
    best: dict[int, t.FoldingRange] = {}
    for found in folding_ranges(version, lengths):
        known = best.get(found.start_line)
        if known is None or known.end_line < found.end_line:
            best[found.start_line] = found
        if len(best) >= _MOST:
            break
    return sorted(best.values(), key=lambda found: found.start_line)


def folding_ranges(version: Version, lengths: list[int]) -> Iterator[t.FoldingRange]:
    """Yield the folding ranges of a text.

    Args:
        version: the text and its index.
        lengths: the length of each statement on one line; -1 for the others.
    """
    lines = version.lines
    open_brackets: list[tuple[str, int]] = []
    comment: tuple[int, int] | None = None
    line, following = 0, lines.line_start(1)
    for piece in _pieces(version, lengths):
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
                yield t.FoldingRange(*comment, kind=t.FoldingRangeKind.Comment)
            comment = (line, line) if alone else None
        elif text in ("(", "[", "{", "<"):
            open_brackets.append((text, line))
        elif text in _PAIRS:
            start = _close(open_brackets, _PAIRS[text])
            if start is not None and line - 1 > start:
                yield t.FoldingRange(start, line - 1)
        elif text[:3] == '"""':
            end = lines.line_of(piece.end())
            if end - 1 > line:
                yield t.FoldingRange(line, end - 1)
    if comment is not None and comment[1] > comment[0]:
        yield t.FoldingRange(*comment, kind=t.FoldingRangeKind.Comment)


def _pieces(version: Version, lengths: list[int]) -> Iterator[re.Match[str]]:
    """Yield brackets, comments and strings, except those in statements on one line."""
    text = version.text
    done = 0
    for at, length in zip(version.index.starts, lengths, strict=True):
        if length < 0 or at < done:
            continue
        if at - done > _LONGEST_GAP or text[done:at].strip(", \n"):
            yield from _PIECES.finditer(text, done, at)
        done = at + length
    yield from _PIECES.finditer(text, done)


def _close(open_brackets: list[tuple[str, int]], wanted: str) -> int | None:
    """Pop the opening bracket; return its line, or None if none matches."""
    for depth in range(len(open_brackets) - 1, max(len(open_brackets) - 8, -1), -1):
        if open_brackets[depth][0] == wanted:
            line = open_brackets[depth][1]
            del open_brackets[depth:]
            return line
    return None
