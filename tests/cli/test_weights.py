# SPDX-License-Identifier: Apache-2.0
"""The places to which `from-binary` writes large data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as nh
import pytest

import onnxtext
from onnxtext.ast import visit
from onnxtext.select_core import core
from tests.running import using


def from_binary(path: Path, *options: str) -> str:
    command = [sys.executable, "-m", "onnxtext", "from-binary", *options, str(path), "-o", "-"]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def test_any_inline_limit_is_accepted(tmp_path: Path) -> None:
    data = str(list(range(99)))
    text = f"<ir_version: 10, opset_import: [21]> g () => () <float[99] w = {data}> {{}}"
    path = tmp_path / "m.onnx"
    path.write_bytes(onnxtext.to_binary(text))
    assert "blob" in from_binary(path)
    for more in ((), ("--embed-external",)):
        assert "blob" not in from_binary(path, f"--inline-limit={10**20}", *more)


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("tensor", [False, True])
def test_a_large_inline_limit_moves_long_strings(pure: bool, tensor: bool) -> None:
    long = "y" * 5000
    short = "y" * 4096
    beside = "t = float[4] [1, 2, 3, 4], " if tensor else ""
    text = f"""
        <ir_version: 10, opset_import: [21]> g () => () {{
          z = A <{beside}s = "{long}", l = ["{long}"], k = "{short}"> ()
        }}
    """
    with using("python" if pure else core(), visit):
        printed = onnxtext.from_binary(onnxtext.to_binary(text), inline_limit=5000)
    graph, _, _ = printed.partition("resources {")
    assert long not in graph
    assert short in graph


def test_weights_and_inline_limit_decide_where_data_is(tmp_path: Path) -> None:
    tensor = nh.from_array(np.arange(100, dtype=np.float32), "w")
    model = oh.make_model(oh.make_graph([], "g", [], [], [tensor]))
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    assert "resources {" in from_binary(path)
    assert "resources {" not in from_binary(path, "--weights", "inline")
    assert "resources {" not in from_binary(path, "--inline-limit", "100")
    text = tmp_path / "model.onnxtxt"
    text.write_text(from_binary(path))
    back = [sys.executable, "-m", "onnxtext", "to-binary", str(text), "-o", "-"]
    data = subprocess.run(back, capture_output=True, check=True).stdout
    assert data == path.read_bytes()
