# SPDX-License-Identifier: Apache-2.0
"""The protocol without pygls's own copies of documents.

pygls keeps the text of each document too, and cuts it into lines as Python does: at U+2028 and
other characters that end no line in the protocol (LSP 3.18, Text Documents). A change behind one
arrives at the wrong place, or raises, and then our handler is not called. We keep the texts.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from lsprotocol import types as t
from pygls.protocol import LanguageServerProtocol, lsp_method


class Protocol(LanguageServerProtocol):
    """Hands documents to our handlers only."""

    @lsp_method(t.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(
        self, params: t.DidOpenTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """A document was opened."""
        yield self.fm.features[t.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(t.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(
        self, params: t.DidChangeTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """A document was changed."""
        yield self.fm.features[t.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(t.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(
        self, params: t.DidCloseTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """A document was closed."""
        yield self.fm.features[t.TEXT_DOCUMENT_DID_CLOSE], (params,), None
