# SPDX-License-Identifier: Apache-2.0
"""Large models: ten differences in 20,000 nodes, and tensors of a repeated element."""

from __future__ import annotations

import onnx
import pytest

import onnxtext
from benchmarks.diff import EDITS, edited_models
from onnxtext.differ import ModelSide, compare
from onnxtext.tensor.repeated_bytes import Repetition


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


def test_equal_repetitions_are_compared_without_their_elements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(self: Repetition) -> bytes:
        raise AssertionError("expanded")

    monkeypatch.setattr(Repetition, "expand", refuse)
    text = "<ir_version: 10, opset_import: [21]>\ng () => () < int4[1000000000] w = [1, ...] > {\n"
    old, new = (f"{text}  y = {name} (w)\n}}\n" for name in ("Neg", "Abs"))
    (change,) = onnxtext.diff(old, new).items
    assert change.kind == "node"
    with pytest.raises(AssertionError, match="expanded"):
        onnxtext.diff(old, new.replace("[1, ", "[2, "))
