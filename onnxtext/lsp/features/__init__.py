# SPDX-License-Identifier: Apache-2.0
"""The features of the language server, one module per feature; each reads a document's index."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnxtext.lsp.server.server import Server


def register(server: Server) -> None:
    """Add all features to a server."""
    from onnxtext.lsp.features import (
        calls,
        code_actions,
        completion,
        folding,
        formatting,
        graphs,
        hover,
        inlay_hints,
        links,
        navigation,
        rename,
        requests,
        selection,
        semantic_tokens,
        signature_help,
        symbols,
    )

    for module in (
        calls,
        code_actions,
        completion,
        folding,
        formatting,
        graphs,
        hover,
        inlay_hints,
        links,
        navigation,
        rename,
        requests,
        selection,
        semantic_tokens,
        signature_help,
        symbols,
    ):
        module.register(server)
