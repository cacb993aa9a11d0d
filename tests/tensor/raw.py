# SPDX-License-Identifier: Apache-2.0
"""Read literals as raw data, with repetitions expanded."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.tensor.element_types import ELEMENTS, ElementType
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
