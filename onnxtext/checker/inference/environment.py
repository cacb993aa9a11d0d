# SPDX-License-Identifier: Apache-2.0
"""What is known of the values that a scope sees: its own, and those of the scopes around it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

V = TypeVar("V")


@dataclass(slots=True)
class Environment(Generic[V]):
    """The values of a scope.

    Attributes:
        known: what is known of each, by its name.
        around: the scope's surroundings.
    """

    known: dict[str, V] = field(default_factory=dict)
    around: Environment[V] | None = None

    def holder(self, name: str) -> Environment[V] | None:
        """The innermost scope that has a value of a name."""
        environment: Environment[V] | None = self
        while environment is not None and name not in environment.known:
            environment = environment.around
        return environment

    def find(self, name: str) -> V | None:
        """What is known of a value; None if nothing is."""
        environment = self.holder(name)
        return None if environment is None else environment.known[name]
