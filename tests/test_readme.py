# SPDX-License-Identifier: Apache-2.0
"""README and its continuation pages are correct: texts, findings, lists and figures.

`tests/test_docs.py` executes the commands and follows the links of all pages.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from google.protobuf import text_format

import onnxtext
from onnxtext.checker.context.registry import rules
from onnxtext.cli.group import VERBS
from tests.corpus import REPOSITORY, index, onnx_directory, shared_models, wheel_models
from tests.format.test_comments import official_models
from tests.pages import VERSION, blocks, canonical, infos, read, snippets, table

README = "README.md"
LANGUAGE = "docs/language.md"
CHEATSHEET = "docs/cheatsheet.md"
COMMANDS = "docs/commands.md"
LAWS = "docs/laws.md"
BINARY = "backend/test/data/pytorch-operator/test_operator_non_float_params/model.onnx"
SNIPPETS = {page: snippets(page) for page in (README, LANGUAGE, CHEATSHEET)}
TOUR = SNIPPETS[LANGUAGE]


def command(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "onnxtext", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


# ---- The first page -----------------------------------------------------------------------------


def test_the_first_page_is_short() -> None:
    lines = read(README).splitlines()
    assert len(lines) <= 200
    commands = [lines.index(f"python3 dev.py {name}") for name in ("try", "test")]
    assert max(commands) < 40
    before, after = blocks(README, "textproto")[0], SNIPPETS[README]["whole"][1]
    assert max(len(text.splitlines()) for text in (before, after)) <= 10


def test_the_textproto_and_the_text_are_the_same_node() -> None:
    model = onnxtext.loads(SNIPPETS[README]["whole"][1])
    onnx.checker.check_model(model, full_check=True)
    (before,) = blocks(README, "textproto")
    assert text_format.Parse(before, onnx.GraphProto()).node == [model.graph.node[1]]


def test_the_text_on_one_screen_has_its_meaning() -> None:
    model = onnxtext.loads(SNIPPETS[README]["tour"][1])
    onnx.checker.check_model(model, full_check=False)
    fc, choice = model.graph.node
    assert [info.name for info in model.graph.value_info] == ["h"]
    assert fc.metadata_props[0].key == "origin"
    assert choice.doc_string == "A decorator adds a field to what follows."
    half = next(tensor for tensor in model.graph.initializer if tensor.name == "half")
    assert half.raw_data == b"\x00\x3c\x00\xb8\x01\x7e"
    scale = next(tensor for tensor in model.graph.initializer if tensor.name == "scale")
    assert list(scale.float_data) == [2]
    assert list(choice.attribute[1].g.node[0].input) == ["h", "", "encoder/max:0"]


def test_python_blocks_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    for page in (README, "docs/python.md", "examples/README.md"):
        code = "\n".join(blocks(page, "python"))
        exec(compile(code, page, "exec"), {})


# ---- Texts of the language ----------------------------------------------------------------------


@pytest.mark.parametrize("page", SNIPPETS)
def test_every_block_is_known(page: str) -> None:
    named = [info for info in infos(page) if info.startswith("onnxtxt")]
    assert len(SNIPPETS[page]) == len(named) > 0


@pytest.mark.parametrize(("page", "name"), [(page, name) for page in SNIPPETS
                                            for name in SNIPPETS[page]])  # fmt: skip
def test_snippets_are_in_the_canonical_layout(page: str, name: str) -> None:
    kind, text = SNIPPETS[page][name]
    bare = re.sub(r" *# .*$", "", text, flags=re.MULTILINE)
    assert canonical(text, kind) == bare


def test_the_real_model_before_and_after_is_current() -> None:
    data = (onnx_directory() / BINARY).read_bytes()
    page = read(LANGUAGE)
    assert f"`{BINARY}`" in page
    assert f"A model of {len(data)} bytes" in page
    assert f"the same {len(data)} bytes" in page
    node_before, before = blocks(LANGUAGE, "textproto")
    assert before == text_format.MessageToString(onnx.ModelProto.FromString(data))
    node = onnxtext.loads(TOUR["metadata"][1]).graph.node[0]
    assert len(node.metadata_props) == 5
    node.ClearField("metadata_props")
    wanted = text_format.MessageToString(onnx.GraphProto(node=[node]))
    assert node_before == wanted
    _, after = TOUR["after"]
    assert after == onnxtext.from_binary(data)
    assert onnxtext.to_binary(after) == data


def nodes(name: str) -> list[onnx.NodeProto]:
    """Return the nodes of a snippet as messages."""
    kind, text = TOUR[name]
    assert kind == "nodes"
    model = onnxtext.loads(f"{VERSION}g () => () {{\n{text}}}")
    return list(model.graph.node)


def test_the_graph_of_the_tour_is_valid() -> None:
    model = onnxtext.loads(TOUR["graph"][1])
    onnx.checker.check_model(model, full_check=True)
    assert [info.name for info in model.graph.value_info] == ["h"]


def test_the_tensors_of_the_tour_have_their_meaning() -> None:
    graph = onnxtext.loads(VERSION + TOUR["tensors"][1]).graph
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    assert list(tensors["typed"].float_data) == [1, 2, 3, 4]
    assert tensors["raw"].raw_data
    assert list(tensors["rank_0"].dims) == []
    assert tensors["zeros"].raw_data == bytes(4 * 768)
    assert tensors["half"].raw_data == b"\x00\x3c\x00\xb8\x01\x7e"
    assert tensors["nibbles"].raw_data == b"\x78\x01"
    assert list(tensors["names"].string_data) == [b"a", b"\xff"]
    assert tensors["elsewhere"].data_location == onnx.TensorProto.EXTERNAL
    assert tensors["broken"].raw_data == b"\x00"


def test_the_strings_of_the_tour_have_their_meaning() -> None:
    (node,) = nodes("strings")
    values = {
        attribute.name: attribute.s.decode("utf-8", "replace") for attribute in node.attribute
    }
    assert values == {
        "plain": 'a "quoted" word',
        "escaped": "tab \t, zero-width \u200b, a byte that is no UTF-8 \ufffd",
        "lines": "one\n  two, indented",
    }


def test_the_presence_of_the_tour_has_its_meaning() -> None:
    fields = ("domain", "name", "overload")
    stored = [[field for field in fields if node.HasField(field)] for node in nodes("presence")]
    assert stored == [[], ["domain"], ["name"], ["overload"]]


def test_the_decorators_of_the_tour_have_their_meaning() -> None:
    q, k, v, odd = nodes("everything")
    assert q.doc_string == "Query projection."
    assert q.metadata_props[0].key == "namespace"
    assert k.HasField("doc_string")
    assert k.SerializeToString().endswith(b"\xb8\x3e\x07")
    assert not v.HasField("op_type")
    assert (odd.attribute[0].i, odd.attribute[0].f) == (3, 0.5)


# ---- Findings -----------------------------------------------------------------------------------


def test_the_shown_syntax_error_is_current(tmp_path: Path) -> None:
    (finding,) = (text for text in blocks(COMMANDS, "text") if text.startswith("error"))
    (line,) = re.findall(r"With `(.*)` in line 3", read(COMMANDS))
    path = tmp_path / "model.onnxtxt"
    path.write_text(f"{VERSION}g () => () <\n  {line}\n> {{}}\n")
    done = command("to-binary", path.name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, finding)


def test_the_shown_finding_of_the_checker_is_current(tmp_path: Path) -> None:
    (finding,) = blocks(README, "text")
    lines = dict(re.findall(r"^(\d) \| (.*)$", finding, re.MULTILINE))
    lines["1"] = VERSION.replace(">", ", ir_version: 10, opset_import: [21]>").strip()
    path = tmp_path / "model.onnxtxt"
    path.write_text("\n".join(lines[key] for key in sorted(lines)) + "\n}\n")
    done = command("check", path.name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, finding)


def test_the_shown_conflict_is_current() -> None:
    (shown,) = blocks("docs/merge.md", "text")
    before, ours, base, theirs, after = re.split(
        r"^(?:<{7}|\|{7}|={7}|>{7}).*\n", shown, flags=re.M
    )
    head = f"{VERSION}g (a, v) => (y) <float[4, 4, 1, 1] w = [0, ...]> {{\n"
    merged = onnxtext.merge(*(f"{head}{before}{side}{after}}}\n" for side in (base, ours, theirs)))
    assert merged.conflicts == 1
    assert shown in str(merged)


# ---- Lists and figures --------------------------------------------------------------------------


def test_the_table_of_verbs_is_complete() -> None:
    rows = table(COMMANDS, "command")
    assert tuple(re.findall(r"`onnxtext ([\w-]+) ", row[0])[0] for row in rows) == VERBS


def test_files_that_the_laws_name_exist() -> None:
    for name in re.findall(r"`((?:tests/)?[\w/]*test_\w+\.py)`", read(LAWS)):
        place = name if name.startswith("tests/") else f"tests/laws/{name}"
        assert (REPOSITORY / place).is_file(), name


def test_figures_are_current() -> None:
    assert f"the {len(wheel_models())} models of the onnx wheel" in read(LAWS)
    assert f"applies {len(rules())} rules" in read(README)
    examples = len(list((REPOSITORY / "examples").glob("*.onnxtxt")))
    assert examples == 15
    assert "holds fifteen models" in read(README)


@pytest.mark.data
def test_figures_of_the_shared_data_are_current() -> None:
    assert f"{len(shared_models())} models from public repositories" in read(LAWS)
    assert f"{len(index('official_texts')):,} texts with their official outcomes" in read(LAWS)
    assert f"{len(official_models())} official texts" in read(LAWS)
