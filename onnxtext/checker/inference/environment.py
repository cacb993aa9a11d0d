# SPDX-License-Identifier: Apache-2.0
"""Look up inferred facts about the values of a scope and of its outer scopes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

V = TypeVar("V")


@dataclass(slots=True)
class Environment(Generic[V]):
    """The known facts about the values of a scope.

    Attributes:
        known: the fact about each value, by name.
        outer: the environment of the outer scope.
    """

    known: dict[str, V] = field(default_factory=dict)
    outer: Environment[V] | None = None

    def holder(self, name: str) -> Environment[V] | None:
        """Return the innermost environment with a fact about the value `name`; None without one."""
        environment: Environment[V] | None = self
        while environment is not None and name not in environment.known:
            environment = environment.outer
        return environment

    def find(self, name: str) -> V | None:
        """Return the fact about a value; None if unknown."""
        environment = self.holder(name)
        return None if environment is None else environment.known[name]
