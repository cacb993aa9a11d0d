# SPDX-License-Identifier: Apache-2.0
"""Files of weights that change while a command reads them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as nh
import pytest

import onnxtext
from onnxtext.ast.tensors_and_attributes import DataFile
from onnxtext.ast.types import TensorType
from onnxtext.io import files
from onnxtext.tensor.blobs import BlobError
from onnxtext.weights.find_blobs import BlobReader
from onnxtext.weights.safe_paths import view_parts
from tests.cli.command import names, run, run_patched

MAPPED = """
import os
from pathlib import Path
import onnxtext.weights.safe_paths as module

old, seen = module.map_file, []

def patched(file, path):
    made = old(file, path)
    seen.append(path)
    CHANGE
    return made

module.map_file = patched
"""
TOUCHES = MAPPED.replace("CHANGE", "os.utime(path)")
TOUCHES_FIRST = MAPPED.replace("CHANGE", "len(set(seen)) == 2 and os.utime(seen[0])")

OVERWRITES = """
from pathlib import Path
import onnxtext.cli.convert_files as module

old = module.write_beside

def patched(*arguments):
    path = Path("DIRECTORY/m.onnx")
    data = path.read_bytes()
    with path.open("r+b") as file:  # the same file: a mapping of it changes
        file.write(data[: len(data) // 2] + bytes(len(data) - len(data) // 2))
    old(*arguments)

module.write_beside = patched
"""


OVERWRITES_BLOB = """
import os
import onnxtext.weights.find_blobs as module

old = module.verify_digest

def patched(data, digest, location):
    old(data, digest, location)
    path = location.removeprefix("in ")
    with open(path, "r+b") as file:
        file.write(b"changed")
    os.utime(path)

module.verify_digest = patched
"""


def model(seed: int = 0) -> onnx.ModelProto:
    """A model with 1.2 MB of random weights."""
    values = np.random.default_rng(seed).standard_normal(300_000, dtype=np.float32)
    node = oh.make_node("Identity", ["w"], ["y"])
    output = oh.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [300_000])
    graph = oh.make_graph([node], "g", [], [output], [nh.from_array(values, "w")])
    return oh.make_model(graph, ir_version=10, opset_imports=[oh.make_opsetid("", 20)])


TRUNCATES = """
import os, sys
from pathlib import Path
import onnxtext
import onnxtext.weights.find_blobs as module

old = module.verify_digest

def patched(*arguments):
    old(*arguments)
    for blob in Path("m.weights").iterdir():
        os.truncate(blob, 1000)

module.verify_digest = patched
sys.stdout.buffer.write(onnxtext.to_binary(Path("m.onnxtxt").read_text(), base_dir="."))
"""


def write_text(path: Path, weights: str, seed: int = 0) -> Path:
    """Write a text with its weights beside it."""
    onnxtext.dump(model(seed), path, weights=weights)  # type: ignore[arg-type]
    return path


@pytest.mark.parametrize("command", ["to-binary", "check", "verify"])
def test_a_blob_that_another_process_stores_again_is_unchanged(
    tmp_path: Path, command: str
) -> None:
    text = write_text(tmp_path / "m.onnxtxt", "store")
    result = run_patched(TOUCHES, command, text)
    assert (result.status, result.err) == (0, "")


def test_a_blob_that_is_written_to_is_an_error(tmp_path: Path) -> None:
    text = write_text(tmp_path / "m.onnxtxt", "store")
    result = run_patched(OVERWRITES_BLOB, "to-binary", text)
    assert result.status == 2
    assert f"{names(tmp_path / 'm.weights')[0]}: it changed while it was being read" in result.err
    assert names(tmp_path) == ["m.onnxtxt", "m.weights"]


def test_external_data_can_be_a_blob_that_is_stored_again(tmp_path: Path) -> None:
    write_text(tmp_path / "m.onnxtxt", "store")
    (blob,) = names(tmp_path / "m.weights")
    found = model()
    onnx.external_data_helper.set_external_data(found.graph.initializer[0], f"m.weights/{blob}")
    found.graph.initializer[0].ClearField("raw_data")
    (tmp_path / "e.onnx").write_bytes(found.SerializeToString())
    options = ["--embed-external", "--weights", "store", "--store", "m.weights"]
    result = run("from-binary", tmp_path / "e.onnx", *options)
    assert (result.status, result.err) == (0, "")


def test_a_file_may_change_after_its_result_was_shown(tmp_path: Path) -> None:
    texts = [write_text(tmp_path / f"{seed}.onnxtxt", "safetensors", seed) for seed in range(2)]
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "add", "--", *texts], cwd=tmp_path, check=True)
    patch = f"{TOUCHES_FIRST}\nos.chdir({str(tmp_path)!r})"
    for command in (["verify", *texts], ["check", *texts], ["git", "verify"]):
        result = run_patched(patch, *command)
        assert (result.status, result.err) == (0, "")


def test_a_file_that_changes_while_it_is_verified_is_not_ok(tmp_path: Path) -> None:
    text = write_text(tmp_path / "m.onnxtxt", "safetensors")
    result = run_patched(TOUCHES, "verify", text)
    assert (result.status, result.out) == (2, b"")
    assert "m.safetensors: it changed while it was being read" in result.err


@pytest.mark.parametrize("weights", ["store", "safetensors"])
def test_weights_of_a_changed_input_are_not_written(tmp_path: Path, weights: str) -> None:
    (tmp_path / "m.onnx").write_bytes(model().SerializeToString())
    patch = OVERWRITES.replace("DIRECTORY", str(tmp_path))
    result = run_patched(patch, "from-binary", tmp_path / "m.onnx", "--weights", weights)
    assert result.status == 2
    assert "m.onnx: it changed while it was being read" in result.err
    assert names(tmp_path) == ["m.onnx"]


def test_the_first_status_of_a_file_that_is_mapped_twice_counts(tmp_path: Path) -> None:
    text = write_text(tmp_path / "m.onnxtxt", "safetensors")
    twice = MAPPED.replace("CHANGE", "os.utime(path); old(file, path)")
    result = run_patched(twice, "to-binary", text)
    assert result.status == 2
    assert "m.safetensors: it changed while it was being read" in result.err


def test_git_textconv_refuses_a_file_that_changes(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(model().SerializeToString())
    patch = MAPPED.replace("onnxtext.weights.safe_paths", "onnxtext.io.files")
    result = run_patched(
        patch.replace("CHANGE", "os.utime(path)"), "git", "textconv", tmp_path / "m.onnx"
    )
    assert result.status == 2
    assert "m.onnx: it changed while it was being read" in result.err


def test_an_interrupt_ends_a_command_although_an_input_has_changed(tmp_path: Path) -> None:
    texts = [write_text(tmp_path / f"{seed}.onnxtxt", "safetensors", seed) for seed in range(2)]
    interrupt = "os.utime(path)\n    raise KeyboardInterrupt"
    result = run_patched(MAPPED.replace("CHANGE", interrupt), "verify", *texts)
    assert (result.status, result.out) == (130, b"")
    assert "changed" not in result.err


def test_a_truncated_file_of_weights_does_not_end_a_python_program(tmp_path: Path) -> None:
    write_text(tmp_path / "m.onnxtxt", "store")
    words = [sys.executable, "-c", TRUNCATES]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == model().SerializeToString()


def test_external_data_that_changes_while_a_python_program_reads_it_is_an_error(
    tmp_path: Path,
) -> None:
    path = tmp_path / "w.bin"
    path.write_bytes(bytes(range(16)))
    parts = view_parts(path)
    assert (len(parts), bytes(parts[4:6]), bytes(parts[:])) == (16, b"\4\5", bytes(range(16)))
    assert bytes(parts[6:4]) == bytes(parts[20:]) == b""
    with pytest.raises(ValueError, match="has no step"):
        parts[::2]
    os.utime(path, ns=(0, 0))
    with pytest.raises(OSError, match="it changed while it was being read"):
        parts[4:6]


def test_external_data_that_is_replaced_while_a_python_program_reads_it_is_an_error(
    tmp_path: Path,
) -> None:
    path, other = tmp_path / "w.bin", tmp_path / "other.bin"
    for file in (path, other):
        file.write_bytes(bytes(16))
        os.utime(file, ns=(0, 0))
    while other.stat().st_ctime_ns == path.stat().st_ctime_ns:  # the clock of the kernel is coarse
        os.utime(other, ns=(0, 0))
    parts = view_parts(path)
    other.replace(path)
    with pytest.raises(OSError, match="it changed while it was being read"):
        parts[4:6]


def test_a_file_whose_inode_number_changes_has_not_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.bin"
    path.write_bytes(bytes(range(16)))
    parts = view_parts(path)
    monkeypatch.setattr(os.path, "samestat", lambda left, right: False)
    assert bytes(parts[4:6]) == b"\4\5"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_external_data_that_a_pipe_replaces_is_an_error_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "w.bin"
    path.write_bytes(bytes(16))
    parts = view_parts(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"it changed while it was being read: '.*w\.bin'"):
        parts[4:6]


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("mapped", [False, True])
def test_an_npz_archive_that_changes_between_two_arrays_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replaced: bool, mapped: bool
) -> None:
    """A mapped file keeps its content if another file replaces it."""
    if mapped:
        monkeypatch.setattr(files, "before_mapping", int)
        monkeypatch.setattr(files, "mapped", {})
    path, other = tmp_path / "w.npz", tmp_path / "other.npz"
    for number, file in enumerate((path, other)):
        array = np.full(1 << 16, number, np.float32)
        np.savez(file, a=array, b=array)
    reader, type = BlobReader(tmp_path, ()), TensorType("float", (1 << 16,))
    old = bytes(reader.array(DataFile("w.npz", "a"), type))
    if replaced:
        other.replace(path)
    else:
        path.write_bytes(other.read_bytes())
    os.utime(path, ns=(0, 0))

    def read_again() -> bytes:
        found = bytes(reader.array(DataFile("w.npz", "b"), type))
        files.check_mapped()
        return found

    if replaced and mapped:
        assert read_again() == old
        return
    with pytest.raises((BlobError, OSError), match=r"w\.npz"):
        read_again()
