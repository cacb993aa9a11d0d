# SPDX-License-Identifier: Apache-2.0
"""Progress of long operations is shown on terminals only."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnx.helper as oh
import pytest

from onnxtext.cli.progress import _LARGE
from tests.cli.command import environment, onnxtext_command


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model just large enough for a progress bar."""
    data = np.arange(_LARGE // 4 + 1000, dtype=np.float32)
    tensor = oh.make_tensor("w", onnx.TensorProto.FLOAT, data.shape, data.tobytes(), raw=True)
    path = tmp_path_factory.mktemp("large") / "large.onnx"
    path.write_bytes(oh.make_model(oh.make_graph([], "g", [], [], [tensor])).SerializeToString())
    return path


def on_a_terminal(*arguments: str | Path) -> str:
    """Return the output of a command on a terminal of 100 columns."""
    shown, terminal = pty.openpty()
    changes = {"COLUMNS": "100", "LINES": "30"}
    process = subprocess.Popen(
        onnxtext_command(*arguments),
        env=environment(**changes),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=terminal,
    )
    os.close(terminal)
    parts = []
    try:
        while part := os.read(shown, 1 << 16):
            parts.append(part)
    except OSError:  # Linux raises this when no process has the terminal open
        pass
    os.close(shown)
    assert process.wait(120) == 0
    return b"".join(parts).decode()


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["store", "section"])
def test_a_terminal_shows_bytes_and_time(large: Path, mode: str, tmp_path: Path) -> None:
    text = tmp_path / "large.onnxtxt"
    seen = on_a_terminal("from-binary", large, "--weights", mode, "-o", text)
    assert re.search(r"\d+\.\d/\d+\.\d MB", seen), seen
    assert re.search(r"\d:\d\d:\d\d", seen)
    assert "large" in seen
    seen = on_a_terminal("to-binary", "--no-check", text, "-o", tmp_path / "again.onnx")
    assert re.search(r"\d+\.\d/\d+\.\d MB", seen), seen
    assert (tmp_path / "again.onnx").read_bytes() == large.read_bytes()


def test_a_pipe_gets_no_progress_bar(large: Path, tmp_path: Path) -> None:
    result = subprocess.run(
        onnxtext_command("from-binary", large, "--weights", "store", "-o", tmp_path / "t.onnxtxt"),
        env=environment(),
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert (result.stdout, result.stderr) == (b"", b"")
