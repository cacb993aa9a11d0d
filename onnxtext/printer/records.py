# SPDX-License-Identifier: Apache-2.0
"""Records and decorators as text."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.ast.records import Decorator, Field, FieldValue, Fixed, Number, Record, Word
from onnxtext.printer.layout import STEP, WIDTH, bracketed
from onnxtext.printer.strings import quoted, string_value, word

INLINE = 60
"""Decorators that take no more columns than this stand on the line of what they decorate."""


def record_text(record: Record, indent: str) -> str:
    """A record: on one line with commas, or a field a line without."""
    fields = [field_text(field, indent + STEP) for field in record.fields]
    flat = f"{{{', '.join(fields)}}}"
    if "\n" not in flat and len(flat) + len(indent) <= WIDTH - 20:
        return flat
    return "\n".join(["{", *[indent + STEP + field for field in fields], indent + "}"])


def field_text(field: Field, indent: str) -> str:
    """`key: value`, or the value alone."""
    value = value_text(field.value, indent)
    if field.key is None:
        return value
    return f"{field.key if isinstance(field.key, int) else word(field.key)}: {value}"


def value_text(value: FieldValue, indent: str) -> str:
    """The value of a field."""
    match value:
        case Number(text) | Word(text):
            return text
        case Fixed(number, bits):
            return f"{number}i{bits}"
        case bytes():
            return string_value(value.decode("utf-8", "surrogateescape"), indent)
        case Record():
            return record_text(value, indent)
    items = [value_text(item, indent + STEP) for item in value]
    return bracketed(items, "[]", indent, WIDTH - 20 - len(indent))


def decorator_text(decorator: Decorator, indent: str) -> str:
    """`@name(arguments)`."""
    if not decorator.arguments:
        return f"@{decorator.name}()"
    if len(decorator.arguments) == 1 and decorator.arguments[0].key is None:
        return f"@{decorator.name}({value_text(decorator.arguments[0].value, indent)})"
    items = [_argument_text(decorator, field, indent + STEP) for field in decorator.arguments]
    budget = WIDTH - 20 - len(indent) - len(decorator.name)
    return f"@{decorator.name}{bracketed(items, '()', indent, budget)}"


def _argument_text(decorator: Decorator, field: Field, indent: str) -> str:
    """An argument; the keys of metadata are data, and look like it."""
    if decorator.name.endswith("meta") and isinstance(field.key, str):
        return f"{quoted(field.key)}: {value_text(field.value, indent)}"
    return field_text(field, indent)


def decorator_lines(decorators: Sequence[Decorator], indent: str) -> str:
    """Decorators before a statement, ready to be put before it.

    Each has its own line; `@unset(…)` alone, a mere exception to a habit, stays on the statement's.
    """
    if len(decorators) == 1 and decorators[0].name == "unset":
        return f"{indent}{decorator_text(decorators[0], indent)} "
    return "".join([f"{indent}{decorator_text(item, indent)}\n" for item in decorators])


def inline_decorators(decorators: Sequence[Decorator], indent: str) -> str:
    """Decorators before a value: on its line if they are short, else each on its own.

    Args:
        decorators: in order.
        indent: the indentation of the line that the value stands on.
    """
    if not decorators:
        return ""
    texts = [decorator_text(decorator, indent) for decorator in decorators]
    flat = " ".join(texts)
    if "\n" not in flat and len(flat) <= INLINE:
        return flat + " "
    return "".join([f"{text}\n{indent}" for text in texts])
