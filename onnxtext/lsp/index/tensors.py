# SPDX-License-Identifier: Apache-2.0
"""Compute the statistics of a tensor for hover."""

from __future__ import annotations

from pathlib import Path

from onnxtext.ast.model import Model
from onnxtext.ast.typed_blobs import data_of_blob
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
    TypedBlob,
    TypedData,
)
from onnxtext.tensor.blob_lookup import BlobError

MOST_BYTES = 64 << 20
"""Larger tensors are skipped: hovering must not wait."""


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
    from onnxtext.weights.statistics import describe, describe_entries

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
        return describe_entries(element, data.entries)
    try:
        found = _bytes(data, type, model, base_dir)
    except BlobError as error:
        return str(error)
    if found is None:
        return None
    if len(found) > MOST_BYTES:
        return f"{len(found):,} bytes, too many for statistics"
    if isinstance(data, TypedBlob):
        try:
            return statistics(type, data_of_blob(type, data, found), model, base_dir)
        except BlobError as error:
            return str(error)
    return describe(element, found)


def _bytes(
    data: TensorData, type: TensorType, model: Model | None, base_dir: Path | None
) -> bytes | memoryview | None:
    from onnxtext.weights.find_blobs import Reader

    match data:
        case RawData(held):
            return held
        case Blob(digest) | TypedBlob(digest):
            for name, held in (model.resources if model is not None else {}).items():
                if name.startswith(digest) or digest.startswith(name):
                    return held
            if model is None or not model.places:
                raise BlobError("the bytes of this blob are not in the text")
            return Reader(base_dir, model.places).find(digest)
        case DataFile():
            return Reader(base_dir, ()).array(data, type)
    return None
