# SPDX-License-Identifier: Apache-2.0
"""The places in statements, found when they are asked for and kept from version to version.

A statement is parsed again to find its parts (`syntax.locate`), unless it is plain (`lsp.plain`).
What was found is kept by the statement's text, so that after a keystroke only the one statement
that changed is parsed again.
"""

from __future__ import annotations

from onnxtext.lsp.index.exporter_lines import plain_places
from onnxtext.source import Source, Span
from onnxtext.syntax.span_map import Places, locate

_MOST = 50_000
"""How many statements are remembered; a large text has fewer that anybody looks at."""


class PlacesCache:
    """Places by the kind and the text of a statement, relative to its beginning.

    Attributes:
        misses: how many statements were not known.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Places | None] = {}
        self.misses = 0

    def find(self, kind: str, chunk: str) -> Places | None:
        """The places of the statement that a chunk of text begins with; None if none does."""
        key = kind, chunk
        try:
            return self._known[key]
        except KeyError:
            pass
        self.misses += 1
        if len(self._known) >= _MOST:
            self._known.clear()
        found = plain_places(kind, chunk)
        if found is None:
            try:
                found = locate(Source(chunk), 0, kind)
            except (ValueError, LookupError, RecursionError):
                found = None
        self._known[key] = found
        return found


class Located:
    """The places of one statement in a document.

    Attributes:
        at: where it begins.
        places: of it and its parts, relative to `at`.
    """

    __slots__ = ("at", "places")

    def __init__(self, at: int, places: Places) -> None:
        self.at = at
        self.places = places

    @property
    def span(self) -> Span:
        """The whole statement."""
        return self.absolute(self.places)

    def absolute(self, places: Places) -> Span:
        """Where a part is in the document."""
        return Span(self.at + places.span.start, self.at + places.span.end)

    def find(self, *path: str | int) -> Span | None:
        """Where a part is, by its path; None if the text has no such part."""
        try:
            return self.absolute(self.places.find(*path))
        except (LookupError, IndexError):
            return None

    def path_to(self, offset: int) -> list[tuple[str | int, Places]]:
        """The steps to the innermost part that holds an offset; both ends of a part count."""
        relative = offset - self.at
        steps: list[tuple[str | int, Places]] = []
        place = self.places
        while True:
            step = _child(place, relative)
            if step is None:
                return steps
            steps.append(step)
            place = step[1]


def _child(place: Places, at: int) -> tuple[str | int, Places] | None:
    best: tuple[str | int, Places] | None = None
    for name, part in place.parts.items():
        if part.span.start <= at <= part.span.end and (best is None or part.span.start == at):
            best = name, part
    for index, item in enumerate(place.items):
        if item is not None and item.span.start <= at <= item.span.end:
            # Between two parts that touch, the later one is meant: `x` of `(x`.
            best = index, item
    return best
