# SPDX-License-Identifier: Apache-2.0
"""Look up the types and values that inference has found for a graph or function body.

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
from onnxtext.checker.inference.environment import ShapeEnvironment
from onnxtext.checker.inference.shape_inference import ShapeInference
from onnxtext.checker.inference.type_merging import Types
from onnxtext.checker.symbolic.small_tensors import SmallTensor


class InferredView(Protocol):
    """The types and values that were inferred in one visit of a graph or function body."""

    @property
    def scope(self) -> Scope:
        """The graph or function body."""

    def type(self, name: str) -> Type | None:
        """Return the type of a value; None if unknown."""

    def value(self, name: str) -> SmallTensor | None:
        """Return the elements of a small tensor; None if inference does not find them."""

    def computed_types(self, node: Node) -> Types | None:
        """Return the computed types of a node's outputs, before merging with declared types.

        Return None if the types were not recorded.
        """

    def outer(self) -> InferredView | None:
        """Return the view of the enclosing graph or function body; None if there is none."""

    def body(self, scope: Scope) -> InferredView | None:
        """Return the view of a graph that a node of this graph contains; None if not visited."""

    def call(self, node: Node) -> InferredView | None:
        """Return the view of the function that a node calls; None if it was not visited."""

    def caller(self) -> tuple[InferredView, Node] | None:
        """Return the view of the graph that calls this function body, and the node that calls it.

        Return None if no such call is known.
        """

    def parameters(self) -> Mapping[str, Attribute] | None:
        """Return the attributes, by name, of the node that calls the enclosing function.

        Return None outside of functions, or if no call is known.
        """


@dataclass(frozen=True, slots=True, eq=False)
class RecordedView:
    """Implements `InferredView` for one visit of a `ShapeInference`.

    Attributes:
        facts: the types and values of the visit.
    """

    recorded: ShapeInference
    facts: ShapeEnvironment

    @property
    def scope(self) -> Scope:
        """The graph or function body."""
        return self.facts.scope

    def type(self, name: str) -> Type | None:
        """Return the type of a value; None if inference found none."""
        return self.facts.find(name)

    def value(self, name: str) -> SmallTensor | None:
        """Return the elements of a small tensor; None if they are unknown or too many."""
        return self.facts.value(name)

    def computed_types(self, node: Node) -> Types | None:
        """Return the computed types of a node's outputs; None if they were not recorded."""
        return self.facts.computed_types.get(id(node))

    def _view(self, facts: ShapeEnvironment | None) -> RecordedView | None:
        return None if facts is None else RecordedView(self.recorded, facts)

    def outer(self) -> InferredView | None:
        """Return the view of the enclosing graph or function body; None at the top level."""
        outer = self.facts.outer
        return self._view(outer if isinstance(outer, ShapeEnvironment) else None)

    def body(self, scope: Scope) -> InferredView | None:
        """Return the view of the last visit of `scope`, a graph in a node of this graph.

        Return None if inference has not visited `scope` from this graph.
        """
        visits = reversed(self.recorded.visits.get(id(scope), ()))
        return self._view(next((facts for facts in visits if facts.outer is self.facts), None))

    def call(self, node: Node) -> InferredView | None:
        """Return the view of the function that a node calls; None if it was not visited."""
        return self._view(self.facts.calls.get(id(node)))

    def caller(self) -> tuple[InferredView, Node] | None:
        """Return (view, node) of the first call of this function body; None if there is none."""
        caller = self.recorded.callers.get(id(self.facts))
        return None if caller is None else (RecordedView(self.recorded, caller[0]), caller[1])

    def parameters(self) -> Mapping[str, Attribute] | None:
        """Map the function's parameters to the call's attributes; None if no call is known."""
        outermost = self.facts
        while isinstance(outermost.outer, ShapeEnvironment):
            outermost = outermost.outer
        return self.facts.parameters if id(outermost) in self.recorded.callers else None


def scope_views(recorded: ShapeInference, scope: Scope) -> list[InferredView]:
    """Return the views of a graph or function body: one for each visit of it in `recorded`."""
    return [RecordedView(recorded, facts) for facts in recorded.visits.get(id(scope), ())]
