# SPDX-License-Identifier: Apache-2.0
"""Compare the elements of two tensors.

Data is compared in blocks of bounded size without copying it: blobs and external data of a large
model are mapped files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import ne
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnxtext import ast
from onnxtext.ast.tensors_and_attributes import SplatData
from onnxtext.ast.typed_blobs import data_of_blob
from onnxtext.differ.matching.derived_weights import (
    BLOCK,
    compare_types,
    element_count,
    is_transposed,
    measure_blocks,
    unpack_elements,
)
from onnxtext.differ.quantization import Quantization, find_quantizations
from onnxtext.differ.result import WeightChange
from onnxtext.tensor.blobs import PRINTED_DIGITS, BlobError, Blobs
from onnxtext.tensor.element_types import ELEMENTS, ElementType, raw_size
from onnxtext.tensor.lazy_numpy import np
from onnxtext.weights.external_data import Embedder
from onnxtext.weights.find_blobs import BlobReader
from onnxtext.weights.statistics import dtype_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

Data = bytes | memoryview


class DataReader:
    """Reads the data of a model's tensors.

    Attributes:
        left_out: whether the model was read from a text that was printed without its weights.
    """

    def __init__(self, model: ast.Model, base: Path | None) -> None:
        """Create a reader of weight files and external data below `base`, and of inline data."""
        self.left_out = model.resources_left_out
        self._model = model
        self._blobs = Blobs(model.resources, verified=False)
        self._reader = BlobReader(base, model.places, model)
        self._external = Embedder(base)

    @cached_property
    def quantizations(self) -> dict[str, Quantization]:
        """The quantization of each quantized weight, by the name of the weight."""
        return find_quantizations(self._model)

    def blob(self, digest: str) -> Data:
        """Return the bytes of a blob.

        Raises:
            BlobError: the bytes are missing or damaged.
        """
        if self.left_out:
            raise BlobError("the text was printed without its weights")
        if self._blobs.knows(digest):
            return self._blobs.find(digest)
        return self._reader.find(digest)

    def resolved(self, type: ast.TensorType, data: ast.TensorData) -> ast.TensorData:
        """Return the data that a typed blob holds; return other data unchanged.

        Raises:
            BlobError: the blob is missing or damaged.
        """
        if not isinstance(data, ast.TypedBlob):
            return data
        return data_of_blob(type, data, self.blob(data.digest))

    def raw(self, type: ast.TensorType, data: ast.TensorData, name: str) -> Data | None:
        """Return the elements of a tensor in the encoding of `raw_data`.

        Return None for data that `raw_data` cannot hold, such as strings.

        Raises:
            BlobError: the data is missing or damaged.
        """
        match self.resolved(type, data):
            case ast.RawData() as data:
                return data.data
            case ast.Blob(digest):
                return self.blob(digest)
            case ast.DataFile() as data:
                return self._reader.array(data, type)
            case ast.ExternalData() as data:
                external = self._external.data(type, data, name)
                assert isinstance(external, ast.RawData)
                return external.data
            case ast.TypedData() as data:
                return _raw_of_entries(ELEMENTS.get(type.element), data.entries)
            case ast.NoData():
                return b""
        return None


@dataclass(frozen=True, slots=True)
class TensorRef:
    """A tensor and the reader of its data."""

    type: ast.TensorType
    data: ast.TensorData
    name: str
    reader: DataReader

    def raw(self) -> Data | None:
        """Return the elements in the encoding of `raw_data`, as `DataReader.raw` does."""
        return self.reader.raw(self.type, self.data, self.name)


def storage_fields(type: ast.TensorType, data: ast.TensorData) -> str:
    """Return the names of the fields of `TensorProto` that hold a tensor's data, for display."""
    match data:
        case ast.RawData() | ast.Blob() | ast.DataFile():
            return "raw_data"
        case ast.TypedData() | ast.TypedBlob():
            element = ELEMENTS.get(type.element)
            return "typed data" if element is None else element.field
        case ast.StringData():
            return "string_data"
        case ast.ExternalData():
            return "external_data"
        case ast.NoData():
            return "no data"
        case ast.FieldData(fields):
            return ", ".join([name for name, _ in fields])


def compare_data(old: TensorRef, new: TensorRef) -> WeightChange | None:
    """Return how the elements of two tensors differ; None if they are equal.

    Missing data counts as equal if both tensors have the same blob digest, or the same reference to
    external data. For other missing data, the result has a note.
    """
    if _same_reference(old.data, new.data):
        return None
    count = element_count(new.type)
    try:
        before, after = old.raw(), new.raw()
    except BlobError as error:
        if isinstance(old.data, ast.ExternalData) and old.data == new.data:
            return None
        return WeightChange(count, note=str(error))
    if before is None or after is None:
        return _compare_other(old, new, count)
    if old.type.element == new.type.element and _equal(before, after):
        return None
    return _measure(old, new, before, after, count)


def why_not_compared(old: TensorRef, new: TensorRef) -> str | None:
    """Return the reason why two tensors with equal `external_data` fields were not compared.

    Return None if the data can be read, if the fields differ, or if the data is not external.
    """
    if isinstance(old.data, ast.ExternalData) and old.data == new.data:
        try:
            old.raw()
            new.raw()
        except BlobError as error:
            return str(error)
    return None


def digest_of(tensor: TensorRef) -> str | None:
    """Return the first `PRINTED_DIGITS` hex digits of the SHA-256 of a tensor's raw data.

    A blob is not read: its reference contains the digest. Return None for other data whose raw
    bytes are not available.
    """
    if isinstance(tensor.data, ast.Blob):
        return tensor.data.digest[:PRINTED_DIGITS]
    try:
        raw = tensor.raw()
    except BlobError:
        return None
    return None if raw is None else hashlib.sha256(raw).hexdigest()[:PRINTED_DIGITS]


def _same_reference(old: ast.TensorData, new: ast.TensorData) -> bool:
    """Whether two tensors certainly have equal data; files and blobs are not read."""
    if isinstance(old, (ast.Blob, ast.TypedBlob)) and type(old) is type(new):
        assert isinstance(new, (ast.Blob, ast.TypedBlob))
        return old.digest.startswith(new.digest) or new.digest.startswith(old.digest)
    if isinstance(old, SplatData) and isinstance(new, SplatData):
        return old.repetition == new.repetition
    if isinstance(old, ast.RawData) and isinstance(new, ast.RawData):
        return SplatData not in (type(old), type(new)) and old.data is new.data
    return not isinstance(old, (ast.RawData, ast.ExternalData, ast.DataFile)) and old == new


def _compare_other(old: TensorRef, new: TensorRef, count: int) -> WeightChange | None:
    """Compare tensors without raw data (strings, data that does not fit its type).

    Return None if they are equal.
    """
    old_data, new_data = (item.reader.resolved(item.type, item.data) for item in (old, new))
    if old_data == new_data:
        return None
    if isinstance(old_data, ast.StringData) and isinstance(new_data, ast.StringData):
        before, after = old_data.values, new_data.values
        changed = sum(map(ne, before, after)) + abs(len(before) - len(after))
        return WeightChange(max(len(before), len(after)), changed)
    return WeightChange(count, note="the data does not fit the type of the tensor")


def _equal(old: Data, new: Data) -> bool:
    """Whether bytes are equal; numpy compares memoryviews faster than Python."""
    if len(old) != len(new):
        return False
    if isinstance(old, bytes) and isinstance(new, bytes):
        return old == new
    if len(old) < BLOCK:
        return bytes(old) == bytes(new)
    old_data, new_data = np.frombuffer(old, np.uint8), np.frombuffer(new, np.uint8)
    step = BLOCK * 8
    return all(
        np.array_equal(old_data[index : index + step], new_data[index : index + step])
        for index in range(0, len(old_data), step)
    )


def _measure(old: TensorRef, new: TensorRef, before: Data, after: Data, count: int) -> WeightChange:
    if element_count(old.type) != count:
        return WeightChange(count, note="the number of elements differs")
    left, right = ELEMENTS.get(old.type.element), ELEMENTS.get(new.type.element)
    for element, data in ((left, before), (right, after)):
        if element is None or not element.bits or len(data) != raw_size(element, count):
            return WeightChange(count, note="the data does not fit the type of the tensor")
    assert left is not None
    assert right is not None
    if left is not right:
        return compare_types(old, new, before, after)
    if left.bits < 8:
        return _measure_packed(left, before, after, count)
    old_data = np.frombuffer(before, dtype_of(left.name) or f"<c{left.bits // 8}")
    new_data = np.frombuffer(after, dtype_of(right.name) or f"<c{right.bits // 8}")
    if is_transposed(old_data, new_data, old.type.integer_dims, new.type.integer_dims):
        return WeightChange(count, how="transposed")
    blocks = (
        (old_data[index : index + BLOCK], new_data[index : index + BLOCK])
        for index in range(0, len(old_data), BLOCK)
    )
    return measure_blocks(blocks, count, count_nans=left.kind in ("float", "complex"))


def _measure_packed(element: ElementType, before: Data, after: Data, count: int) -> WeightChange:
    """Compare elements narrower than a byte."""

    def blocks() -> Iterator[tuple[Array, Array]]:
        step = BLOCK // 8 * element.bits  # bytes that hold BLOCK elements
        for index in range(0, len(before), step):
            size = min(BLOCK, count - index // element.bits * 8)
            parts = [
                unpack_elements(element, data[index : index + step], size)
                for data in (before, after)
            ]
            yield parts[0], parts[1]

    return measure_blocks(blocks(), count, numeric=element.kind in ("int", "uint"))


def _raw_of_entries(element: ElementType | None, entries: bytes) -> Data | None:
    """Convert typed data to raw data, as the comments on `TensorProto` in `onnx.proto` define.

    Return None for element types without raw data, such as strings.
    """
    if element is None:
        return None
    if element.field == "int32_data" and element.bits != 32:
        width = max(element.bits, 8) // 8
        values = np.frombuffer(entries, "<i4")
        return bytes(values.astype(f"<u{width}").data)
    if element.field == "uint64_data" and element.bits == 32:
        return bytes(np.frombuffer(entries, "<u8").astype("<u4").data)
    return entries if element.bits else None
