# SPDX-License-Identifier: Apache-2.0
"""Features about the structure and layout of a document."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as t
from pytest_lsp import LanguageClient

from tests.lsp.documents import example
from tests.lsp.session import OPTIONS, Session
from tests.lsp.test_features import opened

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_inlay_hints_show_inferred_types(client: LanguageClient) -> None:
    session = opened(client, "collatz")
    await session.diagnostics()
    hints = await session.ask(
        t.InlayHintParams(session.document, t.Range(t.Position(0, 0), t.Position(200, 0)))
    )
    shown = {}
    for hint in hints:
        offset = session.offset(hint.position)
        shown[session.text[offset:].split()[0]] = hint.label
    assert shown["not_there"] == "bool"
    assert shown["remainder"] == "int64"
    assert "two" not in shown  # its type is written
    assert "path" not in shown
    first = next(h for h in hints if session.text[session.offset(h.position) :].startswith("not"))
    assert first.text_edits
    assert "\n  bool not_there = Greater" in session.apply(first.text_edits)
    part = await session.ask(
        t.InlayHintParams(session.document, t.Range(first.position, first.position))
    )
    assert [hint.label for hint in part] == ["bool"]


async def test_symbols_list_graphs_and_functions(client: LanguageClient) -> None:
    session = opened(client, "attention")
    found = await session.ask(t.DocumentSymbolParams(session.document))
    assert [s.name for s in found] == ["soft_dictionary", "Scores", "Attention", "Attention"]
    assert [s.kind for s in found[:2]] == [t.SymbolKind.Module, t.SymbolKind.Function]
    main = {s.name: s for s in found[0].children}
    assert main["mask"].detail == "Trilu"
    assert main["queries"].kind == t.SymbolKind.Variable
    for symbol in found:
        assert session.part(symbol.selection_range) == symbol.name
        assert session.part(symbol.range).rstrip().endswith("}")
    other = opened(client, "collatz")
    nested = await session.ask(t.DocumentSymbolParams(other.document))
    loop = next(s for s in nested[0].children if s.detail == "Loop")
    assert [s.name for s in loop.children] == ["step"]
    branches = next(s for s in loop.children[0].children if s.detail == "If").children
    assert [s.name for s in branches] == ["halve", "triple"]
    everywhere = await session.ask(t.WorkspaceSymbolParams("sco"))
    assert {s.name for s in everywhere} == {"Scores", "scores"}
    both = await session.ask(t.WorkspaceSymbolParams("tripled"))
    assert {s.location.uri for s in both} == {other.uri}


async def test_folds_and_selections_follow_the_syntax(client: LanguageClient) -> None:
    session = opened(client, "collatz")
    folds = await session.ask(t.FoldingRangeParams(session.document))
    lines = session.text.split("\n")
    by_start = {lines[f.start_line].strip(): lines[f.end_line].strip() for f in folds}
    assert by_start["<"] == "opset_import: [21],"
    assert by_start["next = If (is_even) <"] == "},"
    assert by_start["then_branch = halve () => (int64 half) {"] == "half = Div (n, two)"
    comment = next(f for f in folds if f.kind == t.FoldingRangeKind.Comment)
    assert (comment.start_line, comment.end_line) == (0, 3)

    parts = await selected(session, "Div (|n, two)")
    assert parts[0] == "n"
    assert "half = Div (n, two)" in parts
    assert any(part.startswith("next = If") for part in parts)
    assert parts[-1] == session.text
    assert all(inner in outer for inner, outer in itertools.pairwise(parts))


@pytest.mark.parametrize("decorator", ["", '@doc("why")\n  ', '@set("name": "n")\n  '])
async def test_selections_leave_nested_graphs_of_decorated_nodes(
    client: LanguageClient, tmp_path: Path, decorator: str
) -> None:
    text = f"""\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
graph g (bool c, float[N] x) => (float[N] y) {{
  {decorator}y = If (c) <
    then_branch = yes () => (float[N] a) {{ a = Relu (x) }},
    else_branch = no () => (float[N] b) {{ b = Neg (x) }},
  >
}}
"""
    session = Session(client, tmp_path / "decorated.onnxtxt", text)
    parts = await selected(session, "Relu (|x)")
    assert "a = Relu (x)" in parts
    assert any(part.startswith(f"{decorator}y = If") for part in parts), parts


async def selected(session: Session, needle: str) -> list[str]:
    """Return the parts of the text that expanding a selection selects, the smallest first."""
    chains = await session.ask(t.SelectionRangeParams(session.document, [session.at(needle)]))
    assert chains
    parts = []
    link: t.SelectionRange | None = chains[0]
    while link is not None:
        parts.append(session.part(link.range))
        link = link.parent
    return parts


def decoded(
    session: Session, data: Any, legend: t.SemanticTokensLegend
) -> list[tuple[str, str, set[str]]]:
    """Return semantic tokens as text, type and modifiers."""
    found = []
    line = column = 0
    data = list(data)
    for index in range(0, len(data), 5):
        lines, columns, size, kind, modifiers = data[index : index + 5]
        column = columns if lines else column + columns
        line += lines
        start = session.offset(t.Position(line, column))
        end = session.offset(t.Position(line, column + size))
        names = {m for n, m in enumerate(legend.token_modifiers) if modifiers >> n & 1}
        found.append((session.text[start:end], legend.token_types[kind], names))
    return found


async def test_semantic_tokens_classify_names(client: LanguageClient) -> None:
    session = opened(client, "attention")
    from onnxtext.lsp.features.semantic_tokens import LEGEND

    whole = await session.ask(t.SemanticTokensParams(session.document))
    tokens = decoded(session, whole.data, LEGEND)
    assert ("soft_dictionary", "class", {"declaration"}) in tokens
    assert ("queries", "parameter", {"declaration"}) in tokens
    assert ("queries", "parameter", set()) in tokens
    assert ("length", "variable", {"declaration"}) in tokens
    assert ("Trilu", "function", {"defaultLibrary"}) in tokens
    assert ("Scores", "function", set()) in tokens
    assert ("Scores", "function", {"declaration"}) in tokens
    assert ("my", "namespace", set()) in tokens
    assert ("scale", "parameter", {"declaration"}) in tokens
    assert ("scale", "parameter", set()) in tokens
    assert ("axis", "property", set()) in tokens
    assert ("bool", "type", set()) in tokens

    session.replace("Trilu", "Relu")
    change = await session.ask(t.SemanticTokensDeltaParams(session.document, whole.result_id or ""))
    assert isinstance(change, t.SemanticTokensDelta)
    data = list(whole.data)
    for edit in change.edits:
        data[edit.start : edit.start + edit.delete_count] = list(edit.data or ())
    again = await session.ask(t.SemanticTokensParams(session.document))
    assert data == list(again.data)
    assert len(change.edits) == 1
    assert len(change.edits[0].data or ()) < 20

    line = session.at("everything = |Const").line
    part = await session.ask(
        t.SemanticTokensRangeParams(
            session.document, t.Range(t.Position(line, 0), t.Position(line + 1, 0))
        )
    )
    names = [text for text, _, _ in decoded(session, part.data, LEGEND)]
    assert names == ["bool", "everything", "ConstantOfShape", "value", "square"]


async def test_formatting_requests_change_only_what_differs(client: LanguageClient) -> None:
    session = opened(client, "attention")
    nothing = await session.formatting()
    assert not nothing
    session.replace("  bool[K, K] mask =  Trilu".replace("=  ", "= "), "  bool[K,K]   mask=Trilu")
    session.replace(
        "  weights = Softmax <axis = -1> (scores)", "      weights=Softmax<axis=-1>(scores)"
    )
    whole = await session.formatting()
    assert whole
    assert len(whole) == 2
    assert session.apply(whole) == example("attention")
    line = session.at("weights=|Softmax").line
    part = await session.ask(
        t.DocumentRangeFormattingParams(
            session.document, t.Range(t.Position(line, 0), t.Position(line, 5)), OPTIONS
        )
    )
    assert part
    assert len(part) == 1
    assert "  weights = Softmax <axis = -1> (scores)\n" in session.apply(part)
    assert "mask=Trilu" in session.apply(part)
    end = session.text.index("\n", session.text.index("mask=Trilu"))
    session.edit(end, end, "\n  ")
    typed = await session.ask(
        t.DocumentOnTypeFormattingParams(session.document, session.position(end + 3), "\n", OPTIONS)
    )
    assert typed
    result = session.apply(typed)
    assert "  bool[K, K] mask = Trilu" in result
    assert "weights=Softmax" in result
    session.replace("Trilu", "(Trilu")
    broken = await session.formatting()
    assert not broken


async def test_links_lead_to_data_files(client: LanguageClient, tmp_path: Path) -> None:
    (tmp_path / "query.npy").write_bytes(b"x")
    (tmp_path / "w.bin").write_bytes(b"x")
    (tmp_path / "v.bin").write_bytes(b"x")
    text = """\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
g () => () <
  float[2] a = file"query.npy",
  float[2] b = ["location": "w.bin", "offset": "0"],
  float[2] b2 = external("v.bin", 0, 8),
  float[2] c = blob"24ae2dfe8df57c1b80e54cef3d90ac3b",
  float[2] d = file"../secret.npy",
  float[2] e = file"missing.npy",
  string[1] f = {"file: query.npy"},
> {}

resources {
  "24ae2dfe8df57c1b80e54cef3d90ac3b": base64 \"\"\"
    AACAPwAAAEA=
    \"\"\"
}
"""
    session = Session(client, tmp_path / "m.onnxtxt", text)
    found = await session.ask(t.DocumentLinkParams(session.document))
    shown = {session.part(link.range): link.target for link in found}
    assert shown == {
        "query.npy": (tmp_path / "query.npy").as_uri(),
        "w.bin": (tmp_path / "w.bin").as_uri(),
        "v.bin": (tmp_path / "v.bin").as_uri(),
        "24ae2dfe8df57c1b80e54cef3d90ac3b": f"{session.uri}#L13",
    }


async def test_call_hierarchy_finds_callers(client: LanguageClient) -> None:
    session = opened(client, "attention")
    items = await session.ask_at(t.CallHierarchyPrepareParams, "my.ops.Sco|res <scale")
    assert items
    assert items[0].name == "Scores"
    callers = await session.ask(t.CallHierarchyIncomingCallsParams(items[0]))
    assert [(c.from_.name, len(c.from_ranges)) for c in callers] == [
        ("Attention", 1),
        ("Attention", 1),
    ]
    main = await session.ask_at(t.CallHierarchyPrepareParams, "soft_|dictionary")
    assert main
    of_main = await session.ask(t.CallHierarchyIncomingCallsParams(main[0]))
    assert not of_main
    called = await session.ask(t.CallHierarchyOutgoingCallsParams(main[0]))
    assert [(c.to.name, len(c.from_ranges)) for c in called] == [("Attention", 2), ("Attention", 1)]
    assert all(session.part(r) == "Attention" for c in called for r in c.from_ranges)
