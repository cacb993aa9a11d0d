# SPDX-License-Identifier: Apache-2.0
"""Rename values, functions, parameters and labels; quote new names, and reject conflicts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from lsprotocol import types as t

from onnxtext.ast.model import Node
from onnxtext.checker.context.checked_model import operator_key
from onnxtext.checker.context.scopes import Scope
from onnxtext.diagnostics import Edit
from onnxtext.lsp.features.navigation import Cursor, occurrences
from onnxtext.lsp.features.text_edits import workspace_edit
from onnxtext.lsp.index.cursor import CursorTarget, symbol_at, target_at
from onnxtext.lsp.index.document import Document, DocumentVersion
from onnxtext.lsp.index.index import Index
from onnxtext.lsp.index.section_names import SectionName
from onnxtext.lsp.index.symbols import Role, Symbol, parameter_names
from onnxtext.lsp.server.protocol import RequestError
from onnxtext.printer.quoting import quote_string, quote_word, value_name
from onnxtext.source import Span
from onnxtext.syntax.actions.strings import name_of
from onnxtext.syntax.grammar.lexer import load_lexer
from onnxtext.syntax.grammar.tables import BAD_KIND

if TYPE_CHECKING:
    from onnxtext.lsp.server.server import Server


def prepare(document: Document, params: t.PrepareRenameParams) -> t.PrepareRenamePlaceholder | None:
    """Return the range and current name of the symbol under the cursor; None if there is none."""
    found = _symbol_named_at(document, params)
    if found is None:
        return None
    symbol, at_cursor = found
    return t.PrepareRenamePlaceholder(document.version.lines.range(at_cursor.span), symbol.name)


def rename(server: Server, params: t.RenameParams) -> t.WorkspaceEdit | None:
    """Return the edits that rename the symbol under the cursor; None if there is nothing to change.

    Raises:
        RequestError: the new name is invalid or conflicts with another name in the text, or the old
            name also occurs near a syntax error.
    """
    document = server.documents.get(params.text_document.uri)
    found = _symbol_named_at(document, params) if document is not None else None
    if document is None or found is None:
        return None
    symbol, _ = found
    new = _typed_name(params.new_name)
    if symbol.name in (new, params.new_name):  # `new_name` may be what `prepare` returned
        return None
    conflict = _invalid(new) or _conflict(document.version.index, symbol, new)
    if conflict is not None:
        raise RequestError(conflict)
    edits = _edits(document, symbol, new)
    line = _unreadable_line(document, symbol, {edit.span for edit in edits})
    if line is not None:
        raise RequestError(
            f"`{symbol.name}` also occurs in line {line}, near a syntax error: correct it first"
        )
    return workspace_edit(server, document, edits)


def _typed_name(typed: str) -> str:
    """Return the typed name: the content of a string literal, or else the stripped text."""
    stripped = typed.strip()
    token = load_lexer().token(stripped, 0)
    return name_of(token) if token is not None and token == stripped else stripped


def _invalid(name: str) -> str | None:
    """Return why a name is invalid; None if it is valid."""
    if not name:
        return "a name cannot be empty"
    try:
        name.encode("utf-8", "surrogateescape")  # low surrogates stand for bytes that are not UTF-8
    except UnicodeEncodeError:
        return "the name has a lone surrogate, which is not a character"
    return None


def _symbol_named_at(document: Document, params: Cursor) -> tuple[Symbol, CursorTarget] | None:
    """Return the symbol whose name is under the cursor, and its `CursorTarget`.

    Return None if there is none, or if the cursor is on the domain of an operator.
    """
    offset = document.version.lines.offset(params.position)
    symbol = symbol_at(document.version.index, offset)
    return symbol if symbol and symbol[1].span.start <= offset <= symbol[1].span.end else None


def _edits(document: Document, symbol: Symbol, new: str) -> list[Edit]:
    sections = {name.span: name for name in document.version.index.section_names}
    edits = {}
    for role, span in occurrences(document, symbol):
        spelled = _spelling(document.version.index, symbol, role, span, sections.get(span))
        edits[span] = Edit(span, spelled(new))
    return list(edits.values())


def _unreadable_line(document: Document, symbol: Symbol, renamed: set[Span]) -> int | None:
    """Return the first line (from 1) whose unreadable name may refer to a symbol; None if none.

    A name is unreadable if a syntax error keeps it out of every statement. `renamed` has the spans
    of the symbol's occurrences; names at these spans are skipped.
    """
    version, index = document.version, document.version.index
    if not version.syntax:
        return None
    valid = _valid_parts(version)
    for line in range(version.lines.count):
        for span in _names_in_line(document, line, symbol.name):
            if span not in renamed and not _is_unrelated(index, span, symbol, valid):
                return line + 1
    return None


def _valid_parts(version: DocumentVersion) -> list[Span]:
    """Return the spans of the header and of the sections, except those with a syntax error.

    Return [] if a quote is unmatched, because the error may then be anywhere.
    """
    index = version.index
    if not index.text_blocks.is_paired:
        return []
    errors = [label.span.start for item in version.syntax for label in item.labels]
    sections = [Span(section.at, section.end) for section in index.section_spans]
    parts = [Span(0, start) for start in index.outer_starts[:1]] + sections
    return [
        part for part in parts if not any(part.start <= offset <= part.end for offset in errors)
    ]


def _is_unrelated(index: Index, span: Span, symbol: Symbol, valid: list[Span]) -> bool:
    """Whether a name or string certainly does not refer to a symbol.

    `valid` is the result of `_valid_parts`.
    """
    found = target_at(index, span.start)
    if found is None or found.span != span:
        inside = any(part.start <= span.start < part.end for part in valid)
        return inside or index.statement_at(span.start) is not None
    if found.key is None:
        return True
    other = index.symbols.get(found.key)
    # A name without a definition may refer to the symbol: a superfluous `}` before the name may
    # have ended the graph that defines the symbol.
    return found.key[0] != symbol.key[0] or (
        other is not None and other.defined and other is not symbol
    )


def _names_in_line(document: Document, line: int, name: str) -> Iterator[Span]:
    """Yield the spans of the tokens in a line that are the given name, quoted or not.

    If a token is invalid, also yield the first match of the name in the line. The line is read
    separately, because an unclosed quote changes the meaning of all later quotes.
    """
    version = document.version
    start, end = version.lines.line_start(line), version.lines.line_end(line)
    start = max(start, version.index.text_blocks.before(end).end)
    for token in load_lexer().tokens(version.text, start, end):
        if token.kind == BAD_KIND:
            word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)").search(version.text, start, end)
            if word is not None:
                yield Span(*word.span())
        elif name_of(token) == name:
            yield token.span


def _spelling(
    index: Index, symbol: Symbol, role: Role, span: Span, section: SectionName | None
) -> Callable[[str], str]:
    """Return a function that quotes a symbol's new name at `span` like the printer.

    `section` is the section name at `span`; None outside of sections.
    """
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
            return _value_conflict(index, symbol.scope, new)
        case "label":
            assert symbol.scope is not None
            if any(node.name == new for node in symbol.scope.nodes):
                return f"another node already has the label `{new}`"
        case "parameter":
            scope = index.scopes[symbol.key[1]]
            if new in parameter_names(scope):
                return f"`{new}` is already a parameter of this function"
            if any(each.name == new for node in _calls(index, scope) for each in node.attributes):
                return f"a node that calls this function already has an attribute `{new}`"
        case "function":
            domain, _, overload = symbol.key[2]
            key = domain, new, overload
            if key in index.functions():
                return f"there is already a function `{new}`"
            for scope in index.scopes:
                for node in scope.nodes:
                    if operator_key(node) == key:
                        return f"nodes that call `{new}` would call this function"
    return None


def _calls(index: Index, function: Scope) -> Iterator[Node]:
    """Yield the nodes that call a function."""
    for key, symbol in index.symbols.items():
        if key[0] == "function" and index.functions().get(key[2]) is function:
            yield from (use.statement.item for use in symbol.occurrences if use.statement)


def _value_conflict(index: Index, scope: Scope, new: str) -> str | None:
    """Return a message if `scope`, or a graph around or in it, uses the name `new`; else None."""
    for key, other in index.symbols.items():
        if key[0] != "value" or key[2] != new or other.scope is None:
            continue
        if _are_nested(scope, other.scope):
            words = other.scope.describe()
            if other.defined:
                return f"`{new}` is already a value of {words}"
            return (
                f"`{new}` is used in {words}, but not defined there: this use would refer to the "
                "renamed value"
            )
    return None


def _are_nested(left: Scope, right: Scope) -> bool:
    """Whether two graphs are the same, or one contains the other."""
    for inner, outer in ((left, right), (right, left)):
        if inner is outer or any(around is outer for around, _ in inner.outer()):
            return True
    return False
