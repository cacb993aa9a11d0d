# SPDX-License-Identifier: Apache-2.0
"""Check constraints on inputs and attributes that the shape inference of onnx does not check.

Each function checks what the ONNX operator specification requires of its operator. The tables
`_NUMBERS` and `_RANKS` contain requirements that onnxruntime checks when the model runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from onnxtext.ast.model import Graph
from onnxtext.checker.symbolic.operator_call import OperatorCall, SymbolicShape, dimensions, entries
from onnxtext.checker.symbolic.operator_shapes.arithmetic import require_divisor, require_ratio
from onnxtext.checker.symbolic.operator_shapes.convolution_and_pooling import (
    require_kernel,
    windowed,
)
from onnxtext.checker.symbolic.operator_shapes.images_and_signals import IMAGES_AND_SIGNALS
from onnxtext.checker.symbolic.operator_shapes.quantized import require_one
from onnxtext.checker.symbolic.sizes.polynomials import Extents
from onnxtext.plurals import count_noun
from onnxtext.tensor.element_count import count_elements


def _center_crop_pad(call: OperatorCall) -> None:
    """Require the axes of `CenterCropPad` to be distinct, with one axis per entry of `shape`.

    A negative size is only a warning, because onnxruntime takes it for 0.
    """
    sizes = [size for size in call.symbolic("shape", 1) or () if isinstance(size, int)]
    if sizes and min(sizes) < 0:
        call.reject(f"a size is {min(sizes)}, but sizes must not be negative", specified=False)
    axes, rank = call.listed("axes", ()), call.rank(0)
    size = call.dim(1, 0) if call.rank(1) == 1 else None
    if not axes:
        call.equal(size, rank, "the size of {1}", "the rank of {0}")
    elif rank is not None:
        resolved = call.axes(axes, rank)
        if resolved is not None and len(set(resolved)) < len(resolved):
            call.reject(f"`axes` is {list(axes)}, which names an axis twice")
        call.equal(len(axes), size, "the length of `axes`", "the size of {1}")


def _compress(call: OperatorCall) -> None:
    """Require the `axis` of `Compress` to exist in its input; without it, the input is flat."""
    if call.attribute("axis") is not None:
        call.axis("axis", 0)


def _deform_conv(call: OperatorCall) -> None:
    """Require the inputs of `DeformConv` to agree in their channels, batch and spatial sizes."""
    data, weights = call.shape(0), call.shape(1)
    group, offset_group = call.integer("group", 1), call.integer("offset_group", 1)
    if data is None or weights is None or len(data) < 3 or group < 1 or offset_group < 1:
        return
    if not call.require_rank(1, len(data)):
        return
    require_kernel(call, weights[2:], 1)
    channels, kernel = weights[1], weights[2:]
    if isinstance(channels, int):
        channels_name = "dimension 1 of {1} times `group`"
        call.equal(data[1], channels * group, "dimension 1 of {0}", channels_name)
    call.require_multiple(0, 1, group, "`group`")
    call.require_multiple(0, 1, offset_group, "`offset_group`")
    call.require_multiple(1, 0, group, "`group`")
    sizes = [size for size in kernel if isinstance(size, int)]
    call.require_vector(3, weights[0], "dimension 0 of {1}")
    if len(sizes) < len(kernel):
        return
    points = offset_group * count_elements(sizes)
    for index, count in ((2, points * len(kernel)), (4, points)):
        other = call.shape(index)
        if other is not None and call.require_rank(index, len(data)):
            call.equal(other[0], data[0], f"dimension 0 of {{{index}}}", "dimension 0 of {0}")
            channels_name = "the number of offsets" if index == 2 else "the number of kernel points"
            call.equal(other[1], count, f"dimension 1 of {{{index}}}", channels_name)
            _require_output_size(call, index, windowed(call, data[2:], kernel))


def _require_output_size(call: OperatorCall, index: int, output: Extents) -> None:
    """Require an input to have the spatial sizes of the output; ignore unknown sizes."""
    for axis, pair in enumerate(zip((call.shape(index) or ())[2:], output, strict=True), 2):
        if all(isinstance(size, int) for size in pair):
            name = f"dimension {axis} of"
            call.equal(*pair, f"{name} {{{index}}}", f"{name} the output")


def _attention(call: OperatorCall) -> None:
    """Require `Attention` to have both past keys and past values, or neither.

    Warn if a node with past keys has `nonpad_kv_seqlen`, which describes another kind of cache.
    """
    past_inputs = [index for index in (4, 5) if call.has_input(index)]
    if len(past_inputs) == 1:
        first, second = ("past_key", "past_value")[:: 1 if past_inputs == [4] else -1]
        call.reject(f"`{first}` is given, but `{second}` is missing; they must be used together")
    elif past_inputs and call.has_input(6):
        call.reject("`nonpad_kv_seqlen` should not be used with past keys", specified=False)


def _cumulative(call: OperatorCall) -> None:
    """Require the axis of `CumSum` or `CumProd` to exist in its input."""
    axis, rank = call.scalar(1), call.rank(0)
    if rank == 0:
        call.reject("{0} has no dimensions, so it has no axis", specified=False)
    elif isinstance(axis, int) and rank and not -rank <= axis < rank:
        call.reject(f"{{1}} is {axis}, but {{0}} has {dimensions(rank)}")


def _group_normalization(call: OperatorCall) -> None:
    """Require `num_groups` of `GroupNormalization` to divide the channels; check scale and bias."""
    shape, groups = call.shape(0), call.integer("num_groups", 0)
    if shape is None or groups < 1 or not call.require_min_rank(2):
        return
    call.require_multiple(0, 1, groups, "`num_groups`")
    needed = (groups, "`num_groups`") if call.since < 21 else (shape[1], "dimension 1 of {0}")
    for index in (1, 2):
        call.require_vector(index, *needed, accepted=True)


def has_several(shape: SymbolicShape) -> bool:
    """Whether a known dimension is not 1, so that the tensor cannot have exactly one element."""
    return any(isinstance(size, int) and size != 1 for size in shape or ())


def _mean_variance(call: OperatorCall) -> None:
    """Require the `axes` of `MeanVarianceNormalization` to exist in its input.

    The default, `[0, 2, 3]`, is not checked: onnxruntime accepts it for inputs of any rank.
    """
    rank = call.rank(0)
    if rank is not None:
        call.axes(call.listed("axes", ()), rank)


def _non_max_suppression(call: OperatorCall) -> None:
    """Require boxes of `NonMaxSuppression` to have 4 coordinates, and scores to fit the boxes."""
    if call.rank(0) == 3:
        call.equal(call.dim(0, 2), 4, "dimension 2 of {0}", "the number of coordinates of a box")
        if call.rank(1) == 3:
            call.equal(call.dim(0, 0), call.dim(1, 0), "dimension 0 of {0}", "dimension 0 of {1}")
            call.equal(call.dim(0, 1), call.dim(1, 2), "dimension 1 of {0}", "dimension 2 of {1}")


def _regex(call: OperatorCall) -> None:
    """Require the `pattern` of `RegexFullMatch`, which onnx's schema does not mark as required."""
    if call.attribute("pattern") is None:
        call.reject("the attribute `pattern` is missing")


def _rotary_embedding(call: OperatorCall) -> None:
    """Require `RotaryEmbedding` to have an even head size and caches of half the rotated size."""
    shape, heads = call.shape(0), call.integer("num_heads", 0)
    if shape is None or len(shape) not in (3, 4):
        return
    size, size_name = shape[-1], "the head size"
    if len(shape) == 3:
        if heads < 1:
            if call.attribute("num_heads") is not None:  # onnx reports missing attributes
                needed = "it must be positive if {0} has 3 dimensions"
                call.reject(f"`num_heads` is {heads}, but {needed}")
            return
        if not isinstance(size, int):
            return
        if size % heads:
            call.require_multiple(0, 2, heads, "`num_heads`")
            return
        size //= heads
    if isinstance(size, int) and size % 2:
        call.reject(f"the head size is {size}, but it must be even")
        return
    rotated = call.integer("rotary_embedding_dim", 0)
    if isinstance(size, int) and rotated > size:
        call.reject(f"`rotary_embedding_dim` is {rotated}, but the head size is {size}")
        return
    if rotated > 0:
        size, size_name = rotated, "`rotary_embedding_dim`"
    positions = shape[0], shape[-2]
    for index in (1, 2):
        table = call.shape(index)
        if not call.require_rank(index, 2 if call.has_input(3) else 3):
            return
        if table and len(table) == 3:
            _require_positions(call, index, positions)
        if isinstance(size, int):
            call.require_last(index, size // 2, f"half of {size_name}")
    if call.require_rank(3, 2):
        _require_positions(call, 3, positions)
        call.require_range(3, call.dim(1, 0), "dimension 0 of {1}", negative=False)


def _require_positions(call: OperatorCall, index: int, positions: Extents) -> None:
    """Require the first two dimensions of an input to be `positions`; ignore symbolic dimensions.

    `positions` are the batch size and the number of tokens.
    """
    named = zip(call.shape(index) or (), positions, _POSITIONS, strict=False)
    for axis, (size, expected, wanted_name) in enumerate(named):
        if isinstance(size, int) and isinstance(expected, int):
            call.equal(size, expected, f"dimension {axis} of {{{index}}}", wanted_name)


_POSITIONS = "the batch size", "the number of tokens"


def _scan(call: OperatorCall) -> None:
    """Require the lists of directions of a `Scan` to have one entry per scanned input or output."""
    scanned, body = call.integer("num_scan_inputs", 0), call.attribute("body")
    states = len(call.node.inputs) - scanned
    if scanned < 1 or states < 0:
        return
    counts = {"directions" if call.since < 9 else "scan_input_directions": (scanned, "input")}
    if isinstance(body, Graph) and call.since >= 9:
        counts["scan_output_directions"] = len(body.outputs) - states, "output"
    for name, (count, kind) in counts.items():
        length = len(call.listed(name, ()))
        if length and length != count:
            needed = f"the number of scanned {kind}s is {count}"
            call.reject(f"`{name}` has {entries(length)}, but {needed}")


def _slice(call: OperatorCall) -> None:
    """Require the starts, ends, axes and steps of `Slice` to have the same length; reject step 0.

    If these lists are known, the inference of the output shape checks their lengths. It also reads
    starts and ends with symbolic elements, and treats empty axes and steps as omitted.
    """
    if 0 in (call.integers("steps", 4) or ()):
        call.reject("a step is 0")
    first = call.shape(1)
    for index in (2, 3, 4):
        value = call.value(index)
        unread = value is None or (index > 2 and not value.numbers())
        other = call.shape(index) if unread else None
        if first is not None and other is not None and len(first) == len(other) == 1:
            call.equal(first[0], other[0], "the size of {1}", f"the size of {{{index}}}")


def _split(call: OperatorCall) -> None:
    """Require a `Split` to have `num_outputs` outputs, or one output per element of `split`."""
    declared, outputs = call.integer("num_outputs", 0), len(call.node.outputs)
    count = count_noun(outputs, "output")
    if declared > 0 and declared != outputs:
        call.reject(f"`num_outputs` is {declared}, but the node has {count}")
    sizes = [size for size in call.symbolic("split", 1) or () if isinstance(size, int)]
    if call.has_input(1) and min(sizes, default=0) < 0:
        call.reject(f"{{1}} has the negative size {min(sizes)}", specified=False)
    parts = call.shape(1)
    if parts is None or not call.require_rank(1, 1) or call.value(1) is not None:
        return
    # `split` may be shorter: the last outputs may be omitted.
    named = max([index for index, name in enumerate(call.node.outputs, 1) if name], default=0)
    if isinstance(parts[0], int) and not named <= parts[0] <= outputs:
        call.reject(f"{{1}} has {entries(parts[0])}, but the node has {count}")


def _tensor_scatter(call: OperatorCall) -> None:
    """Require the update of `TensorScatter` to fit into the cache along the axis."""
    cache, update, axis = call.shape(0), call.shape(1), call.axis("axis", -2)
    if cache is None or update is None or axis is None or len(cache) != len(update):
        return
    size, count = cache[axis], update[axis]
    if not isinstance(size, int) or not isinstance(count, int):
        return
    if count > size:
        update_size = f"dimension {axis} of {{1}} is {count}"
        call.reject(f"{update_size}, but dimension {axis} of {{0}} is only {size}")
        return
    starts = call.value(2) if call.attribute("mode") != b"circular" else None
    for start in starts.items if starts is not None else ():
        if isinstance(start, int) and not 0 <= start <= size - count:
            problem = f"the index {start} is out of range: dimension {axis}"
            call.reject(f"{problem} is {size} in {{0}} and {count} in {{1}}")
            return


def _tf_idf_vectorizer(call: OperatorCall) -> None:
    """Require the attributes of `TfIdfVectorizer` to describe one pool of n-grams consistently."""
    shortest, longest = call.integer("min_gram_length", 0), call.integer("max_gram_length", 0)
    if shortest > longest > 0:
        call.reject(f"`min_gram_length` is {shortest}, but `max_gram_length` is {longest}")
    pools = [name for name in ("pool_int64s", "pool_strings") if call.length(name)]
    if len(pools) == 2:
        call.reject("`pool_int64s` and `pool_strings` are given, but only one is allowed")
    elif not pools:
        call.reject("`pool_int64s` or `pool_strings` must be given, and not be empty")
    else:
        _require_pool(call, pools[0], longest)


def _require_pool(call: OperatorCall, pool: str, longest: int) -> None:
    starts, size = call.listed("ngram_counts", ()), call.length(pool)
    if 0 < len(starts) < longest:
        needed = f"but `max_gram_length` is {longest}"
        call.reject(f"`ngram_counts` has {entries(len(starts))}, {needed}")
        return
    bounds, ends = [*starts, size], (*starts[1:], size)
    if bounds != sorted(bounds) or bounds[0] < 0:
        needed = f"its entries must be from 0 to {size}, the length of `{pool}`, and not decrease"
        call.reject(f"`ngram_counts` is {list(starts)}, but {needed}")
        return
    if starts[:1] != (0,):
        return
    grams = 0
    for length, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        if (end - start) % length:
            pool_size = f"{entries(end - start)} for n-grams of length {length}"
            call.reject(f"`{pool}` has {pool_size}, which is not a multiple of {length}")
            return
        grams += (end - start) // length
    for name in ("ngram_indexes", "weights"):
        count = call.length(name)
        if count and count != grams:
            has = f"`{name}` has {entries(count)}"
            call.reject(f"{has}, but `{pool}` has {count_noun(grams, 'n-gram')}")


_NUMBERS: Mapping[str, tuple[int, ...]] = {
    "Clip": (1, 2),
    "CumProd": (1,),
    "CumSum": (1,),
    "Range": (0, 1, 2),
    "TopK": (1,),
    "Trilu": (1,),
}
"""Maps operators to the indices of inputs that need one element and rank 0 or 1 in onnxruntime."""
REDUCTIONS = """
    ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd
    ReduceSum ReduceSumSquare
"""
_RANKS: Mapping[str, Mapping[int, tuple[int, ...]]] = {
    **{name: {1: (1,)} for name in REDUCTIONS.split()},
    "AffineGrid": {0: (3,)},
    "CenterCropPad": {1: (0, 1)},
    "GridSample": {0: (4, 5)},
    "LRN": {0: (4,)},
    "NonMaxSuppression": {0: (3,), 1: (3,)},
    "Pad": {1: (1, 2), 3: (1,)},
    "STFT": {0: (2, 3)},
    "SplitToSequence": {1: (0, 1)},
    "Squeeze": {1: (1,)},
    "TopK": {1: (1,)},
    "Unsqueeze": {1: (0, 1)},
}
"""Maps each operator and 0-based input index to the ranks that onnxruntime accepts."""

_ONE_ELEMENT: Mapping[str, tuple[int, ...]] = {
    "BlackmanWindow": (0,),
    "DFT": (1, 2),
    "HammingWindow": (0,),
    "HannWindow": (0,),
    "If": (0,),
    "Loop": (0, 1),
    "MelWeightMatrix": (0, 1, 2, 3, 4),
    "Pad": (2,),
    "STFT": (1, 3),
    "SequenceAt": (1,),
    "SequenceErase": (1,),
    "SequenceInsert": (2,),
}
"""Maps operators to the 0-based indices of inputs that must have one element, of any rank."""

_CHECKS: Mapping[str, Callable[[OperatorCall], None]] = {
    **IMAGES_AND_SIGNALS,
    "Attention": _attention,
    "CenterCropPad": _center_crop_pad,
    "Compress": _compress,
    **dict.fromkeys(("CumProd", "CumSum"), _cumulative),
    **dict.fromkeys(("Div", "Mod"), require_divisor),
    "DeformConv": _deform_conv,
    "Dropout": require_ratio,
    "GroupNormalization": _group_normalization,
    "MeanVarianceNormalization": _mean_variance,
    "NonMaxSuppression": _non_max_suppression,
    "RegexFullMatch": _regex,
    "RotaryEmbedding": _rotary_embedding,
    "Scan": _scan,
    "Slice": _slice,
    "Split": _split,
    "TensorScatter": _tensor_scatter,
    "TfIdfVectorizer": _tf_idf_vectorizer,
}
"""Maps operators of the standard domain to the functions that check their nodes."""


def require_relations(name: str, call: OperatorCall) -> None:
    """Reject a node of the operator `name` if its inputs or attributes do not fit."""
    ranks = _RANKS.get(name, {}).items()
    if all(call.require_rank(index, *allowed, specified=False) for index, allowed in ranks):
        for index in _NUMBERS.get(name, ()):
            require_one(call, index, specified=False)
    for index in _ONE_ELEMENT.get(name, ()):
        if has_several(call.shape(index)):
            # Only onnxruntime rejects several padding values; the specification allows them.
            call.reject(f"{{{index}}} must have one element", specified=name != "Pad")
    check = _CHECKS.get(name)
    if check is not None:
        check(call)
