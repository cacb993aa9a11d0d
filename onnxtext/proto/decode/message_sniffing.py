# SPDX-License-Identifier: Apache-2.0
"""Bytes of another message of onnx that were saved as a model.

Protobuf reads nearly any message as any other one: what does not fit becomes unknown fields. So a
bare graph often is a model, formally, and goes through text unharmed; but its owner should know.
"""

from __future__ import annotations

from onnxtext.proto.decode.fields import all_fields
from onnxtext.proto.schema import FieldSpec, MessageSpec, message_spec
from onnxtext.wire.reader import MAX_DEPTH, WireError, read_fields
from onnxtext.wire.writer import LENGTH, VARINT

_SIGNS = {
    "GraphProto": ({1, 11, 12}, "onnx.helper.make_model makes a model of it"),
    "FunctionProto": ({7}, "a model has its functions beside its graph"),
    "NodeProto": ({4}, "onnx.helper.make_graph and make_model make a model of it"),
    "TensorProto": ({2}, "onnx.load_tensor reads it, and onnx.numpy_helper.to_array"),
    "SparseTensorProto": ({2}, None),
    "TypeProto": ({1, 4, 5}, None),
}
"""Messages that are saved on their own: fields of which one must be there, and what to do."""

_ENOUGH = 20_000
"""So many fields are looked at before a message is taken for what it seems to be."""


def is_odd(data: bytes) -> bool:
    """Whether these bytes are a strange model: without a graph, or with fields of wrong types."""
    keys = {(item.number, item.wire_type) for item in all_fields(data)}
    if not keys or {(1, VARINT), (7, LENGTH)} <= keys <= _USUAL:
        return False
    return not _Fit().fits(message_spec("ModelProto"), data, 0, len(data), 0)


_USUAL = {(1, VARINT), (5, VARINT)} | {
    (number, LENGTH) for number in (2, 3, 4, 6, 7, 8, 14, 20, 25, 26)
}
"""Numbers and wire types of the fields of a `ModelProto`."""


def looks_like(data: bytes) -> tuple[str, str | None] | None:
    """What message other than a model these bytes are, to the last one, and what to do then."""
    for name, (signs, help) in _SIGNS.items():
        spec = message_spec(name)
        try:
            numbers = {item.number for item in read_fields(data, 0, len(data))}
        except WireError:
            return None
        if numbers & signs and _Fit().fits(spec, data, 0, len(data), 0):
            return name, help
    return None


class _Fit:
    """Whether bytes are a message of a type and have nothing that its schema does not know."""

    def __init__(self) -> None:
        self._left = _ENOUGH

    def fits(self, spec: MessageSpec, data: bytes, start: int, end: int, depth: int) -> bool:
        if depth > MAX_DEPTH:
            return False
        try:
            for item in read_fields(data, start, end):
                self._left -= 1
                if self._left < 0:
                    return True
                field = spec.by_number.get(item.number)
                if field is None or not self._value(
                    field, item.wire_type, data, item.value, item.end, depth
                ):
                    return False
        except WireError:
            return False
        return True

    def _value(
        self, field: FieldSpec, wire_type: int, data: bytes, start: int, end: int, depth: int
    ) -> bool:
        if wire_type != field.wire_type:
            return wire_type == LENGTH and field.repeated
        if field.message:
            return self.fits(message_spec(field.message), data, start, end, depth + 1)
        if field.kind == "string":
            return _is_text(data[start:end])
        return True


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
