# SPDX-License-Identifier: Apache-2.0
"""Convert models to canonical bytes with digests instead of data, and back.

Equal data has the same digest inline, in resources and in a weight store, so a merge compares
models without reading weights.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from onnxtext import ast
from onnxtext.ast.rewrite_tensors import Rewriter
from onnxtext.ast.tensors_and_attributes import SplatData
from onnxtext.ast.typed_blobs import blob_of_data
from onnxtext.proto.encode.lower_error import LowerError
from onnxtext.proto.encode.messages import Lowering
from onnxtext.proto.presence_defaults import PresenceDefaults
from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.wire.writer import Piece, delimited

_MARK = b"\xffdigest\xfe"
"""Prefix of a mark. A mark consists of this prefix and a digest, and replaces tensor data."""
_DIGITS = 16
"""Number of hexadecimal digits in a mark; the digests in texts have at least as many."""


@dataclass(frozen=True, slots=True)
class DataMarks:
    """Maps marks to the data that they replace in the versions of a model.

    A mark is a short value in place of tensor data or a blob; equal data has the same mark.

    Attributes:
        resources: the bytes of blobs that the versions do not contain, by digest.
        data: the data of each mark, in the form of one of the versions: inline, a blob or a file.
        missing: the marks of blobs whose bytes are missing.
    """

    resources: Mapping[str, bytes | memoryview]
    data: dict[bytes, Any] = field(default_factory=dict)
    missing: set[bytes] = field(default_factory=set)


def lower_all(
    models: Sequence[ast.Model | None], resources: Mapping[str, bytes | memoryview]
) -> tuple[list[bytes], DataMarks]:
    """Lower versions of a model to canonical bytes, with marks (`DataMarks`) for tensor data.

    `resources` are the blobs that the versions do not contain, by digest.

    Returns:
        (canonical bytes of each version, data that the marks replace). The bytes of a missing
        version are empty.

    Raises:
        LowerError: one of the versions cannot be lowered.
    """
    marks = DataMarks(resources)
    for _ in range(2):
        before = len(marks.missing)
        lowered = [b"" if model is None else _lower(model, marks) for model in models]
        if len(marks.missing) == before:
            break  # otherwise, lower again: an inline value may be equal to a missing blob
    return lowered, marks


def lower_one(model: ast.Model, marks: DataMarks) -> bytes:
    """Lower a merged model to canonical bytes, with marks (see `DataMarks`) instead of tensor data.

    `marks`, the second result of `lower_all`, is not changed.
    """
    return _lower(model, DataMarks(marks.resources, dict(marks.data), set(marks.missing)))


def _lower(model: ast.Model, marks: DataMarks) -> bytes:
    return b"".join(_Lowering(model, marks).model(model))


class _Lowering(Lowering):
    """Lowers a model; writes short marks (see `DataMarks`) instead of the data of dense tensors."""

    def __init__(self, model: ast.Model, marks: DataMarks) -> None:
        resources = {**marks.resources, **model.resources}
        super().__init__(PresenceDefaults(model.presence), resources)
        self._known = marks.data
        self._missing = marks.missing
        self._whole = Lowering(self.defaults, resources)

    def tensor_data(
        self, type: ast.TensorType, data: ast.TensorData, offset: int, name: str | None = None
    ) -> ast.TensorData:
        """Return the mark of tensor data, and store the data in `DataMarks.data`.

        Data without a digest, such as a reference to external data, is returned unchanged.
        """
        if isinstance(data, (ast.TypedData, ast.StringData)) and type.element in ELEMENTS:
            digest = hashlib.sha256(blob_of_data(type, data)).hexdigest()
            mark = _mark_in_field(type, ast.TypedBlob(digest))
            self._known.setdefault(mark, data)
        elif isinstance(data, ast.TypedBlob) and type.element in ELEMENTS:
            mark = _mark_in_field(type, data)
            self._known[mark] = data
        elif isinstance(data, (ast.Blob, ast.TypedBlob, ast.DataFile, ast.RawData)):
            mark = _mark_of(data)
            self._known[mark] = data
        else:
            return data
        return ast.RawData(mark)

    def raw_initializer(self, type: ast.TensorType, name: str, data: Piece) -> list[Piece]:
        """Return a `TensorProto` with a mark for its data; store the data in `DataMarks`."""
        mark = _digest(data)
        self._known[mark] = ast.RawData(data)
        return super().raw_initializer(type, name, mark)

    def sparse_tensor(self, sparse: ast.SparseTensor, name: str | None) -> bytes:
        """Return a `SparseTensorProto` with its data; marks would prevent decoding to a tensor."""
        return self._whole.sparse_tensor(sparse, name)

    def blob(self, blob: ast.Blob, offset: int) -> bytes | memoryview:
        """Return the bytes of a blob; if they are missing, return its mark, and record the blob."""
        mark = _mark_of(blob)
        try:
            if mark not in self._missing:
                return super().blob(blob, offset)
        except LowerError:
            self._missing.add(mark)
        self._known[mark] = blob
        return mark

    def _typed_value(self, kind: ast.AttributeType | None, blob: ast.TypedBlob) -> bytes:
        """Encode the list that a blob holds.

        If the bytes of the blob are missing, the blob's mark is the only item.
        """
        data = self.blob(ast.Blob(blob.digest), -1)
        if len(data) != len(_MARK) * 2 or data[: len(_MARK)] != _MARK:  # it is not a mark
            return super()._typed_value(kind, blob)
        mark = _mark_of(blob)
        self._known[mark] = blob
        if kind is ast.AttributeType.STRINGS:
            return delimited(b"\x4a", mark)
        return self._blob_value(kind, mark, blob.digest)

    def attribute_value(self, attribute: ast.Attribute) -> bytes:
        """Encode a value; encode its mark instead if a blob with an equal digest is missing."""
        if self._missing:
            data = _bytes_of(attribute.type, attribute.value)
            if data is not None and (mark := _digest(data)) in self._missing:
                return self._blob_value(attribute.type, mark, mark.hex())
        return super().attribute_value(attribute)


def _bytes_of(kind: ast.AttributeType | None, value: Any) -> bytes | None:
    """Return the bytes of a blob that would hold an attribute value; None if no blob can."""
    match value:
        case bytes():
            return value
        case ast.Floats(data):
            return data
        case tuple() if kind is ast.AttributeType.INTS:
            return struct.pack(f"<{len(value)}q", *value)
    return None


def _digest(*pieces: bytes | memoryview) -> bytes:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return _MARK + digest.digest()[: _DIGITS // 2]


def _mark_in_field(type: ast.TensorType, blob: ast.TypedBlob) -> bytes:
    """Return the mark of the typed data of a tensor.

    The mark depends on the protobuf field, because the same blob gives different `TypedData` for
    `int32_data` and `int64_data`.
    """
    return _digest(ELEMENTS[type.element].field.encode(), _mark_of(blob))


def _mark_of(data: ast.Blob | ast.TypedBlob | ast.DataFile | ast.RawData) -> bytes:
    match data:
        case ast.TypedBlob(digest):
            return _digest(b"typed", digest[:_DIGITS].encode())
        case ast.Blob(digest):
            return _MARK + bytes.fromhex(digest[:_DIGITS])
        case ast.DataFile(path, entry):
            return _digest(repr((path, entry)).encode("utf-8", "surrogatepass"))
        case SplatData():
            return _digest(*data.repetition.pieces())
        case ast.RawData(content):
            return _digest(content)


class _Restorer(Rewriter):
    """Replaces marks, the short stand-ins for tensor data, by the data (see `DataMarks`)."""

    def __init__(self, marks: DataMarks) -> None:
        super().__init__()
        self._known = marks.data
        self.used: dict[str, ast.Blob] = {}

    def data(self, type: ast.TensorType, data: Any, name: str | None) -> Any:
        match data:
            case ast.RawData(content) if len(content) == len(_MARK) * 2:
                return self._restored(bytes(content), data)
            case ast.FieldData(((("raw_data", bytes() as content)),)):
                return self._restored(content, data)
        return data

    def value(self, kind: ast.AttributeType | None, value: Any, name: str) -> Any:
        if kind is ast.AttributeType.STRINGS and isinstance(value, tuple) and len(value) == 1:
            only = value[0]
            return self._restored(only, value) if isinstance(only, bytes) else value
        data = _bytes_of(kind, value)
        if data is not None and len(data) == len(_MARK) * 2:
            return self._restored(data, value)
        return super().value(kind, value, name)

    def _restored(self, mark: bytes, data: Any) -> Any:
        """Return the data of a mark and record the blob that it uses; `data` if unknown."""
        result = self._known.get(mark, data)
        if isinstance(result, ast.TypedBlob):
            self.used[result.digest] = ast.Blob(result.digest)
        if isinstance(result, ast.Blob):
            self.used[result.digest] = result
        return result


def lift(data: bytes, marks: DataMarks, versions: Iterable[ast.Model]) -> ast.Model:
    """Return the syntax tree of a merged model, with data instead of marks.

    The blobs that the model uses are copied from `versions`, the models before the merge.
    """
    from onnxtext.printer.metadata_placement import place_metadata
    from onnxtext.proto.decode.lift import lift_model

    model = lift_model(data, lambda model, graphs, _: place_metadata(model, graphs))
    model.encoding_habits, model.encoding = (), None
    restorer = _Restorer(marks)
    restorer.run(model)
    versions = list(versions)
    for digest in restorer.used:
        _add_resource(model, digest, versions)
    return model


def _add_resource(model: ast.Model, digest: str, versions: Iterable[ast.Model]) -> None:
    """Copy a blob from a version to a model.

    If no version has the bytes of the blob, add the weight stores of all versions to the model.
    """
    for version in versions:
        for name, content in version.resources.items():
            if name.startswith(digest) or digest.startswith(name):
                model.resources.setdefault(name, content)
                return
    for version in versions:
        for place in version.places:
            if place not in model.places:
                model.places.append(place)
