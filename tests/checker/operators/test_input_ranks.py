# SPDX-License-Identifier: Apache-2.0
"""Ranks and lengths that onnx does not check, compared with onnxruntime."""

from __future__ import annotations

import onnx
import pytest

import onnxtext
from benchmarks.judge import judged
from tests.checker.models import text
from tests.seeds import sampled

NODES = {
    # node, inputs, opset: the severity of the finding
    ("Clip (x, a)", "float[2] x, float[2] a", 13): "warning",
    ("Clip (x, , a)", "float[2] x, float[1, 1] a", 11): "warning",
    ("Clip (x, a)", "float[2] x, float[1] a", 13): None,
    ("CumSum (x, a)", "float[2, 2] x, int64[1, 1] a", 14): "warning",
    ("CumSum (x, a)", "float[2, 2] x, int64[1] a", 14): None,
    ("Pad (x, p, a)", "float[2] x, int64[2] p = {1, 1}, float[2] a", 13): "warning",
    ("Pad (x, p, a)", "float[2] x, int64[2] p = {1, 1}, float[1] a", 13): None,
    ("Range (a, a, a)", "float[2] a", 21): "warning",
    ("Range (a, a, a)", "float[1] a", 21): None,
    ("Trilu (x, a)", "float[2, 2] x, int64[2] a", 14): "warning",
    ("ReduceMax (x, a)", "float[2, 2] x, int64 a", 18): "warning",
    ("ReduceSum (x, a)", "float[2, 2] x, int64[1, 1] a", 13): "warning",
    ("ReduceSum (x, a)", "float[2, 2] x, int64[1] a", 13): None,
    ("Squeeze (x, a)", "float[1, 1] x, int64 a", 13): "warning",
    ("Unsqueeze (x, a)", "float[2] x, int64[1, 1] a", 13): "warning",
    ("Unsqueeze (x, a)", "float[2] x, int64 a", 13): None,
    ("ArgMax (x)", "float x", 13): "warning",
    ("ArgMax (x)", "float x", 9): None,
    ("AffineGrid (x, a)", "float[2, 3] x, int64[4] a", 20): "warning",
    ("NonMaxSuppression (x, a)", "float[2, 4] x, float[1, 1, 2] a", 11): "warning",
    ("NonMaxSuppression (x, a)", "float[1, 2, 4] x, float[1, 2] a", 11): "warning",
    ("Resize (x, , a)", "float[1, 1, 2, 2] x, float[3] a", 13): "error",
    ("Resize (x, a)", "float[2, 2] x, float[3] a", 10): "error",
    ("Resize (x, , a)", "float[1, 1, 2, 2] x, float[4, 2] a", 13): "error",
    ("Resize (x, , a)", "float[1, 1, 2, 2] x, float a", 13): "error",
    ("Upsample (x, a)", "float[2, 2] x, float[2, 2] a", 9): "error",
    ("CenterCropPad (x, a)", "float[2, 2] x, int64[2, 2] a", 18): "warning",
    ("CenterCropPad (x, a)", "float[2, 2] x, int64[2] a", 18): None,
    ("CenterCropPad (x, a)", "float[2, 2] x, int64 a", 18): None,
    ("Pad (x, p)", "float[2] x, int64[1, 2] p = {1, 1}", 13): None,
    ("Pad (x, p, , a)", "float[2] x, int64[2] p, int64[1, 1] a", 18): "warning",
    ("Pad (x, p, , a)", "float[2] x, int64[2] p, int64 a", 18): "warning",
    ("Pad (x, p)", "float[2] x, int64 p", 13): "warning",
    ("CumSum (x, a)", "float x, int64 a", 14): "warning",
    ("CumProd (x, a)", "float x, int64 a", 26): "warning",
    ("STFT (x, a)", "float[2, 3, 1, 1] x, int64 a", 17): "warning",
    ("DeformConv (x, w, o)", "float[1, 1, 3, 3] x, float[1, 1, 2, 2] w, float[8] o", 19): "error",
    (
        "DeformConv (x, w, o, a)",
        "float[1, 1, 3, 3] x, float[1, 1, 2, 2] w, float[1, 8, 2, 2] o, float[1, 1] a",
        19,
    ): "error",
    (
        "DeformConv (x, w, o, , m)",
        "float[1, 1, 3, 3] x, float[1, 1, 2, 2] w, float[1, 8, 2, 2] o, float[4] m",
        19,
    ): "error",
    (
        "DeformConv (x, w, o)",
        "float[1, 1, 3, 3] x, float[1, 1, 2, 2] w, float[1, 8, 2, 2] o",
        19,
    ): None,
    ("Attention (x, a, x)", "float[2, 3, 4, 8] x, float[3, 4, 8] a", 23): "warning",
    ("Attention (x, x, a)", "float[2, 3, 4, 8] x, float[3, 4, 8] a", 23): "warning",
    ("ReverseSequence (x, a)", "float[2, 3] x, int64[2] a", 10): "error",
    ("ReverseSequence (x, a)", "float[2, 1] x, int64[1] a", 10): None,
    ("LpNormalization <axis = 2> (x)", "float[2, 2] x", 13): "error",
    ("RMSNormalization <axis = -3> (x, a)", "float[2, 2] x, float[2] a", 23): "error",
    ("Resize <axes: ints = []> (x, , a)", "float[2, 2] x, float[2] a", 18): None,
    ("Max (x, a)", "float[2] x, float[3] a", 6): "error",
    ("Mean (x, a)", "float[2, 2] x, float[2] a", 6): "error",
    ("Sum (x, a)", "float[2, 2] x, float[2] a", 8): None,
    ("Sum (x, x, x)", "float[2, 2] x", 6): None,
    ("Tile (x, a)", "float[2] x, int64 a", 13): "error",
    ("Reshape (x, a)", "float[2] x, int64 a = {2}", 13): "error",
    ("Unsqueeze <axes = [0, 0]> (x)", "float[2] x", 1): "warning",
    ("MaxPool <kernel_shape = [2], pads = [2, 0]> (x)", "float[1, 1, 2] x", 12): "warning",
    ("MaxPool <kernel_shape = [2], pads = [1, 1]> (x)", "float[1, 1, 2] x", 12): None,
    (
        "Resize <antialias = 1> (x, , a)",
        "float[1, 1, 2, 2] x, float[4] a = {1, 1, 2, 2}",
        18,
    ): "warning",
    (
        'Resize <antialias = 1, mode = "linear"> (x, , a)',
        "float[1, 1, 2, 2] x, float[4] a = {1, 1, 2, 2}",
        18,
    ): None,
    (
        'Resize <exclude_outside = 1, mode = "linear"> (x, , a)',
        "float[1, 1, 2, 2] x, float[4] a = {1, 1, 2, 2}",
        18,
    ): "warning",
    ("Softmax (x)", "float[2] x", 9): "warning",
    ("Softmax (x)", "float[0] x", 9): None,
    ("Softmax <axis = 3> (x)", "float[2] x", 9): "error",
    ("BatchNormalization (x, a, a, a, a)", "float x, float[1] a", 15): "warning",
    ("BatchNormalization (x, a, a, a, a)", "float[2] x, float[2] a", 9): "error",
    ("BatchNormalization (x, a, a, a, a)", "float[2] x, float[1] a", 9): None,
    ("Scatter (x, a, x)", "float[2, 2] x, int64[2] a", 9): "error",
    ("Scatter (x, a, x)", "float[2, 2] x, int64[2, 2] a", 9): None,
    ("SoftmaxCrossEntropyLoss (x, a)", "float[2, 5] x, int64[2, 1] a", 13): "error",
    ("SoftmaxCrossEntropyLoss (x, a)", "float[2, 5] x, int64[3] a", 13): "error",
    ("SoftmaxCrossEntropyLoss (x, a, b)", "float[2, 5] x, int64[2] a, float[1, 5] b", 13): "error",
    ("SoftmaxCrossEntropyLoss (x, a, b)", "float[2, 5, 3] x, int64[2, 3] a, float[5] b", 13): None,
}

_BLOCKS = {
    # shape of the scale, attributes: the severity of the finding
    ("[2, 4]", "block_size = 2, axis = 0"): None,
    ("[2, 4]", "block_size = 3, axis = -2"): None,
    ("[4, 4]", "block_size = 2, axis = 0"): "error",
    ("[2, 1]", "block_size = 2, axis = 0"): "error",
    ("[2, 4]", "block_size = 2"): "error",
    ("[2, 4]", "block_size = 2, axis = 2"): "error",
    ("[1, 2, 4]", "block_size = 2, axis = 0"): "error",
    ("[4]", "block_size = 2, axis = 0"): "warning",
    ("", "block_size = 2, axis = 0"): "warning",
}
NODES |= {
    (f"QuantizeLinear <{attributes}> (x, a)", f"float[4, 4] x, float{shape} a", 21): severity
    for (shape, attributes), severity in _BLOCKS.items()
} | {
    ("DequantizeLinear <block_size = 2> (x, a, b)",
     "uint8[4, 4] x, float[4, 2] a, uint8[4, 1] b", 21): "error",
}  # fmt: skip

_MASKS = {
    "4, 6": None, "2, 3, 4, 6": None, "3, 4, 6": None, "1, 1, 4, 6": None, "2, 4, 6": "error",
    "5, 6": "error", "4, 8": "error", "3, 1, 4, 6": "error",
    "1, 2, 3, 4, 6": "warning",
}  # fmt: skip
NODES |= {
    ("Attention (x, a, a, m)", f"float[2, 3, 4, 8] x, float[2, 3, 6, 8] a, float[{mask}] m", 23): s
    for mask, s in _MASKS.items()
}


@pytest.mark.thorough
@pytest.mark.parametrize(("node", "inputs", "opset"), sampled(NODES, 3))
def test_inputs_that_onnxruntime_rejects_are_found(node: str, inputs: str, opset: int) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    source = text(f"y = {node}", inputs=inputs, outputs="y", ir_version=8, opsets=str(opset))
    found = [item.severity for item in onnxtext.check(source) if item.code == "shape-mismatch"]
    severity = NODES[node, inputs, opset]
    assert set(found) == ({severity} if severity else set())
    verdict = judged(onnx.load_from_string(onnxtext.to_binary(source)), ((1,),))
    assert (verdict.state in ("load", "run")) == bool(severity), verdict


def test_a_mask_of_rank_1_is_valid() -> None:
    inputs = "float[2, 3, 4, 8] x, float[2, 3, 6, 8] a, bool[6] m"
    source = text("y = Attention (x, a, a, m)", inputs=inputs, outputs="y", opsets="23")
    assert "shape-mismatch" not in {item.code for item in onnxtext.check(source)}
