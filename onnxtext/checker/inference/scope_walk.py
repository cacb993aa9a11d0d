# SPDX-License-Identifier: Apache-2.0
"""Visit the graphs of a model to infer types or shapes; visit a function once per kind of call.

Nested graphs and training algorithms are visited after the values that they may use are known. A
function body is visited once for calls with equal input types and attributes: if each of 30
functions calls the next twice, there are a billion call paths, but often only a few
combinations of input types and attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place
from onnxtext.checker.context.operator_resolution import resolve_targets
from onnxtext.checker.context.scopes import Scope

_MAX_NODES = 20_000
"""Maximum number of node visits in called functions, in addition to two per node of the model."""
_DEEPEST = 100
"""Maximum depth of nested function calls."""
E = TypeVar("E")
W = TypeVar("W", bound="ScopeWalk[Any]")


class CallLimits:
    """Limits the number of nodes that a walk visits in called functions, and the depth of calls.

    `nodes` are the calls whose functions are being visited, outermost first.
    """

    def __init__(self, subject: CheckedModel) -> None:
        self._budget = _MAX_NODES + 2 * subject.node_count
        self.nodes: list[Node] = []
        self._places: tuple[Place, ...] | None = None

    def enter(self, node: Node, function: Scope) -> bool:
        """Begin a visit of the function that a node calls; `leave` ends the visit.

        Return False if calls are nested too deeply, or if too many nodes have been visited.
        """
        self._budget -= 1 + len(function.nodes)
        if self._budget < 0 or len(self.nodes) >= _DEEPEST:
            return False
        self.nodes.append(node)
        self._places = None
        return True

    def leave(self) -> None:
        """End a visit that `enter` has begun."""
        self.nodes.pop()
        self._places = None

    def places(self) -> tuple[Place, ...]:
        """Return the last places of a finding in a function: the calls that lead to it.

        All findings of a visit share these places, because there may be many.
        """
        if self._places is None:
            calls = reversed(self.nodes)
            self._places = tuple([Place(node, ("op_type",), "in this call") for node in calls])
        return self._places


class ScopeWalk(Generic[E]):
    """Base class: infers types or shapes in one walk over a model.

    Attributes:
        findings: the findings of the walk, such as contradictory types.
        visits: maps `id(scope)` to the environments of the scope, one for each visit, in order.
    """

    def __init__(self, subject: CheckedModel) -> None:
        self.findings: list[Finding] = []
        self.visits: dict[int, list[E]] = {}
        # The subject caches this walk: a reference back to the subject would make a cycle.
        self._scopes = subject.scopes
        self._ir_version = subject.ir_version
        self._targets = resolve_targets(subject)
        self._limits = CallLimits(subject)
        # The environments of called functions by `_call_key`. Subclasses access this dict directly:
        # a helper method would add a stack frame for each level of nested calls.
        self._called: dict[tuple[object, ...], E | None] = {}
        self._kept: list[object] = []  # keeps alive the objects whose ids are in keys

    @classmethod
    def of(cls: type[W], subject: CheckedModel) -> W:
        """Return the finished walk over a model. The first call runs it; later calls reuse it."""
        cached: W | None = subject.memo.get(cls.__name__)
        if cached is None:
            cached = subject.memo[cls.__name__] = cls(subject)
            cached.run()
        return cached

    def run(self) -> None:
        """Visit all top-level graphs, and the functions that they call.

        The outer environment of a training algorithm is the environment of the main graph, whose
        values the algorithm may use.
        """
        main: E | None = None
        for scope in self._scopes:
            if scope.parent is None and scope.kind != "function":
                environment = self._scope(scope, (), main if scope.kind == "algorithm" else None)
                main = environment if scope.kind == "main" else main

    def _visit_uncalled(self, functions: Iterable[Scope]) -> None:
        """Visit functions that have not been visited; their inputs have unknown types."""
        for scope in functions:
            if id(scope) not in self.visits:
                self._scope(scope, (), None)

    def _scope(self, scope: Scope, given: tuple[Any, ...], outer: E | None) -> E:
        """Visit a graph or function body; return its environment.

        `given` are the types of the scope's inputs, from the call or node; None where unknown.
        """
        raise NotImplementedError

    def _call_key(
        self, function: Scope, inputs: Sequence[object], attributes: Sequence[Attribute] = ()
    ) -> tuple[object, ...]:
        """Return the key of a call: calls with equal keys have equal results.

        `inputs` are hashable facts about the inputs of the call, such as their types. `attributes`
        are the attributes that the call sets; default values are not needed, because they depend
        only on the function.
        """
        if not attributes:
            return (id(function), *inputs)
        given = [(attribute.name, attribute.type, self._attribute_key(attribute.value))
                 for attribute in attributes]  # fmt: skip
        return (id(function), *inputs, *sorted(given, key=lambda item: item[0]))

    def _attribute_key(self, value: object) -> object:
        """Return a hashable key: the type and value of a scalar or short list, else the `id()`."""
        if isinstance(value, (int, float, str, bytes)):
            return type(value), value
        if (
            isinstance(value, tuple)
            and len(value) < 16
            and all(isinstance(item, (int, float, str, bytes)) for item in value)
        ):
            return (*map(type, value), *value)
        self._kept.append(value)
        return id(value)
