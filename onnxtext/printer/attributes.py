# SPDX-License-Identifier: Apache-2.0
"""Print attributes; the type is omitted if the value implies it."""

from __future__ import annotations

from collections.abc import Callable

from onnxtext.ast.model import Graph
from onnxtext.ast.records import Record
from onnxtext.ast.values import (
    Attribute,
    AttributeType,
    AttributeValue,
    Blob,
    Float32,
    Floats,
    Reference,
    SparseTensor,
    Tensor,
)
from onnxtext.printer.layout import STEP, WIDTH, bracketed, numbers
from onnxtext.printer.records import inline_decorators, record_text
from onnxtext.printer.strings import string_value, word
from onnxtext.printer.values import tensor_text, type_text
from onnxtext.tensor.floats import float32_text
from onnxtext.tensor.format import format_floats

GraphText = Callable[[Graph, str], str]
"""Prints a graph in an attribute, given the indentation of the statement."""

_A = AttributeType
_LISTS = {_A.FLOATS, _A.INTS, _A.STRINGS, _A.TENSORS, _A.GRAPHS, _A.SPARSE_TENSORS, _A.TYPE_PROTOS}


def attribute_text(attribute: Attribute, indent: str, graph_text: GraphText) -> str:
    """Return `name: type = value`.

    Args:
        attribute: the attribute.
        indent: the indentation of its line.
        graph_text: prints graphs.
    """
    head = inline_decorators(attribute.decorators, indent) + word(attribute.name)
    kind = attribute.type
    value = attribute.value
    named = "" if kind is None else f": {kind.name.lower()}"
    if value is None:
        return head + named
    if isinstance(value, Reference):
        return f"{head}{named} = @{word(value.name)}"
    if isinstance(value, Blob) and kind in _LISTS:
        return f'{head}{named} = blob"{value.digest}"'
    if kind in _LISTS and not value:
        return f"{head}{named} = []"
    budget = WIDTH - len(indent) - len(word(attribute.name)) - 4
    return f"{head} = {_value_text(value, indent, budget, graph_text)}"


def _value_text(value: AttributeValue, indent: str, budget: int, graph_text: GraphText) -> str:
    match value:
        case int():
            return str(value)
        case Float32(bits):
            return float32_text(bits, point=True)
        case bytes():
            return string_value(value.decode("utf-8", "surrogateescape"), indent)
        case Blob(digest):
            return f'blob"{digest}"'
        case Tensor(type=type):
            return tensor_text(value, indent, budget - len(type_text(type)) - 12)
        case SparseTensor():
            return tensor_text(value, indent, budget - 30)
        case Graph():
            return graph_text(value, indent)
        case Record():
            return record_text(value, indent)
        case Floats(data):
            return numbers(format_floats(data, 1), "[]", indent, budget)
        case (int(), *_):
            return numbers(list(map(str, value)), "[]", indent, budget)
        case tuple():
            inner = indent + STEP
            items = [_value_text(item, inner, budget, graph_text) for item in value]
            return bracketed(items, "[]", indent, budget)
        case Reference():
            raise AssertionError("references are printed with their type")
    return inline_decorators(value.decorators, indent) + type_text(value)
