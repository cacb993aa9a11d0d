# SPDX-License-Identifier: Apache-2.0
"""Visit the graphs of a model to infer types or shapes, and memoize function calls.

Nested graphs and training algorithms are visited after the values that they may use are known. A
function body is visited once for calls with equal input types and attributes: if each of 30
functions calls the next one twice, there are a billion call paths, but often only a few
combinations of input types and attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding
from onnxtext.checker.context.operator_resolution import resolve_targets
from onnxtext.checker.context.scopes import Scope

_MAX_NODES = 20_000
"""Maximum number of node visits in called functions, in addition to two per node of the model."""
_DEEPEST = 100
"""Maximum depth of nested function calls."""
E = TypeVar("E")
W = TypeVar("W", bound="ScopeWalk[Any]")


def visit_graphs(scopes: Iterable[Scope], visit: Callable[[Scope, E | None], E]) -> None:
    """Call `visit(scope, outer environment)` for all top-level graphs.

    The outer environment of a training algorithm is the environment of the main graph, whose values
    the algorithm may use. Other graphs have no outer environment (None).
    """
    main: E | None = None
    for scope in scopes:
        if scope.parent is None and scope.kind != "function":
            environment = visit(scope, main if scope.kind == "algorithm" else None)
            main = environment if scope.kind == "main" else main


class CallMemo:
    """Caches the results of function calls; limits the number of node visits and the call depth.

    Attributes:
        results: maps the `key` of a call to the cached result of the call.
    """

    def __init__(self, subject: CheckedModel) -> None:
        self.results: dict[tuple[object, ...], Any] = {}
        self._budget = _MAX_NODES + 2 * subject.node_count
        self._depth = 0
        self._kept: list[object] = []  # keeps alive the objects whose ids are in keys

    def key(
        self, function: Scope, inputs: Sequence[object], attributes: Sequence[Attribute] = ()
    ) -> tuple[object, ...]:
        """Return the cache key of a call.

        `inputs` are hashable facts about the inputs of the call, such as their types. `attributes`
        are the attributes that the call sets; default values are not needed, because they depend
        only on the function.
        """
        if not attributes:
            return (id(function), *inputs)
        given = [(attribute.name, attribute.type, self._value(attribute.value))
                 for attribute in attributes]  # fmt: skip
        return (id(function), *inputs, *sorted(given, key=lambda item: item[0]))

    def _value(self, value: object) -> object:
        """Return a hashable key for an attribute's value: the value if it is short, else its id."""
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

    def enter(self, function: Scope) -> bool:
        """Begin a visit of a function's body, unless a limit is exceeded; `leave` ends the visit.

        Return False if calls are nested too deeply, or if too many nodes have been visited.
        """
        self._budget -= 1 + len(function.nodes)
        if self._budget < 0 or self._depth >= _DEEPEST:
            return False
        self._depth += 1
        return True

    def leave(self) -> None:
        """End a visit that `enter` has begun."""
        self._depth -= 1


class ScopeWalk(Generic[E]):
    """Base class: infers types or shapes in one walk over a model.

    Attributes:
        findings: the findings of the walk, such as contradictory types.
        environments: maps `id(scope)` to the environment of the first visit of the scope.
    """

    def __init__(self, subject: CheckedModel) -> None:
        self.findings: list[Finding] = []
        self.environments: dict[int, E] = {}
        # The subject caches this walk: a reference back to the subject would make a cycle.
        self._scopes = subject.scopes
        self._targets = resolve_targets(subject)
        self._calls = CallMemo(subject)

    @classmethod
    def of(cls: type[W], subject: CheckedModel) -> W:
        """Return the finished walk over a model. The first call runs it; later calls reuse it."""
        cached: W | None = subject.memo.get(cls.__name__)
        if cached is None:
            cached = subject.memo[cls.__name__] = cls(subject)
            cached.run()
        return cached

    def run(self) -> list[Finding]:
        """Visit all graphs, and the functions that they call; return the findings."""
        visit_graphs(self._scopes, lambda scope, outer: self._scope(scope, (), outer))
        return self.findings

    def _scope(self, scope: Scope, given: tuple[Any, ...], outer: E | None) -> E:
        """Visit a graph or function body; return its environment.

        `given` are the types that a call or node passes to its inputs; None where unknown.
        """
        raise NotImplementedError
