# SPDX-License-Identifier: Apache-2.0
"""Compute the statistics of a tensor for hovers."""

from __future__ import annotations

from pathlib import Path

from onnxtext import ast
from onnxtext.ast.typed_blobs import data_of_blob
from onnxtext.plurals import count_noun
from onnxtext.tensor.blobs import BlobError

_MAX_BYTES = 64 << 20
"""Maximum size in bytes of a tensor with statistics; a larger tensor would delay the hover."""


def statistics(
    type: ast.Type | None,
    data: ast.TensorData | ast.SparseTensor | ast.Tensor,
    model: ast.Model | None,
    base_dir: Path | None,
) -> str | None:
    """Return one line with the statistics of a tensor; None if there are none.

    For strings, it has their number; for external data, the location. It is a message if the data
    is too large or cannot be read. `type` is None if `data` contains its own type. Blobs are found
    in the resources of `model`, and in the stores and files to which the model refers, relative to
    `base_dir`.
    """
    from onnxtext.weights.statistics import describe, describe_entries

    match data:
        case ast.Tensor(type=own, data=inner):
            return statistics(own, inner, model, base_dir)
        case ast.SparseTensor():
            inner_text = statistics(data.values.type, data.values.data, model, base_dir)
            return f"stored values: {inner_text}" if inner_text else None
        case ast.StringData(values):
            return count_noun(len(values), "string")
        case ast.ExternalData(entries):
            return "external data: " + ", ".join(f"{key} {value}" for key, value in entries)
    if not isinstance(type, ast.TensorType):
        return None
    element = type.element
    if isinstance(data, ast.TypedData):
        return describe_entries(element, data.entries)
    try:
        raw = _bytes(data, type, model, base_dir)
        if raw is None:
            return None
        if len(raw) > _MAX_BYTES:
            return f"{len(raw):,} bytes, too many for statistics"
        if isinstance(data, ast.TypedBlob):
            return statistics(type, data_of_blob(type, data, raw), model, base_dir)
    except BlobError as error:
        return str(error)
    return describe(element, raw)


def _bytes(
    data: ast.TensorData, type: ast.TensorType, model: ast.Model | None, base_dir: Path | None
) -> bytes | memoryview | None:
    from onnxtext.weights.find_blobs import BlobReader

    match data:
        case ast.RawData(raw):
            return raw
        case ast.Blob(digest) | ast.TypedBlob(digest):
            for name, blob in (model.resources if model is not None else {}).items():
                if name.startswith(digest) or digest.startswith(name):
                    return blob
            if model is None or not model.places:
                raise BlobError("the bytes of this blob are not in the text")
            return BlobReader(base_dir, model.places, model).find(digest)
        case ast.DataFile():
            return BlobReader(base_dir, ()).array(data, type)
    return None
