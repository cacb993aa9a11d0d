# SPDX-License-Identifier: Apache-2.0
"""A warning if a model is written to a directory that lacks its external data or weights."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import numpy as np
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


def test_data_behind_a_link_is_named_as_in_the_model(directory: Path) -> None:
    (directory / "data" / "w.bin").rename(directory / "data" / "real.bin")
    (directory / "data" / "w.bin").symlink_to("real.bin")
    command = ("to-binary", "m.onnxtxt", "-o", "out/new")
    assert "not in its directory: `data/w.bin`\n" in run(*command, cwd=directory).err
    (directory / "out" / "data").mkdir()
    (directory / "out" / "data" / "w.bin").write_bytes(bytes(256))
    assert run(*command, cwd=directory).err == ""


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_device_lacks_no_data(directory: Path, command: tuple[str, ...]) -> None:
    assert run(*command, "-o", os.devnull, cwd=directory).err == ""


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_location_may_be_too_long_for_a_path(directory: Path, command: tuple[str, ...]) -> None:
    for name in ("m.onnxtxt", "n.onnxtxt"):
        text = (directory / name).read_text().replace("data/w.bin", "w" * 300)
        (directory / name).write_text(text)
    assert run("to-binary", "-f", "m.onnxtxt", cwd=directory).err == ""
    result = run(*command, "-o", "out/new", cwd=directory)
    assert (result.status, result.err) == (0, "")


def test_data_of_several_merged_versions_is_named_once(directory: Path) -> None:
    names = []
    for version in ("base", "ours", "theirs"):
        shutil.copytree(directory / "data", directory / version / "data")
        (directory / version / "m.onnxtxt").write_text(TEXT)
        names.append(f"{version}/m.onnxtxt")
    result = run("merge", *names, "-o", "out/new", cwd=directory)
    assert result.err.count("`data/w.bin`") == 1


def test_a_model_that_is_not_written_leaves_nothing_behind(directory: Path) -> None:
    (directory / "m.onnxtxt").write_text(TEXT.replace("(x, w)", "(x, q)"))
    result = run("to-binary", "m.onnxtxt", "-o", "out/new", cwd=directory)
    assert "`q` is not defined" in result.err
    assert "external-file-missing" not in result.err


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_model_that_cannot_be_written_leaves_nothing_behind(
    directory: Path, command: tuple[str, ...]
) -> None:
    result = run(*command, "-o", "missing/new", cwd=directory)
    assert result.err.startswith("error[cannot-write]: cannot write missing/new")
    assert "external-file-missing" not in result.err


def test_a_text_in_the_official_syntax_can_leave_data_behind(directory: Path) -> None:
    command = ("from-binary", "--dialect", "onnx", "m.onnx", "-o", "out/m.txt")
    result = run(*command, cwd=directory)
    assert (result.status, result.err.count("external-file-missing")) == (0, 1)
    (directory / "data").rename(directory / "out" / "data")
    assert "external-file-missing" not in run(*command, cwd=directory).err


WEIGHTS = (  # their names, the weights in the text, and a section
    ("m.weights", 'blob"{digest}"', 'resources { store: "m.weights" }\n'),
    ("data/w.npy", 'file"data/w.npy"', ""),
)


@pytest.mark.parametrize("weights", WEIGHTS, ids=["store", "data file"])
def test_an_edited_text_that_leaves_its_weights_behind_gets_a_warning(
    directory: Path, weights: tuple[str, str, str]
) -> None:
    name, data, section = weights
    array = np.arange(64, dtype=np.float32)
    np.save(directory / "data" / "w.npy", array)
    digest = hashlib.sha256(array.tobytes()).hexdigest()
    (directory / "m.weights").mkdir()
    (directory / "m.weights" / digest).write_bytes(array.tobytes())
    text = TEXT.replace('external("data/w.bin", 0, 256)', data) + section
    (directory / "m.onnxtxt").write_text(text.replace("{digest}", digest[:32]))
    command = ("edit", "m.onnxtxt", "rename", "x", "input")
    result = run(*command, "-o", "out/new", cwd=directory)
    assert result.status == 0
    assert result.err == (
        "warning[weights-missing]: out/new refers to weights that are not in its directory: "
        f"`{name}`\n"
        "  = help: copy the data from the directory `.`, or write the model there\n"
    )
    assert run(*command, "-o", "new", cwd=directory).err == ""
    assert run(*command, "-o", "out/new.onnx", cwd=directory).err == ""  # it has the weights
    shutil.copytree(directory / name.partition("/")[0], directory / "out" / name.partition("/")[0])
    assert run(*command, "-f", "-o", "out/new", cwd=directory).err == ""


def test_a_store_may_lack_a_blob_of_an_edited_text(directory: Path) -> None:
    digest = hashlib.sha256(bytes(256)).hexdigest()
    for place in (directory, directory / "out"):
        (place / "m.weights").mkdir()
    (directory / "m.weights" / digest).write_bytes(bytes(256))
    text = TEXT.replace('external("data/w.bin", 0, 256)', f'blob"{digest[:32]}"')
    text += 'resources { store: "m.weights" }\n'
    (directory / "m.onnxtxt").write_text(text)
    command = ("edit", "m.onnxtxt", "rename", "x", "input", "-f", "-o", "out/new")
    assert run(*command, cwd=directory).err == (
        "warning[weights-missing]: out/new refers to weights that are not in its directory: "
        f"`m.weights/{digest}`\n"
        "  = help: copy the data from the directory `.`, or write the model there\n"
    )
    (directory / "out" / "m.weights" / digest).write_bytes(bytes(256))
    assert run(*command, cwd=directory).err == ""


def test_another_store_beside_an_edited_text_may_have_a_blob(directory: Path) -> None:
    digest = hashlib.sha256(bytes(256)).hexdigest()
    for name in ("a", "b"):
        (directory / name).mkdir()
        (directory / "out" / name).mkdir()
    (directory / "a" / digest).write_bytes(bytes(256))
    (directory / "out" / "b" / digest).write_bytes(bytes(256))
    text = TEXT.replace('external("data/w.bin", 0, 256)', f'blob"{digest}"')
    text += 'resources {\n  store: "a"\n  store: "b"\n}\n'
    (directory / "m.onnxtxt").write_text(text)
    command = ("edit", "m.onnxtxt", "rename", "x", "input", "-f", "-o", "out/new")
    assert run(*command, cwd=directory).err == ""


def test_the_blobs_of_a_missing_store_are_not_named(directory: Path) -> None:
    digest = hashlib.sha256(bytes(256)).hexdigest()
    (directory / "a").mkdir()
    (directory / "a" / digest).write_bytes(bytes(256))
    text = TEXT.replace('external("data/w.bin", 0, 256)', f'blob"{digest}"')
    (directory / "m.onnxtxt").write_text(f'{text}resources {{ store: "a/" }}\n')
    result = run("edit", "m.onnxtxt", "rename", "x", "input", "-o", "out/new", cwd=directory)
    assert result.err.startswith(
        "warning[weights-missing]: out/new refers to weights that are not in its directory: `a/`\n"
    )
