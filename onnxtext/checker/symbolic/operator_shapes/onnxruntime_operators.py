# SPDX-License-Identifier: Apache-2.0
"""Infer output shapes of common onnxruntime operators, and check their inputs and attributes.

The functions check what the documentation of each operator requires (ContribOperators.md). Most
wrong ranks cause only warnings, because another version of onnxruntime may accept these ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from onnxtext.ast.qualified_names import plain_domain
from onnxtext.checker.symbolic.operator_call import (
    OperatorCall,
    Shapes,
    SymbolicShape,
    dimensions,
    entries,
)
from onnxtext.checker.symbolic.operator_shapes.attention import (
    attention,
    group_query_attention,
    multi_head_attention,
    packed_attention,
)
from onnxtext.checker.symbolic.operator_shapes.convolution_and_pooling import require_counts
from onnxtext.checker.symbolic.operator_shapes.normalization import along_last_axis
from onnxtext.checker.symbolic.operator_shapes.quantized import (
    block_scales,
    gemm_scales,
    packed_blob,
    require_block,
    require_one,
    require_scalars,
)
from onnxtext.checker.symbolic.operator_shapes.recurrent import recurrent
from onnxtext.checker.symbolic.operator_shapes.transformer_operators import SINGLE, TRANSFORMERS
from onnxtext.checker.symbolic.operators import OPERATORS, first_output, matmul_shape
from onnxtext.checker.symbolic.sizes.polynomials import Extents
from onnxtext.checker.symbolic.sizes.quotients import exact_quotient
from onnxtext.checker.symbolic.sizes.size_equations import SizeEquations
from onnxtext.tensor.element_count import count_elements

DOMAIN = "com.microsoft"
SINCE = 13
"""The `OperatorCall.since` of all nodes with operators of onnxruntime.

Inference functions of standard operators treat these nodes like nodes of this operator version.
"""
_AMONG_STANDARD = ("LayerNormalization", "SimplifiedLayerNormalization")
"""Operators of onnxruntime in the standard domain; onnx has `LayerNormalization` since opset 17."""

ShapeFunction = Callable[[OperatorCall], SymbolicShape]


def has_rule(domain: str | None, name: str) -> bool:
    """Whether this module has an inference function for an operator."""
    if domain == DOMAIN:
        return name in SHAPES
    return name in _AMONG_STANDARD and not plain_domain(domain)


def _standard(name: str, *indices: int) -> ShapeFunction:
    """Return a function that infers the shape of output 0 as for the standard operator `name`.

    `indices` select the inputs to pass to the standard operator, for example all except scales and
    zero points. Without `indices`, all inputs are passed.
    """

    def infer(call: OperatorCall) -> SymbolicShape:
        shapes = OPERATORS[name](call.with_inputs(indices) if indices else call)
        return shapes[0] if shapes else None

    return infer


def _same(call: OperatorCall) -> SymbolicShape:
    return call.shape(0)


def _checked(
    check: Callable[[OperatorCall], object], infer: ShapeFunction = _same
) -> ShapeFunction:
    """Return an inference function that runs `check`, then `infer`."""

    def inferred(call: OperatorCall) -> SymbolicShape:
        check(call)
        return infer(call)

    return inferred


def _vectors(*indices: int) -> Callable[[OperatorCall], None]:
    """Return a function that requires the inputs at `indices` to be vectors.

    Each vector must have the size of the last dimension of input 0.
    """

    def check(call: OperatorCall) -> None:
        shape = call.shape(0)
        for index in indices if shape else ():
            name = "the last dimension of {0}"
            call.require_vector(index, (shape or ())[-1], name, specified=False)

    return check


def _skip_normalization(call: OperatorCall) -> None:
    """Require the skip input, scale and biases to have the same last dimension as the input."""
    shape = call.shape(0)
    if (
        shape
        and call.require_rank(0, 2, 3, specified=False)
        and call.require_rank(1, 2, 3, specified=False)
    ):
        call.require_last(1, shape[-1], "the last dimension of {0}")
        _vectors(2, 3, 4)(call)


def _packed_weights(call: OperatorCall) -> None:
    """Check the size attributes of `MatMulNBits`, and its inputs against these attributes."""
    rows, columns = call.integer("K", -1), call.integer("N", -1)
    block, bits = call.integer("block_size", 0), call.integer("bits", 4)
    if not require_block(call, block):
        return
    if min(rows, columns, bits - 1) < 0:
        call.reject("`K` and `N` must be at least 0, and `bits` at least 1")
        return
    call.require_last(0, rows, "`K`")
    blocks = -(-rows // block)
    weights, scales = call.shape(1), call.shape(2)
    if call.integer("weight_prepacked", 0):
        return  # the shape depends on the hardware
    if weights is not None and len(weights) == 3:  # the last dimension depends on the type
        call.equal(weights[0], columns, "dimension 0 of {1}", "`N`")
        call.equal(weights[1], blocks, "dimension 1 of {1}", "the number of blocks")
    if scales is not None and all(isinstance(size, int) for size in scales):
        count = count_elements([size for size in scales if isinstance(size, int)])
        call.equal(count, columns * blocks, "the number of scales", "the number of blocks")


def _rotary(call: OperatorCall) -> None:
    """Check the positions of `RotaryEmbedding`; require both caches to have equal shapes."""
    if not call.require_rank(0, 3, 4, specified=False) or not call.require_rank(
        1, 0, 1, 2, specified=False
    ):
        return
    call.require_same_shape(2, 3)
    shape, positions = call.shape(0), call.shape(1)
    if positions and len(positions) == 1:
        require_one(call, 1, specified=False)
    elif positions and shape:
        call.equal(positions[0], shape[0], "dimension 0 of {1}", "dimension 0 of {0}")
        axis = len(shape) - 2  # (batch, tokens, width) or (batch, heads, tokens, size)
        call.equal(positions[1], shape[axis], "dimension 1 of {1}", f"dimension {axis} of {{0}}")


def _quantized(call: OperatorCall) -> None:
    """Require scales and zero points of the input and the output to have one element."""
    for index in (1, 2, 3, 4):
        require_one(call, index)


def _fused(activations: str) -> Callable[[OperatorCall], None]:
    """Return a function that requires the attribute `activation` to be one of `activations`."""
    listed = activations.split()

    def check(call: OperatorCall) -> None:
        name = call.attribute("activation")
        if isinstance(name, bytes) and name.decode(errors="replace") not in listed:
            names = f"{', '.join(listed[:-1])} or {listed[-1]}"
            call.reject(f"`activation` must be {names}", specified=False)

    return check


def _pool(call: OperatorCall) -> None:
    """Require `kernel_shape` of a pooling node to have a positive size per spatial dimension."""
    rank, kernel = call.rank(0), call.listed("kernel_shape", ())
    if min(kernel, default=1) < 1:
        call.reject(f"`kernel_shape` is {list(kernel)}, but sizes must be positive")
    if rank is not None and kernel and len(kernel) != rank - 2:
        have = f"{{0}} has {dimensions(rank)}, {max(rank - 2, 0)} of them spatial"
        call.reject(f"`kernel_shape` has {entries(len(kernel))}, but {have}")


def _inverse(call: OperatorCall) -> None:
    """Require the last two dimensions of the input to be equal (square matrices)."""
    if call.require_min_rank(2):
        sizes = call.dim(0, -2), call.dim(0, -1)
        call.equal(*sizes, "dimension -2 of {0}", "dimension -1 of {0}")


def _product(call: OperatorCall) -> SymbolicShape:
    return matmul_shape(call, _factor(call, 0, "A"), _factor(call, 1, "B"))


def _factor(call: OperatorCall, index: int, side: str) -> SymbolicShape:
    """Return the shape of a factor after its transpositions; None if it is unknown.

    The attributes `transBatch…` and `trans…` request the transpositions. `side`, `A` or `B`, is the
    last letter of their names.
    """
    shape = call.shape(index)
    if shape is None:
        return None
    if call.integer(f"transBatch{side}", 0) and len(shape) > 2:
        shape = (*shape[1:-1], shape[0], shape[-1])
    return (*shape[:-2], *reversed(shape[-2:])) if call.integer(f"trans{side}", 0) else shape


def _packed_product(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `MatMulNBits` or `MatMulBnb4`; only the latter has `transB`."""
    shape, columns = call.shape(0), call.integer("N" if call.integer("transB", 1) else "K", -1)
    return (*shape[:-1], columns) if shape and columns >= 0 else None


def _quantized_concat(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `QLinearConcat`.

    The output and each input must have a scale and a zero point.
    """
    count = len(call.node.inputs)
    if count < 5 or count % 3 != 2:
        call.reject("each concatenated value needs a scale and a zero point")
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
        require_counts(call, len(shape) - 2)
        shapes = [(shape[0], shape[-1], *shape[1:-1]), *call.shapes[1:]]
        # Discard mismatches: their messages would use the dimension numbers of the reordered shape.
        inferred = infer(replace(call, shapes=shapes, sizes=SizeEquations()))
        return None if inferred is None else (inferred[0], *inferred[2:], inferred[1])

    return swapped


def _fused_conv(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `FusedConv`; require the fourth input to have the same shape."""
    shape = _standard("Conv")(call)
    if shape is not None:
        call.require_shape(3, shape, "this dimension of the output")
    return shape


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
    _skip_normalization(call)
    return call.shape(0), None, None, call.shape(0)


def _embedding_shapes(call: OperatorCall) -> Shapes:
    """Infer the output shapes of `EmbedLayerNormalization`.

    The embeddings, scale and bias must have the same hidden size.
    """
    tokens, vectors = call.shape(0), call.shape(2)
    if vectors is not None and call.require_rank(2, 2, specified=False):
        for index in (3, 4):
            if call.require_rank(index, 2, specified=False):
                call.require_last(index, vectors[1], "dimension 1 of {2}")
        for index in (5, 6):
            call.require_vector(index, vectors[1], "dimension 1 of {2}", specified=False)
    if tokens is None or vectors is None or len(tokens) != 2 or len(vectors) != 2:
        return ()
    dims: Extents = (*tokens, vectors[1])
    return dims, (tokens[0],), dims


_SINGLE: dict[str, ShapeFunction] = {
    **dict.fromkeys(
        ("BiasAdd", "BiasDropout", "BiasSoftmax", "BitmaskBiasDropout", "BitmaskDropout", "Gelu",
         "GroupNorm", "LongformerAttention", "MoE", "QMoE", "QuantizeLinear", "QuickGelu"),
        _same,
    ),
    **dict.fromkeys(("BiasGelu", "FastGelu"), _checked(_vectors(1))),
    **dict.fromkeys(
        ("DynamicQuantizeMatMul", "FusedMatMul", "FusedMatMulActivation", "MatMulIntegerToFloat",
         "TransposeMatMul"),
        _product,
    ),
    **dict.fromkeys(
        ("QLinearAdd", "QLinearMul"),
        _checked(partial(require_scalars, indices=(1, 2, 4, 5, 6, 7)), _standard("Add", 0, 3)),
    ),
    **dict.fromkeys(("QLinearLeakyRelu", "QLinearSigmoid"), _checked(_quantized)),
    "BiasSplitGelu": _checked(_vectors(1), _halve_last_dim),
    "CDist": _distances,
    "DequantizeLinear": _standard("DequantizeLinear"),
    "FusedConv": _checked(
        _fused("Clip HardSigmoid HardSwish LeakyRelu Relu Sigmoid Tanh"), _fused_conv
    ),
    "FusedGemm": _checked(
        _fused("Celu Elu HardSigmoid LeakyRelu ParametricSoftplus Relu ScaledTanh Selu Sigmoid "
               "Softplus Softsign Tanh ThresholdedRelu"),
        _standard("Gemm"),
    ),
    "GatherBlockQuantized": block_scales,
    "GatherND": _standard("GatherND"),
    "GemmFastGelu": _standard("MatMul"),
    "Inverse": _checked(_inverse),
    "MatMulBnb4": _checked(packed_blob, _packed_product),
    "MatMulNBits": _checked(_packed_weights, _packed_product),
    "MulInteger": _standard("Add", 0, 2),
    "NhwcConv": _nhwc_conv,
    "NhwcFusedConv": _channels_last(_standard("Conv"), always=True),
    "NhwcMaxPool": _checked(_pool, _channels_last(_standard("MaxPool"), always=True)),
    "Pad": _standard("Pad"),
    "QGemm": _checked(gemm_scales, _standard("Gemm", 0, 3, 6)),
    "QLinearAveragePool": _checked(
        partial(require_scalars, indices=(1, 2, 3, 4)),
        _checked(_pool, _channels_last(_standard("AveragePool"))),
    ),
    "QLinearConcat": _quantized_concat,
    "QLinearConv": _channels_last(_standard("QLinearConv")),
    "QLinearGlobalAveragePool": _checked(
        _quantized, _channels_last(_standard("GlobalAveragePool"))
    ),
    "QLinearSoftmax": _checked(_quantized, along_last_axis),
    "QLinearWhere": _standard("Where", 0, 1, 4),
    "QLinearReduceMean": _standard("ReduceMean", 0),
    "RotaryEmbedding": _checked(_rotary),
    "Trilu": _checked(lambda call: call.require_min_rank(2)),
}  # fmt: skip
"""Maps each operator to the inference function for the shape of its first output."""

SHAPES: dict[str, Callable[[OperatorCall], Shapes]] = {
    **{name: first_output(shape) for name, shape in {**SINGLE, **_SINGLE}.items()},
    **TRANSFORMERS,
    **dict.fromkeys(_AMONG_STANDARD, OPERATORS["LayerNormalization"]),
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
