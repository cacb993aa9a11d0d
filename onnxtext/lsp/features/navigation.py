# SPDX-License-Identifier: Apache-2.0
"""Find definitions and references of names, and highlight the name under the cursor."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from lsprotocol import types as t

from onnxtext.lsp.index.cursor import symbol_at
from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.symbols import Occurrence, Role, Symbol
from onnxtext.source import Span

_KINDS = {
    "definition": t.DocumentHighlightKind.Write,
    "declaration": t.DocumentHighlightKind.Text,
    "use": t.DocumentHighlightKind.Read,
}


class Cursor(Protocol):
    """The common parameters of all requests about a position in a document."""

    text_document: t.TextDocumentIdentifier
    position: t.Position


def _symbol_under(document: Document, params: Cursor) -> Symbol | None:
    """Return the symbol under the cursor; None if there is none."""
    version = document.version
    symbol = symbol_at(version.index, version.lines.offset(params.position))
    return None if symbol is None else symbol[0]


def occurrences(document: Document, symbol: Symbol) -> list[tuple[Role, Span]]:
    """Return (role, span) of each occurrence of a symbol, in the order of the text.

    Occurrences in statements with errors are left out.
    """
    index = document.version.index
    spans = [(item.role, index.span(item)) for item in symbol.occurrences]
    return sorted({(role, span) for role, span in spans if span is not None}, key=lambda p: p[1])


def definition(document: Document, params: t.DefinitionParams) -> list[t.Location] | None:
    """Return the definitions of the name under the cursor; if it has none, its declarations.

    Return None if it has neither, or if there is no name.
    """
    symbol = _symbol_under(document, params)
    if symbol is None:
        return None
    found = occurrences(document, symbol)
    for role in ("definition", "declaration"):
        spans = [span for item, span in found if item == role]
        if spans:
            lines = document.version.lines
            return [t.Location(document.uri, lines.range(span)) for span in spans]
    return None


def references(document: Document, params: t.ReferenceParams) -> list[t.Location] | None:
    """Return the occurrences of the name under the cursor; None if there is no name.

    Without `include_declaration`, only uses are returned. An output of a graph counts as a use.
    """
    symbol = _symbol_under(document, params)
    if symbol is None:
        return None
    if not params.context.include_declaration:
        symbol = replace(symbol, occurrences=list(filter(_is_use, symbol.occurrences)))
    return [
        t.Location(document.uri, document.version.lines.range(span))
        for _, span in occurrences(document, symbol)
    ]


def _is_use(item: Occurrence) -> bool:
    is_output = item.statement is not None and item.statement.group == "output"
    return item.role == "use" or is_output


def highlight(
    document: Document, params: t.DocumentHighlightParams
) -> list[t.DocumentHighlight] | None:
    """Return the occurrences of the name under the cursor with their roles; None without a name."""
    symbol = _symbol_under(document, params)
    if symbol is None:
        return None
    lines = document.version.lines
    return [
        t.DocumentHighlight(lines.range(span), _KINDS[role])
        for role, span in occurrences(document, symbol)
    ]
