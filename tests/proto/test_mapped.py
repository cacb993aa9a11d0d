# SPDX-License-Identifier: Apache-2.0
"""A mapped file is read as its bytes are: large models come as maps from the command line."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import onnx
import pytest

from onnxtext.proto.decode import lift


def mapped(data: bytes, path: Path) -> Any:
    """A map of a file with these bytes."""
    path.write_bytes(data)
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def model() -> bytes:
    nodes = [onnx.helper.make_node("Relu", [f"v{at}"], [f"v{at + 1}"]) for at in range(20)]
    graph = onnx.helper.make_graph(nodes, "g", [], [])
    data: bytes = onnx.helper.make_model(graph).SerializeToString()
    return data


@pytest.mark.parametrize("large", [1, 1 << 24])
def test_a_map_is_proven_without_the_careful_way(
    large: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def careful(*_: object) -> bytes:
        raise AssertionError("canonical bytes took the careful way")

    monkeypatch.setattr(lift, "_LARGE", large)
    monkeypatch.setattr(lift, "canonical_message", careful)
    data = model()
    assert lift.lift_model(mapped(data, tmp_path / "m.onnx")) == lift.lift_model(data)


def test_a_map_of_other_bytes_is_lifted_as_its_bytes_are(tmp_path: Path) -> None:
    canonical = model()
    for data in (canonical + b"\x08\x07", canonical + b"\xa8\x0f\x05", canonical[2:] + b"\x08\x0d"):
        made = lift.lift_model(data)
        assert lift.lift_model(mapped(data, tmp_path / "m.onnx")) == made
