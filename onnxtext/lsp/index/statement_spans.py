# SPDX-License-Identifier: Apache-2.0
"""Compute span maps of statements on demand, and cache them across versions.

A span map (`syntax.span_map`) is the tree of the spans of a statement's parts. To compute it, a
statement is parsed again, unless it is plain (`plain_statements`). The cache is keyed by the text
of the statement, so that a keystroke invalidates one statement only.
"""

from __future__ import annotations

from dataclasses import dataclass

from onnxtext.lsp.index.plain_statements import plain_span_map
from onnxtext.source import Source, Span
from onnxtext.syntax.span_map import SpanMap, map_spans

_MAX_STATEMENTS = 50_000
"""Maximum number of cached statements."""


class SpanMapCache:
    """Caches the span map of each statement, by the kind and the text of the statement.

    The offsets in a span map are relative to the start of the statement.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], SpanMap | None] = {}

    def find(self, kind: str, chunk: str) -> SpanMap | None:
        """Return the span map of the statement at the start of `chunk`; None if it has an error."""
        key = kind, chunk
        try:
            return self._known[key]
        except KeyError:
            pass
        if len(self._known) >= _MAX_STATEMENTS:
            self._known.clear()
        result = plain_span_map(kind, chunk)
        if result is None:
            try:
                result = map_spans(Source(chunk), 0, kind)
            except (ValueError, LookupError, RecursionError):
                result = None
        self._known[key] = result
        return result


def enclosing_span(left: Span, right: Span) -> Span:
    """Return the smallest span that contains two spans."""
    return Span(min(left.start, right.start), max(left.end, right.end))


@dataclass(slots=True, eq=False)
class LocatedSpans:
    """The span map of a statement. Its offsets are relative to `at`, the statement's offset."""

    at: int
    span_map: SpanMap

    @property
    def span(self) -> Span:
        """The span of the whole statement."""
        return self.absolute(self.span_map)

    def absolute(self, part: SpanMap) -> Span:
        """Return the span of a part of the statement in the document; `part` is its span map."""
        return Span(self.at + part.span.start, self.at + part.span.end)

    def find(self, *path: str | int) -> Span | None:
        """Return the span in the document of a part; None if the part does not exist.

        `path` has names of parts and indices of list items, such as `"outputs", 0, "name"`.
        """
        try:
            return self.absolute(self.span_map.find(*path))
        except LookupError:
            return None

    def path_to(self, offset: int) -> list[tuple[str | int, SpanMap]]:
        """Return the path from the statement to the innermost part that contains an offset.

        The path has (name or index, span map) of each part. A part contains the offset of its end.
        """
        relative = offset - self.at
        steps: list[tuple[str | int, SpanMap]] = []
        part = self.span_map
        while (step := _child(part, relative)) is not None:
            steps.append(step)
            part = step[1]
        return steps


def _child(whole: SpanMap, offset: int) -> tuple[str | int, SpanMap] | None:
    """Return (name or index, span map) of the direct part that contains an offset; else None."""
    best: tuple[str | int, SpanMap] | None = None
    for name, part in whole.parts.items():
        if part.span.start <= offset <= part.span.end and (
            best is None or part.span.start == offset
        ):
            best = name, part
    for index, item in enumerate(whole.items):
        if item is not None and item.span.start <= offset <= item.span.end:
            # If two parts meet at the offset, choose the later one: `x` of `(x`.
            best = index, item
    return best
