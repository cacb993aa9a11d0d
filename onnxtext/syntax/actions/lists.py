# SPDX-License-Identifier: Apache-2.0
"""Actions for lists: the grammar's rules for comma-separated items build them one by one."""

from __future__ import annotations

from typing import Any

from onnxtext.syntax.actions.registry import action


@action
def list_empty() -> list[Any]:
    """An empty list."""
    return []


@action
def list_first(item: Any) -> list[Any]:
    """A list of its first item."""
    return [item]


@action
def list_more(items: list[Any], item: Any) -> list[Any]:
    """A list with the next item."""
    items.append(item)
    return items


@action
def list_more_comma(items: list[Any], item: Any) -> list[Any]:
    """A list with the next item, after an optional comma."""
    items.append(item)
    return items


@action
def list_of(items: list[Any]) -> list[Any]:
    """A list in its brackets."""
    return items
