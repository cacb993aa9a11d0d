# SPDX-License-Identifier: Apache-2.0
"""`onnxtext check --target-opset` and `edit set-opset` as processes."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

import onnxtext
from tests.cli.command import run

TEXT = """\
# head
<onnxtext: 1, ir_version: 10, opset_import: [11]>
g (float[2, 3] x) => (float[1, 2, 3] y) {
  a = Relu( x )  # kept
  y = Unsqueeze <axes = [0]> (a) # moved
}
"""
NEW = """\
# head
<onnxtext: 1, ir_version: 10, opset_import: [13]>
g (float[2, 3] x) => (float[1, 2, 3] y) {
  a = Relu( x )  # kept
  axes = Constant <value = int64[1] [0]> ()
  y = Unsqueeze (a, axes) # moved
}
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with texts and a binary model."""
    (tmp_path / "m.onnxtxt").write_text(TEXT)
    (tmp_path / "m.onnx").write_bytes(onnxtext.to_binary(TEXT))
    (tmp_path / "obstacle.onnxtxt").write_text(
        TEXT.replace("Relu( x )", "ArgMax <select_last_index = 1> (x)")
        .replace("float[1, 2, 3] y", "int64[1, 1, 3] y")
        .replace("[11]", "[12]")
    )
    return tmp_path


@pytest.mark.parametrize("name", ["m.onnxtxt", "m.onnx"])
def test_a_report_changes_no_file(name: str, files: Path) -> None:
    before = (files / name).read_bytes()
    done = run("check", name, "--target-opset", "13", "--output-format", "concise", cwd=files)
    assert done.status == 0
    assert "`Unsqueeze`: `axes` becomes an input [opset-change]" in done.err
    assert (files / name).read_bytes() == before
    same = run("check", name, "--target-opset", "11", cwd=files)
    assert (same.status, same.err) == (0, "")


def test_converted_models_are_written(files: Path) -> None:
    done = run("check", "m.onnxtxt", "--target-opset", "13", "-o", "new.onnxtxt", cwd=files)
    assert done.status == 0
    assert (files / "new.onnxtxt").read_text() == NEW
    done = run("check", "m.onnx", "--target-opset", "13", "-o", "new.onnx", cwd=files)
    assert done.status == 0
    assert (files / "new.onnx").read_bytes() == onnxtext.to_binary(NEW)
    assert run("check", "m.onnxtxt", "--target-opset", "13", "--fix", cwd=files).status == 0
    assert (files / "m.onnxtxt").read_text() == NEW


def test_converted_models_are_written_with_types(files: Path) -> None:
    words = ["--target-opset", "13", "--infer", "-o", "new.onnx"]
    assert run("check", "m.onnx", *words, cwd=files).status == 0
    result = onnx.ModelProto.FromString((files / "new.onnx").read_bytes())
    assert result.opset_import[0].version == 13
    assert {value.name for value in result.graph.value_info} >= {"a"}


def test_obstacles_are_errors(files: Path) -> None:
    words = ["--target-opset", "11", "-o", "new.onnxtxt", "--output-format", "concise"]
    done = run("check", "obstacle.onnxtxt", *words, cwd=files)
    assert done.status == 1
    assert "obstacle.onnxtxt:4:7: error: this `ArgMax` of opset 12 cannot be converted" in done.err
    assert not (files / "new.onnxtxt").exists()
    before = (files / "obstacle.onnxtxt").read_text()
    done = run("edit", "obstacle.onnxtxt", "set-opset", "11", cwd=files)
    assert done.status == 1
    assert "[opset-conversion]" in done.err
    assert "obstacle.onnxtxt:4:7" in done.err
    assert (files / "obstacle.onnxtxt").read_text() == before
    done = run("edit", "obstacle.onnxtxt", "set-opset", "11", "--no-convert", cwd=files)
    assert (files / "obstacle.onnxtxt").read_text() == before.replace("[12]", "[11]")
    assert done.status == 1  # invalid afterwards


def test_edit_set_opset_converts_the_model(files: Path) -> None:
    done = run("edit", "m.onnxtxt", "set-opset", "13", cwd=files)
    assert done.status == 0
    assert (files / "m.onnxtxt").read_text() == NEW
    assert run("edit", "m.onnxtxt", "set-opset", "11", cwd=files).status == 0
    assert (files / "m.onnxtxt").read_text() == TEXT


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target-opset", "999"], "the newest known is"),
        (["--target-opset", "0"], "Version 0"),
        (["--target-opset", "x"], "neither a version nor DOMAIN=VERSION"),
        (["--target-opset", "no.such=1"], "No operators of `no.such` are known"),
        (["--target-opset", "13", "--fix", "-o", "x.onnx"], "cannot be combined with --fix"),
        (["-o", "x.onnx"], "-o and -f need"),
    ],
)
def test_wrong_usage_is_status_2(words: list[str], said: str, files: Path) -> None:
    done = run("check", "m.onnxtxt", *words, cwd=files)
    assert done.status == 2
    assert said in " ".join(done.err.split())


def test_broken_files_are_errors(files: Path) -> None:
    (files / "broken.onnxtxt").write_text("g (float x) => {")
    (files / "graph.onnxtxt").write_text("g (float x) => (float y) { y = Relu (x) }")
    done = run("check", "broken.onnxtxt", "--target-opset", "13", "-o", "x.onnx", cwd=files)
    assert done.status == 1
    done = run("check", "graph.onnxtxt", "--target-opset", "13", "-o", "x.onnx", cwd=files)
    assert done.status == 1
    assert "imports no operator set" in done.err
    assert not (files / "x.onnx").exists()


@pytest.mark.parametrize("name", ["m.onnxtxt", "m.onnx"])
def test_a_report_takes_one_analysis(
    name: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from onnxtext.checker.context.checked_model import CheckedModel
    from onnxtext.checker.engine import check_tree as engine
    from onnxtext.checker.engine.select_rules import run_enabled_rules
    from onnxtext.cli.group import group

    analyzed: list[CheckedModel] = []

    def counted(subject: CheckedModel) -> object:
        analyzed.append(subject)
        return run_enabled_rules(subject)

    monkeypatch.setattr(engine, "run_enabled_rules", counted)
    words = ["check", str(files / name), "--target-opset", "13"]
    done = CliRunner().invoke(group, words)
    assert "opset-change" in done.output
    assert len(analyzed) == 1
