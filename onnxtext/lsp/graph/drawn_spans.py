# SPDX-License-Identifier: Apache-2.0
"""Find the positions of a drawing's nodes and values in the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.checker.context.scopes import GIVEN, Scope
from onnxtext.lsp.index.document import DocumentVersion
from onnxtext.source import Span


class DrawnSpans:
    """Finds the positions of statements in one version of a text; converts spans to ranges."""

    def __init__(self, version: DocumentVersion) -> None:
        self._version = version
        self._index = version.index

    def definition(self, scope: Scope, name: str) -> dict[str, int] | None:
        """Return the protocol position of the statement that defines a value; None if not found."""
        position = scope.position.get(name, GIVEN)
        item: Any = scope.nodes[position] if position != GIVEN else None
        if item is None:
            interface: Sequence[ValueInfo] = (*scope.initializers, *scope.inputs)
            item = next((value for value in interface if value.name == name), None)
        offset = -1 if item is None else self._index.original(item).at
        if offset < 0:
            return None
        line, character = self._version.lines.place(offset)
        return {"line": line, "character": character}

    def statement(self, item: Node | ValueInfo) -> Span | None:
        """Return the span of the statement of a node or value; None if it has no statement."""
        statement = self._index.statement_of(item)
        if statement is None:
            return None
        offset, span = statement.at, self._index.statement_span(statement)
        return span or Span(offset, offset + len(self._index.chunk(statement).rstrip()))

    def range(self, span: Span | None) -> dict[str, Any]:
        """Return the protocol range of a span; for None, the empty range at the text's start."""
        start, end = map(self._version.lines.place, span if span is not None else Span(0, 0))
        return {
            "start": {"line": start[0], "character": start[1]},
            "end": {"line": end[0], "character": end[1]},
        }
