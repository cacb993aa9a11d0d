# SPDX-License-Identifier: Apache-2.0
"""Read and write blobs in a safetensors file with the `safetensors` library.

The data of a tensor is stored with its name, type and shape, so that other programs can use the
file; other blobs are stored as bytes (`U8`). Texts refer to a blob by its SHA-256; the file's
metadata maps the SHA-256 to the blob's name in the file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onnxtext.ast.model import Model
from onnxtext.ast.tensors_and_attributes import Blob
from onnxtext.ast.types import TensorType
from onnxtext.ast.visit import walk_graphs
from onnxtext.io.files import replace_path
from onnxtext.tensor.blobs import BlobError, with_prefix
from onnxtext.tensor.lazy_numpy import np
from onnxtext.weights.safe_paths import FileParts, view_parts
from onnxtext.weights.statistics import NUMPY_CODES

_DTYPES = NUMPY_CODES | {"bool": "b1"}
"""The numpy dtype of element types in safetensors; data of other types is stored as bytes."""

_PREFIX = "sha256:"
_INSTALL = "pip install 'onnxtext[safetensors]'"


class SafetensorsMissing(BlobError):
    """The library `safetensors` is not installed."""

    def __init__(self) -> None:
        super().__init__(f"safetensors files need the library safetensors: {_INSTALL}")


def write_safetensors(
    path: Path,
    blobs: Mapping[str, bytes | memoryview],
    model: Model,
    check: Callable[[], object] = int,
) -> None:
    """Write blobs to a safetensors file; replace an existing file atomically.

    Args:
        path: the file.
        blobs: maps full digests to bytes.
        model: the model that uses the blobs; its tensors give the names, types and shapes.
        check: called after the blobs were copied to a temporary file. If it raises an exception,
            the file is not written. The default, `int`, does nothing.

    Raises:
        SafetensorsMissing: the library is not installed.
        BlobError: the library cannot write the blobs.
        OSError: the file cannot be written.
    """
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import save_file
    except ImportError:
        raise SafetensorsMissing from None
    types = _first_uses(model)
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
            supported = _DTYPES.get(type.element)
            if supported is not None and tensor not in arrays:
                name, dtype = tensor, supported
                shape = type.integer_dims
                break
        arrays[name] = np.frombuffer(data, dtype).reshape(shape)
        metadata[_PREFIX + digest] = name
    with replace_path(path) as temporary:
        try:
            save_file(arrays, temporary, metadata)
        except SafetensorError as error:
            # The library reports a failed system call only in the text of its error.
            match = re.search(r"\(os error (\d+)\)", str(error))
            if match is None:
                raise BlobError(f"{path} cannot be written: {error}") from None
            raise OSError(int(match[1]), os.strerror(int(match[1])), path) from None
        _sort_metadata(temporary)
        check()


def _sort_metadata(path: Path) -> None:
    """Sort the metadata in the header of a safetensors file.

    The library writes metadata in a random order; files with equal tensors must be equal.

    Raises:
        OSError: the file cannot be read or written.
    """
    with path.open("r+b") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        metadata = header.get("__metadata__", {})
        header["__metadata__"] = dict(sorted(metadata.items()))
        text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
        # The data follows the header and does not move, so the header must keep its size.
        assert len(text) <= size
        file.seek(8)
        file.write(text.ljust(size))


def _first_uses(model: Model) -> dict[str, tuple[str, TensorType]]:
    """Map the digest of each blob to the name and type of the first initializer that uses it.

    Initializers whose name cannot be a key in the header of the file are skipped.
    """
    result: dict[str, tuple[str, TensorType]] = {}
    for graph in walk_graphs(model):
        for value in (*graph.inputs, *graph.values):
            if (
                isinstance(value.data, Blob)
                and isinstance(value.type, TensorType)
                and _can_be_key(value.name)
            ):
                result.setdefault(value.data.digest, (value.name, value.type))
    return result


def _can_be_key(name: str) -> bool:
    """Whether the header, which is JSON in UTF-8, can have an entry with this name."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate represents an invalid byte
        return False
    return name not in ("", "__metadata__")


@dataclass(slots=True)
class SafetensorsFile:
    """A safetensors file whose data is read when it is needed.

    Attributes:
        tensors: maps names to (type, shape, part of `view` with the bytes) of tensors.
        blobs: maps the digests of blobs to the names of their tensors.
        view: the bytes of the file.
    """

    tensors: dict[str, tuple[str, tuple[int, ...], slice]]
    blobs: dict[str, str]
    view: memoryview | FileParts
    _digests: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self._digests = sorted(self.blobs)

    def matching(self, digest: str) -> list[str]:
        """Return the digests of the blobs whose digest begins with `digest`."""
        return with_prefix(self._digests, digest)

    def data(self, name: str) -> memoryview:
        """Return the bytes of a tensor, without verifying a digest.

        Raises:
            OSError: the file cannot be read, or has changed since it was opened.
        """
        return self.view[self.tensors[name][2]]


def open_safetensors(path: Path) -> SafetensorsFile:
    """Open a safetensors file, which the library validates, and read its header.

    Raises:
        BlobError: the library is not installed, or rejects the file.
        OSError: the file cannot be read.
        PathError: the file is not a regular file.
    """
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        raise SafetensorsMissing from None
    view = view_parts(path)  # first, because it rejects pipes and devices
    try:
        with safe_open(path, "numpy"):
            pass
    except SafetensorError as error:
        message = f"{path} is not a safetensors file: {error}"
        raise BlobError(message, "weights-unreadable") from None
    start = 8 + int.from_bytes(view[:8], "little")
    header = json.loads(bytes(view[8:start]))
    metadata = header.pop("__metadata__", None) or {}
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        part = slice(start + begin, start + end)
        tensors[name] = (entry["dtype"], tuple(entry["shape"]), part)
    blobs = {
        key.removeprefix(_PREFIX): name
        for key, name in metadata.items()
        if key.startswith(_PREFIX) and name in tensors
    }
    return SafetensorsFile(tensors, blobs, view)
