# SPDX-License-Identifier: Apache-2.0
"""The README is true: its texts are of the language, its commands work, its lists are complete."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as nh
import pytest
from google.protobuf import text_format

import onnxtext
from onnxtext.ast import Fragment
from onnxtext.cli.group import VERBS
from onnxtext.printer import print_fragment, print_model
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_fragment
from tests.corpus import REPOSITORY, index, onnx_directory, shared_models, wheel_models

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
BINARY = "backend/test/data/pytorch-operator/test_operator_non_float_params/model.onnx"
SETUP = ["python3 -m venv .venv", ".venv/bin/pip install -e '.[dev]'"]
JOB = (
    ".venv/bin/onnxtext to-binary examples/classifier.onnxtxt -o - | .venv/bin/onnxtext from-binary"
)
TEST = ".venv/bin/python -m pytest"
VERSION = "<onnxtext: 1>\n"


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def snippets() -> dict[str, tuple[str, str]]:
    """The blocks of our language: their kind and text, by name."""
    found = re.findall(r"^```onnxtxt (\w+) (\w+)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return {name: (kind, text) for kind, name, text in found}


SNIPPETS = snippets()


def table(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    _, _, section = README.partition(f"\n## {heading}\n")
    (rows, *_) = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    return [row.strip("| ").split(" | ") for row in rows.splitlines()[2:]]


def fragment(text: str, kind: str) -> Fragment:
    return parse_fragment(Source(VERSION + text, "README.md"), kind)


def canonical(text: str, kind: str) -> str:
    """A snippet as the printer would have it."""
    if kind == "model":
        return print_model(onnxtext.parse(text))
    printed = print_fragment(fragment(text, kind)).removeprefix(VERSION)
    if kind != "nodes":
        return printed
    lines = printed.splitlines()
    assert (lines[0], lines[-1]) == ("{", "}")
    return "".join(f"{line.removeprefix('  ')}\n" for line in lines[1:-1])


def test_before_is_what_protobuf_prints_and_after_what_we_print() -> None:
    data = (onnx_directory() / BINARY).read_bytes()
    assert f"`{BINARY}`" in README
    assert f"A real model of {len(data)} bytes" in README
    assert f"the same {len(data)} bytes" in README
    before, node_before = blocks("textproto")
    assert before == text_format.MessageToString(onnx.ModelProto.FromString(data))
    node = onnxtext.loads(SNIPPETS["metadata"][1]).graph.node[0]
    assert len(node.metadata_props) == 5
    node.ClearField("metadata_props")
    wanted = text_format.MessageToString(onnx.GraphProto(node=[node]))
    assert node_before == wanted
    _, after = SNIPPETS["after"]
    assert after == onnxtext.from_binary(data)
    assert onnxtext.to_binary(after) == data


def test_every_block_is_known() -> None:
    assert len(SNIPPETS) == README.count("```onnxtxt ")
    assert set(re.findall(r"^```(\w+)", README, re.MULTILINE)) == {
        *("onnxtxt", "textproto", "sh", "python", "text"),
    }


@pytest.mark.parametrize("name", SNIPPETS)
def test_snippets_are_in_the_canonical_layout(name: str) -> None:
    kind, text = SNIPPETS[name]
    bare = re.sub(r" *# .*$", "", text, flags=re.MULTILINE)
    assert canonical(text, kind) == bare


def nodes(name: str) -> list[onnx.NodeProto]:
    """The nodes of a snippet as messages."""
    kind, text = SNIPPETS[name]
    assert kind == "nodes"
    model = onnxtext.loads(f"{VERSION}g () => () {{\n{text}}}")
    return list(model.graph.node)


def test_the_graph_of_the_tour() -> None:
    model = onnxtext.loads(SNIPPETS["graph"][1])
    onnx.checker.check_model(model, full_check=True)
    assert [info.name for info in model.graph.value_info] == ["h"]


def test_the_tensors_of_the_tour() -> None:
    graph = onnxtext.loads(VERSION + SNIPPETS["tensors"][1]).graph
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


def test_the_strings_of_the_tour() -> None:
    (node,) = nodes("strings")
    values = {
        attribute.name: attribute.s.decode("utf-8", "replace") for attribute in node.attribute
    }
    assert values == {
        "plain": 'a "quoted" word',
        "escaped": "tab \t, zero-width \u200b, a byte that is no UTF-8 \ufffd",
        "lines": "one\n  two, indented",
    }


def test_the_presence_of_the_tour() -> None:
    fields = ("domain", "name", "overload")
    stored = [[field for field in fields if node.HasField(field)] for node in nodes("presence")]
    assert stored == [[], ["domain"], ["name"], ["overload"]]


def test_everything_of_the_tour() -> None:
    q, k, v, odd = nodes("everything")
    assert q.doc_string == "Query projection."
    assert q.metadata_props[0].key == "namespace"
    assert k.HasField("doc_string")
    assert k.SerializeToString().endswith(b"\xb8\x3e\x07")
    assert not v.HasField("op_type")
    assert (odd.attribute[0].i, odd.attribute[0].f) == (3, 0.5)


def test_set_up_is_two_commands_and_the_tests_one() -> None:
    set_up, job, tests, *_ = blocks("sh")
    assert set_up.splitlines() == SETUP
    assert job == JOB + "\n"
    assert tests == TEST + "\n"


def test_ci_runs_the_very_commands() -> None:
    script = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    assert os.access(REPOSITORY / ".ci" / "run", os.X_OK)
    _, install = SETUP
    steps = re.findall(r"^step \w+ (.*)$", script, re.MULTILINE)
    commands = [step.replace('"', "").replace("$venv/", ".venv/") for step in steps]
    assert commands == [
        "make_venv",
        install,
        ".venv/bin/ruff check",
        ".venv/bin/ruff format --check",
        ".venv/bin/mypy",
        ".ci/extension .venv/bin/python",
        TEST,
        "check_skips",
        "oldest_onnx",
        "pure_python",
        "native_wheel",
        "sanitize",
    ]


def test_the_commands_about_weights_work(tmp_path: Path) -> None:
    array = np.random.default_rng(1).standard_normal(400_000, dtype=np.float32)
    for name in ("model", "a", "b"):
        made = oh.make_model(oh.make_graph([], "g", [], [], [nh.from_array(array, name)]))
        onnx.save(made, tmp_path / f"{name}.onnx")
    lines = blocks("sh")[3].splitlines()
    assert len(lines) == 6
    for line in lines:
        assert line.startswith("onnxtext ")
        words = line.partition("#")[0].split()
        if "binary" in line:
            words.append("--force")
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
    found = {path.name for path in tmp_path.iterdir()}
    assert {"model.weights", "weights", "model.safetensors", "model.onnx.data"} <= found
    assert len(list((tmp_path / "weights").iterdir())) == 1


def test_the_job_works() -> None:
    command = JOB.replace(".venv/bin/onnxtext", f"'{sys.executable}' -m onnxtext")
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
    )
    example = (REPOSITORY / "examples" / "classifier.onnxtxt").read_text(encoding="utf-8")
    expected = onnxtext.from_binary(onnxtext.to_binary(example))
    assert done.stdout.decode() == expected
    assert done.stderr == b""


def test_the_python_works(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = blocks("python")
    monkeypatch.chdir(REPOSITORY)
    exec(compile(code, "README.md", "exec"), {})


def test_the_finding_is_what_is_shown(tmp_path: Path) -> None:
    finding, _ = (text for text in blocks("text") if text.startswith("error"))
    (line,) = re.findall(r"With `(.*)` in line 3", README)
    path = tmp_path / "model.onnxtxt"
    path.write_text(f"{VERSION}g () => () <\n  {line}\n> {{}}\n")
    done = subprocess.run(
        [sys.executable, "-m", "onnxtext", "to-binary", path.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, finding)


def test_the_finding_of_the_checker_is_what_is_shown(tmp_path: Path) -> None:
    _, finding = (text for text in blocks("text") if text.startswith("error"))
    lines = dict(re.findall(r"^(\d) \| (.*)$", finding, re.MULTILINE))
    lines["1"] = VERSION.replace(">", ", ir_version: 10, opset_import: [21]>").strip()
    path = tmp_path / "model.onnxtxt"
    path.write_text("\n".join(lines[key] for key in sorted(lines)) + "\n}\n")
    done = subprocess.run(
        [sys.executable, "-m", "onnxtext", "check", path.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, finding)


def test_the_table_of_verbs_is_complete() -> None:
    verbs = [re.findall(r"`onnxtext ([\w-]+) ", row[0])[0] for row in table("Command line")]
    assert tuple(verbs) == VERBS


def test_the_layout_is_complete() -> None:
    (layout,) = (text for text in blocks("text") if text.startswith("grammar"))
    listed = [line.split()[0] for line in layout.splitlines()]
    package = REPOSITORY / "onnxtext"
    packages = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    top = {"grammar/", "onnxtext/", "docs/", "benchmarks/", "examples/", "tests/", ".ci/run"}
    top |= {"vscode-extension/", "editors/"}
    assert set(listed) == {*top, *packages, "source.py", "pygments_lexer.py"}
    for name in top:
        assert (REPOSITORY / name).exists()


def test_files_that_are_named_exist() -> None:
    prose = re.sub(r"^```.*?^```", "", README, flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#:]+)\)", prose):
        assert (REPOSITORY / target).exists(), target
    laws = README.partition("## The laws")[2].partition("\n## ")[0]
    for name in re.findall(r"`((?:tests/)?[\w/]*test_\w+\.py)`", laws):
        place = name if name.startswith("tests/") else f"tests/laws/{name}"
        assert (REPOSITORY / place).is_file(), name


def test_figures() -> None:
    assert f"the {len(wheel_models())} models of the onnx wheel" in README
    examples = len(list((REPOSITORY / "examples").glob("*.onnxtxt")))
    assert examples == 15
    assert "holds fifteen models" in README


@pytest.mark.data
def test_figures_of_the_shared_data() -> None:
    assert f"{len(shared_models())} models from public repositories" in README
    assert f"{len(index('official_texts')):,} texts with their official outcomes" in README
