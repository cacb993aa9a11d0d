# SPDX-License-Identifier: Apache-2.0
"""Check relations between inputs and attributes that the shape inference of onnx does not check.

Each function implements the description of its operator in the ONNX operator specification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from onnxtext.ast.tensors_and_attributes import Tensor
from onnxtext.checker.inference.symbolic.operator_call import OperatorCall, SymbolicShape, entries
from onnxtext.checker.inference.symbolic.tree_ensembles import count_of
from onnxtext.plurals import count_noun


def _center_crop_pad(call: OperatorCall) -> None:
    """Require that the axes of `CenterCropPad` are distinct, and as many as entries of `shape`."""
    axes, rank, shape = call.listed("axes", ()), call.rank(0), call.shape(1)
    if not axes or rank is None:
        return
    resolved = call.axes(axes, rank)
    if resolved is not None and len(set(resolved)) < len(resolved):
        call.reject(f"`axes` is {list(axes)}, which names an axis twice")
    if shape is not None and len(shape) == 1:
        call.equal(len(axes), shape[0], "the length of `axes`", "the size of {1}")


def _constant_of_shape(call: OperatorCall) -> None:
    """Require that `value` of `ConstantOfShape` has one element."""
    value = call.attribute("value")
    if isinstance(value, Tensor):
        dims = [dim for dim in value.type.shape or () if isinstance(dim, int)]
        if prod(dims) != 1:
            call.reject(f"`value` has {count_noun(prod(dims), 'element')}, but 1 is needed")


def _deform_conv(call: OperatorCall) -> None:
    """Require that the channels of all inputs of `DeformConv` fit."""
    data, weights = call.shape(0), call.shape(1)
    group, offset_group = call.integer("group", 1), call.integer("offset_group", 1)
    if data is None or weights is None or len(data) < 3 or group < 1 or offset_group < 1:
        return
    if not call.has_rank(1, len(data)):
        return
    channels, kernel = weights[1], weights[2:]
    if isinstance(channels, int):
        called = "dimension 1 of {1} times `group`"
        call.equal(data[1], channels * group, "dimension 1 of {0}", called)
    call.multiple(0, 1, group, "`group`")
    call.multiple(0, 1, offset_group, "`offset_group`")
    call.multiple(1, 0, group, "`group`")
    sizes = [size for size in kernel if isinstance(size, int)]
    bias = call.shape(3)
    if bias is not None and len(bias) == 1:
        call.equal(bias[0], weights[0], "the size of {3}", "dimension 0 of {1}")
    if len(sizes) < len(kernel):
        return
    points = offset_group * prod(sizes)
    for index, count in ((2, points * len(kernel)), (4, points)):
        other = call.shape(index)
        if other is not None and len(other) == len(data):
            call.equal(other[0], data[0], f"dimension 0 of {{{index}}}", "dimension 0 of {0}")
            called = "the number of offsets" if index == 2 else "the number of kernel points"
            call.equal(other[1], count, f"dimension 1 of {{{index}}}", called)


def _dft(call: OperatorCall) -> None:
    """Require that the last dimension of the input of `DFT` is 1 (real) or 2 (complex)."""
    shape = call.shape(0)
    if shape and isinstance(shape[-1], int) and shape[-1] not in (1, 2):
        call.reject(f"the last dimension of {{0}} is {shape[-1]}, but it must be 1 or 2")


def _group_normalization(call: OperatorCall) -> None:
    """Require that the channels of `GroupNormalization` form groups of equal size."""
    shape, groups = call.shape(0), call.integer("num_groups", 0)
    if shape is None or len(shape) < 2 or groups < 1:
        return
    call.multiple(0, 1, groups, "`num_groups`")
    wanted, name = (groups, "`num_groups`") if call.since < 21 else (shape[1], "dimension 1 of {0}")
    for index in (1, 2):
        other = call.shape(index)
        if other is not None and len(other) == 1:
            call.equal(other[0], wanted, f"the size of {{{index}}}", name)


def _loop(call: OperatorCall) -> None:
    """Require that the trip count and the condition of `Loop` have one element."""
    _one_element(call, 0)
    _one_element(call, 1)


def _one_element(call: OperatorCall, index: int) -> None:
    if has_several(call.shape(index)):
        call.reject(f"{{{index}}} must have one element")


def has_several(shape: SymbolicShape) -> bool:
    """Whether a tensor of this shape cannot have one element."""
    return any(isinstance(size, int) and size != 1 for size in shape or ())


def _non_max_suppression(call: OperatorCall) -> None:
    """Require that the boxes and scores of `NonMaxSuppression` fit."""
    boxes, scores = call.shape(0), call.shape(1)
    if boxes is not None and len(boxes) == 3:
        call.equal(boxes[2], 4, "dimension 2 of {0}", "the number of coordinates of a box")
        if scores is not None and len(scores) == 3:
            call.equal(boxes[0], scores[0], "dimension 0 of {0}", "dimension 0 of {1}")
            call.equal(boxes[1], scores[2], "dimension 1 of {0}", "dimension 2 of {1}")


def _split(call: OperatorCall) -> None:
    """Require that a `Split` has `num_outputs` outputs."""
    number, outputs = call.integer("num_outputs", 0), len(call.node.outputs)
    if number > 0 and number != outputs:
        count = count_noun(outputs, "output")
        call.reject(f"`num_outputs` is {number}, but the node has {count}")


def _tf_idf_vectorizer(call: OperatorCall) -> None:
    """Require that the lists of `TfIdfVectorizer` describe one pool of n-grams."""
    shortest, longest = call.integer("min_gram_length", 0), call.integer("max_gram_length", 0)
    if shortest > longest > 0:
        call.reject(f"`min_gram_length` is {shortest}, but `max_gram_length` is {longest}")
    pools = [name for name in ("pool_int64s", "pool_strings") if count_of(call, name)]
    if len(pools) == 2:
        call.reject("`pool_int64s` and `pool_strings` are given, but only one is allowed")
    elif pools:
        _require_pool(call, pools[0], longest)


def _require_pool(call: OperatorCall, pool: str, longest: int) -> None:
    starts, size = call.listed("ngram_counts", ()), count_of(call, pool)
    if 0 < len(starts) < longest:
        needed = f"but `max_gram_length` is {longest}"
        call.reject(f"`ngram_counts` has {entries(len(starts))}, {needed}")
    ends = (*starts[1:], size)
    if not starts or starts[0] != 0 or any(a > b for a, b in zip(starts, ends, strict=True)):
        return
    grams = 0
    for length, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        if (end - start) % length:
            called = f"{entries(end - start)} for n-grams of length {length}"
            call.reject(f"`{pool}` has {called}, which is not a multiple of {length}")
            return
        grams += (end - start) // length
    for name in ("ngram_indexes", "weights"):
        count = count_of(call, name)
        if count and count != grams:
            call.reject(f"`{name}` has {entries(count)}, but `{pool}` has {grams:,} n-grams")


_CHECKS: Mapping[str, Callable[[OperatorCall], None]] = {
    "CenterCropPad": _center_crop_pad,
    "ConstantOfShape": _constant_of_shape,
    "DFT": _dft,
    "DeformConv": _deform_conv,
    "If": lambda call: _one_element(call, 0),
    "GroupNormalization": _group_normalization,
    "Loop": _loop,
    "NonMaxSuppression": _non_max_suppression,
    "Split": _split,
    "TfIdfVectorizer": _tf_idf_vectorizer,
}
"""By operator of the standard domain, the function that checks its relations."""


def require_relations(name: str, call: OperatorCall) -> None:
    """Reject a node of the operator `name` if its inputs and attributes contradict each other."""
    check = _CHECKS.get(name)
    if check is not None:
        check(call)
