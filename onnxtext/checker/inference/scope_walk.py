# SPDX-License-Identifier: Apache-2.0
"""Visit the graphs of a model to infer types or shapes.

Nested graphs and training algorithms are visited after the values that they may use are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding
from onnxtext.checker.context.operator_resolution import resolve_targets
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.inference.call_memo import CallMemo

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

        Args:
            scope: the graph or body.
            given: the types that a call or node passes to its inputs; None where unknown.
            outer: the environment of the outer scope.
        """
        raise NotImplementedError
