# SPDX-License-Identifier: Apache-2.0
"""A memory-mapped file gives the same result as its bytes; the command line maps large models."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import onnx
import pytest

from onnxtext.proto.decode import lift


def mapped(data: bytes, path: Path) -> Any:
    """Return a map of a file with these bytes."""
    path.write_bytes(data)
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def model() -> bytes:
    nodes = [onnx.helper.make_node("Relu", [f"v{index}"], [f"v{index + 1}"]) for index in range(20)]
    graph = onnx.helper.make_graph(nodes, "g", [], [])
    data: bytes = onnx.helper.make_model(graph).SerializeToString()
    return data


@pytest.mark.parametrize("large", [1, 1 << 24])
def test_canonical_map_takes_the_fast_path(
    large: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise AssertionError("canonical bytes took the slow path")

    monkeypatch.setattr(lift, "LARGE", large)
    monkeypatch.setattr(lift, "canonical_message", fail)
    data = model()
    assert lift.lift_model(mapped(data, tmp_path / "m.onnx")) == lift.lift_model(data)


def test_memory_mapped_noncanonical_bytes_give_the_same_model(tmp_path: Path) -> None:
    canonical = model()
    for data in (canonical + b"\x08\x07", canonical + b"\xa8\x0f\x05", canonical[2:] + b"\x08\x0d"):
        result = lift.lift_model(data)
        assert lift.lift_model(mapped(data, tmp_path / "m.onnx")) == result
