# SPDX-License-Identifier: Apache-2.0
"""Infer output shapes of onnxruntime's operators for parts of transformers.

The functions follow the schemas of the operators (ContribOperators.md). Only a few check nodes.
"""

from __future__ import annotations

from collections.abc import Callable

from onnxtext.checker.symbolic.operator_call import OperatorCall, Shapes, SymbolicShape
from onnxtext.checker.symbolic.sizes.polynomials import plus, times
from onnxtext.checker.symbolic.sizes.quotients import exact_quotient


def _decoder_attention(call: OperatorCall) -> Shapes:
    """Infer the output shapes of `DecoderMaskedMultiHeadAttention`.

    Values have the shape (batch, tokens, hidden size) or (batch, heads, tokens, head size). Caches
    keep their shapes if input and output share a buffer; otherwise their shapes are unknown.
    """
    query, value = call.shape(0), call.shape(2)
    if query is None or len(query) != 3:
        return ()
    width = None
    if value is not None and len(value) in (3, 4):
        width = value[2] if len(value) == 3 else times(value[1], value[3])
    shares_buffer = call.integer("past_present_share_buffer", 0)
    caches = (call.shape(5), call.shape(6)) if shares_buffer else ()
    return (*query[:2], width), *caches


def _sparse_attention(call: OperatorCall) -> Shapes:
    query, caches = call.shape(0), (call.shape(3), call.shape(4))
    if query is None or len(query) != 3:
        return None, *caches
    return (*query[:2], query[2] if call.has_input(1) else None), *caches


def _packed_heads(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `PackedMultiHeadAttention`: (tokens, hidden size of values)."""
    query, value = call.shape(0), call.shape(2)
    if call.has_input(2):
        return value if value is not None and len(value) == 2 else None
    packed = query is not None and len(query) == 4  # (tokens, heads, 3, head size)
    return (query[0], times(query[1], query[3])) if query is not None and packed else None


def _position_bias(call: OperatorCall) -> SymbolicShape:
    return 1, call.dim(0, 1), call.scalar(1), call.scalar(2)


def _gated_position_bias(call: OperatorCall) -> SymbolicShape:
    tokens = call.shape(6) if call.has_input(6) else call.shape(0)
    heads = call.integer("num_heads", 0)
    if tokens is None or len(tokens) < 2 or heads < 1:
        return None
    return tokens[0], heads, tokens[1], tokens[1]


def _remove_padding(call: OperatorCall) -> Shapes:
    shape = call.shape(0)
    if shape is None or len(shape) != 3:
        return ()
    return (None, shape[2]), shape[:2], (plus(shape[0], 1),), (1,)


def _restore_padding(call: OperatorCall) -> SymbolicShape:
    shape, offsets = call.shape(0), call.shape(1)
    if shape is None or offsets is None or len(shape) != 2 or len(offsets) != 2:
        return None
    return *offsets, shape[1]


def _gated_linear_unit(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `SwiGLU`; without a second input, the first has both halves."""
    shape = call.shape(0)
    if call.has_input(1) or not shape:
        return shape or None
    return *shape[:-1], exact_quotient(shape[-1], 2)


def _quantized_mlp(call: OperatorCall) -> Shapes:
    """Infer the output shapes of `MatMulNBitsMlp`; the second output is `A` plus `skip`.

    onnxruntime rejects this output without `skip`, and `skip` without `norm_scale`.
    """
    if len(call.node.outputs) > 1 and call.node.outputs[1] and not call.has_input(1):
        wrong = "the output `input_skip_bias_sum` needs the input `skip`, which is omitted"
        call.reject(wrong, specified=False)
    elif call.has_input(1) and not call.has_input(2):
        wrong = "the input `skip` needs the input `norm_scale`, which is omitted"
        call.reject(wrong, specified=False)
    shape, columns = call.shape(0), call.integer("N", -1)
    return ((*shape[:-1], columns), shape) if shape and columns >= 0 else ()


SINGLE: dict[str, Callable[[OperatorCall], SymbolicShape]] = {
    **dict.fromkeys(
        ("DecoderAttention", "GatedAdd", "GatedRMSNorm", "MRotaryEmbedding", "ScaledSiLU"),
        lambda call: call.shape(0),
    ),
    "GatedRelativePositionBias": _gated_position_bias,
    "IsAllFinite": lambda call: (),
    "NGramRepeatBlock": lambda call: call.shape(1),
    "PackedMultiHeadAttention": _packed_heads,
    "RelativePositionBias": _position_bias,
    "RestorePadding": _restore_padding,
    "SwiGLU": _gated_linear_unit,
}
"""Maps each operator to the inference function for the shape of its first output."""
TRANSFORMERS: dict[str, Callable[[OperatorCall], Shapes]] = {
    "DecoderMaskedMultiHeadAttention": _decoder_attention,
    "MatMulNBitsMlp": _quantized_mlp,
    "RemovePadding": _remove_padding,
    "SparseAttention": _sparse_attention,
}
"""Maps each operator to the inference function for the shapes of all its outputs."""
