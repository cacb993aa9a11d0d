# SPDX-License-Identifier: Apache-2.0
"""Store inferred facts about values by scope, and look them up through the outer scopes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

V = TypeVar("V")


@dataclass(slots=True)
class Environment(Generic[V]):
    """The known facts, such as types, about the values of a scope: a graph or function body.

    Attributes:
        known: the fact about each value of the scope, by the value's name.
        outer: the environment of the graph around the scope, whose values it may use, too; None for
            top-level graphs and function bodies. For a training algorithm, that of the main graph.
    """

    known: dict[str, V] = field(default_factory=dict)
    outer: Environment[V] | None = None

    def holder(self, name: str) -> Environment[V] | None:
        """Return the innermost environment with a fact about the value `name`; None if unknown."""
        environment: Environment[V] | None = self
        while environment is not None and name not in environment.known:
            environment = environment.outer
        return environment

    def find(self, name: str) -> V | None:
        """Return the fact about a value of this or an outer scope; None if unknown."""
        environment = self.holder(name)
        return None if environment is None else environment.known[name]
