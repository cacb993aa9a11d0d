# SPDX-License-Identifier: Apache-2.0
"""Convert offsets to positions of the protocol and back.

In the protocol, lines count from 0 and end with LF, CRLF or CR; columns count code units of the
negotiated encoding (LSP 3.18, Position). Offsets count code points.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from onnxtext.source import Span

if TYPE_CHECKING:
    # Methods import `lsprotocol` when they need it: `onnxtext view` works without the extra `lsp`.
    from lsprotocol import types as t

_LINE_FEED = re.compile("\n")
_LINE_END = re.compile(r"\r\n|\n|\r")


class LineIndex:
    """The lines of one text, for conversions between offsets and positions.

    Attributes:
        encoding: the unit of columns: `utf-8`, `utf-16` or `utf-32`.
        is_plain: whether each code point of the text is one unit of columns.
    """

    def __init__(self, text: str, encoding: str) -> None:
        self.text = text
        self.encoding = encoding
        line_end = _LINE_END if "\r" in text else _LINE_FEED  # `_LINE_FEED` is faster
        self._starts = [0, *[match.end() for match in line_end.finditer(text)]]
        self.is_plain = encoding == "utf-32" or text.isascii()

    @property
    def count(self) -> int:
        """The number of lines; the last one may be empty."""
        return len(self._starts)

    def line_start(self, line: int) -> int:
        """Return the offset of a line's start; for a line after the last one, the text's end."""
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def line_end(self, line: int) -> int:
        """Return the offset of a line's end, before its line break."""
        if line + 1 >= len(self._starts):
            return len(self.text)
        end = self._starts[line + 1]
        while end > self._starts[line] and self.text[end - 1] in "\r\n":
            end -= 1
        return end

    def line_of(self, offset: int) -> int:
        """Return the 0-based number of the line that contains an offset."""
        return bisect_right(self._starts, offset) - 1

    def position(self, offset: int) -> t.Position:
        """Return the protocol position of an offset, which is clamped to the text."""
        from lsprotocol import types as t

        return t.Position(*self.place(offset))

    def place(self, offset: int) -> tuple[int, int]:
        """Return (line, column) of an offset, which is clamped to the text."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        if self.is_plain:
            return line, offset - start
        return line, self.width(self.text[start:offset])

    def places(self, offsets: list[int]) -> list[tuple[int, int]]:
        """Return (line, column) of each offset; all offsets must be within the text."""
        if not self.is_plain:
            return [self.place(offset) for offset in offsets]
        starts = self._starts
        lines = [bisect_right(starts, offset) - 1 for offset in offsets]
        return [(line, at - starts[line]) for line, at in zip(lines, offsets, strict=True)]

    def width(self, part: str) -> int:
        """Return the number of columns of a part of a line."""
        if self.is_plain or part.isascii():
            return len(part)
        if self.encoding == "utf-8":
            return len(part.encode("utf-8", "surrogatepass"))
        return len(part.encode("utf-16-le", "surrogatepass")) // 2

    def offset(self, position: t.Position) -> int:
        """Return the offset of a protocol position.

        Columns are clamped to the line (LSP 3.18, Position), and lines to the text.
        """
        line = max(position.line, 0)
        if line >= len(self._starts):
            return len(self.text)
        start, end = self._starts[line], self.line_end(line)
        column = max(position.character, 0)
        if self.is_plain:
            return min(start + column, end)
        part = self.text[start:end]
        if part.isascii():
            return start + min(column, len(part))
        return start + _characters(part, column, self.encoding)

    def range(self, span: Span) -> t.Range:
        """Return the protocol range of a span."""
        from lsprotocol import types as t

        return t.Range(self.position(span[0]), self.position(span[1]))

    def span(self, range: t.Range) -> Span:
        """Return the span of a protocol range; an empty span if the range ends before its start."""
        start = self.offset(range.start)
        return Span(start, max(start, self.offset(range.end)))


def _characters(part: str, column: int, encoding: str) -> int:
    """Return the number of whole characters in the first `column` code units of a line."""
    units = 0
    for index, character in enumerate(part):
        point = ord(character)
        if encoding == "utf-16":
            units += 2 if point > 0xFFFF else 1
        else:
            units += 1 if point < 0x80 else 2 if point < 0x800 else 3 if point < 0x10000 else 4
        if units > column:
            return index
    return len(part)


def apply_change(
    text: str, lines: LineIndex | None, event: t.TextDocumentContentChangeEvent, encoding: str
) -> str:
    """Return a text after a change from the client.

    `lines` has the lines of the text before the change; None to compute them.
    """
    from lsprotocol import types as t

    if isinstance(event, t.TextDocumentContentChangeWholeDocument):
        return event.text
    start, end = (lines or LineIndex(text, encoding)).span(event.range)
    return text[:start] + event.text + text[end:]
