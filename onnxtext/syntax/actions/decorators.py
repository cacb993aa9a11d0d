# SPDX-License-Identifier: Apache-2.0
"""Actions for decorators: `@name(key: value)`."""

from __future__ import annotations

from typing import Any

from onnxtext.ast.records import Decorator, Field
from onnxtext.syntax.actions.registry import action


@action
def empty_decorator(opening: str) -> Decorator:
    """Return the decorator for `@name()`; `opening` is the token `@name(`."""
    return Decorator(opening[1:-1])


@action
def decorator(opening: str, fields: list[Field]) -> Decorator:
    """Return the decorator for `@name(arguments)`; `opening` is the token `@name(`."""
    return Decorator(opening[1:-1], tuple(fields))


@action
def positional_field(value: Any) -> Field:
    """Return the field for a decorator's argument that has no key, as in `@doc("text")`."""
    return Field(None, value)
