# SPDX-License-Identifier: Apache-2.0
"""Compute the size of a model's weights from their types, before any of them is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onnxtext.ast.model import Fragment, Function, Model
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import (
    Attribute,
    AttributeType,
    Blob,
    DataFile,
    Float32,
    RawData,
    RepeatedList,
    SparseTensor,
    Tensor,
    TypedBlob,
)
from onnxtext.ast.visit import rich_lists, walk_graphs
from onnxtext.tensor.elements import ELEMENTS, raw_size

_INTS_FRACTION = 4
"""An integer has eight bytes in a blob, but as few as two in an attribute."""


_WEIGHTLESS = (Float32, int, bytes)


def wanted_size(type: TensorType) -> int:
    """Return the size of raw data of a type in bytes; -1 if unknown."""
    element = ELEMENTS.get(type.element)
    count = 1
    for dim in type.shape or ():
        if isinstance(dim, int):
            if dim < 0:
                return -1
            count *= dim
    return -1 if element is None or not element.bits else raw_size(element, count)


def declared_size(model: Model | Fragment) -> tuple[int, int]:
    """Sum the sizes of a model's weights by their types, without reading data.

    Returns:
        The sum in bytes over all uses of blobs, and the offset of the largest statement.
    """
    resources = model.resources if isinstance(model, Model) else {}
    raw: dict[int, int] = {}
    total = largest = at = 0
    for graph in walk_graphs(model):
        values = [] if isinstance(graph, Function) else [*graph.inputs, *graph.values]
        sizes = []
        for value in values:
            if type(value.data) is RawData:  # many have the same type
                size = raw.get(id(value.type))
                if size is None:
                    size = raw[id(value.type)] = _value(value.data, value.type)
                sizes.append((size, value.at))
            elif value.data:
                sizes.append((_value(value.data, value.type), value.at))
        if isinstance(graph, Function):
            sizes.append((_attributes(graph.attributes, resources), graph.at))
        rich = rich_lists(graph.nodes)
        known = {id(held): size for held in rich if (size := _attributes(held, resources))}
        for node in graph.nodes if known else ():
            if id(node.attributes) in known:
                sizes.append((known[id(node.attributes)], node.at))
        for size, place in sizes:
            total += size
            if size > largest:
                largest, at = size, max(place, 0)
    return total, at


def _attributes(
    attributes: tuple[str | Attribute, ...], resources: Mapping[str, bytes | memoryview]
) -> int:
    total = 0
    for item in attributes:
        if type(item) is Attribute and type(item.value) not in _WEIGHTLESS:
            values = item.value if isinstance(item.value, tuple) else (item.value,)
            for value in values:
                if isinstance(value, RepeatedList):
                    total += 2 * value.count
                elif isinstance(value, TypedBlob):
                    total += len(resources.get(value.digest, b""))
                elif isinstance(value, Blob):
                    size = len(resources.get(value.digest, b""))
                    total += size // _INTS_FRACTION if item.type is AttributeType.INTS else size
                elif isinstance(value, (Tensor, SparseTensor)):
                    total += _value(value, None)
    return total


def _value(data: Any, type: Any) -> int:
    match data:
        case Tensor():
            return _value(data.data, data.type)
        case SparseTensor():
            return _value(data.values, None) + _value(data.indices, None)
        case Blob() | TypedBlob() | DataFile() | RawData() if isinstance(type, TensorType):
            return max(wanted_size(type), 0)
    return 0
