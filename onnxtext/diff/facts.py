# SPDX-License-Identifier: Apache-2.0
"""What statements say, independent of how a text spells it: their canonical encoding, as records.

Every field of every message is in it, those of a future ONNX and unknown ones too; so nothing can
differ unseen. The bytes of blobs are left where they are: they are compared on their own
(`diff.weights`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

from onnxtext.ast.model import Node, Presence
from onnxtext.ast.records import Record
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import (
    AttributeType,
    Blob,
    DataFile,
    FieldData,
    RawData,
    TensorData,
)
from onnxtext.proto.generic import lift_record
from onnxtext.proto.habits import Habits
from onnxtext.proto.lowering import Lowering
from onnxtext.proto.schema import message_spec
from onnxtext.wire.writer import delimited

LARGE = 4096
"""Data of more bytes than this is represented by a digest."""


class Facts(Lowering):
    """Lowers the statements of one model, with names of blobs instead of blobs."""

    def __init__(self, presence: Presence) -> None:
        """Start a run.

        Raises:
            RecordError: an item of `explicit` names no field that can be empty.
        """
        super().__init__(Habits(presence))

    def _data(
        self, type: TensorType, data: TensorData, at: int, name: str | None = None
    ) -> TensorData:
        match data:
            case Blob():
                return FieldData((("raw_data", bytes(self.blob(data, at))),))
            case DataFile(path, entry):
                mark = f"onnxtext file {path}#{entry}".encode("utf-8", "surrogateescape")
                return FieldData((("raw_data", mark),))
            case RawData() if len(data.data) > LARGE:
                digest = hashlib.blake2b(data.data, digest_size=16).digest()
                return FieldData((("raw_data", b"onnxtext data " + digest),))
        return data

    def tail(self, node: Node) -> bytes:
        """The fields of a node but for its label and the names of its values."""
        return self._tail(node)

    def blob(self, blob: Blob, at: int) -> bytes | memoryview:
        """The name of a blob, instead of its bytes."""
        return f"onnxtext blob {blob.digest}".encode()

    def _blob_value(
        self, kind: AttributeType | None, data: bytes | memoryview, digest: str
    ) -> bytes:
        return delimited(b"\x22", bytes(data))


def record_of(message: str, data: bytes, names: Callable[[str], str] | None = None) -> Record:
    """The record of an encoded message.

    Args:
        message: its type.
        data: its canonical bytes.
        names: gives what tensors are called on the other side.

    Raises:
        WireError: the bytes are no message.
    """
    record = lift_record(message_spec(message), data)
    return renamed(record, names) if names else record


def renamed(record: Record, names: Callable[[str], str]) -> Record:
    """A record with other names in the fields that refer to tensors (`tensor_name`)."""
    fields = []
    for field in record.fields:
        value = field.value
        if field.key == "tensor_name" and isinstance(value, bytes):
            name = value.decode("utf-8", "surrogateescape")
            value = names(name).encode("utf-8", "surrogateescape")
        elif isinstance(value, Record):
            value = renamed(value, names)
        elif isinstance(value, tuple):
            value = tuple([renamed(v, names) if isinstance(v, Record) else v for v in value])
        fields.append(field if value is field.value else replace(field, value=value))
    return Record(tuple(fields))
