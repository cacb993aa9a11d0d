# SPDX-License-Identifier: Apache-2.0
"""Infer output shapes of common operators of onnxruntime, which onnx cannot infer."""

from __future__ import annotations

from collections.abc import Callable

from onnxtext.checker.inference.symbolic.operator_call import OperatorCall, SymbolicShape
from onnxtext.checker.inference.symbolic.operators import OPERATORS, broadcast, multiplied
from onnxtext.checker.inference.symbolic.recurrent import recurrent

DOMAIN = "com.microsoft"
SINCE = 13
"""The version of the standard operators whose inference functions are used here."""

Shape = Callable[[OperatorCall], SymbolicShape]


def _same(call: OperatorCall) -> SymbolicShape:
    return call.shape(0)


def _standard(name: str) -> Shape:
    """Return the function of a standard operator with the same shapes."""

    def infer(call: OperatorCall) -> SymbolicShape:
        made = OPERATORS[name](call)
        return made[0] if made else None

    return infer


def _added(call: OperatorCall) -> SymbolicShape:
    one, other = call.shape(0), call.shape(3)
    return None if one is None or other is None else broadcast(call, [one, other])


def _product(call: OperatorCall) -> SymbolicShape:
    left, right = call.shape(0), call.shape(1)
    if not left or not right or call.integer("transBatchA", 0) or call.integer("transBatchB", 0):
        return None
    if call.integer("transA", 0):
        left = (*left[:-2], *reversed(left[-2:]))
    if call.integer("transB", 0):
        right = (*right[:-2], *reversed(right[-2:]))
    return multiplied(call, left, right)


def _packed_product(call: OperatorCall) -> SymbolicShape:
    shape, columns = call.shape(0), call.integer("N", 0)
    return (*shape[:-1], columns) if shape and columns else None


def _pool(call: OperatorCall) -> SymbolicShape:
    return None if call.integer("channels_last", 0) else _standard("AveragePool")(call)


def _global_pool(call: OperatorCall) -> SymbolicShape:
    return None if call.integer("channels_last", 0) else _standard("GlobalAveragePool")(call)


SHAPES: dict[str, Shape] = {
    **dict.fromkeys(
        ("BiasGelu", "FastGelu", "Gelu", "QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax",
         "QuickGelu", "RotaryEmbedding", "SkipLayerNormalization",
         "SkipSimplifiedLayerNormalization", "DequantizeLinear"),
        _same,
    ),
    "DynamicQuantizeMatMul": _product,
    "FusedConv": _standard("Conv"),
    "FusedGemm": _standard("Gemm"),
    "FusedMatMul": _product,
    "MatMulIntegerToFloat": _product,
    "MatMulNBits": _packed_product,
    "QLinearAdd": _added,
    "QLinearAveragePool": _pool,
    "QLinearGlobalAveragePool": _global_pool,
    "QLinearMul": _added,
}  # fmt: skip
"""The shape of each operator's first output."""


def shapes(call: OperatorCall) -> tuple[SymbolicShape, ...]:
    """Return the shapes of a node's outputs as far as they are known."""
    if call.node.op_type == "DynamicQuantizeLSTM":
        return recurrent(call)
    shape = SHAPES.get(call.node.op_type)
    return () if shape is None else (shape(call),)
