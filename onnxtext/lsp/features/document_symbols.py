# SPDX-License-Identifier: Apache-2.0
"""List symbols: the outline of a document, and a search over all open documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

import orjson
from lsprotocol import types as t

from onnxtext.ast.model import Graph
from onnxtext.checker.context.scopes import Scope
from onnxtext.lsp.index.document import Document, DocumentVersion
from onnxtext.lsp.index.missing_positions import broken_statement_end
from onnxtext.lsp.index.plain_statements import match_plain
from onnxtext.lsp.index.statement_spans import enclosing_span
from onnxtext.lsp.index.symbols import Occurrence, Statement
from onnxtext.source import Span

if TYPE_CHECKING:
    from onnxtext.lsp.server.server import Server

_MAX_FOUND = 500
_DEEPEST = 60
_MARK = "\0"
"""Placeholder for the number of a statement's first line in the JSON of its symbol."""
_LATER_MARK = re.compile("\1([0-9]+)\1")
"""Matches the placeholder for the number of a later line of a statement. Its digits are the
number of the later line, relative to the first line of the statement."""


async def outline(document: Document, params: t.DocumentSymbolParams) -> orjson.Fragment | None:
    """Return the outline as JSON: graphs and functions, with their statements, and sections."""
    builder, version = _Outline(document.version), document.version
    column, _ = document.columns.column_for("symbols", version)
    await document.columns.fill("symbols", version, column, builder.row)
    builder.group_by_scope(column)
    return orjson.Fragment(f"[{','.join(builder.roots())}]".encode())


class _Outline:
    """Writes the symbols of one version of a document as JSON.

    A large text has tens of thousands of symbols, and most edits only change their line numbers. So
    the symbol of a statement is cached with placeholders for its lines.
    """

    def __init__(self, version: DocumentVersion) -> None:
        self.version = version
        self.lines = version.lines
        self.text = version.text
        self.index = version.index
        self._by_scope: dict[int, list[tuple[Statement, str | None]]] = {}

    def row(self, statement: Statement) -> str | None:
        """Return the symbol of a statement as JSON, with placeholders for line numbers.

        Return "" for a statement without a symbol; None if it contains graphs.
        """
        if statement.group == "info":
            return ""
        if statement.number in statement.scope.children:
            return None
        line, column = self.lines.place(statement.at)
        chunk = self.index.chunk(statement)
        match = match_plain(statement.kind, chunk)
        if match is not None:
            text = match.group()
            if "\n" not in text and "\r" not in text:
                width = self.lines.width
                ends = [column + width(chunk[:at]) for at in (match.end(), *match.span(2))]
                full_range = _RANGE % (_MARK, column, _MARK, ends[0])
                part = _RANGE % (_MARK, ends[1], _MARK, ends[2])
                return _symbol(*_describe(statement), full_range, part)
            at = statement.at
            spans = Span(at, at + match.end()), Span(at + match.start(2), at + match.end(2))
        else:
            spans = self._spans(statement)
        full_range, part = (self._range_template(span, line) for span in spans)
        return _symbol(*_describe(statement), full_range, part)

    def _range_template(self, span: Span, first: int) -> str:
        """Return a range as JSON, with placeholders; `first` is the first line of the statement."""
        places = self.lines.place(span.start), self.lines.place(span.end)
        ends = [(f"\1{line - first}\1" if line > first else _MARK, at) for line, at in places]
        return _RANGE % (*ends[0], *ends[1])

    def group_by_scope(self, column: list[str | None]) -> None:
        """Replace the placeholders of symbols by line numbers, and group the symbols by scope.

        `column` has the result of `row` for each statement.
        """
        statements, by_scope = self.index.statements, self._by_scope
        places = self.version.statement_places
        for statement, row, (line, _) in zip(statements, column, places, strict=True):
            placed = None if row is None else row.replace(_MARK, str(line))
            if placed is not None and "\1" in placed:
                placed = _later_lines(placed, line)
            by_scope.setdefault(id(statement.scope), []).append((statement, placed))

    def roots(self) -> list[str]:
        """Return the symbols of the outermost graphs, functions and sections, as JSON.

        The symbol of a section contains the symbols of its graphs.
        """
        symbols = [self.scope(scope) for scope in self.index.scopes if scope.parent is None]
        sections = []
        for section in self.index.section_spans:
            section_span = Span(section.at, section.end)
            name = Span(section.at, section.at + len(section.keyword))
            inner = [graph for graph in symbols if section.at <= graph[1].start < section.end]
            symbols = [graph for graph in symbols if graph not in inner]
            for _, span in inner:
                section_span = enclosing_span(section_span, span)
            ranges = self._range(section_span), self._range(name)
            children = [row for row, _ in inner]
            kind = t.SymbolKind.Namespace
            sections.append(_symbol(section.keyword, kind, "section", *ranges, children))
        return [row for row, _ in symbols] + sections

    def scope(self, scope: Scope, depth: int = 0) -> tuple[str, Span]:
        """Return (symbol as JSON, span) of a graph or function, including its statements.

        Statements that are nested more than `_DEEPEST` levels deep are left out.
        """
        start, end = self.index.scope_span(scope)
        span = Span(start, start + len(self.text[start:end].rstrip()))
        name = self.index.name_span(scope.original) if scope.original.at >= 0 else span
        is_function = scope.kind == "function"
        span = enclosing_span(span, name)
        children = []
        for statement, row in [] if depth > _DEEPEST else self._by_scope.get(id(scope), []):
            if row is None:
                outline, inner = self._statement(statement, depth)
                children.append(outline)
                span = enclosing_span(span, inner)
            elif row:
                children.append(row)
        symbol = _symbol(
            scope.name or "(no name)",
            t.SymbolKind.Function if is_function else t.SymbolKind.Module,
            "function" if is_function else scope.attribute or "graph",
            self._range(span),
            self._range(name),
            children,
        )
        return symbol, span

    def _spans(self, statement: Statement) -> tuple[Span, Span]:
        """Return (span of the statement, span of its outputs if it is a node, else of its name)."""
        located = self.index.located(statement)
        if located is None:
            end = statement.at + broken_statement_end(self.index.chunk(statement))
            statement_span = Span(statement.at, end)
            return statement_span, statement_span
        named = located.find("outputs" if statement.kind == "node" else "name")
        return located.span, named or located.span

    def _statement(self, statement: Statement, depth: int) -> tuple[str, Span]:
        """Return the symbol of a statement that contains graphs, as JSON, and the symbol's span.

        The span includes the graphs. In a text with errors, the graphs may end after the span of
        the statement itself.
        """
        full_span, part = self._spans(statement)
        bodies = statement.scope.children.get(statement.number, ()) if depth < _DEEPEST else ()
        children = []
        for body in bodies:
            child, inner = self.scope(body, depth + 1)
            children.append(child)
            full_span = enclosing_span(full_span, inner)
        ranges = self._range(full_span), self._range(part)
        return _symbol(*_describe(statement), *ranges, children), full_span

    def _range(self, span: Span) -> str:
        return _RANGE % (*self.lines.place(span.start), *self.lines.place(span.end))


def _later_lines(row: str, line: int) -> str:
    return _LATER_MARK.sub(lambda mark: str(line + int(mark[1])), row)


_RANGE = '{"start":{"line":%s,"character":%d},"end":{"line":%s,"character":%d}}'


def _describe(statement: Statement) -> tuple[str, t.SymbolKind, str]:
    """Return name, kind and detail of a statement's symbol."""
    item = statement.item
    if statement.kind != "node":
        kind = t.SymbolKind.Constant if item.data is not None else t.SymbolKind.Variable
        return item.name or "(no name)", kind, statement.group
    shown = ", ".join(filter(None, item.outputs)) or item.name or "(no output)"
    return shown, t.SymbolKind.Operator, item.op_type


def _symbol(
    name: str,
    kind: t.SymbolKind,
    detail: str,
    range: str,
    selection: str,
    children: Iterable[str] = (),
) -> str:
    texts = f'"name":{json.dumps(name)},"kind":{kind.value},"detail":{json.dumps(detail)}'
    ranges = f'"range":{range},"selectionRange":{selection}'
    return f'{{{texts},{ranges},"children":[{",".join(children)}]}}'


def find(server: Server, params: t.WorkspaceSymbolParams) -> list[t.WorkspaceSymbol] | None:
    """Return the graphs, functions and values whose names contain the query, ignoring case.

    Search all open documents; return at most `_MAX_FOUND` symbols.
    """
    query = params.query.casefold()
    matching = (_matching(document, query) for document in server.documents.values())
    return list(islice(chain.from_iterable(matching), _MAX_FOUND))


def _matching(document: Document, query: str) -> Iterator[t.WorkspaceSymbol]:
    index, lines = document.version.index, document.version.lines
    for scope in index.scopes:
        if query in scope.name.casefold() and scope.original.at >= 0:
            kind = t.SymbolKind.Module
            if not isinstance(scope.original, Graph):
                kind = t.SymbolKind.Function
            location = t.Location(document.uri, lines.range(index.name_span(scope.original)))
            yield t.WorkspaceSymbol(location, scope.name, kind)
    reported: set[tuple[int, str]] = set()
    for statement in index.statements:
        for name, paths in _defined_values(statement):
            key = id(statement.scope), name
            if query not in name.casefold() or key in reported:
                continue
            reported.add(key)
            span = index.span(Occurrence("definition", statement, paths))
            if span is not None:
                location = t.Location(document.uri, lines.range(span))
                kind, container = t.SymbolKind.Variable, statement.scope.name
                yield t.WorkspaceSymbol(location, name, kind, container_name=container)


def _defined_values(
    statement: Statement,
) -> Iterator[tuple[str, tuple[tuple[str | int, ...], ...]]]:
    """Yield (name, `Occurrence.path` of the name) of each value that a statement defines."""
    if statement.kind == "node":
        for index, name in enumerate(statement.item.outputs):
            if name:
                yield name, (("outputs", index, "name"), ("outputs", index))
    elif statement.group in ("input", "initializer"):
        yield statement.item.name, (("name",),)
