# SPDX-License-Identifier: Apache-2.0
"""Convert with the text format of protobuf; weights are escaped bytes."""

from __future__ import annotations

import onnx
from google.protobuf import text_format


def to_text(data: bytes, weights: str) -> str:
    return text_format.MessageToString(onnx.ModelProto.FromString(data), as_utf8=True)


def to_binary(text: str) -> bytes:
    data: bytes = text_format.Parse(text, onnx.ModelProto()).SerializeToString()
    return data
