# SPDX-License-Identifier: Apache-2.0
"""Infer symbolic shapes of operators whose output shapes depend on the elements of inputs.

The functions also reject nodes whose inputs or attributes do not fit the operator.
"""

from __future__ import annotations

import struct

from onnxtext.ast.tensors_and_attributes import Floats, Tensor
from onnxtext.checker.symbolic.operator_call import (
    OperatorCall,
    Shapes,
    SymbolicShape,
    dimensions,
    entries,
)
from onnxtext.checker.symbolic.operator_shapes.reshape_and_slice import require_indices
from onnxtext.checker.symbolic.sizes.polynomials import (
    Extent,
    Extents,
    SizeTerm,
    SymbolicSize,
    minus,
    times,
)
from onnxtext.checker.symbolic.sizes.quotients import maximum_of, quotient_rounded_up, sole_factor
from onnxtext.plurals import count_noun
from onnxtext.tensor.element_count import count_elements


def broadcast_pair(left: Extent, right: Extent) -> Extent:
    """Return the result of broadcasting two sizes; None if unknown, for example for `N` and `M`."""
    if left == right:
        return left
    for first, second in ((left, right), (right, left)):
        if first == 1:
            return second
        # A number other than 1 is the result: the other size must be equal or 1.
        if isinstance(first, int):
            return first
        if _is_minimum_of(first, second):
            return second
    return None


def _is_minimum_of(minimum: Extent, size: Extent) -> bool:
    """Whether `minimum` is a minimum of several sizes, and `size` is one of them."""
    term = sole_factor(minimum) if isinstance(minimum, SymbolicSize) else None
    return isinstance(term, SizeTerm) and term.kind == "min" and size in term.parts


def expand(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `Expand`: the data's shape, broadcast with the given shape."""
    shape, target = call.shape(0), call.symbolic("shape", 1)
    if shape is None or target is None or not _require_rank_1(call, 1):
        return None
    if _rejects_negative(call, target):
        return None
    rank = max(len(shape), len(target))
    padded_shape: Extents = (*(1,) * (rank - len(shape)), *shape)
    padded_target: Extents = (*(1,) * (rank - len(target)), *target)
    pairs = zip(padded_shape, padded_target, strict=True)
    return tuple([_expanded_dim(call, size, wanted) for size, wanted in pairs])


def _rejects_negative(call: OperatorCall, target: Extents) -> bool:
    """Reject a shape with a negative dimension; return whether it has one."""
    negative = next((size for size in target if isinstance(size, int) and size < 0), None)
    if negative is not None:
        call.reject(f"the shape has the negative dimension {negative}")
    return negative is not None


def _expanded_dim(call: OperatorCall, size: Extent, target: Extent) -> Extent:
    if isinstance(size, int) and isinstance(target, int) and 1 not in (size, target):
        call.equal(size, target, "a dimension of {0}", "the expanded dimension")
    if size is None or target is None:
        dim = target if size is None else size
        return dim if isinstance(dim, int) and dim != 1 else None
    return broadcast_pair(size, target)


def tile(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `Tile`: each dimension is multiplied by its number of repeats."""
    shape, repeats = call.shape(0), call.symbolic("repeats", 1)
    if call.since >= 6 and not call.require_rank(1, 1):
        return None
    if shape is not None and repeats is not None and call.since >= 6:
        call.equal(len(repeats), len(shape), "the length of {1}", "the rank of {0}")
    wrong = next((count for count in repeats or () if isinstance(count, int) and count < 0), None)
    if wrong is not None and call.since >= 6:
        call.reject(f"the number of repeats {wrong} is negative")
    if shape is None or repeats is None or len(repeats) != len(shape) or call.since < 6:
        return None if shape is None or call.since < 6 else (None,) * len(shape)
    return tuple([times(size, count) for size, count in zip(shape, repeats, strict=True)])


def range_(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `Range`: the number of steps from the start to the end."""
    length, step = minus(call.scalar(1), call.scalar(0)), call.scalar(2)
    if step == 0:
        call.reject("{2} is 0, so the range has no end", elements=True)
    if not isinstance(step, int) or not step:
        return (None,)
    count = quotient_rounded_up(length if step > 0 else times(length, -1), abs(step))
    return (maximum_of(count, 0),)


def constant(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `Constant`: the shape of the attribute's value."""
    for attribute in call.node.attributes:
        value = attribute.read()
        if isinstance(value, Tensor):
            shape, dims = value.type.shape, value.type.integer_dims
            return dims if shape is not None and len(dims) == len(shape) else None
        if attribute.name in ("value_ints", "value_floats", "value_strings"):
            return (len(value),) if isinstance(value, (tuple, Floats)) else None
        if attribute.name in ("value_int", "value_float", "value_string"):
            return ()
    return None


def constant_of_shape(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `ConstantOfShape`: the elements of its input."""
    value = call.attribute("value")
    if isinstance(value, Tensor):
        count = count_elements(value.type.integer_dims)
        if count != 1:
            call.reject(f"`value` has {count_noun(count, 'element')}, but 1 is needed")
    shape = call.symbolic("shape", 0) if _require_rank_1(call, 0) else None
    return None if shape is None or _rejects_negative(call, shape) else shape


def _require_rank_1(call: OperatorCall, index: int) -> bool:
    """Require an input that contains a shape to have rank 1.

    The specification forbids other ranks only if the elements are unknown: onnx and onnxruntime
    accept constants of other ranks. Return False if the rank is known and not 1.
    """
    return call.require_rank(index, 1, accepted=call.value(index) is not None)


def top_k(call: OperatorCall) -> Shapes:
    """Infer the output shapes of `TopK`: the size of one dimension becomes `k`."""
    shape, axis = call.shape(0), call.axis("axis", -1)
    if shape is None or axis is None:
        return ()
    attribute = call.attribute("k")
    count = attribute if isinstance(attribute, int) else call.scalar(1)
    size = shape[axis]
    if isinstance(count, int) and count < 0:
        call.reject(f"`k` is {count}; it must not be negative")
    elif isinstance(count, int) and isinstance(size, int) and count > size:
        call.reject(f"`k` is {count}, but dimension {axis} of {{0}} is {size}")
    dims = (*shape[:axis], count, *shape[axis + 1 :])
    return dims, dims


def one_hot(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `OneHot`: a dimension of size `depth` is inserted."""
    shape = call.shape(0)
    axis = call.integer("axis", -1)
    if shape is None or not -len(shape) - 1 <= axis <= len(shape):
        return None
    axis %= len(shape) + 1
    return (*shape[:axis], call.scalar(1), *shape[axis:])


def resize(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `Resize` or `Upsample` from the given sizes or scales."""
    shape = call.shape(0)
    if shape is None:
        return None
    rank = len(shape)
    axes = call.listed("axes", ()) or tuple(range(rank))
    plain = call.attribute("keep_aspect_ratio_policy") in (None, b"stretch")
    crops = call.attribute("coordinate_transformation_mode") == b"tf_crop_and_resize"
    may_have_sizes = call.node.op_type == "Resize" and call.since >= 11
    if may_have_sizes:
        _require_scales_or_sizes(call)
    scaled = not (may_have_sizes and call.has_input(3))
    name, index = ("scales", 2 if may_have_sizes else 1) if scaled else ("sizes", 3)
    given = call.symbolic(name, index)
    count = _element_count(call, index) if given is None else len(given)
    if count and count != len(axes):
        needed = f"{{0}} has {dimensions(rank)}"
        if call.listed("axes", ()):
            needed = f"`axes` has {entries(len(axes))}"
        given_as = count_noun(count, *("scale", "scales") if scaled else ("size", "sizes"))
        call.reject(f"the node gets {given_as}, but {needed}")
    if scaled:
        _require_positive_scales(call, given or ())
    least = min([size for size in given or () if isinstance(size, int)], default=0)
    if least < 0 and not scaled:
        call.reject(f"a size is {least}, but sizes must not be negative")
    if crops and may_have_sizes and call.shape(1) != (2 * rank,):  # runtimes accept all axes, too
        call.require_vector(1, 2 * len(axes), "twice the number of axes", specified=False)
    if given is None or len(given) != len(axes) or not plain or (crops and scaled):
        return (None,) * rank
    dims = list(shape)
    for axis, size in zip(axes, given, strict=True):
        if not -rank <= axis < rank:
            return None
        dims[axis] = times(dims[axis], size) if scaled else size
    return tuple(dims)


def _element_count(call: OperatorCall, index: int) -> int:
    """Return the number of elements of an input; 0 if it is unknown."""
    sizes = [size for size in call.shape(index) or () if isinstance(size, int)]
    return count_elements(sizes) if call.rank(index) == len(sizes) else 0


def _require_positive_scales(call: OperatorCall, scales: Extents) -> None:
    """Require the scales of a `Resize` to be above 0, and of an `Upsample` to be at least 1."""
    listed = call.attribute("scales")
    factors: list[object] = list(scales)
    if isinstance(listed, Floats):
        factors += struct.unpack(f"<{len(listed)}f", listed.data)
    is_upsample = call.node.op_type == "Upsample"
    for scale in factors:
        if not isinstance(scale, (int, float)) or scale >= 1 or (scale > 0 and not is_upsample):
            continue
        needed = "at least 1" if is_upsample else "above 0"
        call.reject(f"a scale is {scale:g}, but scales must be {needed}")
        return


def _require_scales_or_sizes(call: OperatorCall) -> None:
    scales, sizes = _is_given(call, 2), _is_given(call, 3)
    if scales and sizes:
        call.reject("both `scales` and `sizes` are given, but only one of them is allowed")
    elif scales and call.has_input(3) and sizes is False:
        call.reject("onnxruntime rejects `scales` together with an empty `sizes`", specified=False)
    elif scales is False and sizes is False:
        call.reject("neither `scales` nor `sizes` is given, but one of them is required")


def _is_given(call: OperatorCall, index: int) -> bool | None:
    """Whether an input is passed and is not empty; None if unknown."""
    if not call.has_input(index):
        return False
    size = call.dim(index, 0)
    return size > 0 if isinstance(size, int) else None


def gather_elements(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `GatherElements`: the shape of the indices."""
    shape, chosen, axis = call.shape(0), call.shape(1), call.axis("axis", 0)
    if shape is None or axis is None or not call.require_rank(1, len(shape)):
        return chosen
    _require_within(call, shape, axis)
    require_indices(call, (shape[axis],))
    return chosen


def _require_within(call: OperatorCall, shape: Extents, axis: int) -> None:
    """Reject indices whose shape exceeds the shape of the data in a dimension other than `axis`."""
    for index, (size, count) in enumerate(zip(shape, call.shape(1) or (), strict=False)):
        numbers = isinstance(size, int) and isinstance(count, int)
        if index != axis and numbers and count > size:  # type: ignore[operator]
            wrong = f"dimension {index} of {{1}} is {count}"
            call.reject(f"{wrong}, but dimension {index} of {{0}} is only {size}")


def scatter_elements(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `ScatterElements`: the shape of the data.

    Indices and updates must have equal shapes, whose rank is the rank of the data.
    """
    shape, chosen, updates = call.shape(0), call.shape(1), call.shape(2)
    axis = call.axis("axis", 0)
    if shape is None or axis is None:
        return shape
    require_indices(call, (shape[axis],))
    _require_within(call, shape, axis)
    for index in (1, 2):
        call.require_rank(index, len(shape))
    if chosen is not None and updates is not None and len(chosen) == len(updates):
        for axis, (left, right) in enumerate(zip(chosen, updates, strict=True)):
            call.equal(left, right, f"dimension {axis} of {{1}}", f"dimension {axis} of {{2}}")
    return shape


def scatter_nd(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `ScatterND`: the shape of the data.

    Each index tuple selects a slice of the data. An update of the same shape replaces the slice.
    """
    shape, chosen, updates = call.shape(0), call.shape(1), call.shape(2)
    for index in (0, 1):
        if call.rank(index) == 0:
            call.reject(f"{{{index}}} has 0 dimensions, but the operator needs 1 or more")
    depth = chosen[-1] if chosen else None
    if shape is None or not chosen or depth is None or updates is None:
        return shape
    if isinstance(depth, SymbolicSize):
        # The ranks determine the length of an index tuple.
        call.equal(depth, len(chosen) - 1 + len(shape) - len(updates))
        return shape
    if depth > len(shape):
        call.reject(f"the last dimension of {{1}} is {depth}, but {{0}} has rank {len(shape)}")
        return shape
    require_indices(call, shape[:depth])
    expected = (*chosen[:-1], *shape[depth:])
    call.require_shape(2, expected, "the size of the slices")
    return shape


def gather_nd(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `GatherND`: each index tuple selects a slice of the data."""
    data, chosen = call.shape(0), call.shape(1)
    batch = call.integer("batch_dims", 0)
    if batch < 0:
        call.reject(f"`batch_dims` is {batch}, but it must be 0 or more")
        return None
    if data is None or not chosen or not isinstance(chosen[-1], int):
        return None
    if batch + chosen[-1] > len(data):
        wrong = f"the last dimension of {{1}} is {chosen[-1]}"
        if batch:
            wrong += f" and `batch_dims` is {batch}"
        call.reject(f"{wrong}, but {{0}} has rank {len(data)}")
        return None
    if batch >= len(chosen):
        call.reject(f"`batch_dims` is {batch}, but {{1}} has rank {len(chosen)}")
        return None
    for axis, sizes in enumerate(zip(data[:batch], chosen[:-1], strict=False)):
        call.equal(*sizes, f"dimension {axis} of {{0}}", f"dimension {axis} of {{1}}")
    require_indices(call, data[batch : batch + chosen[-1]])
    return (*chosen[:-1], *data[batch + chosen[-1] :])


def non_zero(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `NonZero`: one row for each dimension of the input.

    The number of columns is unknown, because it depends on the elements. For a scalar, the number
    of rows is unknown, too: 0 in the specification, 1 in onnxruntime.
    """
    rank = call.rank(0)
    return None if rank is None else (rank or None, None)
