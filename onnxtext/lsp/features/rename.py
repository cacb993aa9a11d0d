# SPDX-License-Identifier: Apache-2.0
"""Renaming values, functions and their parameters: quoted where needed, never onto another name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException

from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.subject import plain_domain
from onnxtext.lsp.features.edits import workspace_edit
from onnxtext.lsp.features.navigation import places, symbol_under
from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.index import Index
from onnxtext.lsp.index.names import Symbol, parameter_names
from onnxtext.lsp.index.sections import name_of
from onnxtext.printer.strings import quoted, value_name, word
from onnxtext.source import Span

if TYPE_CHECKING:
    from onnxtext.lsp.server.server import Server

REFUSED = -32803


def register(server: Server) -> None:
    """Add the requests."""
    server.answer(t.TEXT_DOCUMENT_PREPARE_RENAME, prepare)
    server.answer(t.TEXT_DOCUMENT_RENAME, rename, t.RenameOptions(prepare_provider=True))


def prepare(server: Server, params: t.PrepareRenameParams) -> t.PrepareRenamePlaceholder | None:
    """What would be renamed, and its name as it is now."""
    found = symbol_under(server, params)
    if found is None:
        return None
    document, symbol, at_cursor = found
    return t.PrepareRenamePlaceholder(document.version.lines.range(at_cursor.span), symbol.name)


def rename(server: Server, params: t.RenameParams) -> t.WorkspaceEdit | None:
    """Give all places of a name another one.

    Raises:
        JsonRpcException: the new name is empty, or means something else already.
    """
    found = symbol_under(server, params)
    if found is None:
        return None
    document, symbol, _ = found
    new = name_of(params.new_name.strip())
    if new == symbol.name:
        return None
    objection = _objection(document.version.index, symbol, new) if new else "a name cannot be empty"
    if objection is not None:
        raise JsonRpcException(objection, REFUSED)
    return workspace_edit(server, document, _edits(document, symbol, new))


def _edits(document: Document, symbol: Symbol, new: str) -> list[t.TextEdit]:
    spelled = value_name(new) if symbol.key[0] == "value" else word(new)
    lines, text = document.version.lines, document.version.text
    edits = []
    for span in dict.fromkeys(span for _, span in places(document, symbol)):
        # In a section a name may stand where the language wants a string.
        string = symbol.key[0] == "value" and _in_section(document, span)
        string = string and text.startswith(('"', 'b"'), span.start)
        edits.append(t.TextEdit(lines.range(span), quoted(new) if string else spelled))
    return edits


def _in_section(document: Document, span: Span) -> bool:
    sections = document.version.index.sections
    return bool(sections) and span.start > sections[0].at


def _objection(index: Index, symbol: Symbol, new: str) -> str | None:
    """Why a name cannot be given; None if it can."""
    match symbol.key[0]:
        case "value":
            assert symbol.scope is not None
            return _value_objection(index, symbol, symbol.scope, new)
        case "parameter":
            scope = index.scopes[symbol.key[1]]
            if new in parameter_names(scope):
                return f"`{new}` is a parameter of this function already"
        case "function":
            domain, _, overload = symbol.key[2]
            if (domain, new, overload) in index.functions():
                return f"there is a function `{new}` already"
            for scope in index.scopes:
                for node in scope.nodes:
                    if node.op_type == new and plain_domain(node.domain) == domain:
                        return f"there are nodes that call `{new}`, which would call this function"
    return None


def _value_objection(index: Index, symbol: Symbol, scope: Scope, new: str) -> str | None:
    """Values of a graph and of those around and in it have different names (IR spec, Names)."""
    for key, other in index.symbols.items():
        if key[0] != "value" or key[2] != new or other.scope is None:
            continue
        if _related(scope, other.scope):
            words = other.scope.describe()
            if other.defined:
                return f"`{new}` is a value of {words} already"
            return f"`{new}` is used in {words}, where nothing defines it: it would mean this value"
    return None


def _related(one: Scope, other: Scope) -> bool:
    """Whether a graph is in another, or they are the same."""
    for inner, outer in ((one, other), (other, one)):
        if inner is outer or any(around is outer for around, _ in inner.outer()):
            return True
    return False
