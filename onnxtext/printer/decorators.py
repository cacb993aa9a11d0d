# SPDX-License-Identifier: Apache-2.0
"""Print decorators: `@name(arguments)`."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.compact_form.list_order import ORDERS
from onnxtext.ast.records import Decorator, Field, FieldValue, Record
from onnxtext.printer.layout import STEP, WIDTH, bracket_list, fill_list
from onnxtext.printer.quoting import quote_string, quote_word, string_value
from onnxtext.printer.records import field_text, reserved_columns, value_text
from onnxtext.printer.statement_layout import Decorators


def decorator_text(decorator: Decorator, indent: str) -> str:
    """Return the text of a decorator: `@name(arguments)`."""
    if not decorator.arguments:
        return f"@{decorator.name}()"
    if len(decorator.arguments) == 1 and decorator.arguments[0].key is None:
        return f"@{decorator.name}({value_text(decorator.arguments[0].value, indent)})"
    budget = WIDTH - 20 - len(indent) - len(decorator.name)
    if decorator.name in ORDERS:
        inner = indent + STEP
        items = [_order_argument(field, inner) for field in decorator.arguments]
        return f"@{decorator.name}{fill_list(items, '()', indent, budget - 1)}"
    items = [_argument_text(decorator, field, indent + STEP) for field in decorator.arguments]
    return f"@{decorator.name}{bracket_list(items, '()', indent, budget)}"


def _order_argument(field: Field, indent: str) -> str:
    """Print an argument of `@value_info(…)` or `@initializers(…)`.

    A line holds as many names as fit.
    """
    if field.key is None:
        value = field.value
        return (
            string_value(to_text(value), indent)
            if type(value) is bytes
            else value_text(value, indent)
        )
    if not isinstance(field.key, str) or not isinstance(field.value, tuple):
        return field_text(field, indent)
    head = f"{quote_word(field.key)}: "
    texts = [value_text(item, indent + STEP) for item in field.value]
    return head + fill_list(texts, "[]", indent, WIDTH - len(indent) - len(head) - 3)


def _argument_text(decorator: Decorator, field: Field, indent: str) -> str:
    """Print an argument of a decorator; metadata keys are not field names, so quote them."""
    if decorator.name.endswith("meta") and isinstance(field.key, str):
        key = quote_string(field.key)
        return f"{key}: {value_text(field.value, indent, reserved_columns(key))}"
    return field_text(field, indent)


def decorator_lines(decorators: Sequence[Decorator], indent: str) -> str:
    """Return the text of the decorators before a statement.

    Each decorator has its own line, except that a single `@unset(…)` is on the statement's line.
    """
    if len(decorators) == 1 and decorators[0].name == "unset":
        return f"{indent}{decorator_text(decorators[0], indent)} "
    return "".join([f"{indent}{decorator_text(item, indent)}\n" for item in decorators])


def type_decorators(decorators: Sequence[Decorator]) -> str:
    """Return the decorators of a part of a type on one line, each with a space after it."""
    return "".join(
        [f"@{item.name}({', '.join(map(_flat_field, item.arguments))}) " for item in decorators]
    )


def _flat_field(field: Field) -> str:
    value = _flat_value(field.value)
    if field.key is None:
        return value
    return f"{field.key if isinstance(field.key, int) else quote_word(field.key)}: {value}"


def _flat_value(value: FieldValue) -> str:
    match value:
        case bytes():
            return quote_string(to_text(value))
        case Record(fields):
            return f"{{{', '.join(map(_flat_field, fields))}}}"
        case tuple():
            return f"[{', '.join(map(_flat_value, value))}]"
    return value_text(value, "")


def inline_decorators(decorators: Sequence[Decorator], indent: str) -> str:
    """Return the decorators before a type, on the line of the type if short, else one per line.

    `indent` is the indentation of the line of the type.
    """
    texts = value_decorators(decorators, indent)
    return texts.inline or texts.lines


def value_decorators(decorators: Sequence[Decorator], indent: str) -> Decorators:
    """Return the text of the decorators before a value or attribute, in both layouts."""
    if not decorators:
        return _NONE
    return Decorators.of([decorator_text(item, indent) for item in decorators], indent)


_NONE = Decorators()
