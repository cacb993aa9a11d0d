# SPDX-License-Identifier: Apache-2.0
"""Sections, `@value_info(…)`, `external(…)`, blobs and `above` in the editor."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as t
from pytest_lsp import LanguageClient

from onnxtext.lsp.index.token_kinds import TYPES
from tests.lsp.session import Session
from tests.lsp.test_features import rename

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT = '''\
<
  onnxtext: 1,
  ir_version: 10,
  opset_import: [21, "my.ops": 1],
>
@value_info("t", "w", nodes, without: ["v"])
g (float[2] x, bool c) => (float[2] y) <
  float[2] v = {blob"9f2c9f2c9f2c9f2c"},
  float[2] w = external("w.bin", 0, 8),
  float z,
> {
  [first] float[2] t = Relu (x)
  [choice] y = If <then_branch = b () => (q) {
      [inner] q = Neg (t)
    }, else_branch = e () => (p) { p = Abs (x) }> (c)
  [attr] r = Op <ints: ints[64] = [0, ...], u = float[9] external("u.bin", 0, 36)> (x)
}

<domain: "my.ops", opset_import: [21]>
Twice (a) => (o) {
  [in_function] o = Add (a, a)
}

metadata {
  graph {
    gkey: "v"
  }
  tensor v {
    origin: "folded"
  }
  node [first] {
    namespace: "m/layer"
    trace: """
      File "m.py", line 3
      return -x
      """
  }
  node t {
    origin: "folded"
    trace: above
  }
  node [choice].then_branch.q {
    trace: above
  }
  function my.ops.Twice {
    origin: "lib"
    node [in_function] {
      rule: "t"
    }
  }
}

quantization {
  x: ["SCALE_TENSOR": "w"]
  [choice].then_branch.q: ["SCALE_TENSOR": "w"]
}

training {
  initialization: i () => (float[2] n) {
    n = Abs (w)
  }
  initialization_binding: ["w": "n"]
}
'''
ORDER = (
    TEXT.replace('@value_info("t", "w", nodes, without: ["v"])\n', "")
    + """
order {
  @initializers("w", values)
  @value_info("t", nodes, without: ["v"])
}
"""
)
BLOCK = "  tensor v {\n"
"""A place before which a block may be written."""


def opened(client: LanguageClient, tmp_path: Path, text: str = TEXT) -> Session:
    return Session(client, tmp_path / "m.onnxtxt", text)


async def test_the_text_is_valid(client: LanguageClient, tmp_path: Path) -> None:
    session = opened(client, tmp_path)
    found = await session.diagnostics()
    assert not [each for each in found if each.code in ("syntax-error", "metadata-dangling")]


@pytest.mark.parametrize(
    ("before", "line", "wanted", "unwanted"),
    [
        (BLOCK, "  |\n", {"node": "node $1 {\n  $0\n}", "function": None}, ["gkey"]),
        (BLOCK, "  no|\n", {"node": None}, []),
        (BLOCK, "  node |\n", {"[first]": "[first]", "[choice]": None}, ["t", "[inner]", "[o]"]),
        (BLOCK, "  node [|\n", {"first": "first]", "attr": "attr]"}, ["inner"]),
        (BLOCK, "  node [fi|] {\n  }\n", {"first": "first"}, []),
        (BLOCK, "  node [choice].|\n", {"then_branch": "then_branch"}, ["[first]"]),
        (BLOCK, "  node [choice].then_branch.|\n", {"[inner]": None}, ["[first]"]),
        (BLOCK, "  value |\n", {"x": "x", "y": None, "z": None, "t": None}, ["v", "r"]),
        (BLOCK, "  tensor |\n", {"v": None, "w": None}, ["x", "t"]),
        (BLOCK, "  output |\n", {"y": None}, ["x", "t"]),
        (BLOCK, "  graph |\n", {"[choice]": None}, ["[first]"]),
        (BLOCK, "  function |\n", {"my.ops.Twice": None}, ["[first]"]),
        ("    gkey", "    |\n", {"trace": 'trace: "$1"', "origin": None}, ["node", "trace: above"]),
        ("    trace: above", "    |\n", {"trace: above": None}, ["origin"]),
        ("    trace: above", "    trace: |\n", {"above": "above"}, []),
        ("    trace: above", "    other: |\n", {}, ["above"]),
        ("    gkey", "    origin: |\n", {"folded": '"folded"', "lib": '"lib"'}, ["above"]),
        ("    gkey", '    origin: "fo|\n', {"folded": '"folded"'}, []),
        ("      return", "      no|\n", {}, ["node"]),
        ("    node [in_f", "    |\n", {"node": None, "rule": None}, ["function"]),
        ("    node [in_f", "    node |\n", {"[in_function]": None}, ["[first]"]),
        ("  x: [", "  |\n", {"x": None, "t": None, "[choice]": None}, ["[first]"]),
        ("  x: [", '  t: ["|\n', {"SCALE_TENSOR": '"SCALE_TENSOR"'}, ["w"]),
        ("  x: [", '  t: ["SCALE_TENSOR": |\n', {"w": '"w"'}, ["x", "SCALE_TENSOR"]),
        ("  initialization_b", "  |\n", {"update_binding": 'update_binding: ["$1": "$2"]'}, ["w"]),
        ('"w": "n"]', "|", {"w": '"w"'}, ["n"]),
        ('"w": "n"]', '"v": |, ', {"n": '"n"'}, ["w"]),
        ("    n = Abs", "    k = Abs () m = Relu (|\n", {"k": None}, ["w", "update_binding"]),
        ('"t", nodes', "|", {"initializers": None, "values": None, "w": '"w"', "x": None}, []),
        ("nodes, w", "|", {"inputs": None, "v": None, "w": None}, ["t"]),
        ("  @initializers", "  |\n", {"@value_info": "@value_info($1)"}, ["node", "initializers"]),
        ("  @initializers", "  @|\n", {"value_info": "value_info(initializers)"}, []),
        ('"w", values', "|", {"inputs": "inputs", "v": '"v"'}, ["nodes", "without", "x"]),
        ('"v"])', "|", {"w": '"w"', "x": '"x"'}, ["nodes", "t"]),
        ("  [first]", "  @meta(|)\n", {"origin": '"origin": "$1"'}, ["initializers"]),
    ],
)  # fmt: skip
async def test_completion_offers_names_in_sections(
    client: LanguageClient,
    tmp_path: Path,
    before: str,
    line: str,
    wanted: dict[str, str | None],
    unwanted: list[str],
) -> None:
    at = ORDER.index(before)
    text = ORDER[:at] + line.replace("|", "") + ORDER[at:]
    session = opened(client, tmp_path, text)
    found = await session.ask(
        t.CompletionParams(session.document, session.position(at + line.index("|")))
    )
    items = {item.label: item.text_edit.new_text for item in found.items}
    assert wanted.keys() <= items.keys()
    assert {label: items[label] for label, text in wanted.items() if text is not None} == {
        label: text for label, text in wanted.items() if text is not None
    }
    assert not items.keys() & set(unwanted)
    if "[" in "".join(wanted):  # labels of nodes are preferred to their outputs
        assert all(item.detail for item in found.items)


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("node [fi|rst] {", "[first] float[2] t = Relu (x)"),
        ("  [fi|rst] float", "node of the graph `g`"),
        ("[in_fun|ction] {", "[in_function] o = Add (a, a)"),
        ("node |t {", "output 1 of `Relu`"),
        ("tensor |v", "initializer of the graph `g`"),
        ("my.ops.Tw|ice {", "my.ops.Twice (a)"),
        ("then_branch.|q {", "output 1 of `Neg`"),
        ("no|de t {", "Metadata of the first node"),
        ("meta|data {", "The `metadata_props`"),
        ("name|space:", "A key of `metadata_props`; 1 in this text"),
        ("    trace: abo|ve\n  }\n  node [ch", "return -x"),
        ("q {\n    trace: abo|ve", 'File "m.py", line 3'),
        ('"SCALE_TEN|SOR"', "scale of the quantized tensor"),
        ("initialization_b|inding", "For each initializer"),
        ("@value|_info(", "The order of the graph's `value_info`"),
        ("ord|er {", "Long decorators `@initializers`"),
        ("@initial|izers(", "The order of the graph's initializers"),
        ('@initializers("w", val|ues', "The initializers in `<…>`"),
        ("no|des, w", "The types before outputs"),
        ("with|out:", "get no entry"),
        ('["|v"]', "initializer of the graph `g`"),
        ('exter|nal("w', "location w.bin, offset 0, length 8"),
        ('exter|nal("u', "location u.bin, offset 0, length 36"),
        ('{bl|ob"', "the bytes of this blob are not in the text"),
    ],
)
async def test_hover_describes_names_in_sections(
    client: LanguageClient, tmp_path: Path, place: str, shown: str
) -> None:
    session = opened(client, tmp_path, ORDER if "initial" in place or "ord" in place else TEXT)
    found = await session.ask_at(t.HoverParams, place)
    assert shown in found.contents.value


async def test_hover_at_the_start_of_an_argument_describes_it(
    client: LanguageClient, tmp_path: Path
) -> None:
    session = opened(client, tmp_path, TEXT.replace('"t", "w", nodes', 'nodes, "t"'))
    found = await session.ask_at(t.HoverParams, "(|nodes")
    assert "The types before outputs" in found.contents.value


async def test_names_in_sections_are_found_and_renamed(
    client: LanguageClient, tmp_path: Path
) -> None:
    session = opened(client, tmp_path)
    context = t.ReferenceContext(include_declaration=True)
    for place, definition, uses in (
        ("node [fi|rst] {", "[first] float", ["node [first] {"]),
        ("[choice].then_branch.|q {", "[inner] q", ["(q) {\n", "q {\n    trace", "branch.q: ["]),
        ("tensor |v", "v = {blob", ['["v"]', "v {"]),
        ('["|w": "n"]', "w = external", ['"w", nodes', '"w"]\n  [', '"w"]\n}', '"w": "n']),
        ('"w": "|n"]', "n = Abs", ["n) {", '"n"]']),
    ):
        found = await session.ask_at(t.DefinitionParams, place)
        at = TEXT.index(definition)
        assert at <= session.offset(found[0].range.start) < at + len(definition)
        spans = await session.ask_at(t.ReferenceParams, place, context=context)
        starts = {session.offset(span.range.start) for span in spans}
        for use in uses:
            first = TEXT.index(use)
            assert any(first <= start < first + len(use) for start in starts), use
    result = await rename(session, "[choice].then_branch.|q {", "new")
    assert "[choice].then_branch.new {" in result
    assert "[choice].then_branch.new: [" in result
    result = await rename(session, "[cho|ice].then_branch.q {", "a.b")
    assert result.count('["a.b"]') == 3


async def test_sections_are_outlined_and_folded(client: LanguageClient, tmp_path: Path) -> None:
    session = opened(client, tmp_path, TEXT + "encoding { a: 1 }\nresources none\n")
    symbols = await session.ask(t.DocumentSymbolParams(session.document))
    sections = {each.name: each.range for each in symbols if each.detail == "section"}
    lines = session.text.split("\n")
    for name, range in sections.items():
        assert lines[range.start.line].startswith(name)
        end = lines[range.end.line]
        assert end in ("}", "encoding { a: 1 }", "resources none")
    assert [*sections] == ["metadata", "quantization", "training", "encoding", "resources"]
    folds = await session.ask(t.FoldingRangeParams(session.document))
    starts = {lines[fold.start_line].strip() for fold in folds}
    assert {"metadata {", "node [first] {", 'trace: """', "function my.ops.Twice {"} <= starts


async def test_semantic_tokens_classify_sections(client: LanguageClient, tmp_path: Path) -> None:
    session = opened(client, tmp_path)
    answer = await session.ask(t.SemanticTokensParams(session.document))
    data = answer.data
    found: dict[int, set[str]] = {}
    lines, line, column = TEXT.split("\n"), 0, 0
    for index in range(0, len(data), 5):
        ahead, shift, length, kind, _ = data[index : index + 5]
        line, column = line + ahead, shift if ahead else column + shift
        text = lines[line][column : column + length]
        found.setdefault(line, set()).add(f"{text} {TYPES[kind]}")
    for start, wanted in {
        "@value_info(": {'"t" variable', '"w" variable', '"v" variable'},
        "  node [first]": {"first label"},
        "  node t": {"t variable"},
        "  node [choice]": {"choice label", "q variable"},
        "  function my": {"Twice function"},
        "    node [in": {"in_function label"},
        "  x: [": {"x variable", '"w" variable'},
        "  initialization_b": {'"w" variable', '"n" variable'},
    }.items():
        number = next(index for index, text in enumerate(lines) if text.startswith(start))
        assert found[number] == wanted


@pytest.mark.parametrize(
    ("place", "label", "active"),
    [
        ('external("w|.bin"', "external(location, offset, length)", 0),
        ('external("w.bin", |0', "external(location, offset, length)", 1),
        ('external("u.bin", 0, |36', "external(location, offset, length)", 2),
        ('without: ["|v"', "@value_info(initializers", 6),
        ('@value_info(|"t"', "@value_info(initializers", 7),
    ],
)
async def test_signature_help_shows_parameters(
    client: LanguageClient, tmp_path: Path, place: str, label: str, active: int
) -> None:
    session = opened(client, tmp_path)
    found = await session.ask_at(t.SignatureHelpParams, place)
    assert found.signatures[0].label.startswith(label)
    assert found.active_parameter == active
