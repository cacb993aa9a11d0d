# SPDX-License-Identifier: Apache-2.0
"""Measure response times of the language server: `python -m benchmarks.lsp [--nodes N] [--runs N]`.

Ask a real server over its pipes about a transformer of 2,000 nodes; measure the time from a request
to its answer. `typing` is the time from a keystroke to the syntax diagnostics of the new version;
`… after typing` is a request right after a keystroke, which has to parse and index the text first;
`checked` is the time from a keystroke to the diagnostics of the checker, its delay of 200 ms
included.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pygls.protocol
from lsprotocol import types as t
from pygls.lsp.client import LanguageClient

import onnxtext
from benchmarks.transformer import transformer

Ask = Callable[[], Awaitable[Any]]


class Client(LanguageClient):
    """A client that queues the diagnostics of the server in `published`."""

    def __init__(self) -> None:
        super().__init__("benchmark", "1")
        self.published: asyncio.Queue[t.PublishDiagnosticsParams] = asyncio.Queue()
        self.feature(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(self.published.put_nowait))


class Editor:
    """One open document, and positions in it for requests."""

    def __init__(self, client: Client, uri: str, text: str) -> None:
        self.client = client
        self.uri = uri
        self.text = text
        self.number = 1
        self.document = t.TextDocumentIdentifier(uri)
        middle = text.index(" = Softmax", text.rindex("\n", 0, len(text) // 2))
        self.middle = middle
        line = text.count("\n", 0, middle)
        start = text.rindex("\n", 0, middle) + 1
        self.output = t.Position(line, middle - start - 3)
        self.operator = t.Position(line, middle - start + 5)
        self.inputs = t.Position(line, text.index("(", middle) + 1 - start)
        self.equals = t.Position(line, middle - start + 1)
        self.screen = t.Range(t.Position(line - 25, 0), t.Position(line + 25, 0))

    async def open(self) -> None:
        """Open the document."""
        item = t.TextDocumentItem(self.uri, "onnxtxt", 1, self.text)
        self.client.text_document_did_open(t.DidOpenTextDocumentParams(item))

    def type(self, new: str, over: int = 0) -> None:
        """Insert a text in the middle of the document, in place of `over` characters."""
        self.number += 1
        end = t.Position(self.equals.line, self.equals.character + over)
        change = t.TextDocumentContentChangePartial(t.Range(self.equals, end), new)
        name = t.VersionedTextDocumentIdentifier(self.number, self.uri)
        self.client.text_document_did_change(t.DidChangeTextDocumentParams(name, [change]))

    async def checked(self) -> None:
        """Wait until the checker has checked the current text."""
        await self.ask("onnxtext/checked", {"uri": self.uri})

    async def ask(self, method: str, params: Any) -> Any:
        """Send a request."""
        protocol: Any = self.client.protocol
        return await protocol.send_request_async(method, params)

    def place(self, position: t.Position) -> dict[str, Any]:
        """Return the parameters of a request about a position."""
        return {"text_document": self.document, "position": position}


def features(editor: Editor) -> dict[str, Ask]:
    """Return functions that send one request each, by the name of the feature."""
    client, document, place = editor.client, editor.document, editor.place
    options = t.FormattingOptions(tab_size=2, insert_spaces=True)
    whole = t.ReferenceContext(include_declaration=True)
    middle = t.Range(editor.operator, editor.operator)
    call = t.CallHierarchyPrepareParams(**place(editor.operator))
    return {
        "hover of an operator": lambda: client.text_document_hover_async(
            t.HoverParams(**place(editor.operator))
        ),
        "hover of a value": lambda: client.text_document_hover_async(
            t.HoverParams(**place(editor.output))
        ),
        "definition": lambda: client.text_document_definition_async(
            t.DefinitionParams(**place(editor.inputs))
        ),
        "references": lambda: client.text_document_references_async(
            t.ReferenceParams(context=whole, **place(editor.output))
        ),
        "highlight": lambda: client.text_document_document_highlight_async(
            t.DocumentHighlightParams(**place(editor.output))
        ),
        "rename": lambda: client.text_document_rename_async(
            t.RenameParams(new_name="renamed", **place(editor.output))
        ),
        "completion of a value": lambda: client.text_document_completion_async(
            t.CompletionParams(**place(editor.inputs))
        ),
        "completion of an operator": lambda: client.text_document_completion_async(
            t.CompletionParams(**place(t.Position(editor.equals.line, editor.equals.character + 2)))
        ),
        "signature help": lambda: client.text_document_signature_help_async(
            t.SignatureHelpParams(**place(editor.inputs))
        ),
        "inlay hints of a screen": lambda: client.text_document_inlay_hint_async(
            t.InlayHintParams(document, editor.screen)
        ),
        "document symbols": lambda: client.text_document_document_symbol_async(
            t.DocumentSymbolParams(document)
        ),
        "workspace symbols": lambda: client.workspace_symbol_async(
            t.WorkspaceSymbolParams("softmax")
        ),
        "folding": lambda: client.text_document_folding_range_async(t.FoldingRangeParams(document)),
        "selection ranges": lambda: client.text_document_selection_range_async(
            t.SelectionRangeParams(document, [editor.operator])
        ),
        "semantic tokens": lambda: client.text_document_semantic_tokens_full_async(
            t.SemanticTokensParams(document)
        ),
        "semantic tokens of a screen": lambda: client.text_document_semantic_tokens_range_async(
            t.SemanticTokensRangeParams(document, editor.screen)
        ),
        "formatting": lambda: client.text_document_formatting_async(
            t.DocumentFormattingParams(document, options)
        ),
        "formatting a range": lambda: client.text_document_range_formatting_async(
            t.DocumentRangeFormattingParams(document, editor.screen, options)
        ),
        "formatting on type": lambda: client.text_document_on_type_formatting_async(
            t.DocumentOnTypeFormattingParams(document, editor.operator, "\n", options)
        ),
        "document links": lambda: client.text_document_document_link_async(
            t.DocumentLinkParams(document)
        ),
        "code actions": lambda: client.text_document_code_action_async(
            t.CodeActionParams(document, middle, t.CodeActionContext([]))
        ),
        "call hierarchy": lambda: client.text_document_prepare_call_hierarchy_async(call),
        "onnxtext/graph": lambda: editor.ask("onnxtext/graph", {"uri": editor.uri}),
    }


async def timed(ask: Ask, runs: int) -> list[float]:
    """Return the seconds of each of several requests."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        await ask()
        times.append(time.perf_counter() - start)
    return times


async def typing(editor: Editor, runs: int) -> list[float]:
    """Return the seconds from keystrokes that add and remove an error to their diagnostics."""
    times = []
    for index in range(2 * runs):
        while not editor.client.published.empty():
            editor.client.published.get_nowait()
        start = time.perf_counter()
        editor.type("=") if index % 2 == 0 else editor.type("", 1)
        while (await editor.client.published.get()).version != editor.number:
            pass
        times.append(time.perf_counter() - start)
        await asyncio.sleep(0.02)
    return times


async def behind_typing(editor: Editor, ask: Ask, runs: int) -> list[float]:
    """Return the seconds of requests right after keystrokes that keep the text valid."""
    times = []
    for index in range(runs):
        editor.type(" ") if index % 2 == 0 else editor.type("", 1)
        start = time.perf_counter()
        await ask()
        times.append(time.perf_counter() - start)
    return times


async def checking(editor: Editor, runs: int) -> list[float]:
    """Return the seconds from keystrokes to the diagnostics of the checker."""
    times = []
    for index in range(runs):
        start = time.perf_counter()
        editor.type(" ") if index % 2 == 0 else editor.type("", 1)
        await editor.checked()
        times.append(time.perf_counter() - start)
    return times


def row(name: str, times: list[float]) -> str:
    """Format a line of the table, in milliseconds."""
    ordered = sorted(times)
    high = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    median = statistics.median(ordered)
    return f"| {name} | {median * 1000:,.1f} | {high * 1000:,.1f} | {len(times)} |"


async def measure(nodes: int, runs: int) -> list[str]:
    """Return the rows of the table."""
    text = onnxtext.from_binary(next(transformer(nodes)))
    # The pygls client creates a class for every object of a custom result: seconds for a graph.
    pygls.protocol._dict_to_object = lambda d: d
    client = Client()
    start = time.perf_counter()
    await client.start_io(sys.executable, "-m", "onnxtext", "lsp")
    capabilities = t.ClientCapabilities(
        general=t.GeneralClientCapabilities(position_encodings=[t.PositionEncodingKind.Utf16])
    )
    await client.initialize_async(t.InitializeParams(capabilities=capabilities))
    client.initialized(t.InitializedParams())
    rows = [row("start to initialized", [time.perf_counter() - start])]
    with tempfile.TemporaryDirectory() as directory:
        editor = Editor(client, (Path(directory) / "large.onnxtxt").as_uri(), text)
        start = time.perf_counter()
        await editor.open()
        await editor.checked()
        rows.append(row("open to checked, first time", [time.perf_counter() - start]))
        asked = features(editor)
        first = await timed(asked["semantic tokens"], 1)
        rows.append(row("semantic tokens, first time", first))
        rows.append(row("typing", await typing(editor, runs)))
        await editor.checked()
        for name in ("hover of a value", "completion of a value", "semantic tokens"):
            times = await behind_typing(editor, asked[name], runs - runs % 2)
            rows.append(row(f"{name}, after typing", times))
        rows.append(row("checked", await checking(editor, max(runs // 4, 2) * 2)))
        for name, ask in asked.items():
            await ask()
            rows.append(row(name, await timed(ask, runs)))
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()  # type: ignore[no-untyped-call]
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=20)
    arguments = parser.parse_args()
    rows = asyncio.run(measure(arguments.nodes, arguments.runs))
    print(f"{arguments.nodes:,} nodes\n")
    print("| feature | median, ms | 95th percentile, ms | runs |")
    print("| --- | ---: | ---: | ---: |")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
