# SPDX-License-Identifier: Apache-2.0
"""Infer output shapes of common onnxruntime operators, which onnx does not know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from onnxtext.checker.inference.symbolic.onnxruntime_relations import require_relations
from onnxtext.checker.inference.symbolic.operator_call import OperatorCall, Shapes, SymbolicShape
from onnxtext.checker.inference.symbolic.operator_shapes.attention import (
    attention,
    group_query_attention,
    multi_head_attention,
    packed_attention,
)
from onnxtext.checker.inference.symbolic.operator_shapes.recurrent import recurrent
from onnxtext.checker.inference.symbolic.operators import (
    OPERATORS,
    first_output,
    matmul_shape,
)
from onnxtext.checker.inference.symbolic.sizes.polynomials import Extents
from onnxtext.checker.inference.symbolic.sizes.quotients import exact_quotient
from onnxtext.checker.inference.symbolic.sizes.size_equations import SizeEquations

DOMAIN = "com.microsoft"
SINCE = 13
"""The `OperatorCall.since` of all nodes with operators of onnxruntime.

Inference functions of standard operators treat these nodes like nodes of this operator version.
"""
_AMONG_STANDARD = ("SimplifiedLayerNormalization",)
"""Operators of onnxruntime in the standard domain."""

ShapeFunction = Callable[[OperatorCall], SymbolicShape]


def has_rule(domain: str | None, name: str) -> bool:
    """Whether this module has an inference function for an operator."""
    if domain == DOMAIN:
        return name in SHAPES
    return name in _AMONG_STANDARD and domain in (None, "", "ai.onnx")


def _standard(name: str, *indices: int) -> ShapeFunction:
    """Return a function that infers the shape of output 0 as for the standard operator `name`.

    `indices` select the inputs to pass to the standard operator, for example all except scales and
    zero points. Without `indices`, all inputs are passed.
    """

    def infer(call: OperatorCall) -> SymbolicShape:
        shapes = OPERATORS[name](call.with_inputs(indices) if indices else call)
        return shapes[0] if shapes else None

    return infer


def _quantized_operands(call: OperatorCall) -> SymbolicShape:
    for index in (1, 2, 4, 5, 6, 7):
        call.has_rank(index, 0)
    return _standard("Add", 0, 3)(call)


def _product(call: OperatorCall) -> SymbolicShape:
    left, right = _factor(call, 0, "A"), _factor(call, 1, "B")
    return matmul_shape(call, left, right) if left and right else None


def _factor(call: OperatorCall, index: int, side: str) -> Extents:
    """Return the shape of a factor after its transpositions; () for a scalar or if unknown.

    The attributes `transBatch…` and `trans…` request the transpositions. `side`, `A` or `B`, is the
    last letter of their names.
    """
    shape = call.shape(index) or ()
    if call.integer(f"transBatch{side}", 0) and len(shape) > 2:
        shape = (*shape[1:-1], shape[0], shape[-1])
    return (*shape[:-2], *reversed(shape[-2:])) if call.integer(f"trans{side}", 0) else shape


def _packed_product(call: OperatorCall) -> SymbolicShape:
    shape, columns = call.shape(0), call.integer("N", 0)
    return (*shape[:-1], columns) if shape and columns > 0 else None


def _quantized_concat(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `QLinearConcat`: each input has a scale and a zero point."""
    return _standard("Concat")(call.with_inputs(range(2, len(call.shapes), 3)))


def _halve_last_dim(call: OperatorCall) -> SymbolicShape:
    shape = call.shape(0)
    return (*shape[:-1], exact_quotient(shape[-1], 2)) if shape else None


def _distances(call: OperatorCall) -> SymbolicShape:
    left, right = call.shape(0), call.shape(1)
    if left is None or right is None or len(left) != 2 or len(right) != 2:
        return None
    return left[0], right[0]


def _channels_last(infer: ShapeFunction, *, always: bool = False) -> ShapeFunction:
    """Return an inference function for images of (batch, height, width, channels).

    `infer` is the function for images of (batch, channels, height, width). If `always`, channels
    are last in every node; otherwise only with the attribute `channels_last`.
    """

    def swapped(call: OperatorCall) -> SymbolicShape:
        if not always and not call.integer("channels_last", 0):
            return infer(call)
        shape = call.shape(0)
        if shape is None or len(shape) < 3:
            return None
        shapes = [(shape[0], shape[-1], *shape[1:-1]), *call.shapes[1:]]
        # Discard mismatches: their messages would use the dimension numbers of the reordered shape.
        inferred = infer(replace(call, shapes=shapes, sizes=SizeEquations()))
        return None if inferred is None else (inferred[0], *inferred[2:], inferred[1])

    return swapped


def _nhwc_conv(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `NhwcConv`; its spatial dimensions are unknown.

    The spatial dimensions depend on the layout of the weights, and each execution provider has its
    own layout.
    """
    shape, weights = call.shape(0), call.shape(1)
    if shape is None or weights is None or len(shape) < 3 or len(shape) != len(weights):
        return None
    return (shape[0], *(None,) * (len(shape) - 2), weights[0])


def _skip_normalized(call: OperatorCall) -> Shapes:
    """Infer the output shapes of `SkipLayerNormalization`.

    Outputs 0 (normalized) and 3 (sum) have the input's shape.
    """
    return call.shape(0), None, None, call.shape(0)


def _embedding_shapes(call: OperatorCall) -> Shapes:
    """Infer the output shapes of `EmbedLayerNormalization`."""
    tokens, vectors = call.shape(0), call.shape(2)
    if tokens is None or vectors is None or len(tokens) != 2 or len(vectors) != 2:
        return ()
    dims: Extents = (*tokens, vectors[1])
    return dims, (tokens[0],), dims


_SINGLE: dict[str, ShapeFunction] = {
    **dict.fromkeys(
        ("BiasAdd", "BiasDropout", "BiasGelu", "BiasSoftmax", "BitmaskBiasDropout",
         "BitmaskDropout", "FastGelu", "Gelu", "GroupNorm", "Inverse",
         "LongformerAttention", "MoE", "QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax",
         "QMoE", "QuantizeLinear", "QuickGelu", "RotaryEmbedding", "Trilu"),
        lambda call: call.shape(0),
    ),
    **dict.fromkeys(
        ("DynamicQuantizeMatMul", "FusedMatMul", "FusedMatMulActivation", "MatMulIntegerToFloat",
         "TransposeMatMul"),
        _product,
    ),
    **dict.fromkeys(("MatMulBnb4", "MatMulNBits"), _packed_product),
    **dict.fromkeys(("QLinearAdd", "QLinearMul"), _quantized_operands),
    "BiasSplitGelu": _halve_last_dim,
    "CDist": _distances,
    "DequantizeLinear": _standard("DequantizeLinear"),
    "FusedConv": _standard("Conv"),
    "FusedGemm": _standard("Gemm"),
    "GatherND": _standard("GatherND"),
    "GemmFastGelu": _standard("MatMul"),
    "NhwcConv": _nhwc_conv,
    "NhwcFusedConv": _channels_last(_standard("Conv"), always=True),
    "NhwcMaxPool": _channels_last(_standard("MaxPool"), always=True),
    "Pad": _standard("Pad"),
    "QGemm": _standard("Gemm", 0, 3),
    "QLinearAveragePool": _channels_last(_standard("AveragePool")),
    "QLinearConcat": _quantized_concat,
    "QLinearConv": _channels_last(_standard("QLinearConv")),
    "QLinearGlobalAveragePool": _channels_last(_standard("GlobalAveragePool")),
    "QLinearWhere": _standard("Where", 0, 1, 4),
    "SimplifiedLayerNormalization": _standard("LayerNormalization"),
}  # fmt: skip
"""Maps each operator to the inference function for the shape of its first output."""

SHAPES: dict[str, Callable[[OperatorCall], Shapes]] = {
    **{name: first_output(shape) for name, shape in _SINGLE.items()},
    "Attention": partial(attention, past=4),
    "DynamicQuantizeLSTM": recurrent,
    "EmbedLayerNormalization": _embedding_shapes,
    "GroupQueryAttention": group_query_attention,
    "MultiHeadAttention": multi_head_attention,
    "PackedAttention": packed_attention,
    "QAttention": partial(attention, past=8),
    "QEmbedLayerNormalization": _embedding_shapes,
    "SkipGroupNorm": lambda call: (call.shape(0), call.shape(0)),
    "SkipLayerNormalization": _skip_normalized,
    "SkipSimplifiedLayerNormalization": _skip_normalized,
}
"""Maps each operator to the inference function for the shapes of all its outputs."""


def shapes(call: OperatorCall) -> Shapes:
    """Infer the shapes of the outputs of a node for which `has_rule` is True.

    Shapes that are None or missing are unknown. Reject the node if its inputs or attributes do not
    fit.
    """
    require_relations(call)
    return SHAPES[call.node.op_type](call)
