# SPDX-License-Identifier: Apache-2.0
"""Compute the statistics of a tensor for hover."""

from __future__ import annotations

from pathlib import Path

from onnxtext.ast.model import Model
from onnxtext.ast.types import TensorType, Type
from onnxtext.ast.values import (
    Blob,
    DataFile,
    ExternalData,
    RawData,
    SparseTensor,
    StringData,
    Tensor,
    TensorData,
    TypedData,
)
from onnxtext.tensor.blobs import BlobError
from onnxtext.tensor.elements import ELEMENTS

MOST_BYTES = 64 << 20
"""Larger tensors are skipped: hovering must not wait."""

_FIELDS = {"float_data": "float", "int32_data": "int32", "int64_data": "int64",
           "uint64_data": "uint64", "double_data": "double"}  # fmt: skip


def statistics(
    type: Type | None,
    data: TensorData | SparseTensor | Tensor,
    model: Model | None,
    base_dir: Path | None,
) -> str | None:
    """Return a line of statistics of a tensor; None if it has none.

    Args:
        type: its type.
        data: its data.
        model: the model, for blobs in the text.
        base_dir: the directory of the document, for blobs in files.
    """
    from onnxtext.weights.statistics import describe

    match data:
        case Tensor(type=own, data=inner):
            return statistics(own, inner, model, base_dir)
        case SparseTensor():
            inner_text = statistics(data.values.type, data.values.data, model, base_dir)
            return f"stored values: {inner_text}" if inner_text else None
        case StringData(values):
            return f"{len(values):,} strings"
        case ExternalData(entries):
            return "external data: " + ", ".join(f"{key} {value}" for key, value in entries)
    if not isinstance(type, TensorType):
        return None
    element = type.element
    if isinstance(data, TypedData):
        known = ELEMENTS.get(element)
        field = known.field if known is not None else ""
        if known is not None and known.kind == "float" and field == "int32_data":
            return None  # the entries are bit patterns
        return describe(_FIELDS.get(field, ""), data.entries)
    try:
        found = _bytes(data, type, model, base_dir)
    except BlobError as error:
        return str(error)
    if found is None:
        return None
    if len(found) > MOST_BYTES:
        return f"{len(found):,} bytes, too many for statistics"
    return describe(element, found)


def _bytes(
    data: TensorData, type: TensorType, model: Model | None, base_dir: Path | None
) -> bytes | memoryview | None:
    from onnxtext.weights.reader import Reader

    match data:
        case RawData(held):
            return held
        case Blob(digest):
            for name, held in (model.resources if model is not None else {}).items():
                if name.startswith(digest) or digest.startswith(name):
                    return held
            if model is None or not model.places:
                raise BlobError("the bytes of this blob are not in the text")
            return Reader(base_dir, model.places).find(digest)
        case DataFile():
            return Reader(base_dir, ()).array(data, type)
    return None
