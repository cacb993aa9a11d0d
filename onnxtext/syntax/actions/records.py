# SPDX-License-Identifier: Apache-2.0
"""Actions for decorators and records: `@name(key: value)`, `{key: value}`."""

from __future__ import annotations

from typing import Any

from onnxtext.ast.records import Decorator, Field, Fixed, Number, Record, Word
from onnxtext.syntax.actions import integers
from onnxtext.syntax.actions.registry import ACTIONS, action
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.actions.strings import to_bytes


@action
def empty_decorator(opening: str) -> Decorator:
    """`@name()`."""
    return Decorator(opening[1:-1])


@action
def decorator(opening: str, fields: list[Field]) -> Decorator:
    """`@name(arguments)`."""
    return Decorator(opening[1:-1], tuple(fields))


@action
def positional_field(value: Any) -> Field:
    """An argument without a key."""
    return Field(None, value)


@action
def field(key: str | int, value: Any) -> Field:
    """`key: value`."""
    return Field(key, value)


@action
def number_key(text: str) -> int:
    """A field's number."""
    return integers.field_number(text)


@action
def fixed_value(text: str) -> Fixed:
    """`5i32`."""
    value, _, bits = text.partition("i")
    number = int(value) if len(value) <= 20 else 1 << 64
    if number >= 1 << int(bits):
        raise SemanticError(f"{value} does not fit in {bits} bits", token=text)
    return Fixed(number, int(bits))


@action
def word_value(parts: list[str]) -> Word:
    """A bare word."""
    return Word(".".join(parts))


@action
def numbers_value(text: str) -> tuple[Number | Word, ...]:
    """`[1, 2]` as one token; `true` and `false` are words, as in other records."""
    items = [item.strip() for item in text[1:-1].rstrip(" \t\n\v\f\r,").split(",")]
    return tuple([Word(item) if item in ("true", "false") else Number(item) for item in items])


ACTIONS.update(
    number_value=lambda number: number,
    empty_value=lambda: (),
    list_value=tuple,
    empty_record=Record,
    record=lambda fields: Record(tuple(fields)),
    string_value=to_bytes,
)
