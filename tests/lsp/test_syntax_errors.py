# SPDX-License-Identifier: Apache-2.0
"""In a document with syntax errors, every feature works for the valid statements."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as t
from pytest_lsp import LanguageClient

from tests.lsp.documents import EXAMPLES, example
from tests.lsp.session import OPTIONS, Session, plain
from tests.lsp.test_features import edited, hover

pytestmark = pytest.mark.asyncio(loop_scope="session")

BREAKS = {
    "node": ("square = Concat <axis = 0> (length, length)", "square = Concat <axis = 0 (length,"),
    "header": ("ir_version: 10,", "ir_version 10,"),
    "input": ("float[K, D] keys,", "float[K, D] ] keys,"),
    "string": ('"my.ops": 1],\n>', '"my.ops: 1],\n>'),
    "function": ("fit = MatMul (queries, turned)", "fit == MatMul (queries, turned)"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("place", BREAKS)
async def test_every_feature_works_beside_an_error(client: LanguageClient, place: str) -> None:
    old, new = BREAKS[place]
    text = example("attention").replace(old, new)
    assert text != example("attention")
    session = Session(client, EXAMPLES / "attention.onnxtxt", text)
    found = await session.diagnostics()
    errors = [item for item in found if item.severity == t.DiagnosticSeverity.Error]
    assert errors
    # There are no cascading errors.
    line = session.text[: session.text.index(new[:12])].count("\n")
    assert all(abs(item.range.start.line - line) <= 2 for item in errors), errors

    assert "answers" in await hover(session, "answ|ers = MatMul")
    definition = await session.ask(
        session.params(t.DefinitionParams, "Mul (|fit")
        if place != "function"
        else session.params(t.DefinitionParams, "MatMul (|weights")
    )
    assert definition
    used = await session.ask_at(
        t.ReferenceParams, "allowed| = Where", context=t.ReferenceContext(include_declaration=True)
    )
    assert len(used) == 2
    marked = await session.ask_at(t.DocumentHighlightParams, "allowed| = Where")
    assert len(marked) == 2
    edit = await session.ask_at(t.RenameParams, "allowed| = Where", new_name="open")
    assert edited(session, edit) == text.replace("allowed", "open")
    symbols = await session.ask(t.DocumentSymbolParams(session.document))
    assert [s.name for s in symbols].count("Attention") == 2
    tokens = await session.ask(t.SemanticTokensParams(session.document))
    assert len(tokens.data) > 300
    folds = await session.ask(t.FoldingRangeParams(session.document))
    assert folds
    chains = await session.ask(
        t.SelectionRangeParams(session.document, [session.at("allowed| = Where")])
    )
    assert chains
    assert session.part(chains[0].range) == "allowed"
    hints = await session.ask(
        t.InlayHintParams(session.document, t.Range(t.Position(0, 0), t.Position(99, 0)))
    )
    assert hints
    items = await session.ask_at(t.CallHierarchyPrepareParams, "my.ops.Sco|res <scale")
    assert items
    drawn = plain(await session.request("onnxtext/graph", uri=session.uri))
    assert sum(group["graph"] for group in drawn["groups"]) == 4
    completed = await session.ask_at(t.CompletionParams, "Where (|mask")
    assert "scores" in {item.label for item in completed.items}
    helped = await session.ask_at(t.SignatureHelpParams, "Where (mask, |scores")
    assert helped.active_parameter == 1


@pytest.mark.parametrize("place", BREAKS)
async def test_formatting_links_and_symbols_work_beside_an_error(
    client: LanguageClient, place: str
) -> None:
    old, new = BREAKS[place]
    text = example("attention").replace(old, new)
    wanted = "  weights = Softmax <axis = -1> (scores)\n"
    assert wanted in text
    text = text.replace(wanted, '  weights=Softmax<axis=-1>("scores")\n')
    text = text.replace(
        "  answers = MatMul (weights, values)\n", "  answers=MatMul(weights,values)\n"
    )
    session = Session(client, EXAMPLES / "attention.onnxtxt", text)
    await session.syntax()
    line = session.at("weights=|Softmax").line
    lines = t.Range(t.Position(line, 0), t.Position(line + 1, 0))
    part = await session.ask(t.DocumentRangeFormattingParams(session.document, lines, OPTIONS))
    assert part
    result = session.apply(part)
    assert result == text.replace('  weights=Softmax<axis=-1>("scores")\n', wanted, 1)
    typed = await session.ask(
        t.DocumentOnTypeFormattingParams(session.document, t.Position(line + 1, 0), "\n", OPTIONS)
    )
    assert typed == part
    # The whole document is not formatted.
    assert not await session.formatting()
    found = await session.ask(t.WorkspaceSymbolParams("Attention"))
    assert [symbol.name for symbol in found].count("Attention") == 2


async def test_links_work_beside_an_error(client: LanguageClient, tmp_path: Path) -> None:
    (tmp_path / "query.npy").write_bytes(b"x")
    text = """\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
g () => () <float[2] a = file"query.npy"> {
  y = Relu (a
  z = Neg (a)
}
"""
    session = Session(client, tmp_path / "m.onnxtxt", text)
    assert await session.syntax()
    found = await session.ask(t.DocumentLinkParams(session.document))
    assert [session.part(link.range) for link in found] == ["query.npy"]


async def test_a_syntax_error_has_a_fix(client: LanguageClient) -> None:
    text = example("attention").replace("MatMul (weights, values)", "MatMul (weights values)", 1)
    session = Session(client, EXAMPLES / "attention.onnxtxt", text)
    (found,) = await session.syntax()
    assert found.code == "missing-comma"
    actions = await session.actions(found)
    assert edited(session, actions[0].edit) == example("attention")


async def test_while_a_statement_is_typed(client: LanguageClient) -> None:
    session = Session(client, EXAMPLES / "attention.onnxtxt", example("attention"))
    at = session.text.index("  # `:masked` picks")
    for character in "  [n] extra = Add (mask, mask)\n":
        session.edit(at, at, character)
        at += 1
        shown = await hover(session, "Tri|lu")
        assert "Trilu" in shown
        symbols = await session.ask(t.DocumentSymbolParams(session.document))
        assert [s.name for s in symbols] == ["soft_dictionary", "Scores", "Attention", "Attention"]
    found = await session.diagnostics()
    # The checker has run: Add does not take bool.
    assert {item.code for item in found if item.severity == 1} == {"type-mismatch"}
