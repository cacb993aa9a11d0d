# SPDX-License-Identifier: Apache-2.0
"""Define what the dialects of the syntax print differently: names, strings, types, tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from onnxtext.ast.tensors_and_attributes import SparseTensor, Tensor, TensorData
from onnxtext.ast.types import TensorType, Type
from onnxtext.printer.strings import quoted, string_value, value_name, word
from onnxtext.printer.types_and_tensors import data_parts, tensor_text, type_text


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """Functions that write the parts of statements; the layout is the same in all dialects.

    Attributes:
        comma: the text after the last item of a list with one item per line.
        word: writes a name where no word needs quotes.
        value_name: writes a name where a type could also occur.
        quoted: writes a string in quotes, on one line unless it has line breaks of its own.
        string: writes a string, given the indentation of its statement.
        type: writes a type.
        tensor: writes a tensor in an attribute, given the indentation of the statement and the
            maximum width of a literal on one line.
        data_parts: writes the literal of a tensor's data in parts, given the same two numbers.
    """

    comma: str
    word: Callable[[str], str]
    value_name: Callable[[str], str]
    quoted: Callable[[str], str]
    string: Callable[[str, str], str]
    type: Callable[[Type], str]
    tensor: Callable[[Tensor | SparseTensor, str, int], str]
    data_parts: Callable[[TensorType, TensorData, str, int], list[str]]


ONNXTEXT = Dialect(",", word, value_name, quoted, string_value, type_text, tensor_text, data_parts)
