# SPDX-License-Identifier: Apache-2.0
"""Which function makes the value of which grammar rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ACTIONS: dict[str, Callable[..., Any]] = {}
"""Rule or alias to its action; filled while the modules of actions are imported, then constant."""

LOCATED: set[str] = set()
"""The actions that take the offset of the rule's first token as first argument."""


def action(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register a function as the action of the rule it is named after."""
    ACTIONS[function.__name__] = function
    return function


def located(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register an action that takes the offset of the rule's first token as first argument."""
    LOCATED.add(function.__name__)
    return action(function)
