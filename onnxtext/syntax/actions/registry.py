# SPDX-License-Identifier: Apache-2.0
"""The registry of actions: grammar rules to the functions that build their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ACTIONS: dict[str, Callable[..., Any]] = {}
"""Rule or alias to its action; constant once the modules of actions are imported."""

LOCATED: set[str] = set()
"""The actions that take the offset of the rule's first token as their first argument."""


def action(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register a function as the action of the rule with its name."""
    ACTIONS[function.__name__] = function
    return function


def located(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register an action whose first argument is the offset of the rule's first token."""
    LOCATED.add(function.__name__)
    return action(function)
