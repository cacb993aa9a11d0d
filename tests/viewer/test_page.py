# SPDX-License-Identifier: Apache-2.0
"""Pages contain what editors show, escape all text of a model, and omit large weights."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import onnxtext
from benchmarks.transformer import transformer
from onnxtext.lsp.graph.drawing import Drawing
from onnxtext.viewer.colored_lines import color_lines
from onnxtext.viewer.graph_data import graph
from onnxtext.viewer.overview import overview
from onnxtext.viewer.page_model import LoadedModel, read
from tests.corpus import EXAMPLES
from tests.seeds import fresh_seed, seeded

TEXT = """\
<
  onnxtext: 1,
  ir_version: 10,
  opset_import: [21],
>
g (float[N, 2] x, bool c) => (float[N, 2] y) <float[2, 2] W = [[1, 0], [0.5, -1]]> {
  h = MatMul (x, W) # a comment
  [choose] y = If (c) <
    then_branch = yes () => (float[N, 2] p) {
      p = Relu (h)
    },
    else_branch = no () => (float[N, 2] q) {
      q = Identity (h)
    },
  >
}
"""


def held(page: str, name: str = "model") -> Any:
    """Return the data in a page."""
    found = re.search(rf'<script type="text/plain" id="{name}">([A-Za-z0-9+/=]*)</script>', page)
    assert found is not None
    return json.loads(gzip.decompress(b64decode(found[1])))


def of_text(text: str) -> LoadedModel:
    return read(text.encode(), "m.onnxtxt", None)


# ---- The page -----------------------------------------------------------------------------------


def test_a_page_allows_only_its_own_script_and_style() -> None:
    page = onnxtext.view(TEXT)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy[1].split("; "))
    assert rules["default-src"] == "'none'"
    for rule, element in (("script-src", "script"), ("style-src", "style")):
        content = re.findall(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
        assert len(content) == 1
        digest = b64encode(sha256(content[0].encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert rules["worker-src"] == "blob:"
    addresses = re.findall(r"\s(?:src|href|on\w+)=\s*\"([^\"]*)", page.partition("<style>")[0])
    assert [address[:5] for address in addresses] == ["data:"]  # the icon


def test_the_same_model_makes_the_same_page() -> None:
    assert onnxtext.view(TEXT) == onnxtext.view(TEXT)


ODD = ["</script>", "<!--", "<script>alert(1)</script>", "\u2028", "\u202e", "&amp;", '"', "'",
       "]]>", "\\", "<img src=x onerror=alert(1)>", "é𝒳", "\x7f", "${x}", "`"]  # fmt: skip


@settings(max_examples=20)
@given(st.lists(st.sampled_from(ODD), min_size=1, max_size=3).map("".join))
def test_names_cannot_be_markup(name: str) -> None:
    value = helper.make_tensor_value_info(name, TensorProto.FLOAT, [name])
    node = helper.make_node("Relu", [name], ["y"], name=name, doc_string=name)
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [name])
    data = helper.make_model(helper.make_graph([node], name, [value], [out])).SerializeToString()
    page = onnxtext.view(data)
    plain = onnxtext.view("g () => () {}")
    # Nothing differs but the data.
    blank = re.compile(r'(?<=id="model">)[^<]*')
    assert blank.sub("", page) == blank.sub("", plain)
    found = held(page)
    shown = json.dumps({k: v for k, v in found.items() if k != "text"}, ensure_ascii=False)
    assert shown.isprintable()


def test_titles_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "<b>&\u202e.onnxtxt"
    path.write_text(TEXT)
    page = onnxtext.view(path)
    assert "<title>&lt;b&gt;&amp;\N{REPLACEMENT CHARACTER}.onnxtxt</title>" in page
    assert str(tmp_path) not in page
    assert str(tmp_path) not in json.dumps(held(page))


# ---- What it shows ------------------------------------------------------------------------------


def test_texts_are_shown_as_they_are() -> None:
    found = held(onnxtext.view(TEXT))
    assert "\n".join(found["text"]["lines"]) == TEXT
    assert found["rows"] == [["=", 0, 0, TEXT.count("\n") + 1]]
    lines = found["text"]["lines"]
    names = {name: places for name, kind, _, places in found["text"]["names"] if kind == "value"}
    for name, places in names.items():
        for index in range(0, len(places), 4):
            line, column, length, _ = places[index : index + 4]
            assert lines[line][column : column + length] == name
    assert len(names["h"]) == 3 * 4
    types = {name: type for name, _, type, _ in found["text"]["names"]}
    assert types["h"] == "float[N, 2]"  # inferred


def test_statements_lead_to_their_nodes() -> None:
    found = held(onnxtext.view(TEXT))
    lines = found["text"]["lines"]
    nodes: dict[str, str] = {}
    for line, column, last, identity in found["graph"]["statements"]:
        assert line <= last
        nodes.setdefault(lines[line][column:].split(" ")[0], identity)
    items = {
        item["id"]: item
        for group in found["graph"]["document"]["groups"]
        for item in group["items"]
    }
    assert items[nodes["h"]]["op"] == "MatMul"
    assert items[nodes["[choose]"]]["op"] == "If"
    assert items[nodes["p"]]["op"] == "Relu"
    for identity, item in items.items():
        if item["kind"] == "node":
            assert item["op"] in lines[item["range"]["start"]["line"]], identity


def binary_with_weights(values: np.ndarray[Any, Any]) -> bytes:
    weight = numpy_helper.from_array(values, "W")
    node = helper.make_node("MatMul", ["x", "W"], ["y"])
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", values.shape[0]])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", values.shape[1]])
    model = helper.make_model(helper.make_graph([node], "g", [x], [y], [weight]))
    return bytes(model.SerializeToString())


def test_weights_are_statistics() -> None:
    values = np.random.default_rng(fresh_seed()).random((400, 300), np.float32)
    values[0, 0], values[1, 1] = -3, 7
    data = binary_with_weights(values)
    for source in (data, onnxtext.from_binary(data)):
        page = onnxtext.view(source)
        assert len(page) < len(onnxtext.view(TEXT)) + 20_000
        found = held(page)
        (note,) = found["text"]["notes"].values()
        assert note.startswith("min -3, max 7, mean 0.")
        assert note in json.dumps(found["graph"]["details"])
        without = held(onnxtext.view(source, statistics=False))
        assert not without["text"]["notes"]


def test_elements_in_a_text_are_cut_and_described() -> None:
    elements = ", ".join(map(str, range(5000)))
    text = (
        f"g (float[5000] x) => (float[5000] y) <float[5000] W = [{elements}]> {{ y = Add (x, W) }}"
    )
    found = held(onnxtext.view(text))
    assert sum(map(len, found["text"]["lines"])) < 1000
    assert "min 0, max 4999" in found["text"]["notes"]["0"]


def test_external_weights_stay_outside(tmp_path: Path) -> None:
    data = binary_with_weights(np.arange(20_000, dtype=np.float32).reshape(200, 100))
    model = onnx.load_from_string(data)
    path = tmp_path / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="m.data")
    (note,) = held(onnxtext.view(path))["text"]["notes"].values()
    assert "max 19999" in note
    (tmp_path / "m.data").unlink()
    (note,) = held(onnxtext.view(path))["text"]["notes"].values()
    assert "m.data" in note


def test_broken_texts_are_shown_with_their_errors() -> None:
    found = held(onnxtext.view(TEXT.replace("Relu (h)", "Relu (h")))
    line, severity, code, message = found["text"]["findings"][0]
    assert (severity, bool(code), bool(message)) == ("error", True, True)
    assert abs(line - 9) <= 1
    assert any(
        item["op"] == "MatMul"
        for group in found["graph"]["document"]["groups"]
        for item in group["items"]
    )


@pytest.mark.parametrize("text", ["", "\n", "nonsense", "}", "g () => () {}", "y = Relu (x)",
                                  '"unclosed', "<a: 1>", "\x00", "# only a comment"])  # fmt: skip
def test_anything_can_be_shown(text: str) -> None:
    found = held(onnxtext.view(text))
    assert "\n".join(found["text"]["lines"]) == text


# ---- The graph is that of the language server ---------------------------------------------------


def opened(data: dict[str, Any], wanted: set[str], closed: set[str]) -> list[dict[str, Any]]:
    """Choose the open groups as the page does (vscode-extension/src/viewer/source.ts)."""
    groups = data["document"]["groups"]
    ids = {group["id"] for group in groups}
    around = {item["id"]: group["id"] for group in groups for item in group["items"]}
    shown: dict[str, dict[str, Any]] = {}
    for group in groups:
        parent = group["parent"]
        inside = parent if parent in ids or parent is None else around.get(parent)
        is_open = group["id"] in wanted or group["id"] in data["open"]
        if (parent is None or inside in shown) and group["id"] not in closed and is_open:
            shown[group["id"]] = group
    return list(shown.values())


def ends(groups: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the items and edges of each group."""
    return {
        group["id"]: (
            [item["id"] for item in group["items"]],
            sorted((edge["from"], edge["to"], edge["value"]) for edge in group["edges"]),
        )
        for group in groups
    }


@pytest.mark.parametrize("text", [TEXT, onnxtext.from_binary(next(transformer(400)))],
                         ids=["nested", "transformer"])  # fmt: skip
def test_any_choice_of_open_groups_equals_that_of_the_server(text: str) -> None:
    result = of_text(text)
    drawing = Drawing(result.document)
    data = graph(drawing, color_lines(text), None, None)
    ids = [group["id"] for group in data["document"]["groups"]]
    generator = seeded()
    for _ in range(10):
        wanted = set(generator.sample(ids, generator.randint(0, len(ids))))
        closed = set(generator.sample(ids, generator.randint(0, min(3, len(ids))))) - wanted
        expected = drawing.draw(wanted, closed)
        assert ends(opened(data, wanted, closed)) == ends(expected["groups"])
    assert set(data["details"]) == {
        item["id"] for group in data["document"]["groups"] for item in group["items"]
        if item["kind"] != "group"
    }  # fmt: skip


# ---- Two models ---------------------------------------------------------------------------------


def lines_of(found: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Rebuild both texts from the rows."""
    old: list[str] = []
    new: list[str] = []
    for mark, before, after, count in found["rows"]:
        if mark != "+":
            assert before == len(old)
            old += found["old"]["lines"][before : before + count]
        if mark != "-":
            assert after == len(new)
            new += found["text"]["lines"][after : after + count]
    return old, new


def test_two_texts_are_compared() -> None:
    new = TEXT.replace("p = Relu (h)", "t = Tanh (h)\n      p = Relu (t)").replace("0.5", "0.25")
    found = held(onnxtext.view(TEXT, new))
    old_lines, new_lines = lines_of(found)
    assert "\n".join(old_lines) == TEXT
    assert "\n".join(new_lines) == new
    assert found["changes"]["verdict"] == "the models differ"
    titles = [hunk["title"] for hunk in found["changes"]["hunks"]]
    assert any(
        "max |Δ| 0.25" in text for hunk in found["changes"]["hunks"] for _, text in hunk["lines"]
    )
    assert len(titles) == 3
    for hunk in found["changes"]["hunks"]:
        for old, now in hunk["places"]:
            assert max(old, now) >= 0
    items = [item for group in found["graph"]["document"]["groups"] for item in group["items"]]
    changes = {item["op"]: item.get("change") for item in items}
    assert changes["Tanh"] == "added"
    assert changes["Relu"] == changes["MatMul"] == "changed"
    assert changes["Identity"] is None


def test_removed_nodes_lead_to_the_old_text() -> None:
    found = held(
        onnxtext.view(
            TEXT, TEXT.replace("  h = MatMul (x, W) # a comment\n", "").replace("(h)", "(x)")
        )
    )
    items = [item for group in found["graph"]["document"]["groups"] for item in group["items"]]
    (removed,) = [item for item in items if item.get("change") == "removed"]
    assert "h = MatMul" in found["old"]["lines"][removed["range"]["start"]["line"]]


def test_a_text_and_a_binary_are_compared_in_the_canonical_layout() -> None:
    found = held(onnxtext.view(TEXT, onnxtext.to_binary(TEXT)))
    assert [mark for mark, *_ in found["rows"]] == ["="]
    assert found["changes"] == {"verdict": "the models are the same", "hunks": []}


def test_weights_of_binaries_are_compared() -> None:
    values = np.zeros((100, 50), np.float32)
    changed = values.copy()
    changed[3, 4] = 2
    found = held(onnxtext.view(binary_with_weights(values), binary_with_weights(changed)))
    assert "1 of 5,000 elements changed" in json.dumps(found["changes"], ensure_ascii=False)


def test_broken_texts_are_not_compared() -> None:
    with pytest.raises(onnxtext.OnnxTextError):
        onnxtext.view(TEXT, TEXT.replace("Relu (h)", "Relu (h"))
    with pytest.raises(onnxtext.OnnxTextError):
        onnxtext.view("f <a> (x) => (y) { y = Relu (x) }", TEXT)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_each_example_can_be_shown(path: Path) -> None:
    """Each example can be shown, as text and as binary model."""
    found = held(onnxtext.view(path, statistics=False))
    assert not [row for row in found["text"]["findings"] if row[1] == "error"]
    assert found["graph"]["document"]["total"] > 0


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        *[(999, "999"), (1500, "1.5 k"), (999_400, "999 k"), (999_999, "1 M"), (99_600, "100 k")],
        *[(1_234_567, "1.23 M"), (999_999_999, "1 B"), (5_000 * 10**9, "5000 B")],
    ],
)
def test_counts_of_parameters_are_short(count: int, shown: str) -> None:
    model = onnxtext.parse(f'g () => () <float[{count}] w = external("w.bin")> {{}}')
    assert f"{shown} parameters" in overview(model)[0][1]


@pytest.mark.parametrize("part", [0, 100, 300])
def test_the_errors_of_a_text_are_known_without_reading_it_again(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = of_text(TEXT.replace("MatMul (", "MatMul ((") if part == 0 else TEXT[:part])
    with pytest.raises(onnxtext.OnnxTextError) as expected:
        onnxtext.parse(broken.text)
    monkeypatch.setattr("onnxtext.differ.ModelSide.of_text", None)
    with pytest.raises(onnxtext.OnnxTextError) as caught:
        broken.side()
    said = [(item.code, item.message, item.span) for item in caught.value.diagnostics]
    assert said == [(item.code, item.message, item.span) for item in expected.value.diagnostics]
