# SPDX-License-Identifier: Apache-2.0
"""`onnxtext explain-type` as a process: choice of the value, and output formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import onnxtext
from tests.cli.command import run

TEXT = """\
<onnxtext: 1, ir_version: 10, opset_import: ["":21, "own":1]>
g (float[N, 4] x, bool c) => (float[N, 8] y) {
  [first] "odd name/0" = Relu (x)
  a = If (c) <
    then_branch = t () => (b) { b = Neg (x) },
    else_branch = e () => (b) { b = Concat <axis = 0> (x, x) }
  >
  nz = NonZero (a)
  z = own.f (x)
  [two] s1, s2 = Split <num_outputs = 2> (x)
  y = own.f ("odd name/0")
}
<domain: "own", opset_import: ["":21]>
f (p) => (b) { b = Concat <axis = 1> (p, p) }
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "m.onnxtxt").write_text(TEXT)
    (tmp_path / "m.onnx").write_bytes(onnxtext.to_binary(TEXT))
    return tmp_path


def explained(files: Path, *words: str, file: str = "m.onnxtxt") -> str:
    done = run("explain-type", file, *words, cwd=files)
    assert (done.status, done.err) == (0, "")
    return done.out.decode()


def test_texts_and_binary_models_are_explained(files: Path) -> None:
    text = explained(files, "y")
    assert (
        text
        == """\
`y`: float[N, 8]
  output 1 of `f` in the graph `g` (line 11)
  declared as `float[N, 8]` (line 2)

dimension 0: `N`, inferred
  line 11: the function `f` gives dimension 0 of `b`
  line 14: `Concat` takes it from dimension 0 of `p`
  line 9: the call of `f` passes dimension 0 of `x`
  line 2: the input `x` declares it

dimension 1: `8`, inferred
  line 11: the function `f` gives dimension 1 of `b`
  line 14: `Concat` computes it from dimension 1 of `p`
  line 9: the call of `f` passes dimension 1 of `x`
  line 2: the input `x` declares it
"""
    )
    binary = explained(files, "y", file="m.onnx")
    assert "(graph.node[5])" in binary
    assert 'functions["f"].node[0]: `Concat` computes it' in binary
    assert 'graph.input["x"]: the input `x` declares it' in binary


@pytest.mark.thorough
def test_names_and_lines_select_values(files: Path) -> None:
    assert explained(files, "first").startswith("`odd name/0`: float[N, 4]")
    assert explained(files, "odd name/0") == explained(files, "first")
    assert explained(files, "--line", "3") == explained(files, "first")
    several = explained(files, "two")
    assert several.startswith('`s1`: float["(N + 1) // 2", 4]')
    assert "\n\n`s2`: float" in several
    first = explained(files, "b")
    assert first.startswith("`b`: float[N, 4]\n  output 1 of `Neg` in the graph `t` (line 5)")
    assert "also defined at line 6, line 14: choose with --line or --graph" in first
    for words in (["--line", "6"], ["--graph", "e"], ["--graph", "a.else_branch"]):
        assert explained(files, "b", *words).startswith('`b`: float["2*N", 4]')
    function = explained(files, "b", "--graph", "f")
    assert function.startswith("`b`: float[N, 8]")
    assert "choose with --graph" in explained(files, "b", file="m.onnx")


def test_a_line_after_a_nested_graph_belongs_to_the_outer_graph(tmp_path: Path) -> None:
    lines = [
        '<ir_version: 10, opset_import: ["": 21]>',
        "g (bool c, float[2] x) => (float[N] y, float[M] z) {",
        "  y = If (c) <",
        "    then_branch = t () => (float[K] i) { i = Relu (x) },",
        "    else_branch = e () => (float[L] b) { b = Neg (x) }",
        "  >",
        "  b = Concat <axis = 0> (x, x)",
        "  z = Relu (b)",
        "}",
    ]
    (tmp_path / "m.onnxtxt").write_text("\n".join(lines))
    assert explained(tmp_path, "b", "--line", "5").startswith("`b`: float[2]")
    assert explained(tmp_path, "b", "--line", "8").startswith("`b`: float[4]")


def test_json_lists_the_steps_of_each_size(files: Path) -> None:
    (found,) = json.loads(explained(files, "nz", "--json"))
    assert (found["value"], found["type"], found["graph"]) == ("nz", "int64[2, ?]", "g")
    assert [size["kind"] for size in found["sizes"]] == ["inferred", "unknown"]
    (step,) = found["sizes"][1]["steps"]
    assert step["line"] == 8
    assert "depends on data" in step["text"]
    (other,) = json.loads(explained(files, "nz", "--json", file="m.onnx"))
    assert other["sizes"][1]["steps"][0]["path"] == "graph.node[2]"


def test_unknown_values_and_wrong_usage_are_errors(files: Path) -> None:
    unknown = run("explain-type", "m.onnxtxt", "od name/0", cwd=files)
    assert unknown.status == 1
    assert "there is no value or node `od name/0`" in unknown.err
    assert "did you mean `odd name/0`?" in unknown.err
    assert run("explain-type", "m.onnxtxt", cwd=files).status == 2
    assert run("explain-type", "m.onnx", "--line", "3", cwd=files).status == 1
    for words in (["--line", "99"], ["y", "--line", "99"]):
        below = run("explain-type", "m.onnxtxt", *words, cwd=files)
        assert (below.status, below.out) == (1, b"")
        assert f"error[nothing-to-show]: the text has {len(TEXT.splitlines())} lines" in below.err
    assert run("explain-type", "m.onnxtxt", "y", "--graph", "none", cwd=files).status == 1
    (files / "bad.onnxtxt").write_text(TEXT.replace("Relu (x)", "Relu (x"))
    assert run("explain-type", "bad.onnxtxt", "y", cwd=files).status == 1
    (files / "wrong.onnxtxt").write_text(TEXT.replace("Relu (x)", "Rellu (x)"))
    wrong = run("explain-type", "wrong.onnxtxt", "first", cwd=files)
    assert wrong.status == 0
    assert "`Rellu` has an error: there is no operator `Rellu`" in wrong.out.decode()
    assert "has errors (see `onnxtext check`)" in wrong.err


def test_recursive_functions_and_fragments_are_explained(files: Path) -> None:
    text = TEXT.replace("b = Concat <axis = 1> (p, p)", "b = own.f (p)").replace(
        'opset_import: ["":21]>\nf', 'opset_import: ["":21, "own":1]>\nf'
    )
    (files / "r.onnxtxt").write_text(text)
    done = run("explain-type", "r.onnxtxt", "y", cwd=files)
    assert done.status == 0
    assert "functions call themselves" in done.out.decode()
    (files / "graph.onnxtxt").write_text("g (float[N] x) => (y) { y = Relu (x) }")
    assert "`y`: float[N]" in explained(files, "y", file="graph.onnxtxt")
