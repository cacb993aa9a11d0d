# SPDX-License-Identifier: Apache-2.0
"""Symbols: the outline of a document, and the names of all open ones."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import orjson
from lsprotocol import types as t

from onnxtext.ast.model import Graph
from onnxtext.checker.scopes import Scope
from onnxtext.lsp.document import Document
from onnxtext.lsp.index import Index
from onnxtext.lsp.names import Occurrence, Statement
from onnxtext.source import Span

if TYPE_CHECKING:
    from onnxtext.lsp.server import Server

_MOST_FOUND = 500
_DEEPEST = 60
_AT_ONCE = 200
_MARK = "\0"
"""Stands for a line in a symbol that is kept; JSON has no such character."""


def register(server: Server) -> None:
    """Add the requests."""
    server.answer(t.TEXT_DOCUMENT_DOCUMENT_SYMBOL, outline)
    server.answer(t.WORKSPACE_SYMBOL, find)


async def outline(server: Server, params: t.DocumentSymbolParams) -> orjson.Fragment | None:
    """Graphs and functions, in them their inputs, initializers and nodes, as JSON."""
    document = server.document(params.text_document.uri)
    if document is None:
        return None
    index = document.version.index
    made = _Outline(document, index)
    for number, statement in enumerate(index.statements):
        if number % _AT_ONCE == 0:
            await asyncio.sleep(0)
        made.add(statement)
    roots = [made.scope(scope) for scope in index.scopes if scope.parent is None]
    return orjson.Fragment(f"[{','.join(roots)}]".encode())


class _Outline:
    """Writes the symbols of one version as JSON.

    A large text has ten thousands of them, and most are as they were in the version before but for
    their line. So a symbol is written with a mark for the line, and kept by the statement's text.
    """

    def __init__(self, document: Document, index: Index) -> None:
        self.lines = document.version.lines
        self.text = document.version.text
        self.index = index
        self._made = document.cache.made
        self._by_scope: dict[int, list[Statement]] = {}
        self._written: dict[int, str] = {}

    def add(self, statement: Statement) -> None:
        """Write the symbol of a statement, unless graphs belong to it."""
        if statement.group == "info":
            return
        self._by_scope.setdefault(id(statement.scope), []).append(statement)
        if statement.number in statement.scope.children:
            return
        line, column = self.lines.place(statement.at)
        key = "symbol", statement.group, column, self.text[statement.at : statement.limit]
        written = self._made.get(key)
        if written is None:
            written = self._statement(statement, 0)
            start = f'"line":{line},'
            located = self.index.located(statement)
            # Only what lies on one line can be moved to another one by its mark.
            if located is not None and self.lines.line_of(located.span.end) == line:
                head, _, tail = written.partition('"range":')
                self._made[key] = f'{head}"range":{tail.replace(start, _MARK)}'
        else:
            written = written.replace(_MARK, f'"line":{line},')
        self._written[statement.at] = written

    def scope(self, scope: Scope, depth: int = 0) -> str:
        """A graph or function with what is in it."""
        start = max(scope.place.at, 0)
        end = max(start, self.index.scope_end(scope))
        span = Span(start, start + len(self.text[start:end].rstrip()))
        name = self.index.name_span(scope.place) if scope.place.at >= 0 else span
        is_function = scope.kind == "function"
        children = [] if depth > _DEEPEST else self._by_scope.get(id(scope), [])
        return self._symbol(
            scope.name or "(no name)",
            t.SymbolKind.Function if is_function else t.SymbolKind.Module,
            (_hull(span, name), name),
            "function" if is_function else scope.attribute or "graph",
            [self._written.get(item.at) or self._statement(item, depth) for item in children],
        )

    def _statement(self, statement: Statement, depth: int) -> str:
        item = statement.item
        if statement.kind != "node":
            kind = t.SymbolKind.Constant if item.data is not None else t.SymbolKind.Variable
            spans = self._spans(statement, "name")
            return self._symbol(item.name or "(no name)", kind, spans, statement.group)
        shown = ", ".join(filter(None, item.outputs)) or item.name or "(no output)"
        bodies = statement.scope.children.get(statement.number, ())
        children = [self.scope(body, depth + 1) for body in bodies] if depth < _DEEPEST else []
        spans = self._spans(statement, "outputs")
        return self._symbol(shown, t.SymbolKind.Operator, spans, item.op_type, children)

    def _symbol(
        self,
        name: str,
        kind: t.SymbolKind,
        spans: tuple[Span, Span],
        detail: str,
        children: Iterable[str] = (),
    ) -> str:
        texts = f'"name":{json.dumps(name)},"kind":{kind.value},"detail":{json.dumps(detail)}'
        ranges = f'"range":{self._range(spans[0])},"selectionRange":{self._range(spans[1])}'
        return f'{{{texts},{ranges},"children":[{",".join(children)}]}}'

    def _range(self, span: Span) -> str:
        line, column = self.lines.place(span.start)
        start = f'"start":{{"line":{line},"character":{column}}}'
        line, column = self.lines.place(span.end)
        return f'{{{start},"end":{{"line":{line},"character":{column}}}}}'

    def _spans(self, statement: Statement, part: str) -> tuple[Span, Span]:
        located = self.index.located(statement)
        if located is None:
            text = self.text[statement.at : statement.limit].rstrip()
            span = Span(statement.at, statement.at + len(text))
            return span, span
        return located.span, located.find(part) or located.span


def _hull(one: Span, other: Span) -> Span:
    return Span(min(one.start, other.start), max(one.end, other.end))


def find(server: Server, params: t.WorkspaceSymbolParams) -> list[t.WorkspaceSymbol] | None:
    """Graphs, functions and values whose names hold what was typed, in all open documents."""
    query = params.query.casefold()
    found: list[t.WorkspaceSymbol] = []
    for document in server.documents.values():
        for symbol in _matching(document, query):
            found.append(symbol)
            if len(found) >= _MOST_FOUND:
                return found
    return found


def _matching(document: Document, query: str) -> Iterator[t.WorkspaceSymbol]:
    index, lines = document.version.index, document.version.lines
    for scope in index.scopes:
        if query in scope.name.casefold() and scope.place.at >= 0:
            kind = t.SymbolKind.Module
            if not isinstance(scope.place, Graph):
                kind = t.SymbolKind.Function
            place = t.Location(document.uri, lines.range(index.name_span(scope.place)))
            yield t.WorkspaceSymbol(place, scope.name, kind)
    known: set[tuple[int, str]] = set()
    for statement in index.statements:
        for name, paths in _defined(statement):
            key = id(statement.scope), name
            if query not in name.casefold() or key in known:
                continue
            known.add(key)
            span = index.span(Occurrence("definition", statement, paths))
            if span is not None:
                place = t.Location(document.uri, lines.range(span))
                kind, container = t.SymbolKind.Variable, statement.scope.name
                yield t.WorkspaceSymbol(place, name, kind, container_name=container)


def _defined(statement: Statement) -> Iterator[tuple[str, tuple[tuple[str | int, ...], ...]]]:
    """The values that a statement defines, and where their names stand in it."""
    if statement.kind == "node":
        for number, name in enumerate(statement.item.outputs):
            if name:
                yield name, (("outputs", number, "name"), ("outputs", number))
    elif statement.group in ("input", "initializer"):
        yield statement.item.name, (("name",),)
