# SPDX-License-Identifier: Apache-2.0
"""Compute the elements of small tensors, such as shapes that nodes of a model compute.

Most functions return the elements of a node's first output, or None if the elements are unknown or
too many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import getitem, mod

from onnxtext.ast.tensors_and_attributes import Tensor
from onnxtext.checker.symbolic.operator_call import OperatorCall, Shapes, SymbolicShape
from onnxtext.checker.symbolic.operator_shapes.arithmetic import ARITHMETIC, ValueFunction
from onnxtext.checker.symbolic.operator_shapes.reshape_and_slice import selected_dims, slice_range
from onnxtext.checker.symbolic.sizes.polynomials import Extent, minus, plus, product_of, times
from onnxtext.checker.symbolic.sizes.quotients import maximum_of, minimum_of
from onnxtext.checker.symbolic.small_tensors import (
    EXACT,
    MAX_ELEMENTS,
    REAL,
    TRACKED,
    SmallTensor,
    SmallTensors,
    broadcast_tensor,
    constant_tensor,
    row_major_indices,
    row_major_offset,
    stored_value,
    take_elements,
)
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.element_types import ELEMENT_NUMBERS


def _constant(call: OperatorCall) -> SmallTensor | None:
    tensors = map(constant_tensor, call.node.attributes)
    tensor = next((tensor for tensor in tensors if tensor is not None), None)
    return None if tensor is None else stored_value(*tensor)


def _shape(call: OperatorCall) -> SmallTensor | None:
    kept = selected_dims(call)
    return None if kept is None else SmallTensor((len(kept),), kept)


def _size(call: OperatorCall) -> SmallTensor | None:
    shape = call.shape(0)
    return None if shape is None else SmallTensor((), (product_of(shape),))


def _cast(call: OperatorCall, value: SmallTensor, shape: tuple[int, ...]) -> SmallTensor | None:
    to = ELEMENT_NUMBERS.get(call.integer("to", 0))
    if to is None or to.name not in TRACKED:
        return None
    if to.name == "bool":
        truths = [int(item != 0) if isinstance(item, int) else None for item in value.items]
        return SmallTensor(value.shape, tuple(truths))
    largest = _LARGEST.get(to.name)
    items = tuple([None if isinstance(item, int) and largest and abs(item) > largest else item
                   for item in value.items])  # fmt: skip
    return SmallTensor(value.shape, items, to.name in REAL)


_LARGEST_INTEGER = (1 << 31) - 1
_LARGEST = {"float": EXACT, "int32": _LARGEST_INTEGER}
"""Maps an element type to the largest integer that a `Cast` to this type surely keeps exactly."""


def _axis(axis: int, rank: int) -> int | None:
    return axis % rank if -rank <= axis < rank else None


def _gather(call: OperatorCall, value: SmallTensor, shape: tuple[int, ...]) -> SmallTensor | None:
    chosen, axis = call.value(1), _axis(call.integer("axis", 0), len(value.shape))
    if chosen is None or axis is None:
        return None
    size = value.shape[axis]
    if not all(isinstance(item, int) and -size <= item < size for item in chosen.items):
        return None
    depth = len(chosen.shape)

    def at(index: tuple[int, ...]) -> tuple[int, ...]:
        item = chosen.items[row_major_offset(index[axis : axis + depth], chosen.shape)]
        assert isinstance(item, int)
        return (*index[:axis], item % size, *index[axis + depth :])

    return take_elements(value, shape, at)


def _slice(call: OperatorCall, value: SmallTensor, shape: tuple[int, ...]) -> SmallTensor | None:
    starts, ends = call.integers("starts", 1), call.integers("ends", 2)
    if starts is None or ends is None or len(starts) != len(ends):
        return None
    axes, steps = call.integers("axes", 3), call.integers("steps", 4)
    if (call.has_input(3) and axes is None) or (call.has_input(4) and steps is None):
        return None
    axes = tuple(range(len(starts))) if axes is None else axes
    steps = (1,) * len(starts) if steps is None else steps
    ranges = [range(size) for size in value.shape]
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=False):
        resolved = _axis(axis, len(ranges))
        if resolved is None:
            return None
        kept = slice_range(value.shape[resolved], start, end, step)
        if kept is None:
            return None
        ranges[resolved] = kept
    sizes = list(map(len, ranges))
    return take_elements(value, sizes, lambda index: tuple(map(getitem, ranges, index)))


def _concat(call: OperatorCall) -> SmallTensor | None:
    parts = [_or_unknown(*pair) for pair in zip(call.values, call.shapes, strict=True)]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not parts:
        return None
    first, axis = known[0], _axis(call.integer("axis", 1), len(known[0].shape))
    if axis is None or any(len(part.shape) != len(first.shape) for part in known):
        return None
    if len({(*part.shape[:axis], *part.shape[axis + 1 :]) for part in known}) != 1:
        return None
    elements: list[Extent] = []
    outer = count_elements(first.shape[:axis])
    for index in range(outer):
        for part in known:
            width = len(part.items) // outer
            elements += part.items[index * width : (index + 1) * width]
    size = sum(part.shape[axis] for part in known)
    shape = (*first.shape[:axis], size, *first.shape[axis + 1 :])
    return _limited(shape, elements, any(part.real for part in known))


def _or_unknown(value: SmallTensor | None, shape: SymbolicShape) -> SmallTensor | None:
    """Return `value`; instead of None, return unknown elements if `shape` is a short list's."""
    size = shape[0] if value is None and shape is not None and len(shape) == 1 else None
    if isinstance(size, int) and 0 <= size <= MAX_ELEMENTS:
        return SmallTensor((size,), (None,) * size)
    return value


def _limited(shape: tuple[int, ...], items: Sequence[Extent], real: bool) -> SmallTensor | None:
    """Return a small tensor; None if it has too many elements."""
    return SmallTensor(shape, tuple(items), real) if len(items) <= MAX_ELEMENTS else None


def _split(call: OperatorCall, shapes: Shapes) -> SmallTensors:
    value = call.value(0)
    axis = _axis(call.integer("axis", 0), len(value.shape)) if value is not None else None
    if value is None or axis is None:
        return ()
    parts: list[SmallTensor | None] = []
    start = 0
    for shape in shapes:
        size = shape[axis] if shape is not None else None
        if not isinstance(size, int) or start + size > value.shape[axis]:
            return ()
        kept = (*value.shape[:axis], size, *value.shape[axis + 1 :])
        parts.append(take_elements(value, kept, _shift_index(axis, start)))
        start += size
    return tuple(parts)


def _shift_index(axis: int, start: int) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
    return lambda index: (*index[:axis], index[axis] + start, *index[axis + 1 :])


def _transpose(
    call: OperatorCall, value: SmallTensor, shape: tuple[int, ...]
) -> SmallTensor | None:
    order = call.listed("perm", tuple(reversed(range(len(shape)))))
    back = [order.index(axis) for axis in range(len(shape))]
    return take_elements(value, shape, lambda index: tuple([index[at] for at in back]))


def _reshape(call: OperatorCall, value: SmallTensor, shape: tuple[int, ...]) -> SmallTensor | None:
    return value._replace(shape=shape) if count_elements(shape) == len(value.items) else None


def _expand(call: OperatorCall, value: SmallTensor, shape: tuple[int, ...]) -> SmallTensor | None:
    return broadcast_tensor(value, shape)


def _tile(call: OperatorCall, value: SmallTensor, shape: tuple[int, ...]) -> SmallTensor | None:
    return take_elements(value, shape, lambda index: tuple(map(mod, index, value.shape)))


def _range(call: OperatorCall) -> SmallTensor | None:
    start, end, step = call.scalar(0), call.scalar(1), call.scalar(2)
    length = minus(end, start)
    if not isinstance(length, int) or not isinstance(step, int) or not step:
        return None
    count = max(0, -(-length // step))
    if count > MAX_ELEMENTS:
        return None
    first = call.value(0)
    items = tuple([plus(start, index * step) for index in range(count)])
    return SmallTensor((count,), items, first is not None and first.real)


def _constant_of_shape(call: OperatorCall) -> SmallTensor | None:
    shape, fill = call.integers("shape", 0), call.attribute("value")
    if shape is None or min(shape, default=0) < 0 or count_elements(shape) > MAX_ELEMENTS:
        return None
    one = SmallTensor((1,), (0,), True)
    if isinstance(fill, Tensor):
        stored = stored_value(fill.type, fill.data)
        if stored is None or len(stored.items) != 1:
            return None
        one = stored
    return SmallTensor(shape, one.items * count_elements(shape), one.real)


def _reduction(step: Callable[[Extent, Extent], Extent]) -> ValueFunction:
    def compute(
        call: OperatorCall, value: SmallTensor, shape: tuple[int, ...]
    ) -> SmallTensor | None:
        axes = call.integers("axes", 1)
        if axes is None and call.has_input(1):
            return None
        if not axes and call.integer("noop_with_empty_axes", 0):
            return value
        rank = len(value.shape)
        found = [_axis(axis, rank) for axis in axes or range(rank)]
        groups: dict[tuple[int, ...], list[Extent]] = {}
        for index, item in zip(row_major_indices(value.shape), value.items, strict=True):
            key = tuple([0 if axis in found else at for axis, at in enumerate(index)])
            groups.setdefault(key, []).append(item)
        if not value.items or None in found:
            return None
        items = tuple([reduce(step, group) for group in groups.values()])
        return SmallTensor(shape, items, value.real)

    return compute


def _pad(call: OperatorCall, value: SmallTensor, shape: tuple[int, ...]) -> SmallTensor | None:
    pads = call.integers("pads", 1)
    # Before version 11, the attribute `value` is the padding element, which is treated as unknown.
    default = 0 if call.attribute("value") is None else None
    fill = call.scalar(2) if call.has_input(2) else default
    if pads is None or len(value.shape) != 1 or len(pads) != 2:
        return None
    if min(pads) < 0 or sum(pads) > MAX_ELEMENTS or call.has_input(3):
        return None
    if call.attribute("mode") not in (None, b"constant"):
        return None
    items = (*(fill,) * pads[0], *value.items, *(fill,) * pads[1])
    return _limited((len(items),), items, value.real)


_MAKING: dict[str, Callable[[OperatorCall], SmallTensor | None]] = {
    "Concat": _concat,
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "Range": _range,
    "Shape": _shape,
    "Size": _size,
}
"""Maps operators to functions that work even if input 0 and the output shape are unknown."""
_FROM_FIRST: dict[str, ValueFunction] = {
    **ARITHMETIC,
    **dict.fromkeys(("Ceil", "Floor", "Identity", "Round"), lambda call, value, shape: value),
    **dict.fromkeys(("Flatten", "Reshape", "Squeeze", "Unsqueeze"), _reshape),
    "Cast": _cast,
    "Expand": _expand,
    "Gather": _gather,
    "Pad": _pad,
    "ReduceMax": _reduction(maximum_of),
    "ReduceMin": _reduction(minimum_of),
    "ReduceProd": _reduction(times),
    "ReduceSum": _reduction(plus),
    "Slice": _slice,
    "Tile": _tile,
    "Transpose": _transpose,
}
"""Maps operators to functions that compute the output from the elements of input 0."""
_CALCULATING = ARITHMETIC.keys() - {"Where"} | {"Range", "ReduceProd", "ReduceSum"}
SOURCES = frozenset(("Constant", "ConstantOfShape", "Shape", "Size"))
"""Operators whose output elements come from attributes or input shapes, not input elements."""
COMPUTABLE = _MAKING.keys() | _FROM_FIRST.keys() | {"Split"}
"""All operators whose output values can be computed."""


def _without_overflow(call: OperatorCall, result: SmallTensor) -> SmallTensor:
    """Make elements of a result unknown if the element type may not represent them exactly.

    Integers may have 32 bits, and floats are exact only up to a limit. An element beyond the limit
    is kept if it is also an element of an input, as in `Min`.
    """
    limit = EXACT if result.real else _LARGEST_INTEGER
    if all(not isinstance(item, int) or abs(item) <= limit for item in result.items):
        return result
    given = {item for value in call.values if value is not None for item in value.items}
    items = [None if isinstance(item, int) and abs(item) > limit and item not in given else item
             for item in result.items]  # fmt: skip
    return result._replace(items=tuple(items))


def output_values(name: str, call: OperatorCall, shapes: Shapes) -> SmallTensors:
    """Return the elements of a node's small outputs; an entry is None or missing if unknown.

    `name` is the node's operator, one of `COMPUTABLE`. `shapes` are the shapes of the outputs.
    """
    if name == "Split":
        return _split(call, shapes)
    if name in _MAKING:
        result = _MAKING[name](call)
    else:
        value, shape = call.value(0), shapes[0] if shapes else None
        sizes = tuple([size for size in shape or () if isinstance(size, int)])
        if value is None or shape is None or len(sizes) != len(shape):
            return ()
        result = _FROM_FIRST[name](call, value, sizes)
    if result is not None and name in _CALCULATING:
        result = _without_overflow(call, result)
    return (result,) if result is not None and (result.is_useful() or not result.items) else ()
