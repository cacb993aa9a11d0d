# SPDX-License-Identifier: Apache-2.0
"""Rewrite the data of all tensors in a model; objects without changes stay the same objects."""

from __future__ import annotations

from dataclasses import replace
from operator import is_
from typing import Any

from onnxtext.ast.model import Function, Graph, Model, ValueInfo
from onnxtext.ast.tensors_and_attributes import Attribute, AttributeType, SparseTensor, Tensor
from onnxtext.ast.types import TensorType
from onnxtext.ast.visit import attribute_lists, large_values, list_graphs


class Rewriter:
    """Rewrites a model; subclasses override `data` and other methods.

    Attributes:
        least: raw data with at most this many elements is skipped.
    """

    least = -1

    def __init__(self) -> None:
        self._attributes: dict[int, Attribute] = {}

    def data(self, type: TensorType, data: Any, name: str | None) -> Any:
        """Rewrite a tensor's data.

        Args:
            type: its type.
            data: the old data.
            name: the name of the tensor or of its owner.
        """
        return data

    def run(
        self, model: Model | Graph | Function, graphs: list[Graph | Function] | None = None
    ) -> None:
        """Rewrite a model, graph or function in place.

        Args:
            model: the model.
            graphs: all of its graphs and functions; by default they are searched.
        """
        if graphs is None:
            graphs = list_graphs(model)
        for graph in graphs:
            is_function = isinstance(graph, Function)
            values = graph.values if is_function else [*graph.inputs, *graph.values]
            for value in large_values(values, self.least) if values else ():
                self.initializer(value)
            if isinstance(graph, Function) and graph.attributes:
                graph.attributes = tuple(
                    [
                        item if isinstance(item, str) else self.attribute(item)
                        for item in graph.attributes
                    ]
                )
        nodes = [node for graph in graphs for node in graph.nodes]
        changed: dict[int, tuple[Attribute, ...]] = {}
        held = attribute_lists(nodes)  # keeps the lists alive, so that identities stay unique
        for attributes in held:
            made = tuple([self.attribute(item) for item in attributes])
            if not all(map(is_, made, attributes)):
                changed[id(attributes)] = made
        if changed:
            for node in nodes:
                node.attributes = changed.get(id(node.attributes), node.attributes)

    def initializer(self, value: ValueInfo) -> None:
        """Rewrite an initializer in place."""
        if isinstance(value.data, SparseTensor):
            value.data = self.sparse(value.data)
        elif isinstance(value.type, TensorType):
            value.data = self.data(value.type, value.data, value.name)

    def tensor(self, tensor: Tensor, name: str | None) -> Tensor:
        """Rewrite a tensor in an attribute."""
        made = self.data(tensor.type, tensor.data, tensor.name or name)
        return tensor if made is tensor.data else replace(tensor, data=made)

    def sparse(self, sparse: SparseTensor) -> SparseTensor:
        """Rewrite a sparse tensor."""
        values = self.tensor(sparse.values, "values")
        indices = self.tensor(sparse.indices, "indices")
        if values is sparse.values and indices is sparse.indices:
            return sparse
        return replace(sparse, values=values, indices=indices)

    def attribute(self, attribute: Attribute) -> Attribute:
        """Rewrite an attribute; nodes that share the attribute share the result."""
        made = self._attributes.get(id(attribute))
        if made is None:
            value = self.value(attribute.type, attribute.value, attribute.name)
            made = attribute
            if value is not attribute.value:  # `replace` takes three times as long
                made = Attribute(attribute.name, attribute.type, value, attribute.decorators)
            self._attributes[id(attribute)] = made
        return made

    def value(self, kind: AttributeType | None, value: Any, name: str) -> Any:
        """Rewrite the value of an attribute, or one item of a list."""
        match value:
            case Tensor():
                return self.tensor(value, name)
            case SparseTensor():
                return self.sparse(value)
            case tuple() if kind is not AttributeType.INTS:
                items = tuple([self.value(None, item, name) for item in value])
                if any(new is not old for new, old in zip(items, value, strict=True)):
                    return items
        return value
