# SPDX-License-Identifier: Apache-2.0
"""Edit a document and send requests to a language server, like an editor."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from lsprotocol import types as t
from pytest_lsp import LanguageClient

MARK = "|"
"""Marks the cursor in texts of tests."""

_METHODS = {types[2]: method for method, types in t.METHOD_TO_TYPES.items()}
"""The methods of requests, by the classes of their parameters."""

OPTIONS = t.FormattingOptions(tab_size=2, insert_spaces=True)


class Session:
    """One open document.

    Attributes:
        client: the connection to the server.
        uri: its URI.
        text: its current text.
    """

    def __init__(self, client: LanguageClient, path: Path, text: str, *, unit: str = "utf-16"):
        self.client = client
        self.path = path
        self.uri = path.as_uri()
        self.text = text
        self.unit = unit
        self.number = 1
        client.opened.append(self.uri)  # type: ignore[attr-defined]
        self.client.text_document_did_open(
            t.DidOpenTextDocumentParams(t.TextDocumentItem(self.uri, "onnxtxt", 1, text))
        )

    @property
    def document(self) -> t.TextDocumentIdentifier:
        """The document as a parameter of requests."""
        return t.TextDocumentIdentifier(self.uri)

    def position(self, offset: int) -> t.Position:
        """Return the LSP position of an offset in the text, computed naively."""
        before = self.text[:offset]
        line = before.count("\n")
        column = before[before.rfind("\n") + 1 :]
        match self.unit:
            case "utf-16":
                return t.Position(line, len(column.encode("utf-16-le")) // 2)
            case "utf-8":
                return t.Position(line, len(column.encode("utf-8")))
        return t.Position(line, len(column))

    def offset(self, position: t.Position) -> int:
        """Return the offset of a position."""
        start = 0
        for _ in range(position.line):
            start = self.text.index("\n", start) + 1
        end = start
        while self.position(end) != position:
            end += 1
        return end

    def at(self, needle: str, *, nth: int = 0) -> t.Position:
        """Return the position of `needle` in the text, or of the mark `|` in it."""
        shift = needle.index(MARK) if MARK in needle else 0
        bare = needle.replace(MARK, "", 1)
        at = -1
        for _ in range(nth + 1):
            at = self.text.index(bare, at + 1)
        return self.position(at + shift)

    def part(self, range: t.Range) -> str:
        """Return the text in a range."""
        return self.text[self.offset(range.start) : self.offset(range.end)]

    def params(self, kind: Any, needle: str, *, nth: int = 0, **more: Any) -> Any:
        """Return the parameters of a request about a position."""
        return kind(text_document=self.document, position=self.at(needle, nth=nth), **more)

    async def ask(self, params: Any) -> Any:
        """Send a request and return the answer; the class of `params` determines the method."""
        protocol: Any = self.client.protocol
        return await protocol.send_request_async(_METHODS[type(params)], params)

    async def ask_at(self, kind: Any, needle: str, *, nth: int = 0, **more: Any) -> Any:
        """Send a request about a position; `kind` is the class of its parameters."""
        return await self.ask(self.params(kind, needle, nth=nth, **more))

    def edit(self, start: int, end: int, new: str) -> None:
        """Replace the text between two offsets, as typing does."""
        self.number += 1
        range = t.Range(self.position(start), self.position(end))
        change = t.TextDocumentContentChangePartial(range, new)
        self.text = self.text[:start] + new + self.text[end:]
        self.client.text_document_did_change(
            t.DidChangeTextDocumentParams(
                t.VersionedTextDocumentIdentifier(self.number, self.uri), [change]
            )
        )

    def replace(self, old: str, new: str) -> None:
        """Replace the first occurrence of a string."""
        at = self.text.index(old)
        self.edit(at, at + len(old), new)

    def apply(self, edits: Any) -> str:
        """Apply edits, which must not overlap."""
        result = self.text
        for edit in sorted(
            edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True
        ):
            start, end = self.offset(edit.range.start), self.offset(edit.range.end)
            result = result[:start] + edit.new_text + result[end:]
        return result

    async def request(self, method: str, **params: Any) -> Any:
        """Send a custom request."""
        protocol: Any = self.client.protocol
        return await protocol.send_request_async(method, params)

    async def actions(self, finding: t.Diagnostic) -> Any:
        """Return the code actions for a finding."""
        context = t.CodeActionContext([finding])
        return await self.ask(t.CodeActionParams(self.document, finding.range, context))

    async def formatting(self) -> Any:
        """Return the edits that format the whole text."""
        return await self.ask(t.DocumentFormattingParams(self.document, OPTIONS))

    async def diagnostics(self) -> list[t.Diagnostic]:
        """Return all diagnostics of the current text, the checker's included."""
        await self.request("onnxtext/checked", uri=self.uri)
        return list(self.client.diagnostics.get(self.uri, ()))

    async def syntax(self) -> list[t.Diagnostic]:
        """Return the next diagnostics that are published for the current text."""
        queue = self.client.published  # type: ignore[attr-defined]
        while True:
            published = await asyncio.wait_for(queue.get(), 60)
            # Ignore diagnostics of closed documents and older versions.
            if published.uri == self.uri and published.version == self.number:
                return list(published.diagnostics)


def plain(answer: Any) -> Any:
    """Return the answer of a custom request as dictionaries and lists.

    pygls converts objects to named tuples if their keys are valid field names.
    """
    if isinstance(answer, dict) or hasattr(answer, "_asdict"):
        items = answer if isinstance(answer, dict) else answer._asdict()
        return {key: plain(value) for key, value in items.items()}
    return [plain(item) for item in answer] if isinstance(answer, list | tuple) else answer
