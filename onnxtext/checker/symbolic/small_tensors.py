# SPDX-License-Identifier: Apache-2.0
"""Store the elements of small tensors as symbolic integers, such as the shape `[batch, seq, 64]`.

Inference computes the elements of small node outputs, because the output shape of a node such as
`Reshape` depends on the elements of an input.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

from onnxtext.ast.tensors_and_attributes import (
    Attribute,
    Float32,
    Floats,
    RawData,
    Tensor,
    TensorData,
    TypedData,
)
from onnxtext.ast.types import TensorType, Type
from onnxtext.checker.symbolic.sizes.polynomials import Extent
from onnxtext.tensor.element_count import count_elements

MAX_ELEMENTS = 64
"""Maximum number of elements of a tensor whose elements are tracked."""

_MAX_REAL = 8
"""Maximum number of elements of a tracked float tensor: scales are tracked, weights are not."""
TRACKED = {"int64": "q", "int32": "i", "float": "f", "double": "d", "bool": "?"}
"""Maps the element types of tracked tensors to their format characters in module `struct`."""
REAL = frozenset(("float", "double"))
EXACT = 1 << 24
"""32-bit floats represent all integers up to this number exactly."""


class SmallTensor(NamedTuple):
    """The elements of a small tensor of integers, booleans (as 0 and 1) or floats (`real`).

    The elements are in row-major order; unknown elements and fractions are None.
    """

    shape: tuple[int, ...]
    items: tuple[Extent, ...]
    real: bool = False

    def numbers(self) -> tuple[int, ...] | None:
        """Return the elements of a tensor of rank 0 or 1; None if an element is not a known number.

        Also return None for a tensor of rank 2 or more.
        """
        numbers = tuple([item for item in self.items if isinstance(item, int)])
        is_list_of_numbers = len(numbers) == len(self.items) and len(self.shape) <= 1
        return numbers if is_list_of_numbers else None

    def is_useful(self) -> bool:
        """Whether any element is known."""
        return any(item is not None for item in self.items)


SmallTensors = tuple[SmallTensor | None, ...]
"""The elements of the inputs or outputs of a node; None where unknown."""
Index = tuple[int, ...]


def row_major_indices(shape: Sequence[int]) -> list[Index]:
    """Return the indices of all elements of a tensor with this shape, in row-major order."""
    # `product` would list each range first: next to a size of 0, another may be huge.
    return [] if 0 in shape else list(product(*map(range, shape)))


def take_elements(
    value: SmallTensor, shape: Sequence[int], at: Callable[[Index], Index]
) -> SmallTensor | None:
    """Return a new tensor whose elements are taken from `value`; None if it is too large.

    `at` maps an index of the new tensor to an index of `value`.
    """
    if count_elements(shape) > MAX_ELEMENTS:
        return None
    items = [
        value.items[row_major_offset(at(index), value.shape)] for index in row_major_indices(shape)
    ]
    return SmallTensor(tuple(shape), tuple(items), value.real)


def row_major_offset(index: Index, shape: Sequence[int]) -> int:
    """Return the offset of an index in the row-major list of elements."""
    result = 0
    for one, size in zip(index, shape, strict=True):
        result = result * size + one
    return result


def broadcast_tensor(value: SmallTensor, shape: Sequence[int]) -> SmallTensor | None:
    """Return a tensor broadcast to a shape; None if that is impossible or the result too large."""
    back = len(shape) - len(value.shape)
    if value.shape == tuple(shape):
        return value
    pairs = zip(reversed(value.shape), reversed(shape), strict=False)
    if back < 0 or any(size not in (1, wide) for size, wide in pairs):
        return None

    def at(index: Index) -> Index:
        pairs = zip(value.shape, index[back:], strict=True)
        return tuple([0 if size == 1 else offset for size, offset in pairs])

    return take_elements(value, shape, at)


def stored_value(type: Type | None, data: object) -> SmallTensor | None:
    """Return the elements of a constant tensor; None if all are unknown, or if they are too many.

    Elements of types that are not in `TRACKED` are unknown, as are the floats that
    `to_small_tensor` makes unknown.
    """
    if not isinstance(type, TensorType) or type.shape is None or type.element not in TRACKED:
        return None
    code = TRACKED[type.element]
    if isinstance(data, RawData):
        stored: bytes | memoryview = data.data
    elif isinstance(data, TypedData):
        stored, code = data.entries, "i" if code == "?" else code
    else:
        return None
    max_elements = _MAX_REAL if type.element in REAL else MAX_ELEMENTS
    if len(stored) > 8 * max_elements:  # no element has more bytes
        return None
    shape = type.integer_dims
    count = count_elements(shape)
    if (
        len(shape) != len(type.shape)
        or not 0 <= count <= max_elements
        or min(shape, default=0) < 0
        or len(stored) != struct.calcsize(f"<{code}") * count
    ):
        return None
    numbers = struct.unpack(f"<{count}{code}", stored)
    return to_small_tensor(shape, numbers, type.element in REAL)


def constant_tensor(attribute: Attribute) -> tuple[TensorType, TensorData] | None:
    """Return the type and data of the tensor that an attribute of a `Constant` defines.

    Return None if the attribute is no dense tensor, number or list of numbers.
    """
    value = attribute.read()
    if isinstance(value, Tensor):
        return value.type, value.data
    if isinstance(value, Floats):
        return TensorType("float", (len(value),)), RawData(value.data)
    if isinstance(value, Float32):
        return TensorType("float", ()), RawData(value.bits.to_bytes(4, "little"))
    if attribute.name not in ("value_int", "value_ints"):
        return None
    numbers = value if isinstance(value, tuple) else (value,)
    integers = [number for number in numbers if isinstance(number, int)]
    if len(integers) < len(numbers):
        return None
    shape = (len(integers),) if isinstance(value, tuple) else ()
    return TensorType("int64", shape), RawData(struct.pack(f"<{len(integers)}q", *integers))


def to_small_tensor(
    shape: tuple[int, ...], numbers: Sequence[float], real: bool
) -> SmallTensor | None:
    """Convert `numbers`, in row-major order, to a `SmallTensor`.

    A float becomes unknown if it is not a whole number, or if its absolute value exceeds `EXACT`.
    Return None if all elements become unknown; a tensor without elements is returned. `real` is
    True for float types.
    """
    if not real:
        return SmallTensor(shape, tuple(map(int, numbers)))
    items = [int(n) if abs(n) <= EXACT and n.is_integer() else None for n in numbers]
    value = SmallTensor(shape, tuple(items), real)
    return value if value.is_useful() or not items else None


def common_elements(left: SmallTensor | None, right: SmallTensor | None) -> SmallTensor | None:
    """Merge two small tensors: elements that differ become unknown.

    Return None if a tensor is unknown, if the shapes differ, or if no element would be known.
    """
    if left is None or right is None or left.shape != right.shape:
        return None
    items = [a if a == b else None for a, b in zip(left.items, right.items, strict=True)]
    common = SmallTensor(left.shape, tuple(items), left.real)
    return common if common.is_useful() else None
