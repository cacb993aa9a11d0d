# SPDX-License-Identifier: Apache-2.0
"""For any input, the server answers every request without an error, and survives."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as t
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

from tests.lsp.documents import EXAMPLES
from tests.lsp.session import OPTIONS, Session
from tests.seeds import draws, fresh_seed, sampled

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.thorough]

PIECES = [
    "(", ")", "<", ">", "[", "]", "{", "}", "=", "=>", ",", ":", "@", "@doc(", '"', '"""', "#",
    "\n", "\r\n", "\r", "  ", "\u2028", "é", "𝄞", "\x00", "\x7f", "float[2] ", "If",
    "y = Add (x, y)\n",
    "metadata {", "node y {", "}", "blob\"00\"", "then_branch = g () => () {", "0x", "-", "1e999",
    ".",
    "\nmetadata {\n", "node [", ": above\n", "@value_info(", "external(", "quantization {",
    "[[[[", "b\"\\xff\"", "domain", "resources none", "@set(name: 3)", "@unset(op_type)", "...",
]  # fmt: skip


async def ask_everything(session: Session, offset: int) -> None:
    """Send every request of the protocol for one position, all at once."""
    client, document = session.client, session.document
    at = session.position(offset)
    place: dict[str, Any] = {"text_document": document, "position": at}
    some = t.Range(session.position(max(offset - 300, 0)), session.position(offset))
    context = t.ReferenceContext(include_declaration=True)
    answers = [
        client.text_document_hover_async(t.HoverParams(**place)),
        client.text_document_definition_async(t.DefinitionParams(**place)),
        client.text_document_references_async(t.ReferenceParams(context=context, **place)),
        client.text_document_document_highlight_async(t.DocumentHighlightParams(**place)),
        client.text_document_prepare_rename_async(t.PrepareRenameParams(**place)),
        client.text_document_completion_async(t.CompletionParams(**place)),
        client.text_document_signature_help_async(t.SignatureHelpParams(**place)),
        client.text_document_inlay_hint_async(t.InlayHintParams(document, some)),
        client.text_document_document_symbol_async(t.DocumentSymbolParams(document)),
        client.workspace_symbol_async(t.WorkspaceSymbolParams("a")),
        client.text_document_folding_range_async(t.FoldingRangeParams(document)),
        client.text_document_selection_range_async(t.SelectionRangeParams(document, [at])),
        client.text_document_semantic_tokens_full_async(t.SemanticTokensParams(document)),
        client.text_document_semantic_tokens_range_async(
            t.SemanticTokensRangeParams(document, some)
        ),
        client.text_document_semantic_tokens_full_delta_async(
            t.SemanticTokensDeltaParams(document, "none")
        ),
        client.text_document_formatting_async(t.DocumentFormattingParams(document, OPTIONS)),
        client.text_document_range_formatting_async(
            t.DocumentRangeFormattingParams(document, some, OPTIONS)
        ),
        client.text_document_on_type_formatting_async(
            t.DocumentOnTypeFormattingParams(document, at, "\n", OPTIONS)
        ),
        client.text_document_document_link_async(t.DocumentLinkParams(document)),
        client.text_document_code_action_async(
            t.CodeActionParams(document, some, t.CodeActionContext([]))
        ),
        client.text_document_prepare_call_hierarchy_async(t.CallHierarchyPrepareParams(**place)),
        session.request("onnxtext/graph", uri=session.uri),
    ]
    for answer in await asyncio.gather(*answers, return_exceptions=True):
        if isinstance(answer, BaseException):
            raise answer
    refusal: JsonRpcException | None = None
    try:
        await session.ask(t.RenameParams(new_name="renamed", **place))
    except JsonRpcException as error:
        refusal = error
    assert refusal is None or refusal.code == t.LSPErrorCodes.RequestFailed  # not an internal error


async def edit_at_random(client: LanguageClient, seed: int, rounds: int, *, edits: int) -> None:
    """Edit examples at random, a few times each: errors accumulate, and recovery takes time."""
    print("seed", seed)
    random.seed(seed)
    paths = sorted(EXAMPLES.glob("*.onnxtxt"))
    for round in range(rounds):
        if round % edits == 0:
            path = paths[(seed + round) % len(paths)]
            session = Session(client, path, path.read_text("utf-8"))
        at = random.randrange(len(session.text) + 1)
        match random.randrange(3):
            case 0:
                session.edit(at, at, random.choice(PIECES))
            case 1:
                end = min(len(session.text), at + random.choice((1, 5, 50, 400)))
                session.edit(at, end, "")
            case _:
                other = random.randrange(len(session.text) + 1)
                session.edit(at, at, session.text[other : other + 200])
        if round % 3 == 0:
            await ask_everything(session, random.randrange(len(session.text) + 1))
        if round % edits == edits - 1:
            await session.diagnostics()
            client.text_document_did_close(t.DidCloseTextDocumentParams(session.document))
    assert not client.log_messages


async def test_random_edits_cause_no_error(client: LanguageClient) -> None:
    await edit_at_random(client, 0, draws(45), edits=6)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
async def test_many_random_edits_cause_no_error(client: LanguageClient, part: int) -> None:
    first = fresh_seed() + part * 5
    for seed in range(first, first + 5):
        await edit_at_random(client, seed, 30, edits=30)


TEXTS = {
    "empty": "",
    "nothing but brackets": "(" * 20_000,
    "nested graphs": "g () => () {" + "y = If (c) <a = g () => () {" * 300,
    "nested types": "g (" + "seq(" * 3000,
    "nested lists": "g () => () <float[1] x = " + "[" * 30_000,
    "an endless string": '<ir_version: 8> g () => () { y = "' + "a" * 200_000,
    "quotes": '"' * 9999,
    "one long line": "<ir_version: 8> g () => () {" + " y = Add (x, x)" * 5_000 + "}",
    "a binary": bytes(range(256)).decode("latin-1") * 50,
    "half a surrogate pair's neighbors": "g () => () { \ufffe\uffff = A () }",
    "comments": "# a\n" * 50_000,
    "merge conflict": "<<<<<<< ours\ng () => () {}\n=======\ng () => () {}\n>>>>>>> theirs\n",
    "sections only": "metadata { node x { a: \"b\" } }\nquantization { x.y: [\"a\": \"b\"] }",
    "metadata without end": "<ir_version: 8> g () => () {}\nmetadata {" + " node a {" * 5000,
}  # fmt: skip


async def test_hostile_texts_cause_no_error(client: LanguageClient, tmp_path: Path) -> None:
    for name, text in sampled(TEXTS.items(), 2):
        session = Session(client, tmp_path / f"{name}.onnxtxt", text)
        for offset in (0, len(text) // 2, len(text)) if len(text) < 10_000 else (0, len(text)):
            await asyncio.wait_for(ask_everything(session, offset), 60)
        await asyncio.wait_for(session.diagnostics(), 60)
        client.text_document_did_close(t.DidCloseTextDocumentParams(session.document))
        assert not client.log_messages, name


async def test_invalid_requests_are_answered(client: LanguageClient, tmp_path: Path) -> None:
    session = Session(client, tmp_path / "m.onnxtxt", "g () => () {}")
    unknown = t.TextDocumentIdentifier("file:///not/open.onnxtxt")
    far = t.Position(10**6, 10**6)
    assert await session.ask(t.HoverParams(unknown, far)) is None
    assert await session.ask(t.HoverParams(session.document, far)) is None
    client.text_document_did_change(
        t.DidChangeTextDocumentParams(
            t.VersionedTextDocumentIdentifier(2, session.uri),
            [
                t.TextDocumentContentChangePartial(t.Range(far, t.Position(0, 0)), "# end\n"),
                t.TextDocumentContentChangeWholeDocument("g () => () {}\n# all of it\n"),
            ],
        )
    )
    client.text_document_did_change(
        t.DidChangeTextDocumentParams(t.VersionedTextDocumentIdentifier(2, unknown.uri), [])
    )
    session.text = "g () => () {}\n# all of it\n"
    folds = await session.ask(t.FoldingRangeParams(session.document))
    assert not folds
    for uri in ("file://[", "file:///%00.onnxtxt", "onnx://[", "x", "http://[::1"):
        client.text_document_did_open(
            t.DidOpenTextDocumentParams(t.TextDocumentItem(uri, "onnxtxt", 1, "g () => () {}"))
        )
        opened = t.TextDocumentIdentifier(uri)
        assert await session.ask(t.DocumentSymbolParams(opened))
        client.text_document_did_close(t.DidCloseTextDocumentParams(opened))
    client.text_document_did_close(t.DidCloseTextDocumentParams(unknown))
    client.text_document_did_close(t.DidCloseTextDocumentParams(session.document))
    assert await session.ask(t.HoverParams(session.document, far)) is None
