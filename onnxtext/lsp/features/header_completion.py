# SPDX-License-Identifier: Apache-2.0
"""Complete the keys and values in the headers of models and functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lsprotocol import types as t

from onnxtext.lsp.features.signature_help import newest_opsets
from onnxtext.lsp.index.completion_context import Context
from onnxtext.lsp.index.index import Index
from onnxtext.printer.quoting import quote_string
from onnxtext.syntax.actions.headers import FUNCTION_KEYS, MODEL_KEYS

Maker = Callable[..., t.CompletionItem]


def header_items(index: Index, context: Context, item: Maker) -> Iterator[t.CompletionItem]:
    """Yield the completions in a header: its keys, or the values of a key.

    `item` is a function that makes a completion item from a label, a kind and options.
    """
    if context.kind == "header":
        keys = MODEL_KEYS | FUNCTION_KEYS
        if "onnxtext" in context.given:
            keys = MODEL_KEYS
        elif any(0 <= scope.original.at < context.span.start for scope in index.scopes):
            keys = FUNCTION_KEYS  # after the main graph, only functions have headers
        for key in sorted(keys - set(context.given)):
            yield item(key, t.CompletionItemKind.Property, text=f"{key}: ")
    elif context.attribute == "opset_import":
        yield from _opset_imports(index, context, item)
    elif context.attribute == "ir_version" and not context.in_list:
        import onnx

        for version in range(onnx.IR_VERSION, 2, -1):
            yield _version(item, version)
    elif context.attribute == "onnxtext" and not context.in_list:
        yield item("1", t.CompletionItemKind.Value)


def _opset_imports(index: Index, context: Context, item: Maker) -> Iterator[t.CompletionItem]:
    """Yield the newest versions of all operator sets or, after `"domain":`, all versions of one."""
    newest = newest_opsets(index.schemas)
    if context.key is not None:
        domain = "" if context.key == "ai.onnx" else context.key
        for version in range(newest.get(domain, 1), 0, -1):
            yield _version(item, version)
        return
    imports = [f"{quote_string(domain)}: {version}" for domain, version in newest.items()]
    for text in [str(newest[""]), *imports]:
        written = text if context.in_list else f"[{text}]"
        yield item(text, t.CompletionItemKind.Value, text=written)


def _version(item: Maker, version: int) -> t.CompletionItem:
    return item(str(version), t.CompletionItemKind.Value, order=f"{999 - version:03}")
