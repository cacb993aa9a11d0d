# SPDX-License-Identifier: Apache-2.0
"""Convert with the printer and parser of onnx, in C++."""

from __future__ import annotations

import onnx
import onnx.parser
import onnx.printer


def to_text(data: bytes, weights: str) -> str:
    """Decode and print a model; weights are always decimals."""
    text: str = onnx.printer.to_text(onnx.load_from_string(data))
    return text


def to_binary(text: str) -> bytes:
    data: bytes = onnx.parser.parse_model(text).SerializeToString()
    return data
