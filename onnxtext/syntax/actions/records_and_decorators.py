# SPDX-License-Identifier: Apache-2.0
"""Actions for records, `{key: value}`, for the values of their fields, and for decorators."""

from __future__ import annotations

from typing import Any

from onnxtext.ast.byte_strings import to_bytes
from onnxtext.ast.records import Decorator, Field, Fixed, Number, Record, Word
from onnxtext.syntax.actions.integers import field_number
from onnxtext.syntax.actions.registry import ACTIONS, action
from onnxtext.syntax.actions.semantic_error import SemanticError


@action
def fixed_value(text: str) -> Fixed:
    """Return the fixed-width integer for `5i32`.

    Raises:
        SemanticError: the value does not fit in the width.
    """
    value, _, bits = text.partition("i")
    number = int(value) if len(value) <= 20 else 1 << 64
    if number >= 1 << int(bits):
        raise SemanticError(f"{value} does not fit in {bits} bits", token=text)
    return Fixed(number, int(bits))


@action
def word_value(parts: list[str]) -> Word:
    """Return the `Word` for an unquoted name such as `true` or `node.domain`, given its parts."""
    return Word(".".join(parts))


@action
def numbers_value(text: str) -> tuple[Number | Word, ...]:
    """Return the items of the token `[1, true]`: a `Number`, or a `Word` for `true` and `false`."""
    items = [item.strip() for item in text[1:-1].rstrip(" \t\n\v\f\r,").split(",")]
    return tuple([Word(item) if item in ("true", "false") else Number(item) for item in items])


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


ACTIONS.update(
    field=Field,
    number_key=field_number,  # the key in `{7: 1}`, or an argument in `order(node, 7)`
    empty_value=lambda: (),
    list_value=tuple,
    empty_record=Record,
    record=lambda fields: Record(tuple(fields)),
    string_value=to_bytes,
)
