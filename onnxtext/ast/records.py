# SPDX-License-Identifier: Apache-2.0
"""Data classes of records and decorators, the generic form with the schema's names (SPEC 12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True, slots=True)
class Number:
    """A number as spelled, without a wire type: `7`, `-1.5`, `nan(0x7fc00001)`.

    Its meaning depends on its field, so the spelling is kept.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """A fixed-width integer of an unknown field: `5i32`, `9i64`.

    Attributes:
        value: the unsigned value.
        bits: 32 or 64.
    """

    value: int
    bits: int


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word: the name of an enum value (`INT`), `true`, or a field name in `@unset(name)`."""

    text: str


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record, or one argument of a decorator.

    Attributes:
        key: the field's name or number; None for an argument without a key.
        value: the value.
    """

    key: str | int | None
    value: FieldValue


@dataclass(frozen=True, slots=True)
class Record:
    """A message in the generic form: `{axis: 0, 999: 5i32}`."""

    fields: tuple[Field, ...] = ()


FieldValue = Union[Number, Fixed, Word, bytes, Record, "tuple[FieldValue, ...]"]
"""The value of a field. Strings are bytes, because the field decides whether text is meant."""


@dataclass(frozen=True, slots=True)
class Decorator:
    """A decorator, for fields without their own syntax: `@doc("…")`, `@set(doc_string: "")`.

    Attributes:
        name: `doc`, `meta`, `denotation`, `segment`, `device`, `set`, `unset`, `value_info`;
            with `type.` or `data.` before it for the type or the tensor of a value.
        arguments: as written.
    """

    name: str
    arguments: tuple[Field, ...] = ()
