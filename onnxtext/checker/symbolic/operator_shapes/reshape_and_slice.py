# SPDX-License-Identifier: Apache-2.0
"""Infer symbolic shapes of operators that reshape, transpose, join, split and pad tensors.

The functions also reject nodes whose inputs or attributes do not fit the operator.
"""

from __future__ import annotations

from onnxtext.checker.symbolic.operator_call import OperatorCall, Shapes, SymbolicShape, dimensions
from onnxtext.checker.symbolic.sizes.polynomials import (
    Extent,
    Extents,
    SymbolicSize,
    minus,
    plus,
    product_of,
    symbol_plus,
    symbols,
    terms_of,
    text,
    times,
    total,
)
from onnxtext.checker.symbolic.sizes.quotients import (
    cancel_common_symbols,
    is_positive,
    is_positive_or_zero,
    maximum_of,
    minimum_of,
    quotient,
    quotient_rounded_up,
)
from onnxtext.plurals import count_noun

_INFINITE = (1 << 31) - 1


def transpose(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `Transpose`: the dimensions in another order."""
    shape = call.shape(0)
    if shape is None:
        return None
    order = call.listed("perm", tuple(reversed(range(len(shape)))))
    if sorted(order) != list(range(len(shape))):
        wrong = f"`perm` is {list(order)}, which is not a permutation of the"
        call.reject(f"{wrong} {dimensions(len(shape))} of {{0}}")
        return None
    return tuple([shape[axis] for axis in order])


def flatten(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `Flatten`: the products of the sizes before and after the axis."""
    shape, axis = call.shape(0), call.axis("axis", 1, beyond=1)
    if shape is None or axis is None:
        return None
    return product_of(shape[:axis]), product_of(shape[axis:])


def squeeze(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `Squeeze`: the removed dimensions must have size 1."""
    shape = call.shape(0)
    axes = call.integers("axes", 1)
    if shape is not None and axes is None and not call.has_input(1):
        # Without axes, `Squeeze` removes all dimensions of size 1. A symbolic size may be 1, too.
        is_static = all(isinstance(extent, int) for extent in shape)
        return tuple([extent for extent in shape if extent != 1]) if is_static else None
    if shape is None or axes is None:
        return None
    if not axes and 1 in shape:
        # The specification does not define empty `axes`: onnxruntime removes the dimensions of size
        # 1, onnx keeps them.
        call.reject(
            "`axes` is empty, but {0} has dimensions of size 1, which onnxruntime removes and onnx "
            "keeps",
            specified=False,
        )
        return None
    removed = call.axes(axes, len(shape))
    if removed is None:
        return None
    for axis in removed:
        call.equal(
            shape[axis], 1, f"dimension {axis} of {{0}}", "the only size that `Squeeze` can remove"
        )
    return tuple([extent for axis, extent in enumerate(shape) if axis not in removed])


def unsqueeze(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `Unsqueeze`: the added dimensions have size 1."""
    shape, axes = call.shape(0), call.integers("axes", 1)
    if shape is None:
        return None
    if axes is None:
        listed = call.symbolic("axes", 1)
        return None if listed is None else (None,) * (len(shape) + len(listed))
    rank = len(shape) + len(axes)
    added = call.axes(axes, rank)
    if added is None:
        return None
    if len(set(added)) != len(axes):
        # onnxruntime rejects duplicate axes. Version 1 of `Unsqueeze` does not mention duplicates.
        call.reject("an axis occurs twice in the axes", specified=call.since > 1)
        return None
    rest = iter(shape)
    return tuple([1 if axis in added else next(rest) for axis in range(rank)])


def concat(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `Concat`: sizes along one axis are added; others must be equal."""
    shapes = [shape for shape in call.shapes if shape is not None]
    ranks = sorted({len(shape) for shape in shapes})
    if len(ranks) > 1:
        call.reject(f"the inputs have different numbers of dimensions: {ranks[0]} and {ranks[1]}")
    if len(shapes) != len(call.shapes) or len(ranks) != 1:
        return None
    axis = call.axis("axis", 1)
    if axis is None:
        return None
    dims: list[Extent] = []
    for index in range(ranks[0]):
        extents = [shape[index] for shape in shapes]
        if index == axis:
            dims.append(total(extents))
            continue
        first = next((i for i, extent in enumerate(extents) if extent is not None), 0)
        known_extent = extents[first]
        for position, extent in enumerate(extents):
            names = [f"dimension {index} of {{{number}}}" for number in (first, position)]
            call.equal(known_extent, extent, *names)
        dims.append(next((e for e in extents if isinstance(e, int)), known_extent))
    return tuple(dims)


def reshape(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `Reshape`: the number of elements stays the same."""
    shape = call.shape(0)
    target = call.symbolic("shape", 1)
    if not call.require_rank(1, 1) or target is None:
        return None
    below = any(isinstance(size, int) and size < -1 for size in target)
    if below or target.count(-1) > 1:
        rule = "sizes must be at least -1" if below else "only one size may be -1"
        shown = ", ".join(["?" if size is None else text(size) for size in target])
        call.reject(f"the shape is [{shown}]; {rule}")
        return None
    # A symbolic size that may be -1 (inferred) or 0 (copied from the input) becomes unknown.
    target = tuple([None if isinstance(size, SymbolicSize) and not is_positive(size) else size
                    for size in target])  # fmt: skip
    copies = not call.integer("allowzero", 0)
    dims = [None if size == -1 or (size == 0 and copies) else size for size in target]
    input_shape = shape  # with a temporary name for each unknown dimension
    if shape is not None:
        input_shape = tuple([symbol_plus(f"{_UNKNOWN}{index}") if size is None else size
                             for index, size in enumerate(shape)])  # fmt: skip
    for index, size in enumerate(target if copies else ()):
        if size == 0 and input_shape is not None and index < len(input_shape):
            dims[index] = input_shape[index]
        elif size == 0 and input_shape is not None:
            wrong = f"size {index} of the shape is 0, which copies dimension {index} of {{0}}"
            call.reject(f"{wrong}, but {{0}} has only {dimensions(len(input_shape))}")
    rest = [index for index, size in enumerate(target) if size in (-1, None)]
    if input_shape is not None and (None not in dims or len(rest) == 1):
        others = [size for index, size in enumerate(dims) if index not in rest]
        if 0 in input_shape:
            if rest and all(map(is_positive, others)):
                dims[rest[0]] = 0
            elif not rest and isinstance(product_of(others), int):  # symbolic sizes may be 0
                _equal_products(call, input_shape, tuple(dims))
        elif rest:
            total, part = product_of(input_shape), product_of(others)
            if isinstance(total, int) and isinstance(part, int) and part and total % part:
                product = f"{part}, the product of the other sizes"
                elements = count_noun(total, "element")
                call.reject(f"{{0}} has {elements}, which is not a multiple of {product}")
            dims[rest[0]] = quotient(total, part)
        else:
            _equal_products(call, input_shape, tuple(dims))
    return tuple([_without_temporary_name(size) for size in dims])


_UNKNOWN = "\0?"
"""The prefix of the temporary names of unknown dimensions."""


def _without_temporary_name(size: Extent) -> Extent:
    """Return the size, or None if it contains the temporary name of an unknown dimension."""
    return None if any(name.startswith(_UNKNOWN) for name in symbols(size)) else size


def _equal_products(call: OperatorCall, left: Extents, right: Extents) -> None:
    """Require two shapes to have equal numbers of elements, as far as the dimensions are known."""
    first, second = product_of(left), product_of(right)
    difference = minus(first, second)
    if not isinstance(difference, SymbolicSize):
        names = "the number of elements of {0}", "the number of elements of the new shape"
        call.equal(first, second, *names)
        return
    rest = cancel_common_symbols(difference)
    product, *others = terms_of(rest)
    plain = all(isinstance(factor, str) for factor in product)
    if second and not others and plain and len(product) > 1:  # `[B, S, 7]` and `[B, S, 8]`
        same = "{0} and the new shape have the same number of elements"
        call.reject(f"{same} only if one of their dimensions is 0", specified=False)
    elif _without_temporary_name(rest) is not None:
        call.equal(rest, 0)


def gather(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `Gather`: the shape of the indices replaces one dimension."""
    shape, indices = call.shape(0), call.shape(1)
    if shape is None or indices is None:
        return None
    axis = call.axis("axis", 0)
    if axis is None:
        return None
    require_indices(call, (shape[axis],))
    return (*shape[:axis], *indices, *shape[axis + 1 :])


def require_indices(call: OperatorCall, sizes: Extents) -> None:
    """Require the known indices in the second input to be in range.

    Element `i` of the second input is an index into a dimension of size `sizes[i % len(sizes)]`.
    """
    chosen = call.value(1)
    for index, item in enumerate(chosen.items if chosen is not None and sizes else ()):
        size = sizes[index % len(sizes)]
        if isinstance(item, int) and isinstance(size, int) and not -size <= item < size:
            call.reject(f"the index {item} is out of range: the dimension of {{0}} is {size}")
            return


def slice_(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `Slice`: starts and ends are clamped to the dimension's size."""
    shape = call.shape(0)
    for index in range(1, len(call.shapes)):
        call.require_rank(index, 1)
    starts, ends = call.symbolic("starts", 1), call.symbolic("ends", 2)
    if shape is None or starts is None or ends is None:
        return None if shape is None else (None,) * len(shape)
    axes = call.integers("axes", 3) or tuple(range(len(starts)))
    steps = call.integers("steps", 4) or (1,) * len(starts)
    if (call.has_input(3) and call.integers("axes", 3) is None) or (
        call.has_input(4) and call.integers("steps", 4) is None
    ):
        return (None,) * len(shape)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        call.reject("starts, ends, axes and steps have different lengths")
        return (None,) * len(shape)
    resolved_axes = call.axes(axes, len(shape))
    if resolved_axes is None:
        return None
    if len(set(resolved_axes)) < len(axes):
        call.reject(f"the axes are {list(axes)}, which name an axis twice")
    dims = list(shape)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        dims[axis] = _slice_length(dims[axis], start, end, step)
    return tuple(dims)


def _slice_length(size: Extent, start: Extent, end: Extent, step: int) -> Extent:
    """Return the number of elements in a slice of a dimension of size `size`; None if unknown."""
    if isinstance(size, int) and isinstance(start, int) and isinstance(end, int):
        kept = slice_range(size, start, end, step)
        return None if kept is None else len(kept)
    if step < 0:
        is_reversal = step == -1 and start in (-1, _INFINITE) and isinstance(end, int)
        return size if is_reversal and isinstance(end, int) and end <= -_INFINITE else None
    if not step or start is None or end is None:
        return None
    if isinstance(end, int) and end >= _INFINITE:
        end = size
    elif isinstance(end, int) and end < 0:
        end = plus(size, end)
    elif is_positive_or_zero(end):
        end = minimum_of(end, size)
    else:
        return None
    if isinstance(start, int) and start < 0:
        # A negative start counts from the end, and is clamped to the size.
        removed = minus(size, end)
        length = minus(minimum_of(-start, size), removed)
    elif is_positive_or_zero(start):
        length = minus(end, start)
    else:
        return None
    length = maximum_of(length, 0)
    return length if step == 1 else quotient_rounded_up(length, step)


def slice_range(size: int, start: int, end: int, step: int) -> range | None:
    """Return the indices of the elements that `Slice` keeps in a dimension.

    Return None if onnx and onnxruntime differ: a backward slice that ends at the largest integer is
    empty in onnx, but ends at the first element in onnxruntime. Also return None if `step` is 0.
    """
    last: int | None = end
    if step < 0:
        if end >= _INFINITE:
            return None
        start = max(start, -size)  # clamped to the first element, unlike in Python
        last = None if end < -size else end
    return range(*slice(start, last, step).indices(size)) if step else None


def split(call: OperatorCall) -> Shapes:
    """Infer the output shapes of `Split`; the parts must add up to the size of the dimension."""
    shape, axis = call.shape(0), call.axis("axis", 0)
    parts = call.integers("split", 1)
    count = len(call.node.outputs)
    if shape is None or axis is None or not count:
        return ()
    axis_size = shape[axis]
    if parts is not None and len(parts) != count:
        # If the size of the dimension is a number, onnx requires one part for each output. If it is
        # symbolic, the unnamed outputs at the end may lack a part.
        named = max([n for n, name in enumerate(call.node.outputs, 1) if name], default=0)
        wrong = f"the number of parts is {len(parts)}, but the number of outputs is {count}"
        call.reject(wrong, specified=isinstance(axis_size, int) or not named <= len(parts) < count)
    if parts is not None and len(parts) == count:
        call.equal(axis_size, sum(parts), f"dimension {axis} of {{0}}", "the sum of the parts")
        sizes: Extents = parts
    elif call.has_input(1) or parts is not None:
        sizes = (None,) * count
    elif call.integer("num_outputs", 0) == count:
        # The last part is smaller if the dimension is not a multiple of the number of parts.
        size = quotient_rounded_up(axis_size, count)
        if isinstance(axis_size, int) and isinstance(size, int) and size * (count - 1) > axis_size:
            wrong = f"dimension {axis} of {{0}} is {axis_size}, which onnxruntime cannot split into"
            call.reject(f"{wrong} {count} parts of {size}", specified=False)
        sizes = (*(size,) * (count - 1), minus(axis_size, times(size, count - 1)))
    else:
        sizes = (quotient(axis_size, count),) * count
        if isinstance(axis_size, int) and axis_size % count:
            wrong = f"dimension {axis} of {{0}} is {axis_size}, which is not a multiple of the"
            call.reject(f"{wrong} {count} outputs")
    return tuple([(*shape[:axis], size, *shape[axis + 1 :]) for size in sizes])


def shape_of(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `Shape`: a list with one element per dimension in `start:end`."""
    kept = selected_dims(call)
    return (None if kept is None else len(kept),)


def selected_dims(call: OperatorCall) -> Extents | None:
    """Return the dimensions in `start:end` of the input of `Shape`; None if unknown."""
    shape, start, end = call.shape(0), call.attribute("start"), call.attribute("end")
    first = start if isinstance(start, int) else 0
    return None if shape is None else shape[first : end if isinstance(end, int) else None]


def pad(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `Pad`: the pads at both ends are added to each size."""
    shape, pads = call.shape(0), call.symbolic("pads", 1)
    if shape is None:
        return None
    axes = call.integers("axes", 3) if call.has_input(3) else tuple(range(len(shape)))
    count = call.dim(3, 0) if axes is None else len(axes)
    if pads is not None and isinstance(count, int):
        call.equal(len(pads), 2 * count, "the number of pads", "twice the number of axes")
    if pads is None or axes is None or len(pads) != 2 * len(axes):
        return (None,) * len(shape)
    if call.axes(axes, len(shape)) is None:
        return None
    dims = list(shape)
    for index, axis in enumerate(axes):
        first, last = pads[index], pads[index + len(axes)]
        _require_source(call, axis, shape[axis], first, last)
        dims[axis] = total([dims[axis], first, last])
        size = dims[axis]
        if isinstance(size, int) and size < 0:
            call.reject(f"the pads remove more elements than dimension {axis} of {{0}} has")
    return tuple(dims)


def _require_source(call: OperatorCall, axis: int, *sizes: Extent) -> None:
    """Warn about a `Pad` if dimension `axis` has too few elements to copy or reflect.

    onnxruntime reflects the elements of a dimension at most once. `sizes` are the size of the
    dimension, and the numbers of elements to add before and after it.
    """
    size, first, last = sizes
    mode = call.attribute("mode") or b"constant"
    if not (isinstance(size, int) and isinstance(first, int) and isinstance(last, int)):
        return
    kept, needed = size + min(first, 0) + min(last, 0), max(first, last)
    if mode == b"constant" or needed < 1:
        return
    if kept < 1:
        call.reject(f"dimension {axis} of {{0}} has no elements to pad with", specified=False)
    elif mode == b"reflect" and needed >= kept:
        wrong = f"dimension {axis} of {{0}} is padded by {needed}"
        call.reject(f"{wrong}, but onnxruntime can reflect only {kept - 1}", specified=False)
