# SPDX-License-Identifier: Apache-2.0
"""Rewrite the data of all tensors in a model; keep objects that do not change."""

from __future__ import annotations

from dataclasses import replace
from operator import is_
from typing import Any

from onnxtext.ast.model import Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import Attribute, AttributeType, SparseTensor, Tensor
from onnxtext.ast.types import TensorType
from onnxtext.ast.visit import large_lists, large_values, list_graphs
from onnxtext.select_core import core, core_module


class Rewriter:
    """Rewrites the initializers and attributes of a model.

    A subclass overrides a method, most often `data`, to return new objects. By default, nothing is
    changed.

    Attributes:
        max_small_elements: the maximum size of data to skip, as in `large_values` (initializers)
            and `large_lists` (attributes).
    """

    max_small_elements = -1

    def __init__(self) -> None:
        self._attributes: dict[int, Attribute] = {}

    def data(self, type: TensorType, data: Any, name: str | None) -> Any:
        """Return the new data of a tensor; by default the old data.

        `name` is the name of the tensor. For a tensor without a name, it is the name of its
        attribute, or `values` or `indices` in a sparse tensor.
        """
        return data

    def run(
        self, model: Model | Graph | Function, graphs: list[Graph | Function] | None = None
    ) -> None:
        """Rewrite a model, graph or function in place.

        `graphs` are all graphs and functions in `model`, including `model` itself unless it is a
        `Model`; None to find them.
        """
        if graphs is None:
            graphs = list_graphs(model)
        for graph in graphs:
            is_function = isinstance(graph, Function)
            values = graph.values if is_function else [*graph.inputs, *graph.values]
            for value in large_values(values, self.max_small_elements) if values else ():
                self.initializer(value)
        self.attributes_of(graphs, [node for graph in graphs for node in graph.nodes])

    def attributes_of(self, graphs: list[Graph | Function], nodes: list[Node]) -> None:
        """Rewrite the attributes of `nodes`, and parameters of functions in `graphs`, in place."""
        for graph in graphs:
            if isinstance(graph, Function) and graph.attributes:
                graph.attributes = self.parameters(graph)
        changed: dict[int, tuple[Attribute, ...]] = {}
        # Keep the lists alive in a variable: a new list could get the `id()` of a freed list.
        lists = large_lists(nodes, self.max_small_elements)
        for attributes in lists:
            rewritten = self.rewrite_list(attributes)
            if rewritten is not attributes:
                changed[id(attributes)] = rewritten
        if changed:
            for node in nodes:
                node.attributes = changed.get(id(node.attributes), node.attributes)

    def rewrite_list(self, attributes: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        """Return a list of attributes with their new values; the same list if nothing changes."""
        if core() == "native":
            rewrite = core_module("ast.visit").rewrite_list
            most = self.max_small_elements
            found: tuple[Attribute, ...] | None
            found = rewrite(attributes, most, self._attributes, self.value)
            if found is not None:
                return found
        result = tuple([self.attribute(item) for item in attributes])
        return attributes if all(map(is_, result, attributes)) else result

    def initializer(self, value: ValueInfo) -> None:
        """Rewrite an initializer in place."""
        if isinstance(value.data, SparseTensor):
            value.data = self.sparse(value.data)
        elif isinstance(value.type, TensorType):
            value.data = self.data(value.type, value.data, value.name)

    def tensor(self, tensor: Tensor, name: str | None) -> Tensor:
        """Return a tensor in an attribute, with its new data."""
        data = self.data(tensor.type, tensor.data, tensor.name or name)
        if data is tensor.data:
            return tensor
        return Tensor(tensor.type, data, tensor.name, tensor.decorators)

    def sparse(self, sparse: SparseTensor) -> SparseTensor:
        """Return a sparse tensor with its new values and indices."""
        values = self.tensor(sparse.values, "values")
        indices = self.tensor(sparse.indices, "indices")
        if values is sparse.values and indices is sparse.indices:
            return sparse
        return replace(sparse, values=values, indices=indices)

    def attribute(self, attribute: Attribute) -> Attribute:
        """Return an attribute with its new value; cache the result by the attribute's identity."""
        result = self._attributes.get(id(attribute))
        if result is None:
            value = self.value(attribute.type, attribute.value, attribute.name)
            result = attribute
            if value is not attribute.value:  # `replace` takes three times as long
                result = Attribute(attribute.name, attribute.type, value, attribute.decorators)
            self._attributes[id(attribute)] = result
        return result

    def parameters(self, function: Function) -> tuple[str | Attribute, ...]:
        """Return the parameters of a function with their new default values."""
        items = function.attributes
        return tuple([item if isinstance(item, str) else self.attribute(item) for item in items])

    def value(self, kind: AttributeType | None, value: Any, name: str) -> Any:
        """Return the new value of an attribute, or of one item of a list in an attribute.

        `kind` is the type of the attribute; None for an item of a list. `name` names the attribute.
        """
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
