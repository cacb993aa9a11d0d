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


def occurrences(document: Document, symbol: Symbol) -> list[tuple[Role, Span]]:
    """Return (role, span) of each occurrence of a symbol, in the order of the text.

    Occurrences in statements with errors are left out.
    """
    index = document.version.index
    spans = [(item.role, index.span(item)) for item in symbol.occurrences]
    return sorted({(role, span) for role, span in spans if span is not None}, key=lambda p: p[1])


def _under(
    document: Document, params: Cursor, *, only_uses: bool = False
) -> list[tuple[Role, t.Range]] | None:
    """Return (role, range) of each occurrence of the name under the cursor; None without a name.

    With `only_uses`, return only uses. An output of a graph counts as a use.
    """
    version = document.version
    found = symbol_at(version.index, version.lines.offset(params.position))
    if found is None:
        return None
    symbol = found[0]
    if only_uses:
        symbol = replace(symbol, occurrences=list(filter(_is_use, symbol.occurrences)))
    return [(role, version.lines.range(span)) for role, span in occurrences(document, symbol)]


def definition(document: Document, params: t.DefinitionParams) -> list[t.Location] | None:
    """Return the definitions of the name under the cursor; if it has none, its declarations.

    Return None if it has neither, or if there is no name.
    """
    found = _under(document, params) or []
    for role in ("definition", "declaration"):
        locations = [t.Location(document.uri, range) for item, range in found if item == role]
        if locations:
            return locations
    return None


def references(document: Document, params: t.ReferenceParams) -> list[t.Location] | None:
    """Return the occurrences of the name under the cursor; None if there is no name.

    Without `include_declaration`, only uses are returned. An output of a graph counts as a use.
    """
    found = _under(document, params, only_uses=not params.context.include_declaration)
    return None if found is None else [t.Location(document.uri, range) for _, range in found]


def _is_use(item: Occurrence) -> bool:
    is_output = item.statement is not None and item.statement.group == "output"
    return item.role == "use" or is_output


def highlight(
    document: Document, params: t.DocumentHighlightParams
) -> list[t.DocumentHighlight] | None:
    """Return the occurrences of the name under the cursor with their roles; None without a name."""
    found = _under(document, params)
    return None if found is None else [t.DocumentHighlight(r, _KINDS[role]) for role, r in found]
