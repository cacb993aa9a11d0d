# SPDX-License-Identifier: Apache-2.0
"""Convert the graphs of a document to nodes and edges for a drawing."""

from __future__ import annotations

from typing import Any

from onnxtext.ast.model import Graph, Node, ValueInfo
from onnxtext.ast.values import Attribute
from onnxtext.checker.context.scopes import Scope
from onnxtext.lsp.index.document import Document, Version
from onnxtext.lsp.index.index import Index
from onnxtext.lsp.index.operators import value_text
from onnxtext.source import Span

MOST_NODES = 5000
"""Maximum number of nodes that are sent; larger drawings are unreadable."""

_LONGEST_DETAIL = 120


def draw(document: Document, lengths: list[int]) -> dict[str, Any]:
    """Return graphs, their nodes and edges, in the order of the text.

    Args:
        document: the document.
        lengths: the lengths of its statements; -1 for those on several lines.

    Returns:
        `graphs` and `truncated`, the result of the request `onnxtext/graph`.
    """
    drawing = _Drawing(document, lengths)
    for scope in drawing.index.scopes:
        drawing.add(scope)
    return {"graphs": drawing.graphs, "truncated": drawing.truncated}


class _Drawing:
    """Collects graphs."""

    def __init__(self, document: Document, lengths: list[int]) -> None:
        self.document = document
        self.version: Version = document.version
        self.index: Index = document.version.index
        self.lengths = dict(zip(self.index.starts, lengths, strict=True))
        self.graphs: list[dict[str, Any]] = []
        self.truncated = False
        self._count = 0
        self._sources: dict[tuple[int, str], str] = {}

    def add(self, scope: Scope) -> None:
        """Add a graph or body with its nodes and incoming edges."""
        number = self.index.number(scope)
        name = f"g{number}"
        nodes: list[dict[str, Any]] = []
        edges: list[dict[str, Any]] = []
        holder = None
        if scope.parent is not None:
            holder = f"g{self.index.number(scope.parent)}n{scope.holder_index}"
        inputs = {value.name for value in scope.inputs}
        for position, value in enumerate(scope.inputs):
            self._value(nodes, scope, f"{name}i{position}", "input", value)
        for position, value in enumerate(scope.initializers):
            if value.name not in inputs:
                self._value(nodes, scope, f"{name}w{position}", "initializer", value)
        for position, node in enumerate(scope.nodes):
            if self.truncated:
                break
            self._node(nodes, edges, scope, f"{name}n{position}", position, node)
        for position, value in enumerate(scope.outputs):
            self._value(nodes, scope, f"{name}o{position}", "output", value)
            if not self.truncated:
                self._edge(edges, scope, value.name, f"{name}o{position}")
        self.graphs.append(
            {
                "id": name,
                "name": scope.name,
                "range": self._range(self._span(scope)),
                "parent": holder,
                "nodes": nodes,
                "edges": edges,
            }
        )

    def _full(self) -> bool:
        self._count += 1
        if self._count > MOST_NODES:
            self.truncated = True
        return self.truncated

    def _value(
        self, nodes: list[dict[str, Any]], scope: Scope, name: str, kind: str, value: ValueInfo
    ) -> None:
        if self._full():
            return
        if kind != "output":
            self._sources.setdefault((self.index.number(scope), value.name), name)
        nodes.append(
            {
                "id": name,
                "kind": kind,
                "op": "",
                "name": value.name,
                "detail": self.document.type_of(scope, value.name) or "",
                "range": self._range(self._statement(value)),
                "bodies": [],
            }
        )

    def _node(
        self,
        nodes: list[dict[str, Any]],
        edges: list[dict[str, Any]],
        scope: Scope,
        name: str,
        position: int,
        node: Node,
    ) -> None:
        if self._full():
            return
        number = self.index.number(scope)
        for output in node.outputs:
            if output and scope.position.get(output) == position:
                self._sources[number, output] = name
        bodies = [f"g{self.index.number(body)}" for body in scope.children.get(position, ())]
        operator = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        nodes.append(
            {
                "id": name,
                "kind": "node",
                "op": operator,
                "name": node.name or "",
                "detail": _detail(node),
                "range": self._range(self._statement(node)),
                "bodies": bodies,
            }
        )
        for used in dict.fromkeys(node.inputs):
            if used:
                self._edge(edges, scope, used, name)

    def _edge(self, edges: list[dict[str, Any]], scope: Scope, value: str, to: str) -> None:
        owner = self.index.resolve(scope, value)
        source = self._sources.get((self.index.number(owner), value))
        if source is not None and source != to:
            type = self.document.type_of(owner, value)
            edges.append({"from": source, "to": to, "value": value, "type": type})

    def _statement(self, item: Node | ValueInfo) -> Span | None:
        original: Any = self.index.original(item)
        length = self.lengths.get(original.at)
        if length is None:
            return None
        if length >= 0:
            return Span(original.at, original.at + length)
        statement = self.index.statement_of.get(id(original))
        if statement is None:
            return None
        located = self.index.located(statement)
        if located is not None:
            return located.span
        text = self.version.text[statement.at : statement.limit]
        return Span(statement.at, statement.at + len(text.rstrip()))

    def _span(self, scope: Scope) -> Span:
        start = max(scope.place.at, 0)
        return Span(start, max(start, self.index.scope_end(scope)))

    def _range(self, span: Span | None) -> dict[str, Any]:
        start, end = map(self.version.lines.place, span if span is not None else Span(0, 0))
        return {
            "start": {"line": start[0], "character": start[1]},
            "end": {"line": end[0], "character": end[1]},
        }


def _detail(node: Node) -> str:
    """Return a short form of the attributes of a node."""
    parts = [_short(attribute) for attribute in node.attributes[:8]]
    text = ", ".join(parts)
    return text if len(text) <= _LONGEST_DETAIL else text[: _LONGEST_DETAIL - 1] + "…"


def _short(attribute: Attribute) -> str:
    value = attribute.value
    if isinstance(value, Graph):
        return f"{attribute.name} = {value.name}"
    return f"{attribute.name} = {value_text(value)}"
