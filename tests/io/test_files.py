# SPDX-License-Identifier: Apache-2.0
"""`onnxtext.io.files`: files are replaced atomically, even after errors and signals."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from io import FileIO
from pathlib import Path

import numpy as np
import onnx.numpy_helper
import pytest

from onnxtext.io.files import (
    has_content,
    read_regular,
    replace_file,
    replace_path,
    write_atomically,
)
from tests.cli.command import TEXT, binary, names, run, run_patched


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with replace_file(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["m.onnx"]


def test_replacement_is_atomic(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"old")
    with replace_file(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["m.onnx"]


def test_a_file_that_changes_while_the_new_one_is_synchronized_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.onnxtxt"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", lambda descriptor: path.write_bytes(b"edited"))
    with pytest.raises(OSError, match="it has changed since it was read"):
        write_atomically(path, b"new", instead_of=b"old")
    assert path.read_bytes() == b"edited"
    assert names(tmp_path) == ["m.onnxtxt"]


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444])
def test_permissions_are_kept_and_never_widened(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"old")
    path.chmod(mode)
    with replace_file(path) as file:
        written = os.fstat(file.fileno())
        assert stat.S_IMODE(written.st_mode) == mode
        file.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_permissions_of_new_files(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_atomically(tmp_path / "m.onnx", b"")
    assert (tmp_path / "m.onnx").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_files_with_the_longest_names_are_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


def test_a_symbolic_link_is_kept(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "m.onnx"
    link = tmp_path / "link"
    link.symlink_to(Path("there", "m.onnx"))
    for content in (b"first, where nothing was yet", b"second"):
        write_atomically(link, content)
        assert link.is_symlink()
        assert target.read_bytes() == content
    assert names(target.parent) == ["m.onnx"]


def test_circular_links_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        write_atomically(tmp_path / "a", b"new")


def test_a_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path, b"new")


def test_devices_are_written_to_and_stay(tmp_path: Path) -> None:
    write_atomically(Path("/dev/null"), b"new")
    assert Path("/dev/null").is_char_device()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert not has_content(pipe, b"new")
        write_atomically(pipe, b"new")
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_has_content_compares_all_bytes(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    large = bytes(range(256)) * 8193
    assert not has_content(path, b"")
    path.write_bytes(large)
    assert has_content(path, large)
    assert not has_content(path, large + b"x")
    assert not has_content(path, large[:-1])
    assert not has_content(path, large[:-1] + b"x")
    path.write_bytes(b"")
    assert has_content(path, b"")


def test_has_content_reads_nothing_if_the_size_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"four")

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the file was opened")

    monkeypatch.setattr(Path, "open", refuse)
    assert not has_content(path, b"three")


@pytest.mark.parametrize(
    ("command", "module", "function"),
    [
        (["fmt"], "format.format_text", "format_source"),
        (["check", "--fix"], "checker.engine.fix_edits", "plan_fix"),
    ],
)
def test_concurrent_changes_are_kept(
    tmp_path: Path, command: list[str], module: str, function: str
) -> None:
    text = tmp_path / "m.onnxtxt"
    text.write_text(
        "<ir_version: 10, opset_import: [21]>\n"
        "g (float[2]  x) => (float[2] y) <float[1] unused = {1}> { y = Relu (x) }\n"
    )
    patch = (
        f"from pathlib import Path\nfrom onnxtext.{module} import {function} as old\n"
        f"import onnxtext.{module} as module\n"
        "def patched(*arguments, **named):\n"
        "    made = old(*arguments, **named)\n"
        f"    Path({str(text)!r}).write_text('saved by an editor')\n"
        "    return made\n"
        f"module.{function} = patched\n"
    )
    result = run_patched(patch, *command, text)
    assert result.status == 2
    assert f"cannot write {text}: it has changed since it was read" in result.err
    assert text.read_text() == "saved by an editor"
    assert names(tmp_path) == ["m.onnxtxt"]


def test_files_made_by_libraries_get_the_usual_permissions(tmp_path: Path) -> None:
    """The safetensors library replaces the file by one that other users cannot read."""
    (tmp_path / "usual").touch()
    with replace_path(tmp_path / "m.safetensors") as temporary:
        temporary.unlink()
        temporary.touch(0o600)
    result, usual = (tmp_path / "m.safetensors").stat(), (tmp_path / "usual").stat()
    assert result.st_mode == usual.st_mode


CHANGED = """
import os
import sys
from pathlib import Path

from onnxtext.cli import main, streams
from onnxtext.io import files

made = files.replace_file(Path("made"))

def read_and_change(path, **options):
    data = files.read_input(path, **options)
    made.__enter__().write(b"half")
    CHANGE
    return data

streams.read_input = read_and_change
main.main()
"""


def _run_with_change(directory: Path, change: str, *arguments: str) -> tuple[int, str]:
    """Run a command in a directory with a large model, which changes after it was read."""
    weights = np.zeros(1 << 20, np.float32)
    tensor = onnx.numpy_helper.from_array(weights, "w")
    model = onnx.ModelProto(graph=onnx.GraphProto(initializer=[tensor]))
    (directory / "m.onnx").write_bytes(model.SerializeToString())
    command = [sys.executable, "-c", CHANGED.replace("CHANGE", change), *arguments]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.skipif(not hasattr(signal, "SIGBUS"), reason="mapped files do not shrink here")
def test_an_input_that_is_truncated_is_an_error(tmp_path: Path) -> None:
    said = "error: cannot read m.onnx: it was truncated while it was being read\n"
    change = "os.truncate(path, 1000)"
    assert _run_with_change(tmp_path, change, "from-binary", "m.onnx") == (2, said)
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("from-binary", "m.onnx"),
        ("from-binary", "m.onnx", "-o", "-"),
        ("show", "m.onnx"),
        ("view", "m.onnx", "-o", "m.html"),
    ],
)
def test_an_input_that_changes_while_it_is_read_is_an_error(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    status, said = _run_with_change(tmp_path, "os.utime(path, ns=(0, 0))", *arguments)
    assert status == 2
    assert "cannot read m.onnx: it changed while it was being read" in said
    assert {path.name for path in tmp_path.iterdir() if path.suffix} == {"m.onnx"}


def test_an_input_that_is_replaced_while_it_is_read_keeps_its_content(tmp_path: Path) -> None:
    change = "path.unlink(); path.write_bytes(b'other')"
    assert _run_with_change(tmp_path, change, "from-binary", "m.onnx") == (0, "")


def test_a_small_file_that_changes_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    class Growing(FileIO):
        def read(self, size: int | None = -1, /) -> bytes:
            with path.open("ab") as file:
                file.write(b"x")
            return super().read(size)

    path = tmp_path / "m.onnx"
    path.write_bytes(b"some")
    with Growing(path) as file, pytest.raises(OSError, match="it changed while it was being read"):
        read_regular(file, path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("diff", "m.onnx", "m.onnxtxt", "-o", "m.onnx"), "m.onnx would be overwritten"),
        (("diff", "m.onnx", "m.onnxtxt", "-o", "./link"), "m.onnxtxt would be overwritten"),
        (("from-binary", "m.onnx", "-f", "--store", "m.onnx"), "m.onnx would be overwritten"),
        (("from-binary", "m.onnx", "--store", "t.onnxtxt"), "t.onnxtxt would be overwritten"),
        (("to-binary", "m.data", "-f", "--externalize", "-o", "m"), "m.data would be overwritten"),
        (("view", "m.onnx", "-f", "-o", "m.onnx"), "m.onnx would be overwritten"),
        (("view", "m.onnx", "m.onnxtxt", "-f", "-o", "link"), "m.onnxtxt would be overwritten"),
        (("edit", "m.onnx", "rename", "x", "z", "-f", "-o", ""), "the name of the file is empty"),
    ],
)
def test_inputs_are_not_overwritten_by_other_outputs(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    large = "W = [1, 2, ...]> {\n  y = Add (x, W)"
    text = TEXT.replace("[N]", "[999]").replace("y) {", "y) <float[999] W> {")
    text = text.replace("W> {\n  y = Relu (x)", large)
    (tmp_path / "m.data").write_text(text)
    (tmp_path / "m.onnxtxt").write_text(text)
    (tmp_path / "m.onnx").write_bytes(binary(text))
    (tmp_path / "link").symlink_to("m.onnxtxt")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    if arguments[0] == "from-binary":
        arguments = (*arguments, "--weights", "safetensors", "-o", "t.onnxtxt")
    result = run(*arguments, cwd=tmp_path)
    assert result.status == 2
    assert said in result.err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
