# SPDX-License-Identifier: Apache-2.0
"""The registry of actions: for each grammar rule, the function that builds its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ACTIONS: dict[str, Callable[..., Any]] = {}
"""Maps the name of a rule or alias to its action; the modules of `actions` add their actions."""

LOCATED: set[str] = set()
"""The names of the actions whose first argument is the offset of the rule's first token."""


def action(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register a function as the action of the rule or alias with the same name."""
    ACTIONS[function.__name__] = function
    return function


def located(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register an action whose first argument is the offset of the rule's first token."""
    LOCATED.add(function.__name__)
    return action(function)
