# SPDX-License-Identifier: Apache-2.0
"""Rename values, functions, parameters and labels; quote new names, and reject conflicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lsprotocol import types as t

from onnxtext.checker.context.checked_model import plain_domain
from onnxtext.checker.context.scopes import Scope
from onnxtext.diagnostics import Edit
from onnxtext.lsp.features.edits import workspace_edit
from onnxtext.lsp.features.navigation import Cursor, occurrences
from onnxtext.lsp.index.cursor import CursorTarget, symbol_at
from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.index import Index
from onnxtext.lsp.index.section_names import SectionName, name_of
from onnxtext.lsp.index.symbols import Role, Symbol, parameter_names
from onnxtext.lsp.server.protocol import RequestError
from onnxtext.printer.strings import quote_string, quote_word, value_name
from onnxtext.source import Span

if TYPE_CHECKING:
    from onnxtext.lsp.server.server import Server


def register(server: Server) -> None:
    """Register the handlers of the requests."""
    server.answer(t.TEXT_DOCUMENT_PREPARE_RENAME, prepare)
    server.answer(t.TEXT_DOCUMENT_RENAME, rename, t.RenameOptions(prepare_provider=True))


def prepare(document: Document, params: t.PrepareRenameParams) -> t.PrepareRenamePlaceholder | None:
    """Return the range and current name of the symbol under the cursor; None if there is none."""
    found = _symbol_named_at(document, params)
    if found is None:
        return None
    symbol, at_cursor = found
    return t.PrepareRenamePlaceholder(document.version.lines.range(at_cursor.span), symbol.name)


def rename(server: Server, params: t.RenameParams) -> t.WorkspaceEdit | None:
    """Return the edits that rename the symbol under the cursor; None if nothing is to be renamed.

    Raises:
        RequestError: the new name is empty, or conflicts with another name in the text.
    """
    document = server.documents.get(params.text_document.uri)
    found = _symbol_named_at(document, params) if document is not None else None
    if document is None or found is None:
        return None
    symbol, _ = found
    new = name_of(params.new_name.strip())
    if new == symbol.name:
        return None
    conflict = _conflict(document.version.index, symbol, new) if new else "a name cannot be empty"
    if conflict is not None:
        raise RequestError(conflict)
    return workspace_edit(server, document, _edits(document, symbol, new))


def _symbol_named_at(document: Document, params: Cursor) -> tuple[Symbol, CursorTarget] | None:
    """Return the symbol whose name is under the cursor.

    Return None if there is none, or if the cursor is on the domain of an operator.
    """
    offset = document.version.lines.offset(params.position)
    symbol = symbol_at(document.version.index, offset)
    return symbol if symbol and symbol[1].span.start <= offset <= symbol[1].span.end else None


def _edits(document: Document, symbol: Symbol, new: str) -> list[Edit]:
    sections = {name.span: name for name in document.version.index.sections}
    edits = {}
    for role, span in occurrences(document, symbol):
        spelled = _spelling(document.version.index, symbol, role, span, sections.get(span))
        edits[span] = Edit(span, spelled(new))
    return list(edits.values())


def _spelling(
    index: Index, symbol: Symbol, role: Role, span: Span, section: SectionName | None
) -> Callable[[str], str]:
    """Return the function that spells the new name of a symbol at a span as the printer does."""
    text, kind = index.source.text, symbol.key[0]
    if kind != "value":
        return value_name if kind == "function" and role == "definition" else quote_word
    if section is None:
        return quote_string if span in index.value_strings else value_name
    if section.is_parameter or text.startswith("training", section.at):
        return quote_string
    return value_name if text.startswith("[", span.end) else quote_word


def _conflict(index: Index, symbol: Symbol, new: str) -> str | None:
    """Return why a symbol cannot get a new name; None if it can."""
    match symbol.key[0]:
        case "value":
            assert symbol.scope is not None
            return _value_conflict(index, symbol, symbol.scope, new)
        case "label":
            assert symbol.scope is not None
            if any(node.name == new for node in symbol.scope.nodes):
                return f"another node already has the label `{new}`"
        case "parameter":
            scope = index.scopes[symbol.key[1]]
            if new in parameter_names(scope):
                return f"`{new}` is already a parameter of this function"
        case "function":
            domain, _, overload = symbol.key[2]
            key = domain, new, overload
            if key in index.functions():
                return f"there is already a function `{new}`"
            for scope in index.scopes:
                for node in scope.nodes:
                    if (plain_domain(node.domain), node.op_type, node.overload or "") == key:
                        return f"nodes that call `{new}` would call this function"
    return None


def _value_conflict(index: Index, symbol: Symbol, scope: Scope, new: str) -> str | None:
    """Return why a value cannot get a new name: its graph, an outer or an inner one uses it."""
    for key, other in index.symbols.items():
        if key[0] != "value" or key[2] != new or other.scope is None:
            continue
        if _related(scope, other.scope):
            words = other.scope.describe()
            if other.defined:
                return f"`{new}` is already a value of {words}"
            return (
                f"`{new}` is used in {words}, but not defined there: this use would refer to the "
                "renamed value"
            )
    return None


def _related(one: Scope, other: Scope) -> bool:
    """Whether two graphs are the same, or one contains the other."""
    for inner, outer in ((one, other), (other, one)):
        if inner is outer or any(around is outer for around, _ in inner.outer()):
            return True
    return False
