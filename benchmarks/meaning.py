# SPDX-License-Identifier: Apache-2.0
"""Compare two models by meaning instead of bytes.

    python -m benchmarks.meaning DIRECTORY DIRECTORY

prints `true` or `false`. It is lenient with peers: the official parser may store empty strings
where the model has none, and typed data instead of `raw_data`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.descriptor import FieldDescriptor
from onnx import numpy_helper


def main(left: str, right: str) -> None:
    """Compare the models of two directories."""
    pairs = zip(sorted(Path(left).iterdir()), sorted(Path(right).iterdir()), strict=True)
    print(json.dumps(all(same_meaning(a.read_bytes(), b.read_bytes()) for a, b in pairs)))


def same_meaning(left: bytes, right: bytes) -> bool:
    """Whether two encoded models have the same meaning."""
    if left == right:
        return True
    models = [onnx.ModelProto.FromString(data) for data in (left, right)]
    for model in models:
        _normalise(model)
    equal: bool = models[0] == models[1]
    return equal


def _normalise(message: Any) -> None:
    """Replace equivalent encodings in a message by one form, in place."""
    if isinstance(message, onnx.TensorProto):
        _store_raw(message)
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for part in value if field.is_repeated else (value,):
                _normalise(part)
        elif value == "":
            message.ClearField(field.name)


def _store_raw(tensor: onnx.TensorProto) -> None:
    plain = tensor.data_location == onnx.TensorProto.DEFAULT
    if tensor.data_type == onnx.TensorProto.STRING or not plain or tensor.HasField("segment"):
        return
    try:
        data = numpy_helper.from_array(numpy_helper.to_array(tensor)).raw_data
    except (TypeError, ValueError):  # damaged, or of a type that numpy does not know
        return
    for field, _ in tensor.ListFields():
        if field.name.endswith("_data"):
            tensor.ClearField(field.name)
    tensor.raw_data = data


if __name__ == "__main__":
    main(*sys.argv[1:])
