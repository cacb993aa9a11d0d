# SPDX-License-Identifier: Apache-2.0
"""An open document: its text, what could be read of it, and what the checker found out about it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from onnxtext.ast.model import Fragment, Model
from onnxtext.checker.inference.explain import written
from onnxtext.collector import paused_collector
from onnxtext.diagnostics import Diagnostic
from onnxtext.lsp.index.exporter_lines import match_plain
from onnxtext.lsp.index.index import Index
from onnxtext.lsp.index.positions import Lines, change
from onnxtext.lsp.index.reuse import Columns, fill
from onnxtext.lsp.index.statements import PlacesCache
from onnxtext.lsp.index.types import declared_types
from onnxtext.source import Source, Span
from onnxtext.syntax.parse import parse_partial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lsprotocol import types as t

    from onnxtext.ast.types import Type
    from onnxtext.checker.context.scopes import Scope
    from onnxtext.lsp.index.names import Statement
    from onnxtext.lsp.server.analysis import Analysis

MOST_CHARACTERS = 32 << 20
"""A longer text is not read: every keystroke would wait for it."""

_MOST_SALVAGES = 4


class Version:
    """One version of a document's text; what is computed of it is computed once, when asked for.

    Attributes:
        number: as the client counts.
        source: the text.
        lines: its lines.
        cost: the seconds that reading the version before took.
        made: when it was made, by the monotonic clock.
    """

    def __init__(
        self,
        number: int,
        source: Source,
        encoding: str,
        cache: PlacesCache,
        cost: float = 0.0,
    ) -> None:
        self.number = number
        self.source = source
        self.lines = Lines(source.text, encoding)
        self._cache = cache
        self._declared: dict[int, dict[str, Type]] = {}
        self.cost = cost
        self.made = time.monotonic()

    @property
    def text(self) -> str:
        """The whole text."""
        return self.source.text

    @cached_property
    def parsed(self) -> tuple[Model | Fragment | None, tuple[Diagnostic, ...]]:
        """What could be read, and what is wrong with the text."""
        if len(self.text) > MOST_CHARACTERS:
            return None, (_too_large(self.source),)
        start = time.process_time()
        with paused_collector():
            made = read_partial(self.source)
        self.cost = time.process_time() - start
        return made

    @property
    def is_parsed(self) -> bool:
        """Whether the text is parsed already."""
        return "parsed" in self.__dict__

    def steps(self, *, with_index: bool) -> Iterator[Callable[[], object]]:
        """What remains to be computed before a request, in parts that others may work between."""
        if "parsed" not in self.__dict__:
            yield lambda: self.parsed
        if with_index and "index" not in self.__dict__:
            yield lambda: self.index

    @property
    def root(self) -> Model | Fragment | None:
        """What could be read."""
        return self.parsed[0]

    @property
    def syntax(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the text."""
        return self.parsed[1]

    @cached_property
    def index(self) -> Index:
        """What is where."""
        root = self.root
        with paused_collector():
            return Index(self.source, root, self._cache)

    def declared(self, scope: Scope) -> dict[str, Type]:
        """The types that the text declares for the values of a graph or body."""
        known = self._declared.get(id(scope))
        if known is None:
            known = self._declared[id(scope)] = declared_types(scope)
        return known


@dataclass(slots=True)
class Document:
    """A document that is open in the editor.

    Attributes:
        uri: how the client calls it.
        path: its file; None if it is in none.
        encoding: what columns count.
        version: the text as it is now.
        analysis: what the checker found out last, and about which version.
        analysed: the number of that version.
        diagnostics: what the client was told last; `diagnosed` is the version it was told of.
        tokens: the semantic tokens that the client has, and how it calls them.
        columns: what features have made of the statements.
        told_syntax: whether the client was told of mistakes in the text.
        told_check: the number of the version of which it was last told what the checker found.
    """

    uri: str
    path: Path | None
    encoding: str
    version: Version
    cache: PlacesCache
    analysis: Analysis | None = None
    analysed: int = -1
    diagnostics: list[Diagnostic] = field(default_factory=list)
    diagnosed: int = -1
    told_syntax: bool = False
    told_check: int = -1
    tokens: tuple[str, list[int]] | None = None
    columns: Columns = field(default_factory=Columns)

    @classmethod
    def open(cls, uri: str, path: Path | None, text: str, number: int, encoding: str) -> Document:
        """A document with its first text."""
        cache = PlacesCache()
        name = uri if path is None else str(path)
        version = Version(number, Source(text, name), encoding, cache)
        return cls(uri, path, encoding, version, cache)

    def update(self, number: int, changes: Sequence[t.TextDocumentContentChangeEvent]) -> None:
        """Make the next version of changes, one after the other."""
        text = self.version.text
        lines: Lines | None = self.version.lines
        for event in changes:
            text = change(text, lines, event, self.encoding)
            lines = None
        source = Source(text, self.version.source.name)
        self.version = Version(number, source, self.encoding, self.cache, self.version.cost)

    @property
    def current(self) -> Analysis | None:
        """What the checker found out about the text as it is now; None if it is not done."""
        return self.analysis if self.analysed == self.version.number else None

    async def lengths(self) -> list[int]:
        """How many characters each statement has; -1 if it has several lines or a mistake."""
        index, text = self.version.index, self.version.text

        def length(statement: Statement) -> int:
            chunk = text[statement.at : statement.limit]
            found = match_plain(statement.kind, chunk)
            if found is not None:
                end = found.end()
            else:
                located = index.located(statement)
                if located is None:
                    return -1
                end = located.places.span.end
            return -1 if "\n" in chunk[:end] or "\r" in chunk[:end] else end

        column, _ = self.columns.take("lengths", index)
        try:
            await fill(index, column, length)
        finally:  # it may be cancelled: what was found out holds all the same
            self.columns.keep("lengths", index, column)
        return column

    def declared(self, scope: Scope) -> dict[str, Type]:
        """The types that the text declares for the values of a graph or body."""
        return self.version.declared(scope)

    def type_of(self, scope: Scope, name: str) -> str | None:
        """The type of a value: as it was inferred, else as it is declared; None if not known."""
        if self.current is not None:
            inferred = self.current.types.get(scope.place.at, {}).get(name)
            if inferred is not None:
                return inferred
        declared = self.declared(scope).get(name)
        return None if declared is None else written(declared)


def read_partial(source: Source) -> tuple[Model | Fragment | None, tuple[Diagnostic, ...]]:
    """What can be read of a text, a model or a function, and what is wrong with it.

    Where too little is left to make a model of, the lines with mistakes are left out, so that the
    rest keeps its meaning for the editor.
    """
    from onnxtext.checker.engine.sources import looks_like_function

    root, diagnostics = parse_partial(source, "model")
    if root is None or looks_like_function(root):
        function, wrong = parse_partial(source, "function_fragment")
        if function is not None and (
            not wrong or (root is not None and diagnostics) or _first(wrong) > _first(diagnostics)
        ):
            return function, wrong
        if root is None:
            root = _salvage(source, diagnostics)
    return root, diagnostics


def _first(diagnostics: tuple[Diagnostic, ...]) -> int:
    """How far a text could be read before its first mistake."""
    return min((item.span.start for item in diagnostics if item.span is not None), default=0)


def _salvage(source: Source, diagnostics: tuple[Diagnostic, ...]) -> Model | None:
    """Read a text without the lines that have mistakes in them; offsets stay as they are."""
    text = source.text
    if diagnostics and diagnostics[0].code == "invalid-character":
        return None
    for _ in range(_MOST_SALVAGES):
        span = next((item.span for item in diagnostics if item.span is not None), None)
        if span is None:
            return None
        blanked = _blank(text, span)
        if blanked == text:
            return None
        text = blanked
        root, diagnostics = parse_partial(Source(text, source.name), "model")
        if root is not None:
            return root  # type: ignore[no-any-return]
    return None


def _blank(text: str, span: Span) -> str:
    """A text with blanks in the place of the line in which something is wrong."""
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.start)
    end = len(text) if end < 0 else end
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def _too_large(source: Source) -> Diagnostic:
    from onnxtext.diagnostics import Label

    return Diagnostic(
        "model-too-large",
        f"the text has more than {MOST_CHARACTERS >> 20} MiB: the editor does not read it",
        "info",
        source=source,
        labels=(Label(Span(0, 0)),),
        help="keep its weights beside the text, in a store (`onnxtext from-binary`)",
    )
