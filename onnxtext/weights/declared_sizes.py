# SPDX-License-Identifier: Apache-2.0
"""Estimate the size of a model's weights from their types, before any weights are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onnxtext import ast
from onnxtext.ast.visit import rich_lists
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.element_types import ELEMENTS, raw_size

_INTS_FRACTION = 4
"""A blob of integers has 8 bytes per integer; a message may have only 2, a tag and a varint."""
_COMMON = (ast.RawData, ast.Blob)
"""The data classes of most initializers. Their size depends only on the type of the tensor."""
_WEIGHTLESS = (ast.Float32, int, bytes)
"""The classes of attribute values that are too small to count."""


def raw_data_size(type: ast.TensorType) -> int:
    """Return the size in bytes of `raw_data` for a type; a symbolic dim counts as 1.

    Return -1 if a dim is negative, or if the element type has no `raw_data`.
    """
    element, dims = ELEMENTS.get(type.element), type.integer_dims
    if element is None or not element.bits or min(dims, default=0) < 0:
        return -1
    return raw_size(element, count_elements(dims))


def declared_size(model: ast.Model | ast.Fragment) -> tuple[int, int]:
    """Estimate the size of a model's weights from their types, without reading data.

    Returns:
        (estimated number of bytes, character offset of the statement with the most bytes). The
        offset is 0 if unknown. A blob that is used several times counts for each use.
    """
    resources = model.resources if isinstance(model, ast.Model) else {}
    if isinstance(model, ast.Fragment):
        match model.item:
            case list(nodes):
                model = ast.Fragment(ast.Graph("nodes", nodes=nodes))
            case ast.Node() as node:
                model = ast.Fragment(ast.Graph("node", nodes=[node]))
            case ast.Attribute() as attribute:
                node = ast.Node("", attributes=(attribute,))
                model = ast.Fragment(ast.Graph("attribute", nodes=[node]))
    raw: dict[int, int] = {}
    total = largest = offset = 0
    for graph in ast.walk_graphs(model):
        values = [] if isinstance(graph, ast.Function) else [*graph.inputs, *graph.values]
        sizes = []
        for value in values:
            if type(value.data) in _COMMON:  # cached, since many values share a type object
                size = raw.get(id(value.type))
                if size is None:
                    size = raw[id(value.type)] = _value(value.data, value.type)
                sizes.append((size, value.at))
            elif value.data:
                sizes.append((_value(value.data, value.type), value.at))
        if isinstance(graph, ast.Function):
            sizes.append((_attributes(graph.attributes, resources), graph.at))
        rich = rich_lists(graph.nodes)
        sizes_of_lists = {
            id(attributes): size
            for attributes in rich
            if (size := _attributes(attributes, resources))
        }
        for node in graph.nodes if sizes_of_lists else ():
            if id(node.attributes) in sizes_of_lists:
                sizes.append((sizes_of_lists[id(node.attributes)], node.at))
        for size, place in sizes:
            total += size
            if size > largest:
                largest, offset = size, max(place, 0)
    return total, offset


def _attributes(
    attributes: tuple[str | ast.Attribute, ...], resources: Mapping[str, bytes | memoryview]
) -> int:
    """Estimate the size of the values of attributes, in bytes."""
    total = 0
    for item in attributes:
        if type(item) is ast.Attribute and type(item.value) not in _WEIGHTLESS:
            values = item.value if isinstance(item.value, tuple) else (item.value,)
            for value in values:
                if isinstance(value, ast.RepeatedList):
                    total += value.count * _item_size(value.items[-1])
                elif isinstance(value, ast.TypedBlob):
                    total += len(resources.get(value.digest, b""))
                elif isinstance(value, ast.Blob):
                    size = len(resources.get(value.digest, b""))
                    total += size // _INTS_FRACTION if item.type is ast.AttributeType.INTS else size
                elif isinstance(value, (ast.Tensor, ast.SparseTensor)):
                    total += _value(value, None)
    return total


def _item_size(item: int | ast.Float32 | bytes) -> int:
    """Return the smallest encoded size of an item of an attribute's list, with the field's key."""
    if isinstance(item, bytes):
        return 2 + len(item)
    return 5 if isinstance(item, ast.Float32) else 2


def _value(data: Any, type: Any) -> int:
    """Estimate the size of `data` in bytes; only blobs, data files and raw data count.

    `type` is the declared type of the data; None if unknown.
    """
    match data:
        case ast.Tensor():
            return _value(data.data, data.type)
        case ast.SparseTensor():
            return _value(data.values, None) + _value(data.indices, None)
        case ast.Blob() | ast.TypedBlob() | ast.DataFile() | ast.RawData() if isinstance(
            type, ast.TensorType
        ):
            return max(raw_data_size(type), 0)
    return 0
