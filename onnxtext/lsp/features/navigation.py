# SPDX-License-Identifier: Apache-2.0
"""Where a name is defined, where it is used, and both at once while the cursor stands on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as t

from onnxtext.lsp.document import Document
from onnxtext.lsp.names import Role, Symbol
from onnxtext.lsp.spots import symbol_at
from onnxtext.source import Span

if TYPE_CHECKING:
    from onnxtext.lsp.server import Server

_KINDS = {
    "definition": t.DocumentHighlightKind.Write,
    "declaration": t.DocumentHighlightKind.Text,
    "use": t.DocumentHighlightKind.Read,
}


def register(server: Server) -> None:
    """Add the requests."""
    server.answer(t.TEXT_DOCUMENT_DEFINITION, definition)
    server.answer(t.TEXT_DOCUMENT_REFERENCES, references)
    server.answer(t.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, highlight)


def places(document: Document, symbol: Symbol) -> list[tuple[Role, Span]]:
    """Where a name stands, in the order of the text; places with mistakes are left out."""
    index = document.version.index
    found = [(item.role, index.span(item)) for item in symbol.occurrences]
    return sorted({(role, span) for role, span in found if span is not None}, key=lambda p: p[1])


def definition(server: Server, params: t.DefinitionParams) -> list[t.Location] | None:
    """Where the name under the cursor is defined; where it is declared if nothing defines it."""
    document = server.document(params.text_document.uri)
    found = document and symbol_at(
        document.version.index, document.version.lines.offset(params.position)
    )
    if not document or not found:
        return None
    known = places(document, found[0])
    for role in ("definition", "declaration"):
        spans = [span for item, span in known if item == role]
        if spans:
            lines = document.version.lines
            return [t.Location(document.uri, lines.range(span)) for span in spans]
    return None


def references(server: Server, params: t.ReferenceParams) -> list[t.Location] | None:
    """All places of the name under the cursor."""
    document = server.document(params.text_document.uri)
    found = document and symbol_at(
        document.version.index, document.version.lines.offset(params.position)
    )
    if not document or not found:
        return None
    whole = params.context.include_declaration
    return [
        t.Location(document.uri, document.version.lines.range(span))
        for role, span in places(document, found[0])
        if whole or role != "definition"
    ]


def highlight(
    server: Server, params: t.DocumentHighlightParams
) -> list[t.DocumentHighlight] | None:
    """All places of the name under the cursor, and whether each defines or uses it."""
    document = server.document(params.text_document.uri)
    found = document and symbol_at(
        document.version.index, document.version.lines.offset(params.position)
    )
    if not document or not found:
        return None
    lines = document.version.lines
    return [
        t.DocumentHighlight(lines.range(span), _KINDS[role])
        for role, span in places(document, found[0])
    ]
