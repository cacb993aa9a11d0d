# SPDX-License-Identifier: Apache-2.0
"""Symbols: the outline of a document, and the names of all open ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types as t

from onnxtext.ast.model import Graph
from onnxtext.checker.scopes import Scope
from onnxtext.lsp.document import Document
from onnxtext.lsp.index import Index
from onnxtext.lsp.names import Statement
from onnxtext.source import Span

if TYPE_CHECKING:
    from onnxtext.lsp.server import Server

_MOST_FOUND = 500
_DEEPEST = 60


def register(server: Server) -> None:
    """Add the requests."""
    server.answer(t.TEXT_DOCUMENT_DOCUMENT_SYMBOL, outline)
    server.answer(t.WORKSPACE_SYMBOL, find)


async def outline(server: Server, params: t.DocumentSymbolParams) -> list[t.DocumentSymbol] | None:
    """Graphs and functions, in them their inputs, initializers and nodes."""
    document = server.document(params.text_document.uri)
    if document is None:
        return None
    version = document.version
    await version.index_ready()
    made = _Outline(document, version.index)
    return [made.scope(scope) for scope in version.index.scopes if scope.parent is None]


class _Outline:
    """Makes the symbols of one version."""

    def __init__(self, document: Document, index: Index) -> None:
        self.lines = document.version.lines
        self.text = document.version.text
        self.index = index
        self._by_scope: dict[int, list[Statement]] = {}
        for statement in index.statements:
            self._by_scope.setdefault(id(statement.scope), []).append(statement)

    def scope(self, scope: Scope, depth: int = 0) -> t.DocumentSymbol:
        """A graph or function with what is in it."""
        start = max(scope.place.at, 0)
        end = max(start, self.index.scope_end(scope))
        span = Span(start, start + len(self.text[start:end].rstrip()))
        name = self.index.name_span(scope.place) if scope.place.at >= 0 else span
        children = [] if depth > _DEEPEST else list(self._children(scope, depth))
        is_function = scope.kind == "function"
        return t.DocumentSymbol(
            scope.name or "(no name)",
            t.SymbolKind.Function if is_function else t.SymbolKind.Module,
            self.lines.range(_hull(span, name)),
            self.lines.range(name),
            detail="function" if is_function else scope.attribute or "graph",
            children=children,
        )

    def _children(self, scope: Scope, depth: int) -> Iterator[t.DocumentSymbol]:
        for statement in self._by_scope.get(id(scope), ()):
            if statement.kind == "node":
                yield self._node(statement, depth)
            elif statement.group != "info":
                yield self._value(statement)

    def _value(self, statement: Statement) -> t.DocumentSymbol:
        value = statement.item
        span, name = self._spans(statement, "name")
        kind = t.SymbolKind.Constant if value.data is not None else t.SymbolKind.Variable
        return t.DocumentSymbol(
            value.name or "(no name)",
            kind,
            self.lines.range(span),
            self.lines.range(name),
            statement.group,
        )

    def _node(self, statement: Statement, depth: int) -> t.DocumentSymbol:
        node = statement.item
        span, name = self._spans(statement, "outputs")
        shown = ", ".join(filter(None, node.outputs)) or node.name or "(no output)"
        bodies = statement.scope.children.get(statement.number, ())
        return t.DocumentSymbol(
            shown,
            t.SymbolKind.Operator,
            self.lines.range(span),
            self.lines.range(name),
            detail=node.op_type,
            children=[self.scope(body, depth + 1) for body in bodies] if depth < _DEEPEST else [],
        )

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
    for key, symbol in index.symbols.items():
        if key[0] != "value" or not symbol.defined or query not in symbol.name.casefold():
            continue
        first = next(item for item in symbol.occurrences if item.role == "definition")
        span = index.span(first)
        if span is not None and symbol.scope is not None:
            place = t.Location(document.uri, lines.range(span))
            yield t.WorkspaceSymbol(
                place, symbol.name, t.SymbolKind.Variable, container_name=symbol.scope.name
            )
