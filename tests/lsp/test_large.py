# SPDX-License-Identifier: Apache-2.0
"""A document of 2,000 nodes: every feature answers, and typing never blocks."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as t
from pytest_lsp import LanguageClient

from tests.lsp.documents import large
from tests.lsp.session import OPTIONS, Session, plain
from tests.lsp.test_features import edited, hover

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.thorough]

SOFTMAX = "/model/layers.40/self_attn/Softmax_output_0"


async def test_every_feature_answers(client: LanguageClient, tmp_path: Path) -> None:
    session = Session(client, tmp_path / "large.onnxtxt", large())
    await session.diagnostics()
    line = session.text.index(f' "{SOFTMAX}"\n')
    at = session.position(line + 5)
    here = t.Range(at, at)
    place: dict[str, Any] = {"text_document": session.document, "position": at}

    shown = await session.ask(t.HoverParams(**place))
    assert f'"{SOFTMAX}"' in str(shown.contents)
    assert "float[batch, 8" in str(shown.contents)
    found = await session.ask(t.DefinitionParams(**place))
    assert session.part(found[0].range) == f'"{SOFTMAX}"'
    used = await session.ask(
        t.ReferenceParams(context=t.ReferenceContext(include_declaration=True), **place)
    )
    assert len(used) == 2
    edit = await session.ask(t.RenameParams(new_name="s", **place))
    assert edited(session, edit) == session.text.replace(f'"{SOFTMAX}"', "s")
    assert await session.ask(t.DocumentHighlightParams(**place))
    symbols = await session.ask(t.DocumentSymbolParams(session.document))
    operators = [s for s in symbols[0].children if s.kind == t.SymbolKind.Operator]
    assert len(operators) == 2000
    found = await session.ask(t.WorkspaceSymbolParams("layers.40/self_attn/Soft"))
    assert [s.name for s in found] == [SOFTMAX]
    tokens = await session.ask(t.SemanticTokensParams(session.document))
    assert len(tokens.data) > 5 * 10_000
    assert await session.ask(t.FoldingRangeParams(session.document))
    assert await session.ask(t.SelectionRangeParams(session.document, [at]))
    assert await session.ask(t.InlayHintParams(session.document, here)) is not None
    drawn = plain(await session.request("onnxtext/graph", uri=session.uri))
    assert drawn["total"] == 2002
    assert sum(len(group["items"]) for group in drawn["groups"]) < 200
    assert not drawn["truncated"]
    session.replace(f' "{SOFTMAX}"\n', f'   "{SOFTMAX}"\n')
    edits = await session.formatting()
    assert edits
    assert len(edits) == 1
    assert session.apply(edits) == large()
    completed = await session.ask(
        t.CompletionParams(
            session.document, session.position(session.text.index("(", line + 50) + 1)
        )
    )
    assert completed.is_incomplete
    assert len(completed.items) == 400


async def test_the_other_features_answer(client: LanguageClient, tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(8))
    call = "  called = my.Twice (hidden_states)\n"
    function = """
<domain: "my", opset_import: [17]>
Twice (x) => (y) {
  y = Add (x, x)
}
"""
    text = large().replace(" {\n", " {\n" + call, 1) + function
    text = text.replace("opset_import: [", 'opset_import: ["my": 1, ', 1)
    text = text.replace("> {\n", '  float[2] far = ["location": "w.bin"],\n> {\n', 1)
    session = Session(client, tmp_path / "large.onnxtxt", text)
    await session.diagnostics()
    helped = await session.ask_at(t.SignatureHelpParams, "my.Twice (|hidden")
    assert "x" in helped.signatures[0].label
    (link,) = await session.ask(t.DocumentLinkParams(session.document))
    assert session.part(link.range) == "w.bin"
    items = await session.ask_at(t.CallHierarchyPrepareParams, "my.Twi|ce (")
    assert items
    callers = await session.ask(t.CallHierarchyIncomingCallsParams(items[0]))
    assert len(callers) == 1
    session.replace("Twice (hidden_states)", "Twice (hidden_state)")
    found = await session.diagnostics()
    wrong = next(item for item in found if item.code == "value-undefined")
    actions = await session.actions(wrong)
    fix = next(action for action in actions if action.is_preferred)
    assert edited(session, fix.edit) == text
    session.replace("  called = my.Twice (hidden_state)", "  called=my.Twice(hidden_state)\n")
    line = session.at("called=|my").line
    lines = t.Range(t.Position(line, 0), t.Position(line, 3))
    part = await session.ask(t.DocumentRangeFormattingParams(session.document, lines, OPTIONS))
    assert part
    assert "  called = my.Twice (hidden_state)\n" in session.apply(part)
    typed = await session.ask(
        t.DocumentOnTypeFormattingParams(session.document, t.Position(line + 1, 0), "\n", OPTIONS)
    )
    assert typed == part


async def test_outdated_results_are_never_published(client: LanguageClient, tmp_path: Path) -> None:
    session = Session(client, tmp_path / "large.onnxtxt", large())
    published: list[int | None] = []
    outdated: list[int | None] = []
    known = session.number  # the newest version with results

    original = client.protocol.fm.features["textDocument/publishDiagnostics"]

    def note(params: t.PublishDiagnosticsParams) -> None:
        if params.uri == session.uri:
            published.append(params.version)
            if params.version is not None and params.version < known:
                outdated.append(params.version)
        original(params)

    client.protocol.fm.features["textDocument/publishDiagnostics"] = note
    at = session.text.index("{\n", session.text.index("layers.79")) + 2
    for index in range(20):
        session.edit(at, at, f"  extra_{index} = Relu (hidden_states)\n")
        await asyncio.sleep(0.03)
        assert "hidden" in await hover(session, "Relu (hid|den_states)")
        known = session.number
    await session.diagnostics()
    client.protocol.fm.features["textDocument/publishDiagnostics"] = original
    assert published[-1] == session.number
    assert published.count(session.number) == 1
    assert not outdated
