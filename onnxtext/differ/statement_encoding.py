# SPDX-License-Identifier: Apache-2.0
"""Encode statements canonically, so that different spellings of a statement compare equal.

The encoding has every field of every message, including unknown fields and fields of future ONNX
versions, so no difference is missed. Large data is encoded as a digest or a reference;
`differ.tensor_data` compares the elements.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from onnxtext import ast
from onnxtext.ast.byte_strings import to_bytes, to_text
from onnxtext.proto.encode.messages import Lowering
from onnxtext.proto.presence_defaults import PresenceDefaults
from onnxtext.wire.writer import delimited

LARGE = 4096
"""Raw data with more bytes and repetitions with more items have a short encoding."""


class StatementEncoder(Lowering):
    """Encodes the statements of one model; blobs are encoded as their digests."""

    def __init__(self, presence: ast.Presence) -> None:
        """Create an encoder; raise RecordError if `presence.explicit` has an invalid name."""
        super().__init__(PresenceDefaults(presence))

    def tensor_data(
        self, type: ast.TensorType, data: ast.TensorData, offset: int, name: str | None = None
    ) -> ast.TensorData:
        """Replace blobs and large raw data by digests, and references to files by `path#entry`."""
        match data:
            case ast.Blob():
                return ast.FieldData((("raw_data", bytes(self.blob(data, offset))),))
            case ast.TypedBlob():
                return ast.FieldData((("raw_data", _name_of(data)),))
            case ast.DataFile(path, entry):
                mark = to_bytes(f"onnxtext file {path}#{entry}")
                return ast.FieldData((("raw_data", mark),))
            case ast.RawData() if len(data.data) > LARGE:
                digest = hashlib.blake2b(data.data, digest_size=16).digest()
                return ast.FieldData((("raw_data", b"onnxtext data " + digest),))
        return data

    def blob(self, blob: ast.Blob, offset: int) -> bytes | memoryview:
        """Return bytes that contain the digest of the blob instead of its data."""
        return f"onnxtext blob {blob.digest}".encode()

    def _typed_value(self, kind: ast.AttributeType | None, blob: ast.TypedBlob) -> bytes:
        return delimited(b"\x22", _name_of(blob))

    def attribute_value(self, attribute: ast.Attribute) -> bytes:
        """Encode a value; a long list that repeats its last item gets a short form."""
        short = _short_form(attribute.value)
        if short is None:
            return super().attribute_value(attribute)
        stored = replace(attribute, value=ast.RepeatedList(short.items, len(short.items)))
        mark = f"onnxtext list of {short.count}: ".encode() + super().attribute_value(stored)
        return delimited(b"\x22", mark)

    def _blob_value(
        self, kind: ast.AttributeType | None, data: bytes | memoryview, digest: str
    ) -> bytes:
        return delimited(b"\x22", bytes(data))


def _short_form(value: object) -> ast.RepeatedList | None:
    """Return a list without its repetitions of the last item; None if these are few."""
    items: Sequence[Any]
    match value:
        case ast.RepeatedList(items, count):
            pass
        case ast.Floats(data):
            items, count = memoryview(data).cast("I"), len(value)
        case (int() | bytes(), *_):
            items, count = value, len(value)
        case _:
            return None
    end = len(items)
    while end > 1 and items[end - 2] == items[-1]:
        end -= 1
    if count - end <= LARGE:
        return None
    kept: tuple[Any, ...] = tuple(items[:end])
    if isinstance(value, ast.Floats):
        kept = tuple([ast.Float32(bits) for bits in kept])
    return ast.RepeatedList(kept, count)


def _name_of(blob: ast.TypedBlob) -> bytes:
    return f"onnxtext typed blob {blob.digest}".encode()


def rename_tensors(record: ast.Record, names: Callable[[str], str]) -> ast.Record:
    """Map the tensor names in all `tensor_name` fields of a record and of the records in it."""
    fields = []
    for field in record.fields:
        value = field.value
        if field.key == "tensor_name" and isinstance(value, bytes):
            name = to_text(value)
            value = to_bytes(names(name))
        elif isinstance(value, ast.Record):
            value = rename_tensors(value, names)
        elif isinstance(value, tuple):
            value = tuple(
                [rename_tensors(v, names) if isinstance(v, ast.Record) else v for v in value]
            )
        fields.append(field if value is field.value else replace(field, value=value))
    return ast.Record(tuple(fields))
