# SPDX-License-Identifier: Apache-2.0
"""Blobs in one safetensors file, through the `safetensors` library.

A blob that is the data of a tensor has the tensor's name, type and shape there, so that other
programs can use the file; any other is a list of bytes (`U8`). The file's own metadata says the
SHA-256 of each entry: that is how a text finds it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from onnxtext.ast.model import Function, Model
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import Blob
from onnxtext.ast.visit import walk_graphs
from onnxtext.files import replacing_path
from onnxtext.tensor.blobs import BlobError
from onnxtext.tensor.lazy import np
from onnxtext.weights.paths import view_file

_DTYPES = {
    "bool": "bool",
    "uint8": "uint8",
    "int8": "int8",
    "uint16": "<u2",
    "int16": "<i2",
    "uint32": "<u4",
    "int32": "<i4",
    "uint64": "<u8",
    "int64": "<i8",
    "float16": "<f2",
    "float": "<f4",
    "double": "<f8",
}
"""Element types that numpy and safetensors both have; all others are stored as bytes."""

_PREFIX = "sha256:"
_INSTALL = "pip install 'onnxtext[safetensors]'"


class SafetensorsMissing(BlobError):
    """The library is not installed."""

    def __init__(self) -> None:
        super().__init__(f"safetensors files need the library safetensors: {_INSTALL}")


def write_safetensors(path: Path, blobs: Mapping[str, bytes | memoryview], model: Model) -> None:
    """Write blobs to a file, which is replaced as a whole or not at all.

    Args:
        path: the file.
        blobs: bytes by their whole digests.
        model: whose blobs they are.

    Raises:
        SafetensorsMissing: the library is not installed.
        OSError: the file cannot be written.
    """
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import save_file
    except ImportError:
        raise SafetensorsMissing from None
    types = dict(_tensors(model))
    lengths = {len(prefix) for prefix in types}
    arrays: dict[str, Any] = {}
    metadata: dict[str, str] = {}
    for digest, data in blobs.items():
        name, dtype = digest, "uint8"
        shape: tuple[int, ...] = (len(data),)
        for length in lengths:
            if digest[:length] not in types:
                continue
            tensor, type = types[digest[:length]]
            known = _DTYPES.get(type.element)
            if known is not None and tensor not in arrays:
                name, dtype = tensor, known
                shape = tuple([dim for dim in type.shape or () if isinstance(dim, int)])
                break
        arrays[name] = np.frombuffer(data, dtype).reshape(shape)
        metadata[_PREFIX + digest] = name
    with replacing_path(path) as temporary:
        try:
            save_file(arrays, temporary, metadata)
        except SafetensorError as error:
            # Of a failed system call the library keeps only the text.
            number = re.search(r"\(os error (\d+)\)", str(error))
            if number is None:
                raise BlobError(f"{path} cannot be written: {error}") from None
            raise OSError(int(number[1]), os.strerror(int(number[1])), path) from None


def _tensors(model: Model) -> Iterator[tuple[str, tuple[str, TensorType]]]:
    """The initializers whose data is a blob: digest, name and type; of equal ones the first."""
    seen: set[str] = set()
    for graph in walk_graphs(model):
        values = graph.values if isinstance(graph, Function) else [*graph.inputs, *graph.values]
        for value in values:
            if (
                isinstance(value.data, Blob)
                and isinstance(value.type, TensorType)
                and value.data.digest not in seen
                and _can_be_key(value.name)
            ):
                seen.add(value.data.digest)
                yield value.data.digest, (value.name, value.type)


def _can_be_key(name: str) -> bool:
    """Whether the header, which is JSON in UTF-8, can have an entry of this name."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate stands for a byte that is no UTF-8
        return False
    return name not in ("", "__metadata__")


def read_safetensors(path: Path) -> dict[str, memoryview]:
    """The blobs in a file, by their digests, mapped and not yet verified.

    Raises:
        BlobError: the library is not installed, or refuses the file.
        OSError: the file cannot be read.
    """
    tensors, metadata = open_safetensors(path)
    return {
        key.removeprefix(_PREFIX): tensors[name][2]
        for key, name in metadata.items()
        if key.startswith(_PREFIX) and name in tensors
    }


def open_safetensors(
    path: Path,
) -> tuple[dict[str, tuple[str, tuple[int, ...], memoryview]], dict[str, str]]:
    """What is in a safetensors file: names to type, shape and bytes, and its metadata.

    The library says whether the file is one; its bytes are then taken from where its header says
    they are, so that nothing is copied.

    Raises:
        BlobError: the library is not installed, or refuses the file.
        OSError: the file cannot be read.
    """
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        raise SafetensorsMissing from None
    view = view_file(path)  # first, because it refuses pipes and devices
    try:
        with safe_open(path, "numpy"):
            pass
    except SafetensorError as error:
        raise BlobError(f"{path} is no safetensors file: {error}", "weights-unreadable") from None
    start = 8 + int.from_bytes(view[:8], "little")
    header = json.loads(bytes(view[8:start]))
    metadata = header.pop("__metadata__", None) or {}
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        data = view[start + begin : start + end]
        tensors[name] = (entry["dtype"], tuple(entry["shape"]), data)
    return tensors, metadata
