# SPDX-License-Identifier: Apache-2.0
"""How the elements of two tensors differ.

Bytes are looked at in parts of bounded size, and stay where they are: blobs and external data of a
large model are mapped files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnxtext.ast.model import Model
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import (
    Blob,
    DataFile,
    ExternalData,
    FieldData,
    NoData,
    RawData,
    StringData,
    TensorData,
    TypedData,
)
from onnxtext.diff.model import WeightChange
from onnxtext.tensor.blobs import PRINTED_DIGITS, BlobError, Blobs
from onnxtext.tensor.elements import ELEMENTS, ElementType, raw_size
from onnxtext.tensor.lazy import np
from onnxtext.weights.external import Embedder
from onnxtext.weights.reader import Reader

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

BLOCK = 1 << 18
"""So many elements are compared together."""

Data = bytes | memoryview


class Holder:
    """Finds the data of one model's tensors.

    Attributes:
        left_out: whether the text was printed without its weights.
    """

    def __init__(self, model: Model, base: Path | None) -> None:
        """Look for data.

        Args:
            model: the model.
            base: the directory of its file; None if it is in none.
        """
        self.left_out = model.resources_left_out
        self._blobs = Blobs(model.resources, verified=False)
        self._reader = Reader(base, model.places)
        self._external = Embedder(base)

    def blob(self, digest: str) -> Data:
        """The bytes of a blob.

        Raises:
            BlobError: they are missing or damaged.
        """
        if self.left_out:
            raise BlobError("the text was printed without its weights")
        if self._blobs.knows(digest):
            return self._blobs.find(digest)
        return self._reader.find(digest)

    def raw(self, type: TensorType, data: TensorData, name: str) -> Data | None:
        """The elements of a tensor as `raw_data`; None if they are strings, or not whole.

        Raises:
            BlobError: they are missing or damaged.
        """
        match data:
            case RawData():
                return data.data
            case Blob(digest):
                return self.blob(digest)
            case DataFile():
                return self._reader.array(data, type)
            case ExternalData():
                found = self._external.data(type, data, name)
                assert isinstance(found, RawData)
                return found.data
            case TypedData():
                return _raw_of_entries(ELEMENTS.get(type.element), data.entries)
            case NoData():
                return b""
        return None


@dataclass(frozen=True, slots=True)
class Held:
    """A tensor and who holds its data."""

    type: TensorType
    data: TensorData
    name: str
    holder: Holder


def storage(type: TensorType, data: TensorData) -> str:
    """The fields of `TensorProto` that hold some data."""
    match data:
        case RawData() | Blob() | DataFile():
            return "raw_data"
        case TypedData():
            element = ELEMENTS.get(type.element)
            return "typed data" if element is None else element.field
        case StringData():
            return "string_data"
        case ExternalData():
            return "external_data"
        case NoData():
            return "no data"
        case FieldData(fields):
            return ", ".join([name for name, _ in fields])


def compare_data(old: Held, new: Held) -> WeightChange | None:
    """How the elements of two tensors differ; None if they do not.

    If the data of one is missing, references and digests decide; a note says why.
    """
    if _same_reference(old.data, new.data):
        return None
    count = _count(new.type)
    try:
        before = old.holder.raw(old.type, old.data, old.name)
        after = new.holder.raw(new.type, new.data, new.name)
    except BlobError as error:
        if isinstance(old.data, ExternalData) and old.data == new.data:
            return None
        return WeightChange(count, note=str(error))
    if before is None or after is None:
        return _compare_other(old, new, count)
    same_type = old.type.element == new.type.element
    if same_type and _equal(before, after):
        return None
    return _measure(old, new, before, after, count)


def unread(old: Held, new: Held) -> str | None:
    """Why it is not certain that two equal references lead to equal data; None if it is."""
    if isinstance(old.data, ExternalData) and old.data == new.data:
        for held in (old, new):
            try:
                held.holder.raw(held.type, held.data, held.name)
            except BlobError as error:
                return str(error)
    return None


def digest_of(held: Held) -> str | None:
    """The first digits of the SHA-256 of a tensor's raw data; None if it cannot be had."""
    if isinstance(held.data, Blob):
        return held.data.digest[:PRINTED_DIGITS]
    try:
        raw = held.holder.raw(held.type, held.data, held.name)
    except BlobError:
        return None
    return None if raw is None else hashlib.sha256(raw).hexdigest()[:PRINTED_DIGITS]


def _same_reference(old: TensorData, new: TensorData) -> bool:
    """Whether both are the same without reading anything."""
    if isinstance(old, Blob) and isinstance(new, Blob):
        return old.digest.startswith(new.digest) or new.digest.startswith(old.digest)
    if isinstance(old, RawData) and isinstance(new, RawData):
        return old.data is new.data
    return not isinstance(old, (RawData, ExternalData, DataFile)) and old == new


def _count(type: TensorType) -> int:
    dims = [dim for dim in type.shape or () if isinstance(dim, int)]
    return prod(dims) if all(dim >= 0 for dim in dims) else 0


def _compare_other(old: Held, new: Held, count: int) -> WeightChange | None:
    """Strings, and data that does not fit its type."""
    if old.data == new.data:
        return None
    if isinstance(old.data, StringData) and isinstance(new.data, StringData):
        before, after = old.data.values, new.data.values
        changed = sum(map(_differ, before, after)) + abs(len(before) - len(after))
        return WeightChange(max(len(before), len(after)), changed)
    return WeightChange(count, note="the data does not fit the type of the tensor")


def _differ(old: bytes, new: bytes) -> bool:
    return old != new


def _equal(old: Data, new: Data) -> bool:
    """Whether bytes are equal; comparing views goes item by item, so numpy does it."""
    if len(old) != len(new):
        return False
    if isinstance(old, bytes) and isinstance(new, bytes):
        return old == new
    if len(old) < BLOCK:
        return bytes(old) == bytes(new)
    one, other = np.frombuffer(old, np.uint8), np.frombuffer(new, np.uint8)
    step = BLOCK * 8
    return all(
        np.array_equal(one[at : at + step], other[at : at + step])
        for at in range(0, len(one), step)
    )


# ---- Measuring ------------------------------------------------------------------------------


def _measure(old: Held, new: Held, before: Data, after: Data, count: int) -> WeightChange:
    from onnxtext.weights.statistics import dtype_of

    if _count(old.type) != count:
        return WeightChange(count, note="the number of elements differs")
    left, right = ELEMENTS.get(old.type.element), ELEMENTS.get(new.type.element)
    for element, data in ((left, before), (right, after)):
        if element is None or not element.bits or len(data) != raw_size(element, count):
            return WeightChange(count, note="the data does not fit the type of the tensor")
    assert left is not None
    assert right is not None
    if left.bits < 8 or right.bits < 8:
        return _measure_packed(left, right, before, after, count)
    one = np.frombuffer(before, dtype_of(left.name) or f"<c{left.bits // 8}")
    other = np.frombuffer(after, dtype_of(right.name) or f"<c{right.bits // 8}")
    blocks = ((one[at : at + BLOCK], other[at : at + BLOCK]) for at in range(0, len(one), BLOCK))
    return _sum_up(blocks, count, bitwise=left is right, floats=(left.kind, right.kind))


def _measure_packed(
    old: ElementType, new: ElementType, before: Data, after: Data, count: int
) -> WeightChange:
    """Elements narrower than a byte: how many differ, and for integers by how much."""
    if old is not new:
        return WeightChange(count, note="the element type differs")

    def blocks() -> Iterator[tuple[Numbers, Numbers]]:
        step = BLOCK // 8 * old.bits  # bytes that hold BLOCK elements
        for at in range(0, len(before), step):
            size = min(BLOCK, count - at // old.bits * 8)
            parts = [_unpacked(old, data[at : at + step], size) for data in (before, after)]
            yield parts[0], parts[1]

    numeric = old.kind in ("int", "uint")
    return _sum_up(blocks(), count, bitwise=True, floats=("", ""), numeric=numeric)


def _unpacked(element: ElementType, data: Data, count: int) -> Numbers:
    """The codes of packed elements; numbers if they are integers."""
    from onnxtext.tensor.packing import unpack

    codes = unpack(np.frombuffer(data, np.uint8), element.bits)[:count].astype(np.int16)
    if element.kind == "int":
        return np.where(codes >> (element.bits - 1), codes - (1 << element.bits), codes)
    return codes


def _sum_up(
    blocks: Iterator[tuple[Numbers, Numbers]],
    count: int,
    *,
    bitwise: bool,
    floats: tuple[str, str],
    numeric: bool = True,
) -> WeightChange:
    """Adds up what the parts of two tensors say.

    Args:
        blocks: parts of both.
        count: how many elements there are.
        bitwise: whether elements are equal when their bits are; else when their values are.
        floats: the kinds of both element types.
        numeric: whether differences mean something.
    """
    changed = compared = 0
    nans = [0, 0]
    largest, total = 0.0, 0.0
    with np.errstate(all="ignore"):
        for one, other in blocks:
            if bitwise:
                bits = one.dtype.itemsize
                width = min(bits, 8)
                differ = one.view(f"u{width}") != other.view(f"u{width}")
                if bits > width:
                    differ = differ.reshape(-1, bits // width).any(axis=1)
                changed += int(differ.sum())
            wide = [
                part.astype(np.complex128 if part.dtype.kind == "c" else np.float64)
                for part in (one, other)
            ]
            missing = [np.isnan(part) for part in wide]
            nans = [have + int(part.sum()) for have, part in zip(nans, missing, strict=True)]
            if not bitwise:
                changed += int(((wide[0] != wide[1]) & ~(missing[0] & missing[1])).sum())
            distance = np.abs(wide[0] - wide[1])
            distance[wide[0] == wide[1]] = 0  # of infinities too
            known = distance[~(missing[0] | missing[1])]
            compared += known.size
            if known.size:
                largest = max(largest, float(known.max()))
                total += float(known.sum())
    known_any = numeric and compared > 0
    have_nans = [
        have if kind in ("float", "complex") else None
        for have, kind in zip(nans, floats, strict=True)
    ]
    return WeightChange(
        count,
        changed,
        largest if known_any else None,
        total / compared if known_any and isfinite(total) else (total if known_any else None),
        have_nans[0],
        have_nans[1],
    )


def _raw_of_entries(element: ElementType | None, entries: bytes) -> Data | None:
    """Typed data as raw data (comments of the fields of `TensorProto` in `onnx.proto`)."""
    if element is None:
        return None
    if element.field == "int32_data" and element.bits != 32:
        width = max(element.bits, 8) // 8
        values = np.frombuffer(entries, "<i4")
        return bytes(values.astype(f"<u{width}").data)
    if element.field == "uint64_data" and element.bits == 32:
        return bytes(np.frombuffer(entries, "<u8").astype("<u4").data)
    return entries if element.bits else None
