# SPDX-License-Identifier: Apache-2.0
"""Define a dialect of the text: how it prints names, strings, types and tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from onnxtext.ast.tensors_and_attributes import SparseTensor, Tensor, TensorData
from onnxtext.ast.types import TensorType, Type
from onnxtext.printer.quoting import quote_string, quote_word, string_value, value_name
from onnxtext.printer.types_and_tensors import data_parts, tensor_text, type_text


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """The functions that print names, strings, types and tensors; all dialects share the layout.

    Attributes:
        comma: the text after the last item of a list with one item per line.
        word: prints the name of an operator, attribute, label or dimension.
        value_name: prints the name of a value, graph or function.
        quoted: prints a string in quotes; the official dialect does not escape line breaks.
        string: prints a string value, given the indentation of its statement.
        type: prints a type.
        tensor: prints a tensor in an attribute, given the indentation of the statement and the
            maximum width of a literal on one line.
        data_parts: prints only the literal of a tensor's data, given the same indentation and width
            as `tensor`. It returns parts of the text, which the caller must join.
    """

    comma: str
    word: Callable[[str], str]
    value_name: Callable[[str], str]
    quoted: Callable[[str], str]
    string: Callable[[str, str], str]
    type: Callable[[Type], str]
    tensor: Callable[[Tensor | SparseTensor, str, int], str]
    data_parts: Callable[[TensorType, TensorData, str, int], list[str]]


ONNXTEXT = Dialect(
    ",", quote_word, value_name, quote_string, string_value, type_text, tensor_text, data_parts
)
