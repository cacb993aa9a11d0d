# SPDX-License-Identifier: Apache-2.0
"""A warning if a model is written to a directory that lacks its external data."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import run

TEXT = """\
<
  onnxtext: 1,
  ir_version: 10,
  opset_import: [21],
>
g (float[64] x) => (float[64] y) <float[64] w = external("data/w.bin", 0, 256)> {
  y = Add (x, w)
}
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Both forms of a model, another text, their data, and an empty directory."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "w.bin").write_bytes(bytes(256))
    (tmp_path / "m.onnxtxt").write_text(TEXT)
    (tmp_path / "n.onnxtxt").write_text(TEXT.replace("Add", "Sub"))
    assert run("to-binary", "m.onnxtxt", cwd=tmp_path).err == ""
    (tmp_path / "out").mkdir()
    return tmp_path


COMMANDS = {
    "from-binary": ("from-binary", "m.onnx"),
    "to-binary": ("to-binary", "m.onnxtxt"),
    "edit": ("edit", "m.onnxtxt", "rename", "x", "input"),
    "edit binary": ("edit", "m.onnx", "rename", "x", "input"),
    "merge": ("merge", "m.onnxtxt", "n.onnxtxt", "m.onnxtxt"),
    "merge binary": ("merge", "m.onnx", "m.onnx", "m.onnx"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_model_that_leaves_its_data_behind_gets_a_warning(
    directory: Path, command: tuple[str, ...]
) -> None:
    result = run(*command, "-o", "out/new", cwd=directory)
    assert result.status == 0
    assert result.err == (
        "warning[external-file-missing]: out/new refers to external data that is not in its "
        "directory: `data/w.bin`\n"
        "  = help: copy the data from the directory `.`, or write the model there\n"
    )
    assert run(*command, "-o", "new", cwd=directory).err == ""
    (directory / "data").rename(directory / "out" / "data")
    assert run(*command, "-f", "-o", "out/new", cwd=directory).err == ""


@pytest.mark.parametrize("command", ["from-binary", "to-binary"])
def test_embedded_data_is_not_left_behind(directory: Path, command: str) -> None:
    name = "m.onnx" if command == "from-binary" else "m.onnxtxt"
    assert run(command, "--embed-external", name, "-o", "out/new", cwd=directory).err == ""


def test_data_that_is_moved_to_a_file_is_not_left_behind(directory: Path) -> None:
    embed = ("--embed-external", "m.onnx", "-o", "all.onnxtxt")
    assert run("from-binary", *embed, cwd=directory).err == ""
    command = ("to-binary", "--externalize", "all.onnxtxt", "-o", "out/new")
    assert run(*command, cwd=directory).err == ""
