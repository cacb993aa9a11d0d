# SPDX-License-Identifier: Apache-2.0
"""Recognize weights derived from other weights: transposed, cast to another type, quantized.

Numeric differences between two tensors of different element types are computed only if one of them
is quantized; quantized tensors are dequantized first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

from onnxtext.ast.model import ValueInfo
from onnxtext.ast.tensors_and_attributes import SparseTensor
from onnxtext.ast.types import TensorType
from onnxtext.differ.result import WeightChange
from onnxtext.tensor.blobs import BlobError
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.element_types import ELEMENTS, ElementType, raw_size
from onnxtext.tensor.lazy_numpy import np
from onnxtext.weights.statistics import dtype_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from onnxtext.differ.tensor_data import DataReader, TensorRef

    Array = NDArray[Any]

BLOCK = 1 << 18
"""Number of elements that are compared at a time."""

_MAX_RANK = 4
"""Maximum rank of tensors that are searched for transpositions."""


def element_count(type: TensorType) -> int:
    """Return the number of elements of a tensor type; 0 if a dimension is negative."""
    return count_elements([max(dim, 0) for dim in type.integer_dims])


def read_elements(value: ValueInfo, reader: DataReader) -> Array | None:
    """Read the elements of an initializer, and convert them with `elements_of`.

    Return None if they cannot be read or converted.
    """
    type, stored = value.type, value.data
    if not isinstance(type, TensorType) or stored is None or isinstance(stored, SparseTensor):
        return None
    element = ELEMENTS.get(type.element)
    if element is None:
        return None
    try:
        data = reader.raw(type, stored, value.name)
    except BlobError:
        return None
    count = element_count(type)
    if data is None or len(data) != raw_size(element, count):
        return None
    return elements_of(element, data, count)


def elements_of(element: ElementType, data: bytes | memoryview, count: int) -> Array | None:
    """Convert the raw data of a tensor of `count` elements to a numpy array.

    Integers narrower than a byte are unpacked to int16. Return None for strings, complex numbers,
    and floats narrower than a byte.
    """
    dtype = dtype_of(element.name)
    if dtype is not None:
        return np.frombuffer(data, dtype)
    if element.kind not in ("int", "uint") or element.bits >= 8:
        return None
    return unpack_elements(element, data, count)


def unpack_elements(element: ElementType, data: bytes | memoryview, count: int) -> Array:
    """Unpack elements narrower than a byte: `int` types with sign, other types as unsigned bits."""
    from onnxtext.tensor.packing import unpack

    codes = unpack(np.frombuffer(data, np.uint8), element.bits)[:count].astype(np.int16)
    if element.kind == "int":
        return np.where(codes >> (element.bits - 1), codes - (1 << element.bits), codes)
    return codes


def transpositions(array: Array, shape: tuple[int, ...]) -> Iterator[Array]:
    """Reshape an array to `shape`, and yield all its transpositions except the identity.

    Yield nothing if the rank of the shape is not 2 to 4.
    """
    if 2 <= len(shape) <= _MAX_RANK:
        shaped = array.reshape(shape)
        for order in [*permutations(range(len(shape)))][1:]:
            yield shaped.transpose(order)


def is_transposed(old: Array, new: Array, before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Whether `new` (of shape `after`) is a transposition of `old` (of shape `before`)."""
    return len(before) == len(after) and any(
        turned.shape == after and _same(turned, new.reshape(after))
        for turned in transpositions(old, before)
    )


def _same(old_data: Array, new_data: Array) -> bool:
    """Whether arrays are bitwise equal; compare row by row, to stop at the first difference."""
    return all(
        np.array_equal(_bits(left), _bits(right))
        for left, right in zip(old_data, new_data, strict=True)
    )


def _bits(array: Array) -> Array:
    return np.ascontiguousarray(array).view(np.uint8)


def compare_types(
    old: TensorRef, new: TensorRef, before: bytes | memoryview, after: bytes | memoryview
) -> WeightChange:
    """Compare tensors of different element types with the same number of elements.

    `before` and `after` are the raw data of `old` and `new`.
    """
    count = count_elements(new.type.integer_dims)
    names = f"from {old.type.element} to {new.type.element}"
    left, right = ELEMENTS[old.type.element], ELEMENTS[new.type.element]
    old_data, new_data = elements_of(left, before, count), elements_of(right, after, count)
    if old_data is None or new_data is None:
        return WeightChange(
            count,
            note=f"values of type {old.type.element} and {new.type.element} cannot be compared",
        )
    changed = _count_changed(old_data, new_data) if left.bits >= 8 and right.bits >= 8 else None
    if changed == 0:
        return WeightChange(count, how=f"cast {names}")
    values = [_values(tensor, part) for tensor, part in ((old, old_data), (new, new_data))]
    quantized = [tensor.reader.quantizations.get(tensor.name) for tensor in (old, new)]
    if not any(quantized) or None in values:
        alike = (left.kind == "float") == (right.kind == "float")
        note = f"differences between {old.type.element} and {new.type.element} are not computed"
        return WeightChange(count, changed if alike else None, note=note)
    verb = (
        "quantized"
        if quantized[0] is None
        else "dequantized"
        if quantized[1] is None
        else "quantized again"
    )
    blocks = (
        (values[0].block(index), values[1].block(index))  # type: ignore[union-attr]
        for index in range(0, count, BLOCK)
    )
    return replace(measure_blocks(blocks, count), changed=None, how=f"{verb} {names}")


def _count_changed(old: Array, new: Array) -> int:
    """Count the old elements that, cast to the new type, differ in bits from the new elements."""
    changed = 0
    with np.errstate(all="ignore"):
        for index in range(0, old.size, BLOCK):
            old_data, new_data = (
                old[index : index + BLOCK].astype(new.dtype),
                new[index : index + BLOCK],
            )
            differ = _bits(old_data) != _bits(new_data)
            changed += int(differ.reshape(-1, new.dtype.itemsize).any(axis=1).sum())
    return changed


def _values(tensor: TensorRef, array: Array) -> _Values | None:
    """Return an object that reads a tensor's values; None if they cannot be computed.

    `array` has the stored elements. If the tensor is quantized, they are dequantized.
    """
    quantization = tensor.reader.quantizations.get(tensor.name)
    if quantization is None:
        return _Values(array) if tensor.type.element not in _NOT_NUMERIC else None
    parts = []
    for value in (quantization.scale, quantization.zero_point):
        if value is None:
            parts.append(np.zeros(1))
            continue
        elements = read_elements(value, tensor.reader)
        if elements is None:
            return None
        parts.append(elements.astype(np.float64))
    scale, zero = parts
    shape = tensor.type.integer_dims
    if scale.size == 1 and zero.size == 1:
        return _Values(array, scale, zero)
    axis = _axis(shape, scale.size, quantization.axis)
    if axis is None or zero.size not in (1, scale.size):
        return None
    return _Values(array, scale, zero, count_elements(shape[axis + 1 :]))


_NOT_NUMERIC = ("bool", "string")


def _axis(shape: tuple[int, ...], size: int, node_axis: int | None) -> int | None:
    """Return the axis of a weight along which each index has its own scale; None if unknown.

    `size` is the number of elements of the scale. `node_axis` is the axis according to the node
    that uses the weight; a negative axis counts from the end. If `node_axis` is None, the axis is
    inferred from the shape.
    """
    if node_axis is not None:
        node_axis += len(shape) if node_axis < 0 else 0
        return node_axis if 0 <= node_axis < len(shape) and shape[node_axis] == size else None
    fitting = [axis for axis, dim in enumerate(shape) if dim == size]
    return fitting[0] if len(fitting) == 1 else None


class _Values:
    """Reads the values of a tensor block by block; dequantizes them if there is a scale.

    Every `inner` consecutive elements have the same scale.
    """

    def __init__(
        self, array: Array, scale: Array | None = None, zero: Array | None = None, inner: int = 1
    ) -> None:
        self._array, self._scale, self._zero, self._inner = array, scale, zero, inner

    def block(self, at: int) -> Array:
        """Return the values of the block that starts at element `at`, as float64."""
        part = self._array[at : at + BLOCK].astype(np.float64)
        if self._scale is None or self._zero is None:
            return part
        scale, zero = self._scale, self._zero
        if scale.size > 1:
            places = np.arange(at, at + part.size) // self._inner % scale.size
            scale = scale[places]
            zero = zero[places] if zero.size > 1 else zero
        return (part - zero) * scale


def measure_blocks(
    blocks: Iterator[tuple[Array, Array]],
    count: int,
    *,
    count_nans: bool = False,
    numeric: bool = True,
) -> WeightChange:
    """Compute how the elements of two tensors differ, block by block.

    `count` is the number of elements of each tensor. Without `count_nans`, the numbers of NaNs are
    None. Without `numeric`, the numeric differences are None: they have no meaning.
    """
    changed = compared = 0
    nans = [0, 0]
    largest, total = 0.0, 0.0
    with np.errstate(all="ignore"):
        for old_data, new_data in blocks:
            itemsize = old_data.dtype.itemsize
            width = min(itemsize, 8)
            differ = old_data.view(f"u{width}") != new_data.view(f"u{width}")
            if itemsize > width:
                differ = differ.reshape(-1, itemsize // width).any(axis=1)
            changed += int(differ.sum())
            wide = [
                part.astype(np.complex128 if part.dtype.kind == "c" else np.float64)
                for part in (old_data, new_data)
            ]
            missing = [np.isnan(part) for part in wide]
            nans = [have + int(part.sum()) for have, part in zip(nans, missing, strict=True)]
            distance = np.abs(wide[0] - wide[1])
            distance[wide[0] == wide[1]] = 0  # the difference of equal infinities is NaN
            if old_data.dtype.kind in "iu":  # different 64-bit integers may round to one float
                distance[differ] = np.maximum(distance[differ], 1)
            finite = distance[~(missing[0] | missing[1])]
            compared += finite.size
            if finite.size:
                largest = max(largest, float(finite.max()))
                total += float(finite.sum())
    known_any = numeric and compared > 0
    return WeightChange(
        count,
        changed,
        largest if known_any else None,
        total / compared if known_any else None,
        *(nans if count_nans else (None, None)),
    )
