# SPDX-License-Identifier: Apache-2.0
"""Convert typed data (such as `float_data`) and attribute lists to blobs and back (SPEC 6.6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from onnxtext.ast.tensors_and_attributes import (
    Attribute,
    AttributeType,
    Float32,
    Floats,
    RepeatedList,
    StringData,
    TypedBlob,
    TypedData,
)
from onnxtext.ast.types import TensorType
from onnxtext.plurals import count_noun
from onnxtext.quick_dataclass import dataclass
from onnxtext.tensor.blobs import BLOB_SIZE, BlobError
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.element_types import ELEMENTS, raw_size
from onnxtext.tensor.strings import join_strings, split_strings
from onnxtext.tensor.varints import pack_entries, pack_integers, unpack_entries

ENTRY_WIDTHS = {
    "float_data": 4,
    "double_data": 8,
    "int32_data": 4,
    "int64_data": 8,
    "uint64_data": 8,
}
"""The size in bytes of one entry of a typed field (a data field other than `raw_data`)."""


@dataclass(frozen=True, slots=True)
class PackedInts:
    """The ints of a list in an attribute as varints, one after the other; not all are equal.

    The native core decodes a long list in this way if it becomes a blob before anything reads it.
    """

    data: bytes


_LISTS = {AttributeType.FLOATS: "float_data", AttributeType.INTS: "int64_data"}
"""For each type of attribute list, the `TensorProto` field with the same encoding."""


def entry_count(type: TensorType, data: TypedData | StringData) -> int:
    """Return the number of entries in the typed field that holds the data, such as `float_data`."""
    if isinstance(data, StringData):
        return len(data.values)
    return len(data.entries) // ENTRY_WIDTHS[ELEMENTS[type.element].field]


def required_entries(type: TensorType) -> int:
    """Return the number of entries that a valid tensor of this type has in its typed field.

    Return -1 for an invalid type.
    """
    element = ELEMENTS.get(type.element)
    dims = type.integer_dims
    if element is None or any(dim < 0 for dim in dims):
        return -1
    count = count_elements(dims)
    if element.kind == "complex":
        return 2 * count
    return raw_size(element, count) if element.elements_per_entry > 1 else count


def blob_of_data(type: TensorType, data: TypedData | StringData) -> bytes:
    """Return the bytes of the blob that stores the data of a tensor."""
    if isinstance(data, StringData):
        return join_strings(data.values)
    return pack_entries(ELEMENTS[type.element].field, data.entries)


def data_of_blob(
    type: TensorType, blob: TypedBlob, data: bytes | memoryview
) -> TypedData | StringData:
    """Return the data of a tensor, given the bytes of its blob, which error messages name.

    Raises:
        BlobError: the bytes are not a list of entries, or do not fit the type.
    """
    element = ELEMENTS.get(type.element)
    if element is None:
        raise BlobError(f"a tensor of type {type.element} cannot have typed data", BLOB_SIZE)
    data_field: TypedData | StringData
    if element.kind == "string":
        data_field = StringData(_strings(blob, data))
    else:
        data_field = TypedData(_entries(element.field, blob, data))
    count, required = entry_count(type, data_field), required_entries(type)
    if count != required:
        raise BlobError(
            f"the blob {blob.digest} has {count_noun(count, 'entry', 'entries')}, but a tensor of "
            f"this type needs {required}",
            BLOB_SIZE,
        )
    return data_field


def blob_of_list(kind: AttributeType | None, value: Any) -> bytes | None:
    """Return the bytes of a blob for the list of an attribute; None if no blob can store it."""
    match value:
        case Floats(data):
            return data
        case tuple() if kind is AttributeType.INTS:
            return pack_integers(value)
        case tuple() if kind is AttributeType.STRINGS:
            return join_strings(value) if set(map(type, value)) <= {bytes} else None
    return None


def list_of_blob(
    kind: AttributeType | None, blob: TypedBlob, data: bytes | memoryview
) -> tuple[bytes, ...] | bytes:
    """Return the list of an attribute, given the bytes of its blob.

    A list of strings is returned as a tuple. A list of numbers is returned as the bytes of a
    little-endian array of float32 or int64.

    Raises:
        BlobError: `kind` is not such a list, or the bytes do not fit it.
    """
    if kind is AttributeType.STRINGS:
        return _strings(blob, data)
    if kind not in _LISTS:
        raise BlobError(
            "a blob in braces can only stand for a list of numbers or strings", BLOB_SIZE
        )
    return _entries(_LISTS[kind], blob, data)


def compress_repetition(value: Any) -> RepeatedList | None:
    """Return a non-empty list of equal floats, ints or strings as a `RepeatedList`; else None."""
    match value:  # compare the first and the last item first: in most lists, they differ
        case Floats(data) if data and data[-4:] == data[:4] and data == data[:4] * len(value):
            return RepeatedList((Float32(int.from_bytes(data[:4], "little")),), len(value))
        case (int() | bytes(), *_) if value[-1] == value[0] and value == value[:1] * len(value):
            return RepeatedList(value[:1], len(value))
    return None


def expand_repetition(value: RepeatedList) -> tuple[int, ...] | tuple[bytes, ...] | Floats:
    """Return the whole list, with all repetitions of the last item."""
    items = value.items
    repetitions = value.count - len(items)
    if isinstance(items[0], Float32):
        parts = [item.bits.to_bytes(4, "little") for item in items]
        return Floats(b"".join(parts) + parts[-1] * repetitions)
    expanded: Any = items + items[-1:] * repetitions
    return expanded  # type: ignore[no-any-return]


def split_repetition(attribute: Attribute, value: RepeatedList) -> list[Attribute]:
    """Return an attribute with the stored items of its list, and a copy with only the last item.

    Encoding uses these two attributes instead of the expanded list. Each item of a list is a field
    of its own, so the bytes of the last item can be repeated.
    """
    parts = [RepeatedList(items, len(items)) for items in (value.items, value.items[-1:])]
    return [replace(attribute, value=expand_repetition(part)) for part in parts]


def _strings(blob: TypedBlob, data: bytes | memoryview) -> tuple[bytes, ...]:
    strings = split_strings(data)
    if strings is None:
        raise BlobError(f"the bytes of the blob {blob.digest} are not a list of strings", BLOB_SIZE)
    return strings


def _entries(field: str, blob: TypedBlob, data: bytes | memoryview) -> bytes:
    try:
        return unpack_entries(field, data)
    except ValueError as error:
        message = f"the bytes of the blob {blob.digest} are not entries of {field}: {error}"
        raise BlobError(message, BLOB_SIZE) from None
