# SPDX-License-Identifier: Apache-2.0
"""Print records: `{key: value}`."""

from __future__ import annotations

from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.records import Field, FieldValue, Fixed, Number, Record, Word
from onnxtext.printer.layout import STEP, WIDTH, bracket_list
from onnxtext.printer.quoting import quote_word, string_value

MIN_RESERVE = 20
"""The minimum number of columns that lists and records leave free for a key and a comma."""


def reserved_columns(key: str) -> int:
    """Return the number of columns to leave free beside a value: for `key: ` and for a comma."""
    return max(MIN_RESERVE, len(key) + 3)


def record_text(record: Record, indent: str, reserved: int = MIN_RESERVE) -> str:
    """Return a record: on one line if this leaves `reserved` columns free, else on several."""
    fields = [field_text(field, indent + STEP) for field in record.fields]
    flat = f"{{{', '.join(fields)}}}"
    if "\n" not in flat and len(flat) + len(indent) <= WIDTH - reserved:
        return flat
    return "\n".join(["{", *[indent + STEP + field for field in fields], indent + "}"])


def field_text(field: Field, indent: str) -> str:
    """Return the text of a field: `key: value`, or only the value if there is no key."""
    if field.key is None:
        return value_text(field.value, indent)
    key = str(field.key) if isinstance(field.key, int) else quote_word(field.key)
    return f"{key}: {value_text(field.value, indent, reserved_columns(key))}"


def value_text(value: FieldValue, indent: str, reserved: int = MIN_RESERVE) -> str:
    """Return the text of a field's value.

    `indent` is the indentation of its line. `reserved` columns stay free for the key before the
    value and the comma after it.
    """
    match value:
        case bytes():
            return string_value(to_text(value), indent)
        case Number(text) | Word(text):
            return text
        case Fixed(number, bits):
            return f"{number}i{bits}"
        case Record():
            return record_text(value, indent, reserved)
    items = [value_text(item, indent + STEP) for item in value]
    return bracket_list(items, "[]", indent, WIDTH - reserved - len(indent))
