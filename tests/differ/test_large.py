# SPDX-License-Identifier: Apache-2.0
"""Two models of 20,000 nodes that differ in ten: exactly those are listed."""

from __future__ import annotations

import onnx
import pytest

import onnxtext
from benchmarks.diff import EDITS, edited_models
from onnxtext.differ import ModelSide, compare


@pytest.mark.thorough
@pytest.mark.parametrize("text", [False, True])
def test_ten_edits_of_twenty_thousand_nodes_are_found(text: bool) -> None:
    old, new = edited_models(20_000)
    assert len(onnx.ModelProto.FromString(old).graph.node) == 20_000
    if text:
        sides = [ModelSide.of_text(onnxtext.from_binary(data)) for data in (old, new)]
    else:
        sides = [ModelSide.of_binary(data) for data in (old, new)]
    result = compare(*sides)
    assert [(*item.actions, item.name) for item in result.items if item.kind == "node"] == EDITS
    assert [item.kind for item in result.items if item.kind != "node"] == []
    assert result.renames == ()
    assert result.stored == ()
    if text:
        assert all((item.new or item.old).line for item in result.items)  # type: ignore[union-attr]
