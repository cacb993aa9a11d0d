# SPDX-License-Identifier: Apache-2.0
"""The features of the language server, one module per feature; each reads a document's index."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnxtext.lsp.server.server import Server

_MODULES = (
    "call_hierarchy", "code_actions", "completion", "folding", "formatting", "graph_requests",
    "hover", "inlay_hints", "document_links", "navigation", "rename", "binary_model_requests",
    "document_symbols", "selection", "semantic_tokens", "signature_help",
)  # fmt: skip


def register(server: Server) -> None:
    """Add all features to a server."""
    for name in _MODULES:
        import_module(f"{__name__}.{name}").register(server)
