# SPDX-License-Identifier: Apache-2.0
"""Infer the shapes of a model from its inputs alone, ignoring all other declared shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from onnxtext.ast.compact_form.list_order import ORDERS
from onnxtext.ast.model import Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import GRAPH_TYPES, Attribute
from onnxtext.ast.types import DecoratedDim, Dim, TensorType, Type
from onnxtext.ast.visit import walk_graphs
from onnxtext.checker.context.checked_model import CheckedModel, Options
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.inference.shape_inference import CompleteInference
from onnxtext.checker.inference.type_merging import without_shape
from onnxtext.checker.isolation.inference_client import Answers, InferenceClient

T = TypeVar("T")
S = TypeVar("S", Graph, Function)
Shape = tuple[Dim, ...]
Key = tuple[int, str]
"""Identifies a value: (index of its graph in the order of `walk_graphs`, name of the value)."""


@dataclass
class InferredShapes:
    """The shapes that inference computes from the declared shapes of a model's inputs alone.

    Attributes:
        subject: a copy of the model without its other declared shapes.
        inference: the results of shape inference on the copy.
        originals: maps the `id()` of the copy of a statement to the original statement.
        shapes: the inferred shape of each value of known rank. A value in a function is included
            only if it has the same shape in all calls.
        numbers: maps `id(scope)` to the 0-based index of its graph in the order of `walk_graphs`.
    """

    subject: CheckedModel
    inference: CompleteInference
    originals: dict[int, Any]
    shapes: dict[Key, Shape]
    numbers: dict[int, int]

    def is_known(self, scope: Scope, name: str) -> bool:
        """Whether the rank and all sizes of a value are known."""
        shape = self.shapes.get((self.numbers[id(scope)], name))
        return shape is not None and None not in shape

    def original(self, item: object) -> Any:
        """Return the statement of the original model that was copied to `item`."""
        plain = self.subject.resolved.original(item)
        return self.originals.get(id(plain), plain)


def infer_shapes(
    model: Model, sizes: Mapping[str, int] | None = None, answers: Answers | None = None
) -> InferredShapes:
    """Infer the shapes of a model from the declared shapes of its inputs alone.

    Args:
        model: the syntax tree, which is not changed.
        sizes: maps symbolic dimensions of inputs to the sizes that replace them.
        answers: a cache of results of onnx's inference; new results are added.
    """
    originals: dict[int, Any] = {}
    stripped = _ShapeStripper(originals).model(model)
    if sizes:
        for value in stripped.graph.inputs:
            value.type = _sized(value.type, sizes)
    subject = CheckedModel(stripped, Options(inference=InferenceClient(answers)))
    inference = CompleteInference.of(subject)
    order = {id(graph): index for index, graph in enumerate(walk_graphs(stripped))}
    numbers = {id(scope): order.get(id(scope.original), -1) for scope in subject.scopes}
    shapes: dict[Key, Shape] = {}
    for scope in subject.scopes:
        visits = inference.visits.get(id(scope), ())
        graph_index = numbers[id(scope)]
        for name in scope.position:
            found = {_shape(visit.facts.get(name)) for visit in visits}
            shape = found.pop() if len(found) == 1 else None
            if shape is not None:
                shapes[graph_index, name] = shape
    return InferredShapes(subject, inference, originals, shapes, numbers)


def _shape(type: Type | None) -> Shape | None:
    shape = getattr(type, "shape", None)
    return None if shape is None else tuple(map(plain_dim, shape))


def _sized(type: Type | None, sizes: Mapping[str, int]) -> Type | None:
    """Return a type with the symbolic dimensions in `sizes` replaced by their sizes."""
    if not isinstance(type, TensorType) or type.shape is None:
        return type
    dims = []
    for dim in type.shape:
        plain = plain_dim(dim)
        dims.append(sizes.get(plain, dim) if isinstance(plain, str) else dim)
    return replace(type, shape=tuple(dims))


class _ShapeStripper:
    """Copies a model without training information and declared shapes.

    Inputs of the model and initializers keep their shapes. Unchanged objects are not copied, but
    shared. `originals` receives the original object of each copy, by the `id()` of the copy.
    """

    def __init__(self, originals: dict[int, Any]) -> None:
        self._originals = originals

    def model(self, model: Model) -> Model:
        """Return the copy of a model."""
        graph = self._scope(model.graph, is_main=True)
        functions = [self._scope(function) for function in model.functions]
        return replace(model, graph=graph, functions=functions, training=[])

    def _scope(self, scope: S, *, is_main: bool = False) -> S:
        """Return a copy of a graph or function without `value_info` and declared shapes.

        Inputs of the main graph, inputs with default values, and initializers keep their shapes.
        """
        copy: S = replace(
            scope,
            inputs=[
                value if value.data is not None else self._value(value, keeps=is_main)
                for value in scope.inputs
            ],
            outputs=[self._value(value) for value in scope.outputs],
            values=[value for value in scope.values if value.data is not None],
            nodes=[self._node(node) for node in scope.nodes],
            decorators=tuple([item for item in scope.decorators if item.name not in ORDERS]),
        )
        return self._remember(copy, scope)

    def _value(self, value: ValueInfo, *, keeps: bool = False) -> ValueInfo:
        type = value.type if keeps else without_shape(value.type)
        return self._remember(replace(value, type=type), value)

    def _node(self, node: Node) -> Node:
        attributes = node.attributes
        if any(attribute.type in GRAPH_TYPES for attribute in attributes):
            attributes = tuple(map(self._attribute, attributes))
        if not node.output_types and attributes is node.attributes:
            return node
        types = tuple(map(without_shape, node.output_types))
        return self._remember(replace(node, output_types=types, attributes=attributes), node)

    def _attribute(self, attribute: Attribute) -> Attribute:
        value: Any = attribute.value
        if isinstance(value, Graph):
            value = self._scope(value)
        elif isinstance(value, tuple) and value and isinstance(value[0], Graph):
            value = tuple([self._scope(graph) for graph in value])
        return replace(attribute, value=value)

    def _remember(self, copy: T, original: T) -> T:
        self._originals[id(copy)] = original
        return copy


def with_value(dim: Dim, value: int | str | None) -> Dim:
    """Return a dimension with the name or size `value` (None: unknown), keeping its decorators."""
    return replace(dim, value=value) if isinstance(dim, DecoratedDim) else value
