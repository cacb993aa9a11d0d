# SPDX-License-Identifier: Apache-2.0
"""Strip weights from encoded models: inference does not read them, and sending them is slow."""

from __future__ import annotations

from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.wire.reader import WireError, WireField, read_fields, read_varint
from onnxtext.wire.writer import LENGTH, delimited, tag

LARGE = 16 << 20
"""If an encoded model has this size in bytes or more, callers encode it again without weights."""
_SMALL = 1 << 20
"""`without_weights` returns encoded models of less than this size in bytes unchanged."""
_LARGE_TENSOR = 1 << 16
"""The minimum size in bytes of an encoded initializer whose data is stripped."""
_GRAPH = 7
_INITIALIZER = 5
_DATA_TYPE = 2
_DATA = frozenset((4, 5, 6, 7, 9, 10, 11))
"""The fields of a `TensorProto` that hold data: `float_data`, `raw_data` and so on."""
_EXTERNAL = b"\x70\x01"
"""The encoded field `data_location: EXTERNAL`."""
_SHAPES = frozenset((ELEMENTS["int32"].number, ELEMENTS["int64"].number))
"""The element types of shapes; tensors of these types keep their data for inference."""


def without_weights(data: bytes) -> bytes:
    """Strip the data of large initializers from the main graph of an encoded model.

    Initializers of type int32 and int64 keep their data, because they may be shapes. Small or
    malformed models are returned unchanged.
    """
    if len(data) < _SMALL:
        return data
    try:
        return b"".join(_model(data))
    except WireError:
        return data


def _model(data: bytes) -> list[bytes]:
    parts = []
    for field in read_fields(data, 0, len(data)):
        if field.number == _GRAPH and field.wire_type == LENGTH:
            parts.append(delimited(tag(_GRAPH, LENGTH), b"".join(_graph(data, field))))
        else:
            parts.append(data[field.start : field.end])
    return parts


def _graph(data: bytes, graph: WireField) -> list[bytes]:
    parts = []
    copied = graph.value
    for field in read_fields(data, graph.value, graph.end):
        if field.number != _INITIALIZER or field.end - field.value < _LARGE_TENSOR:
            continue
        tensor = _tensor(data, field)
        if tensor is not None:
            parts += [data[copied : field.start], delimited(tag(_INITIALIZER, LENGTH), tensor)]
            copied = field.end
    return [*parts, data[copied : graph.end]]


def _tensor(data: bytes, tensor: WireField) -> bytes | None:
    """Return an encoded tensor without its data, marked as external; None if it may be a shape."""
    kept = []
    for field in read_fields(data, tensor.value, tensor.end):
        if field.number == _DATA_TYPE and read_varint(data, field.value, field.end)[0] in _SHAPES:
            return None
        if field.number not in _DATA:
            kept.append(data[field.start : field.end])
    return b"".join([*kept, _EXTERNAL])
