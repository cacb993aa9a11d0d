# SPDX-License-Identifier: Apache-2.0
"""Models that are mapped instead of read, as the command line does it from 1 MiB on."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import pytest

import onnxtext
from onnxtext.conversion import print_binary
from onnxtext.proto import lift


@pytest.mark.parametrize("large", [1 << 24, 100], ids=["compared whole", "compared in pieces"])
def test_a_mapped_model_is_proven_the_quick_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    text = (
        "<\n  onnxtext: 1,\n>\ng (x) => (y) {\n"
        + "".join(f"  v{number} = Relu (x)\n" for number in range(20))
        + "}\n"
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(onnxtext.to_binary(text))

    def refuse(*arguments: object) -> None:
        raise AssertionError("the careful way takes three times as long")

    monkeypatch.setattr(lift, "canonical_message", refuse)
    monkeypatch.setattr(lift, "_LARGE", large)
    with path.open("rb") as file:
        mapped: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        assert print_binary(mapped, None)[0] == text
