# SPDX-License-Identifier: Apache-2.0
"""Match renamed initializers that were also transposed, cast or quantized."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from onnxtext.ast.model import ValueInfo
from onnxtext.ast.types import TensorType
from onnxtext.differ.matching.derived_weights import element_count, read_elements, transpositions
from onnxtext.differ.matching.match_lists import Pairs, unmatched_indices
from onnxtext.differ.model_side import ModelSide
from onnxtext.differ.quantization import QUANTIZED
from onnxtext.tensor.element_types import ELEMENTS, raw_size
from onnxtext.tensor.lazy_numpy import np
from onnxtext.weights.statistics import dtype_of

if TYPE_CHECKING:
    from onnxtext.differ.matching.derived_weights import Array

_MAX_BYTES = 1 << 28
"""If the unmatched weights together have more bytes than this, none is matched by content."""

_FEWEST_ELEMENTS = 4
"""Minimum number of elements to match by content; smaller weights may be equal by chance."""


def match_derived(
    old: Sequence[ValueInfo],
    new: Sequence[ValueInfo],
    pairs: Pairs,
    sides: tuple[ModelSide, ModelSide],
) -> Pairs:
    """Match old initializers with new initializers that were derived from them.

    An old `W` matches a new `W_quantized` of the same shape; a weight matches its transposed or
    cast copy. The time is linear in the size of the initializers. Return only new pairs; `pairs`
    has the (old, new) indices of initializers that are matched already.
    """
    left, right = unmatched_indices(pairs, len(old), len(new))
    if not left or not right:
        return []
    matches = []
    named = {f"{old[index].name}{QUANTIZED}": index for index in left}
    for new_index in list(right):
        old_index = named.get(new[new_index].name)
        if old_index is not None and _shape(old[old_index]) == _shape(new[new_index]):
            matches.append((old_index, new_index))
            left.remove(old_index)
            right.remove(new_index)
    return matches + _by_content(
        [(index, old[index]) for index in left], [(o, new[o]) for o in right], sides
    )


def _by_content(
    old: list[tuple[int, ValueInfo]],
    new: list[tuple[int, ValueInfo]],
    sides: tuple[ModelSide, ModelSide],
) -> Pairs:
    if sum(_size(value) for _, value in (*old, *new)) > _MAX_BYTES:
        return []
    places: dict[Hashable, list[int]] = {}
    shapes: dict[tuple[int, ...], set[tuple[str, tuple[int, ...]]]] = {}
    for index, value in new:
        array = _array(value, sides[1])
        if array is not None and isinstance(value.type, TensorType):
            about = value.type.element, _shape(value)
            places.setdefault((*about, _digest(array)), []).append(index)
            shapes.setdefault(tuple(sorted(about[1])), set()).add(about)
    result: Pairs = []
    for index, value in old:
        targets = shapes.get(tuple(sorted(_shape(value))))
        array = None if targets is None else _array(value, sides[0])
        if targets is None or array is None:
            continue
        for key in _derived_hashes(array, value, targets):
            if places.get(key):
                result.append((index, places[key].pop(0)))
                break
    return result


def _derived_hashes(
    array: Array, value: ValueInfo, targets: set[tuple[str, tuple[int, ...]]]
) -> list[Hashable]:
    """Return the keys (element type, shape, digest) of transposed and cast copies of a weight.

    Only copies whose element type and shape are in `targets` are computed.
    """
    keys: list[Hashable] = []
    shape = _shape(value)
    for element, new_shape in sorted(targets):
        if element == value.type.element:  # type: ignore[union-attr]
            turned = [one for one in transpositions(array, shape) if one.shape == new_shape]
            keys += [(element, new_shape, _digest(one)) for one in turned]
        elif new_shape == shape and (dtype := dtype_of(element)) is not None:
            with np.errstate(all="ignore"):
                keys.append((element, new_shape, _digest(array.astype(dtype))))
    return keys


def _digest(array: Array) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(array).view(np.uint8).data).digest()


def _shape(value: ValueInfo) -> tuple[int, ...]:
    return value.type.integer_dims if isinstance(value.type, TensorType) else ()


def _size(value: ValueInfo) -> int:
    if not isinstance(value.type, TensorType):
        return 0
    element = ELEMENTS.get(value.type.element)
    if element is None or not element.bits:  # strings are not compared by content
        return 0
    return raw_size(element, element_count(value.type))


def _array(value: ValueInfo, side: ModelSide) -> Array | None:
    """Return the elements of an initializer.

    Return None if it is too small, has a type without numpy type, or cannot be read.
    """
    if not isinstance(value.type, TensorType) or element_count(value.type) < _FEWEST_ELEMENTS:
        return None
    return None if dtype_of(value.type.element) is None else read_elements(value, side.reader)
