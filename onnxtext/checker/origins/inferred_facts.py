# SPDX-License-Identifier: Apache-2.0
"""Look up the types and values that an inference has recorded for a graph or function body.

Inference visits a function body, and the graphs in it, once for each kind of call: each combination
of known facts about the inputs and attributes. A view gives the results of one visit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.ast.types import Type
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.inference.recording import RecordedInference
from onnxtext.checker.inference.shape_environment import Shapes
from onnxtext.checker.inference.symbolic.small_tensors import Value
from onnxtext.checker.inference.type_merging import Types


class View(Protocol):
    """The types and values that were inferred in one visit of a graph or function body."""

    @property
    def scope(self) -> Scope:
        """The graph or function body."""

    def type(self, name: str) -> Type | None:
        """Return the type of a value; None if unknown."""

    def value(self, name: str) -> Value | None:
        """Return the elements of a small tensor; None if they are unknown before the model runs."""

    def made(self, node: Node) -> Types | None:
        """Return the computed types of a node's outputs, before merging with declared types.

        Return None if the types were not recorded.
        """

    def outer(self) -> View | None:
        """Return the view of the enclosing graph or function body; None if there is none."""

    def body(self, scope: Scope) -> View | None:
        """Return the view of a graph nested directly in this one; None if it was not visited."""

    def call(self, node: Node) -> View | None:
        """Return the view of the function that a node calls; None if it was not visited."""

    def caller(self) -> tuple[View, Node] | None:
        """Return the view of the graph that calls this function body, and the node that calls it.

        Return None if no such call is known.
        """

    def parameters(self) -> Mapping[str, Attribute] | None:
        """Return the attributes of the call of the function that contains this graph, by name.

        None outside functions, or if no call is known.
        """


class RecordedView:
    """The view of one visit that a `RecordedInference` has recorded.

    Attributes:
        scope: the graph or function body.
    """

    def __init__(self, known: RecordedInference, scope: Scope, facts: Shapes) -> None:
        self._scope = scope
        self._known = known
        self._facts = facts

    @property
    def scope(self) -> Scope:
        """The graph or function body."""
        return self._scope

    def type(self, name: str) -> Type | None:
        """Return the type of a value; None if unknown."""
        return self._facts.find(name)

    def value(self, name: str) -> Value | None:
        """Return the elements of a small tensor; None if they are unknown before the model runs."""
        return self._facts.value(name)

    def made(self, node: Node) -> Types | None:
        """Return the computed types of a node's outputs, before merging with declared types.

        Return None if the types were not recorded.
        """
        return self._known.made.get((id(self._facts), id(node)))

    def outer(self) -> View | None:
        """Return the view of the enclosing graph or function body; None if there is none."""
        scope = self._scope.parent or self._scope.main_graph
        outer = self._facts.outer
        if scope is None or not isinstance(outer, Shapes):
            return None
        return RecordedView(self._known, scope, outer)

    def body(self, scope: Scope) -> View | None:
        """Return the view of a graph nested directly in this one; None if it was not visited."""
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
        """Return the view of the graph that calls this function body, and the node that calls it.

        If there are several calls, return the first. Return None if no such call is known.
        """
        found = self._known.caller(self._facts)
        if found is None:
            return None
        scope, facts, node = found
        return RecordedView(self._known, scope, facts), node

    def parameters(self) -> Mapping[str, Attribute] | None:
        """Return the attributes of the call of the function that contains this graph, by name.

        None outside functions, or if no call is known.
        """
        outermost = self._facts
        while isinstance(outermost.outer, Shapes):
            outermost = outermost.outer
        return None if self._known.caller(outermost) is None else self._facts.parameters


def views(known: RecordedInference, scope: Scope) -> list[View]:
    """Return the views of a graph or function body: one for each visit of it."""
    return [RecordedView(known, scope, facts) for facts in known.visits.get(id(scope), ())]
