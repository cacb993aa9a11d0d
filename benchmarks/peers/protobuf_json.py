# SPDX-License-Identifier: Apache-2.0
"""Convert with the JSON format of protobuf; weights are base64."""

from __future__ import annotations

import onnx
from google.protobuf import json_format


def to_text(data: bytes, weights: str) -> str:
    return json_format.MessageToJson(onnx.ModelProto.FromString(data))


def to_binary(text: str) -> bytes:
    data: bytes = json_format.Parse(text, onnx.ModelProto()).SerializeToString()
    return data
