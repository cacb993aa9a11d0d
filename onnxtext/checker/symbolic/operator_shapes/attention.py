# SPDX-License-Identifier: Apache-2.0
"""Infer output shapes of attention operators of onnx and onnxruntime.

Dimensions: B batch size, S number of query tokens, L number of key tokens, P number of past tokens
(of the key/value cache), N number of heads, K number of key/value heads, H head size.
"""

from __future__ import annotations

from onnxtext.ast.tensors_and_attributes import Float32
from onnxtext.checker.symbolic.operator_call import OperatorCall, Shapes, SymbolicShape
from onnxtext.checker.symbolic.sizes.polynomials import Extent, Extents, plus, times
from onnxtext.checker.symbolic.sizes.quotients import exact_quotient


def _width(call: OperatorCall) -> Extent:
    """Return the hidden size of V; None if unknown.

    It is `qkv_hidden_sizes[2]`; without this attribute, a third of the width of weights or bias.
    """
    sizes = call.listed("qkv_hidden_sizes", ())
    if call.attribute("qkv_hidden_sizes") is not None:
        return sizes[2] if len(sizes) == 3 and sizes[2] > 0 else None
    total = call.dim(1, 1) if call.rank(1) == 2 else None
    if total is None and call.rank(2) == 1:
        total = call.dim(2, 0)
    return exact_quotient(total, 3)


def attention(call: OperatorCall, *, past: int) -> Shapes:
    """Infer the output shapes of `Attention` or `QAttention` of onnxruntime.

    The shapes are (B, S, hidden size of V) and (2, B, N, P + S, H). `past` is the index of the
    cache input. Check `num_heads` and the input sizes.
    """
    shape, weights, heads = call.shape(0), call.shape(1), call.integer("num_heads", 0)
    if call.require_rank(0, 3, specified=False) and call.require_rank(1, 2, specified=False):
        if heads < 1:
            call.reject(f"`num_heads` is {heads}, but it must be positive")
        elif weights is not None:
            if shape is not None:
                call.equal(weights[0], shape[2], "dimension 0 of {1}", "dimension 2 of {0}")
            call.require_vector(2, weights[1], "dimension 1 of {1}", specified=False)
            if call.attribute("qkv_hidden_sizes") is None:
                call.require_multiple(1, 1, 3 * heads, "3 times `num_heads`")
    if shape is None or len(shape) != 3 or heads <= 0:
        return ()
    width = _width(call)
    past_shape = call.shape(past)
    size = None if call.attribute("qkv_hidden_sizes") is not None else exact_quotient(width, heads)
    total: Extent = shape[1]
    if call.has_input(past):
        total = (
            None if past_shape is None or len(past_shape) != 5 else plus(past_shape[3], shape[1])
        )
    if call.integer("past_present_share_buffer", 0):
        total = None
    return (*shape[:2], width), (2, shape[0], heads, total, size)


def standard_attention(call: OperatorCall) -> Shapes:
    """Infer the output shapes of `Attention` in the standard domain; check its inputs.

    The query has the shape (B, S, N*H) or (B, N, S, H). The key and the value have L tokens and K
    heads.
    """
    scale = call.attribute("scale")
    if isinstance(scale, Float32) and float(scale) <= 0:
        call.reject("onnxruntime needs a positive `scale`", specified=False)
    for index, rank in ((4, 4), (5, 4), (6, 1)):
        call.require_rank(index, rank)
    common_rank = call.rank(0)
    if common_rank in (3, 4):
        for index in (1, 2):
            call.require_rank(index, common_rank, specified=False)
    query = _by_head(call, 0, "q_num_heads")
    keys, values = _by_head(call, 1, "kv_num_heads"), _by_head(call, 2, "kv_num_heads")
    past, older = _by_head(call, 4, ""), _by_head(call, 5, "")
    input_shapes = {0: query, 1: keys, 2: values, 4: past, 5: older}

    def common(axis: int, name: str, *inputs: int) -> Extent:
        """Return the common size of `inputs` at `axis`; reject the node if the sizes differ.

        `name` describes the size in messages.
        """
        sizes = [(index, input_shapes[index][axis]) for index in inputs]
        first, known_size = next((pair for pair in sizes if pair[1] is not None), sizes[0])
        for index, size in sizes:
            call.equal(known_size, size, f"the {name} of {{{first}}}", f"the {name} of {{{index}}}")
        return next((size for _, size in sizes if isinstance(size, int)), known_size)

    batch = common(0, "batch size", 0, 1, 2, 4, 5)
    call.equal(call.dim(6, 0), batch, "the size of {6}", "the batch size")
    groups = common(1, "number of heads", 1, 2, 4, 5)
    total = common(2, "number of tokens", 1, 2)
    before = common(2, "number of tokens", 4, 5)
    if call.has_input(4):
        total = plus(before, total)
    size = common(3, "head size", 1, 4, 0)
    value_size = common(3, "head size", 2, 5)
    if isinstance(query[1], int) and isinstance(groups, int) and groups and query[1] % groups:
        wrong = f"the number of heads of {{0}} is {query[1]}"
        call.reject(f"{wrong}, which is not a multiple of the number of heads of {{1}} ({groups})")
    _require_mask(call, (batch, query[1], query[2], total))
    output: SymbolicShape = None
    if call.rank(0) == 3:
        output = batch, query[2], times(query[1], value_size)
    elif call.rank(0) == 4:
        output = batch, query[1], query[2], value_size
    caches = [(batch, groups, total, extent) for extent in (size, value_size)]
    return output, *caches, (batch, query[1], query[2], total)


def _require_mask(call: OperatorCall, scores: Extents) -> None:
    """Require that a mask of `Attention` can be broadcast to `scores`, the shape (B, N, S, L).

    A mask of rank 1 is valid, although onnxruntime rejects it. The last dimension of the mask may
    be smaller: since version 24, the operator pads the mask with -inf.
    """
    mask = call.shape(3)
    if mask is None or not call.require_rank(3, 1, 2, 3, 4, specified=False):
        return
    for back in range(1, len(mask) + 1):
        size, expected = mask[-back], scores[-back]
        if not isinstance(size, int) or not isinstance(expected, int) or size in (1, expected):
            continue
        if back > 1 or size > expected:
            names = "batch size", "number of query heads", "number of queries", "number of keys"
            wrong = f"dimension -{back} of {{3}} is {size}"
            call.reject(f"{wrong}, but the {names[-back]} is {expected}")


def _by_head(call: OperatorCall, index: int, heads: str) -> Extents:
    """Return batch size, number of heads, number of tokens and head size of an input.

    Unknown sizes are None. Reject the node if the input does not have the given number of heads.
    `heads` is the attribute that gives the number of heads if the input has rank 3; `""` for a
    cache, which has rank 4.
    """
    shape, count = call.shape(index), call.integer(heads, 0)
    if shape is None or (heads and len(shape) != call.rank(0)):
        return (None,) * 4
    if len(shape) == 4:
        if count > 0 and isinstance(shape[1], int) and shape[1] != count:
            wrong = f"dimension 1 of {{{index}}} is {shape[1]}, but `{heads}` is {count}"
            call.reject(wrong, specified=False)  # the attribute is specified only for rank 3
        return shape
    if len(shape) != 3 or count <= 0:
        return (None,) * 4
    call.require_multiple(index, 2, count, f"`{heads}`")
    return shape[0], count, shape[1], exact_quotient(shape[2], count)


def packed_attention(call: OperatorCall) -> Shapes:
    """Infer the output shape of `PackedAttention`; dimension 0 counts the tokens of all batches."""
    shape = call.shape(0)
    return () if shape is None or len(shape) != 2 else ((shape[0], _width(call)),)


def multi_head_attention(call: OperatorCall) -> Shapes:
    """Infer the output shapes of `MultiHeadAttention`.

    The query has the shape (B, S, N*H), or (B, S, N, 3, H) if it also contains key and value. Key
    and value have the shape (B, L, N*H) or (B, N, L, H). A key that also contains the value has
    the shape (B, L, N, 2, H). Check the query, and which of key and value are given.
    """
    query, key, value = call.shape(0), call.shape(1), call.shape(2)
    heads = call.integer("num_heads", 0)
    if heads < 1:
        call.reject(f"`num_heads` is {heads}, but it must be positive")
    elif query is not None and call.require_rank(0, 3, 5, specified=False) and len(query) == 3:
        call.require_multiple(0, 2, heads, "`num_heads`")
    if call.has_input(2) and not call.has_input(1):
        call.reject("`value` is given, but `key` is missing")
    elif call.has_input(1) and not call.has_input(2):
        call.require_rank(1, 5, specified=False)
    if query is None or heads <= 0:
        return ()
    if len(query) == 5:
        if call.has_input(1) or call.has_input(2):
            return ()
        width, length = times(heads, query[4]), query[1]
        sizes = query[4], query[4]
    elif len(query) == 3 and key is not None and not call.has_input(2) and len(key) == 5:
        width, length = times(heads, key[4]), key[1]
        sizes = key[4], key[4]
    elif len(query) == 3 and key is not None and value is not None and len(key) == len(value):
        size = exact_quotient(query[2], heads)
        if len(key) == 3:
            width, length = value[2], key[1]
            sizes = size, exact_quotient(value[2], heads)
        elif len(key) == 4:
            width, length = times(heads, value[3]), key[2]
            sizes = size, value[3]
        else:
            return ()
    else:
        return ()
    if call.has_input(6) or call.has_input(8):
        past = call.shape(6)
        appends_past = (
            past is not None and len(past) == 4 and not call.has_input(8) and key is not None
        )
        # Keys of shape (B, N, L, H) may already contain the past keys: the length is unknown.
        length = plus(past[2], length) if appends_past and past and key and len(key) == 3 else None
    present = [(query[0], heads, length, size) for size in sizes]
    return ((*query[:2], width), *present)


def group_query_attention(call: OperatorCall) -> Shapes:
    """Infer the output shapes of `GroupQueryAttention`.

    The query has the shape (B, S, N*H). If it also contains the keys and values of K heads, its
    shape is (B, S, (N + 2*K)*H).
    The number of tokens in the key/value cache is unknown, because it depends on input data. Check
    the heads and the caches.
    """
    query, heads = call.shape(0), call.integer("num_heads", 0)
    groups = call.integer("kv_num_heads", 0)
    _require_groups(call, heads, groups)
    if query is None or len(query) != 3 or heads <= 0 or groups <= 0:
        return ()
    size = exact_quotient(query[2], heads if call.has_input(1) else heads + 2 * groups)
    width = query[2] if call.has_input(1) else times(heads, size)
    return (*query[:2], width), *[_cache(call, query[0], groups, size)] * 2


def _require_groups(call: OperatorCall, heads: int, groups: int) -> None:
    """Check the heads and the caches of `GroupQueryAttention`."""
    if min(heads, groups) < 1 or heads % groups:
        wrong = f"`num_heads` is {heads}, which is not a positive multiple of `kv_num_heads`"
        call.reject(f"{wrong} ({groups})")
    elif call.shape(0) is not None and call.require_rank(0, 3, specified=False):
        name = "`num_heads`"
        if not call.has_input(1):
            heads, name = heads + 2 * groups, "`num_heads` plus twice `kv_num_heads`"
        call.require_multiple(0, 2, heads, name)
    for first, second, rank in ((1, 2, 3), (3, 4, 4)):
        if call.has_input(first) != call.has_input(second):
            names = " and ".join([f"`{_CACHED[index]}`" for index in (first, second)])
            call.reject(f"{names} must be used together")
        for index in (first, second):
            call.require_rank(index, rank, specified=False)


_CACHED = {1: "key", 2: "value", 3: "past_key", 4: "past_value"}
"""Maps indices of inputs of `GroupQueryAttention` to their names."""


def _cache(call: OperatorCall, batch: Extent, groups: int, size: Extent) -> Extents | None:
    """Return the shape (`batch`, `groups`, None, `size`) of a cache; the token count is unknown.

    Return None if the cache is quantized, because its elements may be packed.
    """
    packed = call.attribute("k_quant_type") or call.attribute("v_quant_type")
    if packed not in (None, b"NONE") or call.has_input(12):
        return None
    return batch, groups, None, size
