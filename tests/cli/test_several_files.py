# SPDX-License-Identifier: Apache-2.0
"""Commands that process several files."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from tests.cli.command import NO_MODEL, OTHER_TEXT, TEXT, binary, names, onnxtext_command, run
from tests.cli.test_streams import terminal


@pytest.fixture
def models(tmp_path: Path) -> Path:
    directory = tmp_path / "models"
    directory.mkdir()
    (directory / "a.onnx").write_bytes(binary())
    (directory / "b.onnx").write_bytes(NO_MODEL)
    (directory / "c.onnx").write_bytes(binary(OTHER_TEXT))
    return directory


def test_one_bad_file_does_not_stop_the_others(models: Path) -> None:
    result = run("from-binary", "a.onnx", "b.onnx", "c.onnx", cwd=models)
    assert result.status == 1
    assert result.out == b""
    assert result.err.count("error[") == 1
    assert "b.onnx" in result.err.splitlines()[0] + result.err.splitlines()[1]
    assert result.err.splitlines()[-1] == "1 of 3 files could not be converted"
    assert (models / "a.onnxtxt").read_text() == TEXT
    assert (models / "c.onnxtxt").read_text() == OTHER_TEXT
    assert not (models / "b.onnxtxt").exists()


def test_the_worst_exit_status_wins(models: Path) -> None:
    arguments = ["from-binary", "b.onnx", "missing.onnx", "a.onnx", "-o", "out/"]
    result = run(*arguments, "--output-format=concise", cwd=models)
    assert result.status == 2
    first, second = result.err.splitlines()
    assert "b.onnx" in first
    assert first.endswith("[not-a-model]")
    assert second.startswith("missing.onnx: error: ")
    assert second.endswith("[cannot-read]")
    assert names(models / "out") == ["a.onnxtxt"]


def test_two_inputs_are_never_written_to_one_output(models: Path) -> None:
    (models / "sub").mkdir()
    (models / "sub" / "a.onnx").write_bytes(binary(OTHER_TEXT))
    result = run("from-binary", "a.onnx", "sub/a.onnx", "-o", ".", "-f", cwd=models)
    assert result.status == 2
    assert result.err.startswith(
        "error[output-exists]: sub/a.onnx and a.onnx would both be written to a.onnxtxt\n"
    )
    assert (models / "a.onnxtxt").read_text() == TEXT


def test_several_files_need_a_directory(models: Path) -> None:
    for output in ("-", "out"):
        result = run("from-binary", "a.onnx", "c.onnx", "-o", output, cwd=models)
        assert result.status == 2
        assert "Several inputs" in result.err
    assert names(models) == ["a.onnx", "b.onnx", "c.onnx"]


def test_no_progress_bar_is_shown_without_terminal(models: Path) -> None:
    _feed_slowly(models / "slow.onnx")
    result = run("from-binary", "slow.onnx", "a.onnx", "c.onnx", "-o", "out/", cwd=models)
    assert (result.status, result.err) == (0, "")


def test_a_progress_bar_is_shown_on_a_terminal(models: Path) -> None:
    files = [models / f"[{index}].onnx" for index in range(3)]
    for file in files:
        file.write_bytes(binary())
    _feed_slowly(models / "slow.onnx")
    bad = models / "b.onnx"
    command = onnxtext_command(
        "from-binary", models / "slow.onnx", *files, bad, "-o", f"{models}/out/"
    )
    status, seen = terminal(command)
    assert status == 1
    assert "1/5" in seen
    assert "[0].onnx" in seen
    assert seen.index("1/5") < seen.index("not-a-model")
    # At the end, the line of the bar is erased and the cursor is shown again.
    assert "\x1b[2K" in seen
    assert seen.rindex("\x1b[?25h") > seen.rindex("/5")
    assert seen.rstrip().endswith("1 of 5 files could not be converted")
    assert len(names(models / "out")) == 4


def _feed_slowly(path: Path) -> None:
    """Create a pipe, and write a model into it after 0.6 s."""
    os.mkfifo(path)

    def feed() -> None:
        with path.open("wb") as pipe:
            time.sleep(0.6)
            pipe.write(binary())

    threading.Thread(target=feed, daemon=True).start()
