# SPDX-License-Identifier: Apache-2.0
"""Answer the requests of graph views.

- `onnxtext/graph` {uri, opened?, closed?, position?} -> {version, roots, groups, total, truncated,
  here}: the open groups of nodes; those around the position are open
- `onnxtext/graphPlace` {uri, position?, id?} -> {path, id}: the groups around a place in the text
- `onnxtext/graphFind` {uri, words} -> [{path, id}]: the nodes and values whose label, operator or
  outputs contain the words
- `onnxtext/graphNode` {uri, id} -> {title, subtitle, text, sections}: one node in detail
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import orjson
from lsprotocol import types as t

from onnxtext.checker.context.scopes import Scope
from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.graph_details import details
from onnxtext.lsp.index.graph_view import Drawing
from onnxtext.lsp.server.protocol import GRAPH, GRAPH_FIND, GRAPH_NODE, GRAPH_PLACE, RequestError

if TYPE_CHECKING:
    from onnxtext.lsp.index.names import Statement
    from onnxtext.lsp.server.server import Server

T = TypeVar("T")


def register(server: Server) -> None:
    """Add the requests."""
    server.answer(GRAPH, graph)
    server.answer(GRAPH_PLACE, place)
    server.answer(GRAPH_FIND, find)
    server.answer(GRAPH_NODE, node)


async def graph(server: Server, params: Any) -> dict[str, Any] | orjson.Fragment:
    """Return the open groups of nodes of a document."""
    document, drawing = await _drawing(server, params)
    opened, closed = [set(_strings(params, name)) for name in ("opened", "closed")]
    here = _place(document, drawing, params)
    if here is not None:
        opened.update(here["path"])
        closed.difference_update(here["path"])
    answer = {"version": document.version.number, **drawing.draw(opened, closed), "here": here}
    return _fast(answer)


async def place(server: Server, params: Any) -> dict[str, Any] | orjson.Fragment | None:
    """Return the groups around a position or a node, and the node."""
    document, drawing = await _drawing(server, params)
    found = _place(document, drawing, params)
    return None if found is None else _fast(found)


async def find(server: Server, params: Any) -> list[dict[str, Any]] | orjson.Fragment:
    """Return the nodes and values that a search finds, in the order of the text."""
    _, drawing = await _drawing(server, params)
    return _fast(drawing.find(params.words))


async def node(server: Server, params: Any) -> dict[str, Any] | orjson.Fragment | None:
    """Return the attributes, types and statistics of a node."""
    _, drawing = await _drawing(server, params)
    found = details(drawing, params.id)
    return None if found is None else _fast(found)


async def _drawing(server: Server, params: Any) -> tuple[Document, Drawing]:
    document = server.document(params.uri)
    if document is None:
        raise RequestError(f"{params.uri} is not open")
    version = document.version
    known = document.graph
    if not isinstance(known, Drawing) or known.version is not version:
        known = Drawing(document, await document.lengths())
        document.graph = known
    return document, known


def _fast(answer: T) -> T | orjson.Fragment:
    try:
        return orjson.Fragment(orjson.dumps(answer))  # ten times as fast as `json`
    except TypeError:  # a name that is not UTF-8
        return answer


def _strings(params: Any, name: str) -> list[str]:
    return [item for item in getattr(params, name, None) or () if isinstance(item, str)]


def _place(document: Document, drawing: Drawing, params: Any) -> dict[str, Any] | None:
    """Return the place that the parameters name; None if there is none."""
    identity = getattr(params, "id", None)
    position = getattr(params, "position", None)
    if identity is None and position is not None:
        index, lines = document.version.index, document.version.lines
        try:
            wanted = t.Position(int(position.line), int(position.character))
        except (AttributeError, TypeError, ValueError):
            return None
        offset = lines.offset(wanted)
        statement = index.statement_at(offset)
        if statement is None:
            # In the blanks before a statement, take the first one of the line.
            start = lines.offset(t.Position(wanted.line, 0))
            end = lines.line_end(min(max(wanted.line, 0), lines.count - 1))
            found = [each for each in index.statements_in(start, end) if each.at >= start]
            statement = found[0] if found else None
        identity = None if statement is None else _identity(drawing, statement)
    if not isinstance(identity, str):
        return None
    path = drawing.chain(identity)
    return None if path is None else {"path": list(path), "id": identity}


def _identity(drawing: Drawing, statement: Statement) -> str | None:
    """Return the id of the drawn node of a statement; of its first user for a constant."""
    scope: Scope = statement.scope
    number = drawing.index.number(scope)
    if statement.group == "node":
        identity = f"g{number}n{statement.number}"
        if drawing.chain(identity) is not None:
            return identity
        names = [name for name in statement.item.outputs if name]
    else:
        name = statement.item.name
        for kind, values in (("i", scope.inputs), ("o", scope.outputs)):
            for place, value in enumerate(values):
                if value.name == name and statement.group in ("input", "output", "info"):
                    identity = f"g{number}{kind}{place}"
                    if (kind == "i") == (statement.group == "input") and drawing.chain(identity):
                        return identity
        names = [name]
    users = [user for name in names for user in drawing.users_of(scope, name)]
    return next((user for user in users if drawing.chain(user) is not None), None)
