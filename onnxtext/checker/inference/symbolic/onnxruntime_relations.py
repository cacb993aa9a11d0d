# SPDX-License-Identifier: Apache-2.0
"""Check constraints on inputs and attributes of common onnxruntime operators.

Each function checks what the documentation of its operator requires (ContribOperators.md). Most
wrong ranks cause only warnings, because another version of onnxruntime may accept these ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from onnxtext.checker.inference.symbolic.operator_call import OperatorCall, dimensions, entries
from onnxtext.checker.inference.symbolic.operator_shapes.quantized import require_one
from onnxtext.tensor.element_count import count_elements


def _vectors(*indices: int) -> Callable[[OperatorCall], None]:
    """Return a function that requires the inputs at `indices` to be vectors.

    Each vector must have the size of the last dimension of input 0.
    """

    def check(call: OperatorCall) -> None:
        shape = call.shape(0)
        for index in indices if shape else ():
            name = "the last dimension of {0}"
            call.require_vector(index, (shape or ())[-1], name, certain=False)

    return check


def _skip_normalization(call: OperatorCall) -> None:
    """Require the skip input, scale and biases to have the same last dimension as the input."""
    shape = call.shape(0)
    if shape and call.has_rank(0, 2, 3, certain=False) and call.has_rank(1, 2, 3, certain=False):
        call.require_last(1, shape[-1], "the last dimension of {0}")
        _vectors(2, 3, 4)(call)


def _embedding(call: OperatorCall) -> None:
    """Require the embeddings, scale and bias to have the same hidden size."""
    words = call.shape(2)
    if words is None or not call.has_rank(2, 2, certain=False):
        return
    for index in (3, 4):
        if call.has_rank(index, 2, certain=False):
            call.require_last(index, words[1], "dimension 1 of {2}")
    for index in (5, 6):
        call.require_vector(index, words[1], "dimension 1 of {2}", certain=False)


def _packed_weights(call: OperatorCall) -> None:
    """Check the size attributes of `MatMulNBits`, and its inputs against these attributes."""
    rows, columns = call.integer("K", 0), call.integer("N", 0)
    block, bits = call.integer("block_size", 0), call.integer("bits", 4)
    if block < 16 or block & (block - 1):
        call.reject(f"`block_size` is {block}, but it must be a power of 2, at least 16")
        return
    if min(rows, columns, bits) < 1:
        call.reject("`K`, `N` and `bits` must be positive")
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
    if not call.has_rank(0, 3, 4, certain=False) or not call.has_rank(1, 0, 1, 2, certain=False):
        return
    call.same_shape(2, 3)
    shape, positions = call.shape(0), call.shape(1)
    if positions and len(positions) == 1:
        require_one(call, 1, certain=False)
    elif positions and shape:
        call.equal(positions[0], shape[0], "dimension 0 of {1}", "dimension 0 of {0}")
        axis = len(shape) - 2  # (batch, tokens, width) or (batch, heads, tokens, size)
        call.equal(positions[1], shape[axis], "dimension 1 of {1}", f"dimension {axis} of {{0}}")


def _attention(call: OperatorCall) -> None:
    """Check `num_heads` and the input sizes of `Attention` or `QAttention`."""
    shape, weights, heads = call.shape(0), call.shape(1), call.integer("num_heads", 0)
    if not call.has_rank(0, 3, certain=False) or not call.has_rank(1, 2, certain=False):
        return
    if heads < 1:
        call.reject(f"`num_heads` is {heads}, but it must be positive")
        return
    if weights is None:
        return
    if shape is not None:
        call.equal(weights[0], shape[2], "dimension 0 of {1}", "dimension 2 of {0}")
    call.require_vector(2, weights[1], "dimension 1 of {1}", certain=False)
    if call.attribute("qkv_hidden_sizes") is None:
        call.require_multiple(1, 1, 3 * heads, "3 times `num_heads`")


def _multi_head_attention(call: OperatorCall) -> None:
    """Check the query of `MultiHeadAttention`, and which of key and value are given.

    A value needs a key. A key without a value must have 5 dimensions.
    """
    query, heads = call.shape(0), call.integer("num_heads", 0)
    if heads < 1:
        call.reject(f"`num_heads` is {heads}, but it must be positive")
    elif query is not None and call.has_rank(0, 3, 5, certain=False) and len(query) == 3:
        call.require_multiple(0, 2, heads, "`num_heads`")
    if call.has_input(2) and not call.has_input(1):
        call.reject("`value` is given, but `key` is missing")
    elif call.has_input(1) and not call.has_input(2):
        call.has_rank(1, 5, certain=False)


def _group_query_attention(call: OperatorCall) -> None:
    """Check the heads and the caches of `GroupQueryAttention`."""
    heads, groups = call.integer("num_heads", 0), call.integer("kv_num_heads", 0)
    if min(heads, groups) < 1 or heads % groups:
        wrong = f"`num_heads` is {heads}, which is not a positive multiple of `kv_num_heads`"
        call.reject(f"{wrong} ({groups})")
    elif call.shape(0) is not None and call.has_rank(0, 3, certain=False):
        name = "`num_heads`"
        if not call.has_input(1):
            heads, name = heads + 2 * groups, "`num_heads` plus twice `kv_num_heads`"
        call.require_multiple(0, 2, heads, name)
    for first, second, rank in ((1, 2, 3), (3, 4, 4)):
        if call.has_input(first) != call.has_input(second):
            names = " and ".join([f"`{_CACHED[index]}`" for index in (first, second)])
            call.reject(f"{names} must be used together")
        for index in (first, second):
            call.has_rank(index, rank, certain=False)


_CACHED = {1: "key", 2: "value", 3: "past_key", 4: "past_value"}
"""Maps indices of inputs of `GroupQueryAttention` to their names."""


def _quantized(call: OperatorCall) -> None:
    """Require scales and zero points of the input and the output to have one element."""
    for index in (1, 2, 3, 4):
        require_one(call, index)


def _quantized_softmax(call: OperatorCall) -> None:
    """Check the scales, zero points and axis of `QLinearSoftmax`."""
    _quantized(call)
    call.axis("axis", -1)


def _fused(activations: str) -> Callable[[OperatorCall], None]:
    """Return a function that requires the attribute `activation` to be one of `activations`."""
    listed = activations.split()

    def check(call: OperatorCall) -> None:
        name = call.attribute("activation")
        if isinstance(name, bytes) and name.decode(errors="replace") not in listed:
            names = f"{', '.join(listed[:-1])} or {listed[-1]}"
            call.reject(f"`activation` must be {names}", certain=False)

    return check


def _quantized_concat(call: OperatorCall) -> None:
    """Require `QLinearConcat` to have a scale and a zero point for the output and each input."""
    count = len(call.node.inputs)
    if count < 5 or count % 3 != 2:
        call.reject("each concatenated value needs a scale and a zero point")


def _pool(call: OperatorCall) -> None:
    """Require the kernel of a pooling to have one positive size per spatial dimension."""
    rank, kernel = call.rank(0), call.listed("kernel_shape", ())
    if min(kernel, default=1) < 1:
        call.reject(f"`kernel_shape` is {list(kernel)}, but sizes must be positive")
    if rank is not None and kernel and len(kernel) != rank - 2:
        have = f"{{0}} has {dimensions(rank)}, {max(rank - 2, 0)} of them spatial"
        call.reject(f"`kernel_shape` has {entries(len(kernel))}, but {have}")


def _inverse(call: OperatorCall) -> None:
    """Require the last two dimensions of the input to be equal (square matrices)."""
    if call.has_min_rank(2):
        sizes = call.dim(0, -2), call.dim(0, -1)
        call.equal(*sizes, "dimension -2 of {0}", "dimension -1 of {0}")


_CHECKS: Mapping[str, Callable[[OperatorCall], object]] = {
    **dict.fromkeys(("BiasGelu", "BiasSplitGelu", "FastGelu"), _vectors(1)),
    **dict.fromkeys(("EmbedLayerNormalization", "QEmbedLayerNormalization"), _embedding),
    **dict.fromkeys(
        ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization"), _skip_normalization
    ),
    **dict.fromkeys(
        ("QLinearAveragePool", "QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearSigmoid"),
        _quantized,
    ),
    "Attention": _attention,
    "FusedConv": _fused("Clip HardSigmoid HardSwish LeakyRelu Relu Sigmoid Tanh"),
    "FusedGemm": _fused(
        "Celu Elu HardSigmoid LeakyRelu ParametricSoftplus Relu ScaledTanh Selu Sigmoid Softplus "
        "Softsign Tanh ThresholdedRelu"
    ),
    "GroupQueryAttention": _group_query_attention,
    "Inverse": _inverse,
    "MatMulNBits": _packed_weights,
    "MultiHeadAttention": _multi_head_attention,
    "NhwcMaxPool": _pool,
    "QAttention": _attention,
    "QLinearConcat": _quantized_concat,
    "QLinearSoftmax": _quantized_softmax,
    "RotaryEmbedding": _rotary,
    "Trilu": lambda call: call.has_min_rank(2),
}  # fmt: skip
"""Maps operators of onnxruntime to the functions that check their nodes."""


def require_relations(call: OperatorCall) -> None:
    """Reject a node with an operator of onnxruntime if its inputs or attributes do not fit."""
    check = _CHECKS.get(call.node.op_type)
    if check is not None:
        check(call)
    if call.node.op_type == "QLinearAveragePool":
        _pool(call)
