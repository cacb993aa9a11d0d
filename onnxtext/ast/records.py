# SPDX-License-Identifier: Apache-2.0
"""Data classes of records and decorators, which can express any protobuf field (SPEC 12)."""

from __future__ import annotations

from typing import Union

from onnxtext.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """A number as spelled in the text: `7`, `-1.5`, `nan(0x7fc00001)`.

    The type of the number depends on its field, so the spelling is kept.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """A fixed-width integer in a field that the schema does not have: `5i32`, `9i64`.

    Attributes:
        value: the value, as an unsigned integer.
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
    """A protobuf message with its fields by name or number: `{axis: 0, 999: 5i32}`."""

    fields: tuple[Field, ...] = ()


FieldValue = Union[Number, Fixed, Word, bytes, Record, "tuple[FieldValue, ...]"]
"""The value of a field. Strings are `bytes`: the field decides whether they are text."""


@dataclass(frozen=True, slots=True)
class Decorator:
    """A decorator, for fields without their own syntax: `@doc("…")`, `@set(doc_string: "")`.

    Attributes:
        name: the name, such as `doc`, `meta`, `set`, `unset` or `value_info`. With the prefix
            `type.` or `data.`, the decorator applies to the type or to the tensor of a value.
        arguments: the arguments, in order.
    """

    name: str
    arguments: tuple[Field, ...] = ()
