# SPDX-License-Identifier: Apache-2.0
"""Look up the types and values that inference has recorded for a graph or function body.

Inference visits a function body, and the graphs in it, once for each kind of call. Calls are of the
same kind if equal facts are known about their inputs and attributes. A view gives the results of
one visit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.ast.types import Type
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.inference.recorded_inference import RecordedInference
from onnxtext.checker.inference.shape_environment import ShapeEnvironment
from onnxtext.checker.inference.symbolic.small_tensors import SmallTensor
from onnxtext.checker.inference.type_merging import Types


class InferredView(Protocol):
    """The types and values that were inferred in one visit of a graph or function body."""

    @property
    def scope(self) -> Scope:
        """The graph or function body."""

    def type(self, name: str) -> Type | None:
        """Return the type of a value; None if unknown."""

    def value(self, name: str) -> SmallTensor | None:
        """Return the elements of a small tensor; None if they are unknown before the model runs."""

    def made(self, node: Node) -> Types | None:
        """Return the computed types of a node's outputs, before merging with declared types.

        Return None if the types were not recorded.
        """

    def outer(self) -> InferredView | None:
        """Return the view of the enclosing graph or function body; None if there is none."""

    def body(self, scope: Scope) -> InferredView | None:
        """Return the view of a graph nested directly in this one; None if it was not visited."""

    def call(self, node: Node) -> InferredView | None:
        """Return the view of the function that a node calls; None if it was not visited."""

    def caller(self) -> tuple[InferredView, Node] | None:
        """Return the view of the graph that calls this function body, and the node that calls it.

        Return None if no such call is known.
        """

    def parameters(self) -> Mapping[str, Attribute] | None:
        """Return the attributes, by name, of the call of the function that contains this graph.

        Return None outside of functions, or if no call is known.
        """


@dataclass(frozen=True, slots=True, eq=False)
class RecordedView:
    """Implements `InferredView` for one visit that a `RecordedInference` has recorded.

    Attributes:
        recorded: the recorded inference.
        scope: the graph or function body.
        facts: the types and values of the visit.
    """

    recorded: RecordedInference
    scope: Scope
    facts: ShapeEnvironment

    def type(self, name: str) -> Type | None:
        """Return the type of a value; None if unknown."""
        return self.facts.find(name)

    def value(self, name: str) -> SmallTensor | None:
        """Return the elements of a small tensor; None if they are unknown before the model runs."""
        return self.facts.value(name)

    def made(self, node: Node) -> Types | None:
        """Return the computed types of a node's outputs, before merging with declared types.

        Return None if the types were not recorded.
        """
        return self.recorded.made.get((id(self.facts), id(node)))

    def outer(self) -> InferredView | None:
        """Return the view of the enclosing graph or function body; None if there is none."""
        scope = self.scope.parent or self.scope.main_graph
        outer = self.facts.outer
        if scope is None or not isinstance(outer, ShapeEnvironment):
            return None
        return RecordedView(self.recorded, scope, outer)

    def body(self, scope: Scope) -> InferredView | None:
        """Return the view of a graph nested directly in this one; None if it was not visited."""
        for facts in reversed(self.recorded.visits.get(id(scope), ())):
            if facts.outer is self.facts:
                return RecordedView(self.recorded, scope, facts)
        return None

    def call(self, node: Node) -> InferredView | None:
        """Return the view of the function that a node calls; None if it was not visited."""
        facts = self.recorded.calls.get((id(self.facts), id(node)))
        function = None if facts is None else self.recorded.scope_of(facts)
        if facts is None or function is None:
            return None
        return RecordedView(self.recorded, function, facts)

    def caller(self) -> tuple[InferredView, Node] | None:
        """Return the view of the graph that calls this function body, and the node that calls it.

        If there are several calls, return the first. Return None if no such call is known.
        """
        caller = self.recorded.caller(self.facts)
        if caller is None:
            return None
        scope, facts, node = caller
        return RecordedView(self.recorded, scope, facts), node

    def parameters(self) -> Mapping[str, Attribute] | None:
        """Return the attributes, by name, of the call of the function that contains this graph.

        Return None outside of functions, or if no call is known.
        """
        outermost = self.facts
        while isinstance(outermost.outer, ShapeEnvironment):
            outermost = outermost.outer
        return None if self.recorded.caller(outermost) is None else self.facts.parameters


def scope_views(recorded: RecordedInference, scope: Scope) -> list[InferredView]:
    """Return the views of a graph or function body: one for each visit of it."""
    return [RecordedView(recorded, scope, facts) for facts in recorded.visits.get(id(scope), ())]
