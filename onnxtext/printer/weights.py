# SPDX-License-Identifier: Apache-2.0
"""Moving large data out of a model into its resources, so that the graph stays readable."""

from __future__ import annotations

import struct
from dataclasses import replace
from math import prod
from operator import is_
from typing import Any

from onnxtext.ast.model import Function, Model
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import (
    Attribute,
    AttributeType,
    Blob,
    Floats,
    RawData,
    SparseTensor,
    Tensor,
)
from onnxtext.ast.visit import walk_graphs, walk_nodes
from onnxtext.tensor.blobs import digest_of
from onnxtext.tensor.elements import ELEMENTS
from onnxtext.tensor.format import is_splat

INLINE_ELEMENTS = 64
"""Tensors with more elements than this become blobs."""

INLINE_BYTES = 4096
"""Attribute strings with more bytes than this become blobs."""

_MOST_IN_A_BYTE = 4
"""Elements of two bits."""

INLINE_NUMBERS = 4096
"""Attribute lists with more numbers than this become blobs."""


class Mover:
    """One run of moving.

    Attributes:
        limit: how many elements of a tensor stay where they are.
        resources: what was moved, by digest.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.resources: dict[str, bytes] = {}
        self._attributes: dict[int, Attribute] = {}

    def blob(self, data: bytes | memoryview) -> Blob:
        """Move some bytes."""
        digest = digest_of(data)
        if digest not in self.resources:
            self.resources[digest] = bytes(data)
        return Blob(digest)

    def data(self, type: TensorType, data: Any) -> Any:
        """A tensor's data, moved if it is large and says more than one number."""
        if not isinstance(data, RawData) or len(data.data) * _MOST_IN_A_BYTE <= self.limit:
            return data
        count = prod(dim for dim in type.shape or () if isinstance(dim, int))
        if count <= self.limit or is_splat(ELEMENTS[type.element], data.data, count):
            return data
        return self.blob(data.data)

    def tensor(self, tensor: Tensor) -> Tensor:
        """A tensor in an attribute."""
        moved = self.data(tensor.type, tensor.data)
        return tensor if moved is tensor.data else replace(tensor, data=moved)

    def sparse(self, sparse: SparseTensor) -> SparseTensor:
        """A sparse tensor."""
        values, indices = self.tensor(sparse.values), self.tensor(sparse.indices)
        if values is sparse.values and indices is sparse.indices:
            return sparse
        return replace(sparse, values=values, indices=indices)

    def attribute(self, attribute: Attribute) -> Attribute:
        """An attribute; equal ones stay one object."""
        made = self._attributes.get(id(attribute))
        if made is None:
            value = self._value(attribute.type, attribute.value)
            made = attribute if value is attribute.value else replace(attribute, value=value)
            self._attributes[id(attribute)] = made
        return made

    def _value(self, kind: AttributeType | None, value: Any) -> Any:
        match value:
            case Tensor():
                return self.tensor(value)
            case SparseTensor():
                return self.sparse(value)
            case bytes() if len(value) > INLINE_BYTES:
                return self.blob(value)
            case Floats(data) if len(value) > INLINE_NUMBERS:
                return self.blob(data)
            case tuple() if kind is AttributeType.INTS:
                if len(value) > INLINE_NUMBERS:
                    return self.blob(struct.pack(f"<{len(value)}q", *value))
            case tuple():
                items = tuple([self._value(None, item) for item in value])
                if any(new is not old for new, old in zip(items, value, strict=True)):
                    return items
        return value


def move_weights(model: Model, *, inline_limit: int = INLINE_ELEMENTS) -> None:
    """Move large tensors, strings and lists of a model into its resources.

    Args:
        model: is changed.
        inline_limit: how many elements of a tensor stay where they are.
    """
    mover = Mover(inline_limit)
    kept: list[tuple[Attribute, ...]] = []
    for graph in walk_graphs(model):
        values = graph.values if isinstance(graph, Function) else [*graph.inputs, *graph.values]
        for value in values:
            if isinstance(value.data, SparseTensor):
                value.data = mover.sparse(value.data)
            elif isinstance(value.type, TensorType):
                value.data = mover.data(value.type, value.data)
        if isinstance(graph, Function):
            graph.attributes = tuple(
                [
                    item if isinstance(item, str) else mover.attribute(item)
                    for item in graph.attributes
                ]
            )
    moved: dict[int, tuple[Attribute, ...]] = {}
    for node in walk_nodes(model):
        attributes = node.attributes
        if attributes:
            known = moved.get(id(attributes))
            if known is None:
                known = tuple([mover.attribute(item) for item in attributes])
                if all(map(is_, known, attributes)):
                    known = attributes
                else:
                    kept.append(attributes)  # so that no other tuple gets its identity
                moved[id(attributes)] = known
            node.attributes = known
    model.resources = mover.resources
