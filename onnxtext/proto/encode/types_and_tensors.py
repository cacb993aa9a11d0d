# SPDX-License-Identifier: Apache-2.0
"""Encode types, tensors and metadata entries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onnxtext import ast
from onnxtext.ast.tensors_and_attributes import SplatData
from onnxtext.proto.encode.decorators import apply_decorators
from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.tensor.varints import pack_entries
from onnxtext.wire.writer import Piece, delimited, delimited_pieces, signed_varint, text_field

TENSOR_FIELDS = {
    "float_data": (b"\x22", None),
    "int32_data": (b"\x2a", "<i4"),
    "string_data": (b"\x32", None),
    "int64_data": (b"\x3a", "<i8"),
    "raw_data": (b"\x4a", None),
    "double_data": (b"\x52", None),
    "uint64_data": (b"\x5a", "<u8"),
}
"""Maps a data field of `TensorProto` to its key and to the numpy type of its entries.

The numpy type is None for fields whose entries are not varints.
"""


def lower_type(type: ast.Type) -> bytes:
    """Return a `TypeProto`.

    Raises:
        RecordError: a decorator is invalid.
    """
    match type:
        case ast.TensorType():
            data = delimited(b"\x0a", _tensor_type(type.element, type.shape))
        case ast.SparseTensorType():
            data = delimited(b"\x42", _tensor_type(type.element, type.shape))
        case ast.SequenceType():
            data = delimited(b"\x22", delimited(b"\x0a", lower_type(type.element)))
        case ast.OptionalType():
            data = delimited(b"\x4a", delimited(b"\x0a", lower_type(type.element)))
        case ast.MapType():
            key = b"\x08" + signed_varint(element_number(type.key))
            data = delimited(b"\x2a", key + delimited(b"\x12", lower_type(type.value)))
        case ast.OpaqueType():
            inside = b""
            if type.domain is not None:
                inside += text_field(b"\x0a", type.domain)
            if type.name is not None:
                inside += text_field(b"\x12", type.name)
            data = delimited(b"\x3a", inside)
    return apply_decorators("TypeProto", data, type.decorators) if type.decorators else data


def element_number(name: str) -> int:
    """Return the `TensorProto.DataType` of an element type's name; 0 for `undefined`."""
    return 0 if name == "undefined" else ELEMENTS[name].number


def _tensor_type(element: str, shape: tuple[ast.Dim, ...] | None) -> bytes:
    data = b"\x08" + signed_varint(element_number(element))
    if shape is not None:
        dims = b"".join([delimited(b"\x0a", _dim(dim)) for dim in shape])
        data += delimited(b"\x12", dims)
    return data


def _dim(dim: ast.Dim) -> bytes:
    decorators: tuple[ast.Decorator, ...] = ()
    if isinstance(dim, ast.DecoratedDim):
        decorators = dim.decorators
        dim = dim.value
    if isinstance(dim, int):
        data = b"\x08" + signed_varint(dim)
    elif dim is None:
        data = b""
    else:
        data = text_field(b"\x12", dim)
    return apply_decorators("TensorShapeProto.Dimension", data, decorators) if decorators else data


def tensor_head(type: ast.TensorType) -> bytes:
    """Return the encoded dims and element type of a `TensorProto`."""
    dims = type.shape or ()
    head = b"".join([b"\x08" + signed_varint(dim) for dim in dims])  # type: ignore[arg-type]
    return head + b"\x10" + signed_varint(element_number(type.element))


def lower_tensor(type: ast.TensorType, name: str | None, data: ast.TensorData) -> list[Piece]:
    """Return a `TensorProto` in pieces, so that weights are not copied."""
    head = tensor_head(type)
    name_bytes = b"" if name is None else text_field(b"\x42", name)
    match data:
        case ast.Blob() | ast.DataFile():
            raise AssertionError("blobs and data files must be resolved before tensors are encoded")
        case ast.NoData():
            return [head + name_bytes]
        case SplatData():
            return [head + name_bytes, *delimited_pieces(b"\x4a", data.repetition.pieces())]
        case ast.RawData(raw):
            return [head + name_bytes, *delimited_pieces(b"\x4a", [raw])]
        case ast.ExternalData(entries):
            external = b"".join([delimited(b"\x6a", entry(key, value)) for key, value in entries])
            return [head + name_bytes + external + b"\x70\x01"]
        case ast.StringData(values):
            fields = _data_fields((("string_data", values),))
        case ast.TypedData(held):
            fields = _data_fields(((ELEMENTS[type.element].field, held),))
        case ast.FieldData(stored):
            fields = _data_fields(stored)
    if name is not None:
        fields[b"\x42"] = name_bytes
    return [head, *[fields[key] for key in sorted(fields)]]


def entry(key: str, value: str) -> bytes:
    """Return a `StringStringEntryProto`."""
    return text_field(b"\x0a", key) + text_field(b"\x12", value)


def metadata_fields(key: bytes, entries: Sequence[tuple[str, str]]) -> list[bytes]:
    """Encode each (key, value) pair as a `StringStringEntryProto` field with the wire key `key`."""
    return [delimited(key, entry(name, value)) for name, value in entries]


def _data_fields(stored: Iterable[tuple[str, bytes | tuple[bytes, ...]]]) -> dict[bytes, bytes]:
    """Encode named data fields of a tensor (see `FieldData`); return the encodings by wire key."""
    fields: dict[bytes, bytes] = {}
    for name, value in stored:
        key, _ = TENSOR_FIELDS[name]
        if isinstance(value, tuple):
            fields[key] = b"".join([delimited(key, item) for item in value])
        elif name == "raw_data":
            fields[key] = delimited(key, value)
        else:
            fields[key] = delimited(key, pack_entries(name, value)) if value else b""
    return fields
