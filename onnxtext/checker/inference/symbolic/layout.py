# SPDX-License-Identifier: Apache-2.0
"""Infer symbolic shapes of operators that move, join and cut tensors."""

from __future__ import annotations

from collections import Counter
from math import prod

from onnxtext.checker.inference.symbolic.call import OperatorCall, SymbolicShape
from onnxtext.checker.inference.symbolic.sizes import Extent, Extents, Size

_INFINITE = (1 << 31) - 1


def transpose(call: OperatorCall) -> SymbolicShape:
    """Infer `Transpose`: the dimensions in another order."""
    shape = call.shape(0)
    if shape is None:
        return None
    order = call.listed("perm", tuple(reversed(range(len(shape)))))
    if sorted(order) != list(range(len(shape))):
        return None
    return tuple([shape[axis] for axis in order])


def product(extents: Extents) -> Extent:
    """Return the product of dimensions if it is a number or one symbol."""
    sizes = [extent for extent in extents if extent != 1]
    if all(isinstance(extent, int) for extent in sizes):
        return prod(extent for extent in sizes if isinstance(extent, int))
    return sizes[0] if len(sizes) == 1 else None


def flatten(call: OperatorCall) -> SymbolicShape:
    """Infer `Flatten`: a matrix of products."""
    shape = call.shape(0)
    if shape is None:
        return None
    axis = call.integer("axis", 1)
    axis = axis + len(shape) if axis < 0 else axis
    return product(shape[:axis]), product(shape[axis:])


def axes_of(axes: tuple[int, ...], rank: int) -> set[int] | None:
    """Return axes counted from the front; None if one is out of range."""
    if any(not -rank <= axis < rank for axis in axes):
        return None
    return {axis % rank for axis in axes}


def squeeze(call: OperatorCall) -> SymbolicShape:
    """Infer `Squeeze`: removed dimensions are 1."""
    shape = call.shape(0)
    axes = call.integers("axes", 1)
    if shape is None or axes is None:
        return None
    removed = axes_of(axes, len(shape))
    if removed is None:
        return None
    for axis in removed:
        call.equal(shape[axis], 1)
    return tuple([extent for axis, extent in enumerate(shape) if axis not in removed])


def unsqueeze(call: OperatorCall) -> SymbolicShape:
    """Infer `Unsqueeze`: added dimensions are 1."""
    shape = call.shape(0)
    axes = call.integers("axes", 1)
    if shape is None or axes is None:
        return None
    rank = len(shape) + len(axes)
    added = axes_of(axes, rank)
    if added is None or len(added) != len(axes):
        return None
    rest = iter(shape)
    return tuple([1 if axis in added else next(rest) for axis in range(rank)])


def concat(call: OperatorCall) -> SymbolicShape:
    """Infer `Concat`: sizes add up along one axis, and are equal along the others."""
    shapes = [shape for shape in call.shapes if shape is not None]
    axis = call.integer("axis", 1)
    if len(shapes) != len(call.shapes) or len({len(shape) for shape in shapes}) != 1:
        return None
    rank = len(shapes[0])
    if not -rank <= axis < rank:
        return None
    axis %= rank
    made: list[Extent] = []
    for index in range(rank):
        extents = [shape[index] for shape in shapes]
        if index == axis:
            made.append(sum_of(extents))
            continue
        known = next((e for e in extents if e is not None), None)
        for extent in extents:
            call.equal(known, extent)
        made.append(next((e for e in extents if isinstance(e, int)), known))
    return tuple(made)


def sum_of(extents: list[Extent]) -> Extent:
    """Return the sum of sizes if it is a number, or a symbol plus a number."""
    numbers = sum(extent for extent in extents if isinstance(extent, int))
    others = [extent for extent in extents if not isinstance(extent, int)]
    if not others:
        return numbers
    only = others[0]
    if len(others) > 1 or only is None:
        return None
    return Size(only.name, only.plus + numbers)


def reshape(call: OperatorCall) -> SymbolicShape:
    """Infer `Reshape`: the number of elements stays the same."""
    shape = call.shape(0)
    wanted = call.integers("shape", 1)
    if wanted is None or wanted.count(-1) > 1 or min(wanted, default=0) < -1:
        return None
    if call.integer("allowzero", 0) and 0 in wanted:
        return None
    made: list[Extent] = []
    for index, size in enumerate(wanted):
        copied = shape[index] if size == 0 and shape is not None and index < len(shape) else None
        made.append(copied if size == 0 else None if size == -1 else size)
    if shape is None or 0 in shape or None in shape:
        return tuple(made)
    before, after = Counter(map(call.sizes.root, shape)), Counter(map(call.sizes.root, made))
    common = before & after
    rest = tuple((before - common).elements())
    new = tuple((after - common).elements())
    if -1 in wanted:
        numbers = [size for size in new if size is not None]
        # -1 is the rest of the input, divided by the numbers left in the output.
        if all(isinstance(size, int) for size in numbers):
            divisor = prod(size for size in numbers if isinstance(size, int))
            made[wanted.index(-1)] = _divided(rest, divisor)
    elif None not in new:
        _equal_products(call, rest, new)
    return tuple(made)


def _divided(extents: Extents, divisor: int) -> Extent:
    whole = product(extents)
    if divisor == 1:
        return whole
    return whole // divisor if isinstance(whole, int) and divisor > 0 else None


def _equal_products(call: OperatorCall, left: Extents, right: Extents) -> None:
    """Solve an equation of a symbol times a number with a number."""
    for one, other in ((left, right), (right, left)):
        symbols = [extent for extent in one if isinstance(extent, Size)]
        factor = prod(extent for extent in one if isinstance(extent, int))
        if len(symbols) == 1 and all(isinstance(extent, int) for extent in other) and factor:
            count = prod(extent for extent in other if isinstance(extent, int))
            if count % factor == 0 and count:
                call.equal(symbols[0], count // factor)


def gather(call: OperatorCall) -> SymbolicShape:
    """Infer `Gather`: the dimensions of the indices replace an axis."""
    shape, indices = call.shape(0), call.shape(1)
    if shape is None or indices is None:
        return None
    axis = call.integer("axis", 0)
    if not -len(shape) <= axis < len(shape):
        return None
    axis %= len(shape)
    return (*shape[:axis], *indices, *shape[axis + 1 :])


def sliced(call: OperatorCall) -> SymbolicShape:
    """Infer `Slice`: part of a symbolic dimension has an unknown size."""
    shape = call.shape(0)
    starts, ends = call.integers("starts", 1), call.integers("ends", 2)
    if shape is None or starts is None or ends is None:
        return None if shape is None else (None,) * len(shape)
    axes = call.integers("axes", 3) or tuple(range(len(starts)))
    steps = call.integers("steps", 4) or (1,) * len(starts)
    if (call.has_input(3) and call.integers("axes", 3) is None) or (
        call.has_input(4) and call.integers("steps", 4) is None
    ):
        return (None,) * len(shape)
    made = list(shape)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=False):
        if not -len(shape) <= axis < len(shape):
            return None
        extent = made[axis]
        if isinstance(extent, int) and step:
            made[axis] = len(range(*slice(start, max(end, -extent - 1), step).indices(extent)))
        elif not (start == 0 and step == 1 and end >= _INFINITE):
            made[axis] = None
    return tuple(made)


def split(call: OperatorCall) -> tuple[SymbolicShape, ...]:
    """Infer `Split`: the parts add up."""
    shape = call.shape(0)
    parts = call.integers("split", 1)
    axis = call.integer("axis", 0)
    count = len(call.node.outputs)
    if shape is None or not -len(shape) <= axis < len(shape):
        return ()
    axis %= len(shape)
    if parts is not None and len(parts) == count:
        call.equal(shape[axis], sum(parts))
        return tuple([(*shape[:axis], part, *shape[axis + 1 :]) for part in parts])
    return ((*shape[:axis], None, *shape[axis + 1 :]),) * count


def shape_of(call: OperatorCall) -> SymbolicShape:
    """Infer `Shape`: a list whose length is the rank."""
    shape = call.shape(0)
    if shape is None or call.attribute("start") is not None or call.attribute("end") is not None:
        return (None,)
    return (len(shape),)


def padded(call: OperatorCall) -> SymbolicShape:
    """Infer `Pad`: pads are added to the sizes."""
    shape, pads = call.shape(0), call.integers("pads", 1)
    if shape is None or pads is None or call.has_input(3) or len(pads) != 2 * len(shape):
        return None
    rank = len(shape)
    return tuple([sum_of([e, pads[i] + pads[i + rank]]) if e is not None else None
                  for i, e in enumerate(shape)])  # fmt: skip
