# SPDX-License-Identifier: Apache-2.0
"""Look up what a recorded inference knows of the values of a graph.

Inference visits a function body once for each kind of call, with the graphs in the body. A view
shows one of these visits.
"""

from __future__ import annotations

from typing import Protocol

from onnxtext.ast.model import Node
from onnxtext.ast.types import Type
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.inference.node_inference import Made
from onnxtext.checker.inference.recording import RecordedInference
from onnxtext.checker.inference.shape_environment import Shapes
from onnxtext.checker.inference.symbolic.small_tensors import Value


class View(Protocol):
    """The types and values that were inferred during one visit of a graph or body."""

    @property
    def scope(self) -> Scope:
        """The graph or body."""

    def type(self, name: str) -> Type | None:
        """Return the type of a value; None if unknown."""

    def value(self, name: str) -> Value | None:
        """Return a value if it is small and known before the model runs."""

    def made(self, node: Node) -> Made | None:
        """Return the types that a node computes; None if that was not recorded."""

    def outer(self) -> View | None:
        """Return the view of the outer graph; None if there is none."""

    def body(self, scope: Scope) -> View | None:
        """Return the view of a graph in an attribute of a node; None if it was not visited."""

    def call(self, node: Node) -> View | None:
        """Return the view of the function that a node calls; None if it was not visited."""

    def caller(self) -> tuple[View, Node] | None:
        """Return the view of the function body's caller, and the call; None if unknown."""


class RecordedView:
    """A view of one visit in a `RecordedInference`.

    Attributes:
        scope: the graph or body.
    """

    def __init__(self, known: RecordedInference, scope: Scope, facts: Shapes) -> None:
        self._scope = scope
        self._known = known
        self._facts = facts

    @property
    def scope(self) -> Scope:
        """The graph or body."""
        return self._scope

    def type(self, name: str) -> Type | None:
        """Return the type of a value; None if unknown."""
        return self._facts.find(name)

    def value(self, name: str) -> Value | None:
        """Return a value if it is small and known before the model runs."""
        return self._facts.value(name)

    def made(self, node: Node) -> Made | None:
        """Return the types that a node computes; None if that was not recorded."""
        return self._known.made.get((id(self._facts), id(node)))

    def outer(self) -> View | None:
        """Return the view of the outer graph; None if there is none."""
        scope = self._scope.parent or self._scope.main_graph
        outer = self._facts.outer
        if scope is None or not isinstance(outer, Shapes):
            return None
        return RecordedView(self._known, scope, outer)

    def body(self, scope: Scope) -> View | None:
        """Return the view of a graph in an attribute of a node; None if it was not visited."""
        for facts in reversed(self._known.visits.get(id(scope), ())):
            if facts.outer is self._facts:
                return RecordedView(self._known, scope, facts)
        return None

    def call(self, node: Node) -> View | None:
        """Return the view of the function that a node calls; None if it was not visited."""
        facts = self._known.calls.get((id(self._facts), id(node)))
        function = None if facts is None else self._known.scope_of(facts)
        if facts is None or function is None:
            return None
        return RecordedView(self._known, function, facts)

    def caller(self) -> tuple[View, Node] | None:
        """Return the first node that calls this function, and a view of the graph with that node.

        None if unknown.
        """
        found = self._known.caller(self._facts)
        if found is None:
            return None
        scope, facts, node = found
        return RecordedView(self._known, scope, facts), node


def views(known: RecordedInference, scope: Scope) -> list[View]:
    """Return the views of a graph or body; a function body has one view per kind of call."""
    return [RecordedView(known, scope, facts) for facts in known.visits.get(id(scope), ())]
