# SPDX-License-Identifier: Apache-2.0
"""Store inferred facts about values by scope, and look them up through the outer scopes."""

from __future__ import annotations

from dataclasses import field
from typing import Generic, TypeVar

from onnxtext.quick_dataclass import dataclass

V = TypeVar("V")


@dataclass(slots=True)
class Environment(Generic[V]):
    """The known facts, such as types, about the values of a scope: a graph or function body.

    Attributes:
        facts: maps the name of each value of the scope to the fact about the value.
        outer: for a nested graph, the environment of the graph that contains it. For a training
            algorithm, the environment of the main graph. None for other scopes. The scope may use
            the values of its outer environment.
    """

    facts: dict[str, V] = field(default_factory=dict)
    outer: Environment[V] | None = None

    def holder(self, name: str) -> Environment[V] | None:
        """Return the innermost environment with a fact about a value; None if there is none."""
        environment: Environment[V] | None = self
        while environment is not None and name not in environment.facts:
            environment = environment.outer
        return environment

    def find(self, name: str) -> V | None:
        """Return the fact about a value of this or an outer scope; None if unknown."""
        environment = self.holder(name)
        return None if environment is None else environment.facts[name]
