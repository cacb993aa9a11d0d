# SPDX-License-Identifier: Apache-2.0
"""ONNX external data, either way (`TensorProto.external_data` in `onnx.proto`).

The keys are those of ONNX: `location` (a path relative to the model's file), `offset` and `length`
(decimal numbers of bytes) and `checksum` (SHA-1 of the whole file).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onnxtext.ast.model import Model
from onnxtext.ast.rewrite import Rewriter
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import (
    Blob,
    DataFile,
    ExternalData,
    RawData,
    SparseTensor,
    SplatData,
)
from onnxtext.files import name_of
from onnxtext.tensor.blobs import SIZE, BlobError, Blobs, Elsewhere
from onnxtext.weights.paths import PathError, inside, view_file
from onnxtext.weights.sizes import wanted_size

ALIGNMENT = 4096
"""Offsets are multiples of this, so that data can be mapped (comment of `external_data`)."""

LEAST_BYTES = 1024
"""Smaller tensors stay in the model, as `onnx.save` does it."""

MISSING = "external-data-missing"
WRONG = "external-data-wrong"

Data = bytes | memoryview


@dataclass(slots=True)
class ExternalFile:
    """A file of external data that is yet to be written.

    Attributes:
        name: as the model refers to it.
        parts: offsets and what stands there.
        size: of the file so far, in bytes.
    """

    name: str
    parts: list[tuple[int, Data]] = field(default_factory=list)
    size: int = 0
    _known: dict[int, int] = field(default_factory=dict)

    def add(self, data: Data) -> int:
        """The offset at which some bytes stand; the same view stands there once."""
        known = self._known.get(id(data))
        if known is not None:
            return known
        offset = self.add_pieces([data])
        self._known[id(data)] = offset
        return offset

    def add_pieces(self, pieces: Sequence[Data]) -> int:
        """The offset at which the bytes of some pieces stand, one behind the other."""
        offset = at = -(-self.size // ALIGNMENT) * ALIGNMENT
        for piece in pieces:
            self.parts.append((at, piece))
            at += len(piece)
        self.size = at
        return offset

    def pieces(self) -> Iterator[Data]:
        """The whole file, in order."""
        at = 0
        for offset, data in self.parts:
            if offset > at:
                yield bytes(offset - at)
            yield data
            at = offset + len(data)


class Externalizer(Rewriter):
    """Moves the data of tensors to a file of external data."""

    def __init__(self, file: ExternalFile, resources: Blobs, elsewhere: Elsewhere) -> None:
        """Start with an empty file.

        Args:
            file: takes the data.
            resources: the blobs that the text brings along.
            elsewhere: where the others are.
        """
        super().__init__()
        self._file = file
        self._resources = resources
        self._elsewhere = elsewhere

    def data(self, type: TensorType, data: Any, name: str | None) -> Any:
        """A reference instead of raw data."""
        if isinstance(data, SplatData):
            offset = self._file.add_pieces(data.repetition.pieces())
            return self._reference(offset, len(data.repetition))
        try:
            raw = self._raw(type, data)
        except BlobError as error:
            raise BlobError(f"tensor `{name}`: {error}", error.code) from None
        if raw is None:
            return data
        if len(raw) != wanted_size(type):
            message = f"tensor `{name}`: {len(raw)} bytes, a tensor of this type has others"
            raise BlobError(message, SIZE)
        if len(raw) < LEAST_BYTES:
            return RawData(raw)
        return self._reference(self._file.add(raw), len(raw))

    def _reference(self, offset: int, size: int) -> ExternalData:
        return ExternalData(
            (
                ("location", self._file.name),
                ("offset", str(offset)),
                ("length", str(size)),
            )
        )

    def _raw(self, type: TensorType, data: Any) -> Data | None:
        match data:
            case RawData():
                return data.data
            case Blob(digest):
                if self._resources.knows(digest):
                    return self._resources.find(digest)
                return self._elsewhere.find(digest)
            case DataFile():
                return self._elsewhere.array(data, type)
        return None

    def sparse(self, sparse: SparseTensor) -> SparseTensor:
        """Sparse tensors stay: readers of external data pass them over."""
        return sparse


class Embedder(Rewriter):
    """Puts external data into the tensors themselves."""

    def __init__(self, base: Path | None) -> None:
        """Start a run.

        Args:
            base: the directory of the model's file; None if it is in no file.
        """
        super().__init__()
        self._base = base
        self._files: dict[str, memoryview] = {}
        self._checked: set[tuple[str, str]] = set()
        self.found = False

    def data(self, type: TensorType, data: Any, name: str | None) -> Any:
        """Raw data instead of a reference."""
        if not isinstance(data, ExternalData):
            return data
        self.found = True
        entries = dict(data.entries)
        location = entries.get("location", "")
        where = f"external data of `{name}`"
        try:
            file = self._open(location)
        except PathError as error:
            raise BlobError(f"{where}: {error}", WRONG) from None
        except OSError as error:
            why = error.strerror or error
            raise BlobError(f"{where}: {name_of(error, location)}: {why}", MISSING) from None
        wanted = wanted_size(type)
        start = _number(entries.get("offset", "0"), where, "offset")
        length = _number(entries.get("length", str(len(file) - start)), where, "length")
        if length != wanted:
            raise BlobError(
                f"{where} has {length} bytes, a tensor of this type has {wanted}", WRONG
            )
        if start + length > len(file):
            raise BlobError(
                f"{where} ends at byte {start + length:,}, {location} at {len(file):,}", WRONG
            )
        checksum = entries.get("checksum")
        if checksum is not None:
            self._check(location, file, checksum, where)
        return RawData(file[start : start + length])

    def _open(self, location: str) -> memoryview:
        file = self._files.get(location)
        if file is None:
            if self._base is None:
                raise PathError("where the model is was not said")
            file = self._files[location] = view_file(inside(self._base, location))
        return file

    def _check(self, location: str, file: memoryview, checksum: str, where: str) -> None:
        if (location, checksum) in self._checked:
            return
        actual = hashlib.sha1(file, usedforsecurity=False).hexdigest()
        if actual != checksum.lower():
            message = f"{where}: the SHA-1 of {location} is {actual}, not {checksum}"
            raise BlobError(message, WRONG)
        self._checked.add((location, checksum))


def _number(text: str, where: str, key: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise BlobError(f"{where}: the {key} `{text}` is no number of bytes", WRONG)
    return int(text)


def embed_external(model: Model, base: Path | None) -> bool:
    """Put the external data of a model into its tensors.

    Args:
        model: is changed.
        base: the directory of the model's file.

    Returns:
        Whether there was any.

    Raises:
        BlobError: a file is missing, leaves the directory or does not hold what is said.
    """
    embedder = Embedder(base)
    embedder.run(model)
    return embedder.found


def externalize(model: Model, file: ExternalFile, elsewhere: Elsewhere) -> None:
    """Move the data of a model's tensors to a file of external data.

    Args:
        model: is changed.
        file: takes the data; it is yet to be written.
        elsewhere: where the blobs are that the text does not bring along.

    Raises:
        BlobError: a blob is missing or damaged.
    """
    Externalizer(file, Blobs(model.resources), elsewhere).run(model)
