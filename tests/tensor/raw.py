# SPDX-License-Identifier: Apache-2.0
"""Read literals as raw data, with repetitions expanded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnxtext.tensor.element_types import ELEMENTS, ElementType
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.parse_literals import read_raw
from onnxtext.tensor.repeated_bytes import Repetition

RAW = [element for element in ELEMENTS.values() if element.kind != "string"]
WIDTHS = {
    "float_data": "<f4",
    "double_data": "<f8",
    "int32_data": "<i4",
    "int64_data": "<i8",
    "uint64_data": "<u8",
}
"""The numpy types of the fields of `TensorProto` with numbers."""


def parse_raw(element: ElementType, text: str, dims: Sequence[int]) -> bytes:
    """Read a literal in brackets like `read_raw`."""
    data = read_raw(element, text, dims)
    return data.expand() if isinstance(data, Repetition) else data


def outcome(read: Callable[..., object], *arguments: object) -> object:
    """Return the result of a reader of literals, or all fields of its error."""
    try:
        return read(*arguments)
    except LiteralError as error:
        return error.message, error.offset, error.length, error.help
