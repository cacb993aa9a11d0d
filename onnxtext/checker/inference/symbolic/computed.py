# SPDX-License-Identifier: Apache-2.0
"""Infer symbolic shapes of operators whose output shapes are among their inputs' values."""

from __future__ import annotations

from onnxtext.ast.values import Tensor
from onnxtext.checker.inference.symbolic.call import OperatorCall, SymbolicShape
from onnxtext.checker.inference.symbolic.expressions import (
    Extent,
    Size,
    Term,
    minus,
    plus,
    times,
)
from onnxtext.checker.inference.symbolic.quotients import (
    greatest_of,
    quotient,
    rounded_up,
    sole_factor,
)
from onnxtext.checker.inference.symbolic.sizes import Extents


def broadcast_pair(left: Extent, right: Extent) -> Extent:
    """Return the size to which two known sizes are broadcast; None if that depends on them."""
    if left == right:
        return left
    for one, other in ((left, right), (right, left)):
        if one == 1:
            return other
        # Unless the sizes differ, or one is 1, the node is wrong.
        if isinstance(one, int):
            return one
        if _is_least_of(one, other):
            return other
    return None


def _is_least_of(least: Extent, size: Extent) -> bool:
    """Whether a size is the lesser of some sizes, one of which is this."""
    term = sole_factor(least) if isinstance(least, Size) else None
    return isinstance(term, Term) and term.kind == "min" and size in term.parts


def expanded(call: OperatorCall) -> SymbolicShape:
    """Infer `Expand`: a shape is broadcast against the input."""
    shape, wanted = call.shape(0), call.symbolic("shape", 1)
    if shape is None or wanted is None:
        return None
    rank = max(len(shape), len(wanted))
    one: Extents = (*(1,) * (rank - len(shape)), *shape)
    other: Extents = (*(1,) * (rank - len(wanted)), *wanted)
    return tuple([_expanded(a, b) for a, b in zip(one, other, strict=True)])


def _expanded(size: Extent, wanted: Extent) -> Extent:
    if size is None or wanted is None:
        known = wanted if size is None else size
        return known if isinstance(known, int) and known != 1 else None
    return broadcast_pair(size, wanted)


def tiled(call: OperatorCall) -> SymbolicShape:
    """Infer `Tile`: sizes are multiplied."""
    shape, repeats = call.shape(0), call.symbolic("repeats", 1)
    if shape is None or repeats is None or len(repeats) != len(shape) or call.since < 6:
        return None if shape is None or call.since < 6 else (None,) * len(shape)
    return tuple([times(size, count) for size, count in zip(shape, repeats, strict=True)])


def ranged(call: OperatorCall) -> SymbolicShape:
    """Infer `Range`: the number of steps from the start to the end."""
    length, step = minus(call.scalar(1), call.scalar(0)), call.scalar(2)
    if not isinstance(step, int) or not step:
        return (None,)
    count = rounded_up(length if step > 0 else times(length, -1), abs(step))
    return (greatest_of(count, 0),)


def constant_shape(call: OperatorCall) -> SymbolicShape:
    """Infer `Constant`: the shape of the attribute."""
    for attribute in call.node.attributes:
        value = attribute.value
        if isinstance(value, Tensor):
            shape = value.type.shape
            plain = tuple([dim for dim in shape or () if isinstance(dim, int)])
            return plain if shape is not None and len(plain) == len(shape) else None
        if attribute.name in ("value_ints", "value_floats", "value_strings"):
            return (len(value),) if isinstance(value, tuple) else None
        if attribute.name in ("value_int", "value_float", "value_string"):
            return ()
    return None


def filled(call: OperatorCall) -> SymbolicShape:
    """Infer `ConstantOfShape`: the input is the shape."""
    return call.symbolic("shape", 0)


def top(call: OperatorCall) -> tuple[SymbolicShape, ...]:
    """Infer `TopK`: one dimension becomes k."""
    shape = call.shape(0)
    axis = call.integer("axis", -1)
    if not shape or not -len(shape) <= axis < len(shape):
        return ()
    axis %= len(shape)
    given = call.attribute("k")
    count = given if isinstance(given, int) else call.scalar(1)
    made = (*shape[:axis], count, *shape[axis + 1 :])
    return made, made


def one_hot(call: OperatorCall) -> SymbolicShape:
    """Infer `OneHot`: a dimension of the depth is inserted."""
    shape = call.shape(0)
    axis = call.integer("axis", -1)
    if shape is None or not -len(shape) - 1 <= axis <= len(shape):
        return None
    axis %= len(shape) + 1
    return (*shape[:axis], call.scalar(1), *shape[axis:])


def resized(call: OperatorCall) -> SymbolicShape:
    """Infer `Resize` and `Upsample`: the sizes are given, or factors."""
    shape = call.shape(0)
    if shape is None:
        return None
    rank = len(shape)
    axes = call.listed("axes", tuple(range(rank)))
    plain = call.attribute("keep_aspect_ratio_policy") in (None, b"stretch")
    crops = call.attribute("coordinate_transformation_mode") == b"tf_crop_and_resize"
    given = None
    scaled = True
    if call.node.op_type == "Resize" and call.since >= 11 and call.has_input(3):
        given, scaled = call.symbolic("sizes", 3), False
    else:
        index = 2 if call.node.op_type == "Resize" and call.since >= 11 else 1
        value = call.value(index)
        given = None if value is None else value.items
    if given is None or len(given) != len(axes) or not plain or (crops and scaled):
        return (None,) * rank
    made = list(shape)
    for axis, size in zip(axes, given, strict=True):
        if not -rank <= axis < rank:
            return None
        made[axis] = times(made[axis], size) if scaled else size
    return tuple(made)


def indices_shape(call: OperatorCall) -> SymbolicShape:
    """Infer `GatherElements`: the shape of the indices."""
    return call.shape(1)


def gathered(call: OperatorCall) -> SymbolicShape:
    """Infer `GatherND`: the last dimension of the indices is a depth in the data."""
    data, chosen = call.shape(0), call.shape(1)
    batch = call.integer("batch_dims", 0)
    if data is None or not chosen or not isinstance(chosen[-1], int):
        return None
    return (*chosen[:-1], *data[batch + chosen[-1] :])


def found_places(call: OperatorCall) -> SymbolicShape:
    """Infer `NonZero`: the rank, and a number that only the elements tell."""
    shape = call.shape(0)
    return None if shape is None else (max(len(shape), 1) if call.since >= 9 else None, None)


def to_depth(call: OperatorCall) -> SymbolicShape:
    """Infer `SpaceToDepth`: blocks become channels."""
    shape, block = call.shape(0), call.integer("blocksize", 0)
    if shape is None or len(shape) != 4 or block < 1:
        return None
    area = block * block
    height, width = quotient(shape[2], block), quotient(shape[3], block)
    return shape[0], times(shape[1], area), height, width


def to_space(call: OperatorCall) -> SymbolicShape:
    """Infer `DepthToSpace`: channels become blocks."""
    shape, block = call.shape(0), call.integer("blocksize", 0)
    if shape is None or len(shape) != 4 or block < 1:
        return None
    return (
        shape[0],
        quotient(shape[1], block * block),
        times(shape[2], block),
        times(shape[3], block),
    )


def transposed_conv(call: OperatorCall) -> SymbolicShape:
    """Infer `ConvTranspose`."""
    shape, weights = call.shape(0), call.shape(1)
    if shape is None or weights is None or len(shape) != len(weights) or len(shape) < 3:
        return None
    count = len(shape) - 2
    strides = call.listed("strides", (1,) * count)
    dilations = call.listed("dilations", (1,) * count)
    pads = call.listed("pads", (0,) * (2 * count))
    more = call.listed("output_padding", (0,) * count)
    channels = times(weights[1], call.integer("group", 1))
    known = call.attribute("auto_pad") in (None, b"NOTSET", b"VALID")
    if not known or call.attribute("output_shape") is not None or len(pads) != 2 * count:
        return (shape[0], channels, *(None,) * count)
    if len(strides) != count or len(dilations) != count or len(more) != count:
        return None
    made: list[Extent] = []
    for axis in range(count):
        window = weights[axis + 2]
        span = times(plus(window, -1), dilations[axis])
        size = plus(times(plus(shape[axis + 2], -1), strides[axis]), plus(span, 1))
        made.append(plus(size, more[axis] - pads[axis] - pads[axis + count]))
    return (shape[0], channels, *made)


def recurrent(call: OperatorCall) -> tuple[SymbolicShape, ...]:
    """Infer `RNN`, `GRU` and `LSTM`."""
    shape = call.shape(0)
    hidden = call.integer("hidden_size", 0) or None
    if shape is None or len(shape) != 3:
        return ()
    if hidden is None:
        state = call.shape(2)
        last = state[2] if state is not None and len(state) == 3 else None
        hidden = last if isinstance(last, int) else None
    count = 2 if call.attribute("direction") == b"bidirectional" else 1
    first = call.integer("layout", 0)
    steps, batch = (shape[1], shape[0]) if first else (shape[0], shape[1])
    state_shape = (batch, count, hidden) if first else (count, batch, hidden)
    whole = (batch, steps, count, hidden) if first else (steps, count, batch, hidden)
    return whole, state_shape, state_shape
