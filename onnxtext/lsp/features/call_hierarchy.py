# SPDX-License-Identifier: Apache-2.0
"""Answer call hierarchy requests: callers and callees of functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lsprotocol import types as t

from onnxtext.ast.qualified_names import plain_domain
from onnxtext.checker.context.checked_model import function_key
from onnxtext.checker.context.scopes import Scope
from onnxtext.lsp.index.cursor import target_at
from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.statement_spans import enclosing_span
from onnxtext.lsp.server.message_validation import data_field
from onnxtext.source import Span

if TYPE_CHECKING:
    from onnxtext.lsp.server.server import Server


def prepare(
    document: Document, params: t.CallHierarchyPrepareParams
) -> list[t.CallHierarchyItem] | None:
    """Return an item for the function or graph under the cursor; None if there is none."""
    index = document.version.index
    offset = document.version.lines.offset(params.position)
    at_cursor = target_at(index, offset)
    if at_cursor is None or at_cursor.kind not in ("function", "graph"):
        return None
    if at_cursor.kind == "function" and at_cursor.key is not None:
        scope = index.functions().get(at_cursor.key[2])
    else:
        scope = next(
            (s for s in index.scopes if s.parent is None and s.name == at_cursor.name), None
        )
    return None if scope is None else [_item(document, scope)]


def incoming(
    server: Server, params: t.CallHierarchyIncomingCallsParams
) -> list[t.CallHierarchyIncomingCall] | None:
    """Return the graphs and functions that call a function, with the ranges of the calls.

    The list is empty for a graph. Return None if the document is not open.
    """
    document, item = _requested_scope(server, params.item)
    if document is None:
        return None
    calls = [(caller, span) for callee, caller, span in _calls(document) if callee is item]
    return [t.CallHierarchyIncomingCall(*group) for group in _grouped(document, calls)]


def outgoing(
    server: Server, params: t.CallHierarchyOutgoingCallsParams
) -> list[t.CallHierarchyOutgoingCall] | None:
    """Return the functions that a graph or function calls, with the ranges of the calls.

    Return None if the document is not open.
    """
    document, item = _requested_scope(server, params.item)
    if document is None:
        return None
    calls = [(callee, span) for callee, caller, span in _calls(document) if caller is item]
    return [t.CallHierarchyOutgoingCall(*group) for group in _grouped(document, calls)]


def _calls(document: Document) -> Iterator[tuple[Scope, Scope, Span]]:
    """Yield (scope of the callee, scope of the caller, span of the name) of all calls."""
    index = document.version.index
    for key, symbol in index.symbols.items():
        if key[0] != "function" or key[2] not in index.functions():
            continue
        for occurrence in symbol.occurrences:
            span = index.span(occurrence)
            if occurrence.statement is not None and span is not None:
                yield index.functions()[key[2]], occurrence.statement.scope.outermost, span


def _grouped(
    document: Document, calls: list[tuple[Scope, Span]]
) -> Iterator[tuple[t.CallHierarchyItem, list[t.Range]]]:
    """Yield each scope in `calls` as an item, with the ranges of its calls."""
    ranges: dict[int, tuple[Scope, list[t.Range]]] = {}
    for scope, span in calls:
        ranges.setdefault(id(scope), (scope, []))[1].append(document.version.lines.range(span))
    for scope, called in ranges.values():
        yield _item(document, scope), called


def _item(document: Document, scope: Scope) -> t.CallHierarchyItem:
    index, lines = document.version.index, document.version.lines
    name = index.name_span(scope.original)
    is_function = scope.kind == "function"
    domain, overload = "", ""
    if is_function:
        domain, _, overload = function_key(scope.owner)
    return t.CallHierarchyItem(
        scope.name,
        t.SymbolKind.Function if is_function else t.SymbolKind.Module,
        document.uri,
        lines.range(enclosing_span(index.scope_span(scope), name)),
        lines.range(name),
        detail=plain_domain(domain) or None,
        data={"kind": scope.kind, "domain": domain, "overload": overload},
    )


def _requested_scope(
    server: Server, item: t.CallHierarchyItem
) -> tuple[Document | None, Scope | None]:
    """Return the document and the graph or function of an item that the client sent.

    The document is None if it is not open; the graph or function is None if it is not found.
    """
    document = server.documents.get(item.uri)
    if document is None:
        return None, None
    index = document.version.index
    data: Any = item.data
    kind, domain, overload = (data_field(data, name, "") for name in ("kind", "domain", "overload"))
    if kind == "function":
        return document, index.functions().get((domain, item.name, overload))
    scopes = (s for s in index.scopes if s.parent is None and s.kind == kind)
    return document, next((scope for scope in scopes if scope.name == item.name), None)
