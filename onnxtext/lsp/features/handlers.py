# SPDX-License-Identifier: Apache-2.0
"""List the handlers of the features, with the options that the server announces for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsprotocol import types as t

from onnxtext.lsp.features import (
    binary_model_requests,
    call_hierarchy,
    code_actions,
    completion,
    document_links,
    document_symbols,
    formatting,
    graph_requests,
    hover,
    inlay_hints,
    model_edit_actions,
    navigation,
    ranges,
    rename,
    semantic_tokens,
    signature_help,
)

Handler = Callable[..., Any]

HANDLERS: dict[str, Handler] = {
    t.CALL_HIERARCHY_INCOMING_CALLS: call_hierarchy.incoming,
    t.CALL_HIERARCHY_OUTGOING_CALLS: call_hierarchy.outgoing,
    t.CODE_ACTION_RESOLVE: model_edit_actions.resolve,
    t.COMPLETION_ITEM_RESOLVE: completion.resolve,
    t.TEXT_DOCUMENT_CODE_ACTION: code_actions.actions,
    t.TEXT_DOCUMENT_COMPLETION: completion.complete,
    t.TEXT_DOCUMENT_DEFINITION: navigation.definition,
    t.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: navigation.highlight,
    t.TEXT_DOCUMENT_DOCUMENT_LINK: document_links.links,
    t.TEXT_DOCUMENT_DOCUMENT_SYMBOL: document_symbols.outline,
    t.TEXT_DOCUMENT_FOLDING_RANGE: ranges.folding,
    t.TEXT_DOCUMENT_FORMATTING: formatting.whole,
    t.TEXT_DOCUMENT_HOVER: hover.hover,
    t.TEXT_DOCUMENT_INLAY_HINT: inlay_hints.hints,
    t.TEXT_DOCUMENT_ON_TYPE_FORMATTING: formatting.on_type,
    t.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: call_hierarchy.prepare,
    t.TEXT_DOCUMENT_PREPARE_RENAME: rename.prepare,
    t.TEXT_DOCUMENT_RANGE_FORMATTING: formatting.part,
    t.TEXT_DOCUMENT_REFERENCES: navigation.references,
    t.TEXT_DOCUMENT_RENAME: rename.rename,
    t.TEXT_DOCUMENT_SELECTION_RANGE: ranges.selection,
    t.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: semantic_tokens.full,
    t.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA: semantic_tokens.delta,
    t.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: semantic_tokens.tokens_in_range,
    t.TEXT_DOCUMENT_SIGNATURE_HELP: signature_help.signature_help,
    t.WORKSPACE_SYMBOL: document_symbols.find,
    "onnxtext/graph": graph_requests.graph,
    "onnxtext/graphCompare": graph_requests.compare,
    "onnxtext/graphFind": graph_requests.find,
    "onnxtext/graphNode": graph_requests.node,
    "onnxtext/graphPlace": graph_requests.place,
    "onnxtext/convert": binary_model_requests.convert,
    "onnxtext/fromBinary": binary_model_requests.from_binary,
    "onnxtext/toBinary": binary_model_requests.to_binary,
    "onnxtext/verify": binary_model_requests.verify,
}
"""The handler of each method, as `Server.answer` expects it."""

OPTIONS: dict[str, Any] = {
    t.TEXT_DOCUMENT_CODE_ACTION: t.CodeActionOptions(
        code_action_kinds=[
            t.CodeActionKind.QuickFix,
            model_edit_actions.KIND,
            t.CodeActionKind.SourceFixAll,
        ],
        resolve_provider=True,
    ),
    t.TEXT_DOCUMENT_COMPLETION: t.CompletionOptions(
        trigger_characters=[".", "@", '"', "<", "(", ",", "=", ":", "["], resolve_provider=True
    ),
    t.TEXT_DOCUMENT_ON_TYPE_FORMATTING: t.DocumentOnTypeFormattingOptions(
        first_trigger_character="\n", more_trigger_character=["}"]
    ),
    t.TEXT_DOCUMENT_RENAME: t.RenameOptions(prepare_provider=True),
    t.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: semantic_tokens.LEGEND,
    t.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: semantic_tokens.LEGEND,
    t.TEXT_DOCUMENT_SIGNATURE_HELP: t.SignatureHelpOptions(
        trigger_characters=["(", ",", "<"], retrigger_characters=[")", ">"]
    ),
}
"""The capability options that the server announces, by method."""
