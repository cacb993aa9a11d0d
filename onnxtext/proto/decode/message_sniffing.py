# SPDX-License-Identifier: Apache-2.0
"""Recognize other onnx messages that were saved as a model.

Protobuf reads nearly any message as any other type: fields that do not match become unknown
fields. So a bare graph is often a valid model and round-trips, but the user should be warned.
"""

from __future__ import annotations

from onnxtext.ast.byte_strings import is_utf8
from onnxtext.proto.decode.fields import all_fields
from onnxtext.proto.descriptors import FieldSpec, MessageSpec, message_spec
from onnxtext.wire.reader import MAX_MESSAGE_DEPTH, WireError, WireField, read_fields
from onnxtext.wire.writer import LENGTH, VARINT

_MESSAGES = {
    "GraphProto": ({1, 11, 12}, "convert it with onnx.helper.make_model"),
    "FunctionProto": ({7}, "a model has its functions beside its graph"),
    "NodeProto": ({4}, "convert it with onnx.helper.make_graph and make_model"),
    "TensorProto": ({2}, "read it with onnx.load_tensor and onnx.numpy_helper.to_array"),
    "SparseTensorProto": ({2}, None),
    "TypeProto": ({1, 4, 5}, None),
}
"""Maps message types that users save as a model to (field numbers, help).

A message of the type must have at least one of these fields.
"""

_FIELD_LIMIT = 20_000
"""Maximum number of fields to inspect; if all of them match, the message matches."""


def has_usual_fields(data: bytes) -> bool:
    """Whether a model is empty, or has a graph, an `ir_version` and only known top-level fields."""
    keys = {(item.number, item.wire_type) for item in all_fields(data)}
    return not keys or {(1, VARINT), (7, LENGTH)} <= keys <= _MODEL_FIELDS


def matches_model(data: bytes) -> bool:
    """Whether the first `_FIELD_LIMIT` fields in `data` match the schema of `ModelProto`."""
    return _SchemaMatch().matches(message_spec("ModelProto"), data, 0, len(data), 0)


_MODEL_FIELDS = {(1, VARINT), (5, VARINT)} | {
    (number, LENGTH) for number in (2, 3, 4, 6, 7, 8, 14, 20, 25, 26)
}
"""Numbers and wire types of the fields of a `ModelProto`."""


def find_other_message_type(data: bytes) -> tuple[str, str | None] | None:
    """Find a message type other than `ModelProto` that the bytes match.

    Returns:
        The name of the message type, and advice on what to do with a message of this type; the
        advice is None for some types. The result is None if the bytes match no other type.
    """
    try:
        numbers = {item.number for item in read_fields(data, 0, len(data))}
    except WireError:
        return None
    for name, (required, help) in _MESSAGES.items():
        if numbers & required and _SchemaMatch().matches(message_spec(name), data, 0, len(data), 0):
            return name, help
    return None


class _SchemaMatch:
    """Matches bytes against the schema of a message type; unknown fields do not match."""

    def __init__(self) -> None:
        self._left = _FIELD_LIMIT

    def matches(self, spec: MessageSpec, data: bytes, start: int, end: int, depth: int) -> bool:
        """Whether the first `_FIELD_LIMIT` fields, counting nested ones, match the schema."""
        if depth > MAX_MESSAGE_DEPTH:
            return False
        try:
            for item in read_fields(data, start, end):
                self._left -= 1
                if self._left < 0:
                    return True
                field = spec.by_number.get(item.number)
                if field is None or not self._value_fits(field, data, item, depth):
                    return False
        except WireError:
            return False
        return True

    def _value_fits(self, field: FieldSpec, data: bytes, item: WireField, depth: int) -> bool:
        if item.wire_type != field.wire_type:
            return field.accepts(item.wire_type)
        if field.message:
            return self.matches(message_spec(field.message), data, item.value, item.end, depth + 1)
        return field.kind != "string" or is_utf8(data[item.value : item.end])
