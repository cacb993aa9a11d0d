# SPDX-License-Identifier: Apache-2.0
"""Hold an open document: its text, its syntax tree, and the result of the checker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnxtext.ast.model import Fragment, Model
from onnxtext.checker.context.compare_declared_types import declared_type
from onnxtext.checker.engine.partial_parse import read_partial
from onnxtext.checker.inference.explain_shape_errors import spell_type
from onnxtext.diagnostics import Diagnostic
from onnxtext.io.memory import paused_collector
from onnxtext.lsp.index.index import Index
from onnxtext.lsp.index.operators import schemas_of
from onnxtext.lsp.index.positions import LineIndex, apply_change
from onnxtext.lsp.index.statement_spans import SpanMapCache
from onnxtext.lsp.index.symbols import Statement
from onnxtext.sequences import common_prefix
from onnxtext.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lsprotocol import types as t

    from onnxtext.ast.types import Type
    from onnxtext.checker.context.scopes import Scope
    from onnxtext.checker.context.signatures import Schemas
    from onnxtext.lsp.features.graph_requests import GraphViews
    from onnxtext.lsp.server.check_document import Analysis

MAX_CHARACTERS = 32 << 20
"""Maximum number of characters of a text to parse; in longer texts, typing would be too slow."""


class DocumentVersion:
    """One version of a document's text. Its syntax tree and index are computed once, on demand.

    Attributes:
        number: the client's version number.
        lines: the lines of the text, which convert offsets to positions.
        cost: the CPU seconds that parsing this version took; before it is parsed, the cost of the
            previous version.
        created: the creation time of this object, as from `time.monotonic`.
        directory: the directory of the document's file; None if unknown.
    """

    def __init__(
        self,
        number: int,
        source: Source,
        encoding: str,
        cache: SpanMapCache,
        cost: float = 0.0,
        directory: Path | None = None,
    ) -> None:
        self.number = number
        self.source = source
        self.lines = LineIndex(source.text, encoding)
        self._cache = cache
        self.directory = directory
        self._declared: dict[int, dict[str, Type]] = {}
        self.cost = cost
        self.created = time.monotonic()

    @property
    def text(self) -> str:
        """The whole text."""
        return self.source.text

    @cached_property
    def parsed(self) -> tuple[Model | Fragment | None, tuple[Diagnostic, ...]]:
        """The syntax tree (None if nothing could be parsed), and the syntax errors.

        A text with more than `MAX_CHARACTERS` is not parsed; its only finding is that it is too
        long.
        """
        if len(self.text) > MAX_CHARACTERS:
            return None, (_too_large(self.source),)
        start = time.process_time()
        with paused_collector():
            result = read_partial(self.source)
        self.cost = time.process_time() - start
        return result

    @property
    def is_parsed(self) -> bool:
        """Whether the text is parsed already."""
        return "parsed" in vars(self)

    def advance(self, *, with_index: bool) -> bool:
        """Compute the syntax tree or, if there is one, the index; return False if both are there.

        Without `with_index`, compute only the syntax tree.
        """
        for name in ("parsed", "index") if with_index else ("parsed",):
            if name not in vars(self):
                getattr(self, name)
                return True
        return False

    @property
    def root(self) -> Model | Fragment | None:
        """The syntax tree; None if nothing could be parsed."""
        return self.parsed[0]

    @property
    def syntax(self) -> tuple[Diagnostic, ...]:
        """The syntax errors."""
        return self.parsed[1]

    @cached_property
    def index(self) -> Index:
        """The statements, symbols and scopes of the text."""
        root = self.root
        with paused_collector():
            return Index(self.source, root, self._cache, self.schemas)

    @cached_property
    def statement_places(self) -> list[tuple[int, int]]:
        """The (line, column) of each statement."""
        return self.lines.places(self.index.starts)

    @cached_property
    def schemas(self) -> Schemas:
        """The operators that the document may use, besides its own functions."""
        return schemas_of(self.directory)

    def declared(self, scope: Scope) -> dict[str, Type]:
        """Return the declared types of the values of a graph or function, by value name."""
        cached = self._declared.get(id(scope))
        if cached is None:
            cached = self._declared[id(scope)] = _declared_types(scope)
        return cached


_AT_ONCE = 100
"""Number of entries to compute before other tasks may run; this takes a few milliseconds."""

Keys = list[tuple[object, ...]]
"""For each statement, the data that determines its results. A statement is unchanged if the next
version of the text has a statement with the same data."""


def _keys(version: DocumentVersion) -> Keys:
    """Return a key for each statement: its text, length, column, role, graph and names.

    The text in a key ends at the next statement, so it does not repeat the text of inner graphs.
    The length includes inner graphs.
    """
    index, text = version.index, version.text
    several = len(index.scopes) > 1
    keys: Keys = []
    ends = [*index.starts[1:], len(text)]
    for statement, (_, column), end in zip(
        index.statements, version.statement_places, ends, strict=False
    ):
        item, at, limit = statement.item, statement.at, statement.limit
        names: tuple[object, ...]
        if statement.kind == "node":
            names = item.outputs, item.op_type, item.name
        else:
            names = item.name, item.data is not None
        graph = index.number(statement.scope) if several else 0
        part = text[at : min(end, limit)]
        keys.append((part, limit - at, column, statement.group, graph, *names))
    return keys


class StatementResults:
    """Caches columns from one version to the next.

    A column is a named list with one entry per statement: the result of a feature for the
    statement, or None if it was not computed yet or cannot be cached.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Keys, list[Any], Any]] = {}
        self._newest: tuple[DocumentVersion, Keys] | None = None

    def column_for(self, name: str, version: DocumentVersion) -> tuple[list[Any], Any]:
        """Return the column `name` for a version of the text, and its `extra`.

        The column has the old entries of unchanged statements at both ends, and None for all
        others. `extra` is this argument of the last `fill` for `name`; None if there was none.
        """
        keys = self._keys_of(version)
        old, column, extra = self._kept.get(name, ([], [], None))
        if old is keys:
            return column.copy(), extra
        head = common_prefix(old, keys)
        tail = common_prefix(old[head:][::-1], keys[head:][::-1])
        results = [None] * (len(keys) - head - tail)
        return column[:head] + results + column[len(column) - tail :], extra

    async def fill(
        self,
        name: str,
        version: DocumentVersion,
        column: list[Any],
        make: Callable[[Statement], Any],
        extra: Any = None,
    ) -> None:
        """Compute the missing entries of a column, and keep it for later versions.

        Other tasks may run from time to time. If the call is cancelled, the entries computed so far
        are kept.

        `make` computes the entry of a statement. `extra` is any value to keep with the column;
        `column_for` returns both.
        """
        self._kept[name] = self._keys_of(version), column, extra
        computed = 0
        for number, entry in enumerate(column):
            if entry is None:
                column[number] = make(version.index.statements[number])
                computed += 1
                if computed % _AT_ONCE == 0:
                    await asyncio.sleep(0)

    def _keys_of(self, version: DocumentVersion) -> Keys:
        if self._newest is None or self._newest[0] is not version:
            with paused_collector():
                self._newest = version, _keys(version)
        return self._newest[1]


@dataclass(slots=True)
class Document:
    """A document that is open in the editor.

    Attributes:
        path: its file; None if it is not a local file.
        encoding: the unit of columns, such as `utf-16`.
        version: the current version of its text.
        cache: the span maps of statements; all versions share this cache.
        analysis: the last result of the checker.
        analyzed: the number of the current version if `analysis` is for it; else None.
        diagnostics: the diagnostics that were last published.
        diagnosed: the number of the current version if `diagnostics` are for it; else None.
        reported_syntax: whether the published diagnostics include syntax errors.
        reported_check: the number of the current version if the checker's diagnostics for it were
            published; else None.
        tokens: (result id, data) of the semantic tokens that the client has; None if it has none.
        columns: the cached results of features for each statement, which later versions reuse.
        views: the state of the graph view; None before its first request.
        describe: a function that returns the statistics of a tensor from its type and data; None to
            use `tensor_statistics`.
    """

    uri: str
    path: Path | None
    encoding: str
    version: DocumentVersion
    cache: SpanMapCache
    analysis: Analysis | None = None
    analyzed: int | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)
    diagnosed: int | None = None
    reported_syntax: bool = False
    reported_check: int | None = None
    tokens: tuple[str, list[int]] | None = None
    columns: StatementResults = field(default_factory=StatementResults)
    views: GraphViews | None = None
    describe: Callable[[Any, Any], str | None] | None = None

    @classmethod
    def open(cls, uri: str, path: Path | None, text: str, number: int, encoding: str) -> Document:
        """Return a new document; its columns count the units of `encoding`, such as `utf-16`."""
        cache = SpanMapCache()
        name = uri if path is None else str(path)
        version = DocumentVersion(
            number,
            Source(text, name),
            encoding,
            cache,
            directory=None if path is None else path.parent,
        )
        return cls(uri, path, encoding, version, cache)

    def update(self, number: int, changes: Sequence[t.TextDocumentContentChangeEvent]) -> None:
        """Replace the current version by the next one, which has the changes applied in order."""
        text = self.version.text
        lines: LineIndex | None = self.version.lines
        for event in changes:
            text = apply_change(text, lines, event, self.encoding)
            lines = None
        source = Source(text, self.version.source.name)
        cost, directory = self.version.cost, self.version.directory
        self.version = DocumentVersion(number, source, self.encoding, self.cache, cost, directory)
        # Reset the version numbers: a client may reuse a number.
        self.analyzed = self.diagnosed = self.reported_check = None

    @property
    def current(self) -> Analysis | None:
        """The result of the checker for the current version; None until the check is done."""
        return self.analysis if self.analyzed == self.version.number else None

    def type_of(self, scope: Scope, name: str) -> str | None:
        """Return the inferred type of a value, or else its declared type; None if unknown."""
        if self.current is not None:
            inferred = self.current.types.get(scope.original.at, {}).get(name)
            if inferred is not None:
                return inferred
        declared = self.version.declared(scope).get(name)
        return None if declared is None else spell_type(declared)


def _declared_types(scope: Scope) -> dict[str, Type]:
    """Return the first declared type of each value of a graph or function, by value name."""
    result: dict[str, Type] = {}
    for value in (*scope.inputs, *scope.initializers, *scope.infos, *scope.outputs):
        type = declared_type(value)
        if type is not None:
            result.setdefault(value.name, type)
    for node in scope.nodes:
        for name, declared in zip(node.outputs, node.output_types, strict=False):
            if declared is not None:
                result.setdefault(name, declared)
    return result


def _too_large(source: Source) -> Diagnostic:
    from onnxtext.diagnostics import Label

    return Diagnostic(
        "model-too-large",
        f"the text has more than {MAX_CHARACTERS:,} characters: the language server skips it",
        "info",
        source=source,
        labels=(Label(Span(0, 0)),),
        help="to move its weights to a store, convert it: `onnxtext to-binary`, then `from-binary`",
    )


def path_of(uri: str) -> Path | None:
    """Return the path of a `file:` URI; None for other and for invalid URIs."""
    from pygls.uris import to_fs_path  # `onnxtext view` works without pygls

    if not uri.startswith("file:"):
        return None
    try:
        path = to_fs_path(uri)
    except ValueError:  # such as `file://[`
        return None
    return None if path is None or "\0" in path else Path(path)
