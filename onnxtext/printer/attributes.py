# SPDX-License-Identifier: Apache-2.0
"""Print attributes, with their type only if the value does not imply it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from onnxtext import ast
from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.tensors_and_attributes import ITEM_TYPES
from onnxtext.printer.broken_types import broken_type
from onnxtext.printer.decorators import inline_decorators, value_decorators
from onnxtext.printer.dialect import ONNXTEXT, Dialect
from onnxtext.printer.layout import STEP, WIDTH, bracket_list, fill_list, fill_list_text
from onnxtext.printer.records import record_text
from onnxtext.printer.statement_layout import column, value_text
from onnxtext.tensor.float_literals import float32_text
from onnxtext.tensor.format_elements import format_floats

GraphText = Callable[[ast.Graph, str, int], str]
"""A function that prints a graph, given the indentation of its statement and its start column."""


def attribute_text(
    attribute: ast.Attribute, indent: str, graph_text: GraphText, dialect: Dialect = ONNXTEXT
) -> str:
    """Return the text of an attribute: `name = value`, with `: type` after the name if needed.

    `indent` is the indentation of its line; `graph_text` returns the text of a graph in the
    attribute.
    """
    decorators = value_decorators(attribute.decorators, indent)
    name = dialect.word(attribute.name)
    kind = attribute.type
    value = attribute.value
    named = name if kind is None else f"{name}: {kind.name.lower()}"
    if value is None:
        return value_text(decorators, "", named, None, indent)
    if isinstance(value, ast.Reference):
        text = f"@{dialect.word(value.name)}"
    elif isinstance(value, ast.Blob) and kind in ITEM_TYPES:
        text = f'blob"{value.digest}"'
    elif isinstance(value, ast.TypedBlob):
        text = f'{{blob"{value.digest}"}}'
    elif isinstance(value, ast.RepeatedList):
        name = f"{named}[{value.count}]"
        return value_text(decorators, "", name, partial(_repeated_text, dialect, value), indent)
    elif kind in ITEM_TYPES and not value:
        text = "[]"
    elif isinstance(value, ast.Graph) or kind is ast.AttributeType.GRAPHS:
        # Do not call `value_text`: it may print a value twice, in exponential time if graphs nest.
        head = f"{decorators.inline or decorators.lines}{name} = "
        return head + _graphs_text(value, indent, column(head, len(indent)), graph_text, dialect)
    else:
        return value_text(decorators, "", name, partial(_value_text, dialect, value), indent)
    return value_text(decorators, "", named, lambda *_: text, indent)


def _graphs_text(
    value: Any, indent: str, start: int, graph_text: GraphText, dialect: Dialect
) -> str:
    if isinstance(value, ast.Graph):
        return graph_text(value, indent, start)
    inner = indent + STEP
    items = [graph_text(item, inner, len(inner)) for item in value]
    return bracket_list(items, "[]", indent, WIDTH - start - 1, dialect.comma)


def _repeated_text(dialect: Dialect, value: ast.RepeatedList, indent: str, budget: int) -> str:
    items = [_value_text(dialect, item, indent + STEP, WIDTH) for item in value.items]
    if len(items) == 1 and "\n" not in items[0]:
        return f"[{items[0]}, ...]"
    return fill_list([*items, "..."], "[]", indent, budget)


def _value_text(dialect: Dialect, value: ast.AttributeValue, indent: str, budget: int) -> str:
    """Return the text of a value that is printed without the type of its attribute."""
    match value:
        case int():
            return str(value)
        case ast.Float32(bits):
            return float32_text(bits, point=True)
        case bytes():
            return dialect.string(to_text(value), indent)
        case ast.Blob(digest):
            return f'blob"{digest}"'
        case ast.Tensor() | ast.SparseTensor():
            return dialect.tensor(value, indent, budget)
        case ast.Record():
            return record_text(value, indent)
        case ast.Floats(data):
            return fill_list_text(format_floats(data), "[]", indent, budget, dialect.comma)
        case (int(), *_):
            return fill_list(list(map(str, value)), "[]", indent, budget, dialect.comma)
        case tuple():
            inner = indent + STEP
            items = [_value_text(dialect, item, inner, WIDTH - len(inner) - 1) for item in value]
            lay_out = fill_list if isinstance(value[0], (bytes, ast.Blob)) else bracket_list
            return lay_out(items, "[]", indent, budget, dialect.comma)
        case ast.Reference() | ast.Graph() | ast.TypedBlob() | ast.RepeatedList():
            raise AssertionError("`attribute_text` must print this value itself")
    return type_value_text(value, indent, budget, dialect)


def type_value_text(type: ast.Type, indent: str, budget: int, dialect: Dialect = ONNXTEXT) -> str:
    """Return a type with its decorators, on one line if it fits into `budget` columns."""
    before, text = inline_decorators(type.decorators, indent), dialect.type(type)
    return before + (text if column(before, 0) + len(text) <= budget else broken_type(text, indent))
