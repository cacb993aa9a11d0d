# SPDX-License-Identifier: Apache-2.0
"""Embed and externalize ONNX external data (`TensorProto.external_data` in `onnx.proto`).

A reference has the key `location`, a path relative to the model's file. It may have the keys
`offset` and `length`, decimal numbers of bytes, and `checksum`, the SHA-1 of the whole file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onnxtext.ast.model import Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.rewrite_tensors import Rewriter
from onnxtext.ast.tensors_and_attributes import (
    Blob,
    DataFile,
    ExternalData,
    RawData,
    SparseTensor,
    SplatData,
)
from onnxtext.ast.types import TensorType
from onnxtext.plurals import count_noun
from onnxtext.tensor.blobs import BLOB_SIZE, BlobError, Blobs, BlobSource
from onnxtext.weights.declared_sizes import raw_data_size
from onnxtext.weights.file_digests import BLOCK, MAX_HASHED, FileDigests
from onnxtext.weights.safe_paths import (
    FileParts,
    PathError,
    blob_errors,
    resolve_inside,
    view_parts,
)

ALIGNMENT = 4096
"""Alignment of offsets in bytes, so that data can be mapped (see `external_data` in onnx.proto)."""

MIN_BYTES = 1024
"""Minimum size of tensors that are externalized, in bytes; smaller tensors stay in the model."""

MISSING = "external-file-missing"
NO_LOCATION = "external-location-missing"
UNSAFE = "external-path-unsafe"
RANGE = "external-range-invalid"
CHECKSUM = "external-checksum"

Data = bytes | memoryview


@dataclass(slots=True)
class ExternalFile:
    """A file of external data to write.

    Attributes:
        name: the `location` in the references of the model.
        parts: (byte offset in the file, data at this offset) pairs, in ascending order.
        size: the size of the file so far, in bytes.
    """

    name: str
    parts: list[tuple[int, Data]] = field(default_factory=list)
    size: int = 0
    _known: dict[int, int] = field(default_factory=dict)

    def add(self, data: Data) -> int:
        """Add data and return its byte offset; the same object is stored only once."""
        cached = self._known.get(id(data))
        if cached is not None:
            return cached
        offset = self.add_pieces([data])
        self._known[id(data)] = offset
        return offset

    def add_pieces(self, pieces: Sequence[Data]) -> int:
        """Add pieces of data without gaps between them; return their first byte offset."""
        offset = at = -(-self.size // ALIGNMENT) * ALIGNMENT
        for piece in pieces:
            self.parts.append((at, piece))
            at += len(piece)
        self.size = at
        return offset

    def pieces(self) -> Iterator[Data]:
        """Yield the content of the file in order, with zeros between the parts."""
        at = 0
        for offset, data in self.parts:
            if offset > at:
                yield bytes(offset - at)
            yield data
            at = offset + len(data)


class _DataMover(Rewriter):
    """Moves the data of tensors; an error has the offset of its initializer or node, if known."""

    def initializer(self, value: ValueInfo) -> None:
        """Rewrite an initializer in place."""
        try:
            super().initializer(value)
        except BlobError as error:
            error.at = value.at
            raise

    def attributes_of(self, graphs: list[Graph | Function], nodes: list[Node]) -> None:
        """Rewrite the attributes of nodes and the parameters of functions in place."""
        try:
            super().attributes_of(graphs, nodes)
        except BlobError:
            for node in nodes:  # find the first node with an error
                try:
                    super().attributes_of([], [node])
                except BlobError as error:
                    error.at = node.at
                    raise error from None
            raise


class Externalizer(_DataMover):
    """Moves the data of tensors to a file of external data."""

    def __init__(self, file: ExternalFile, resources: Blobs, blob_source: BlobSource) -> None:
        """Create an externalizer; `blob_source` finds the blobs that are not in `resources`."""
        super().__init__()
        self._file = file
        self._resources = resources
        self._blob_source = blob_source

    def data(self, type: TensorType, data: Any, name: str | None) -> Any:
        """Move the data of a tensor to the file if the data is large; return the new data.

        Large data becomes `ExternalData`, smaller data becomes `RawData`. Data without raw bytes,
        such as strings, is returned unchanged.

        Raises:
            BlobError: the data cannot be read, or does not fit its type.
        """
        if isinstance(data, SplatData):
            offset = self._file.add_pieces(data.repetition.pieces())
            return self._reference(offset, len(data.repetition))
        try:
            raw = self._raw(type, data)
        except BlobError as error:
            raise BlobError(f"tensor `{name}`: {error}", error.code) from None
        if raw is None:
            return data
        expected = raw_data_size(type)
        if len(raw) != expected:
            size = count_noun(len(raw), "byte")
            message = f"tensor `{name}` has {size}, but its type needs {expected:,}"
            raise BlobError(message, BLOB_SIZE)
        if len(raw) < MIN_BYTES:
            return RawData(raw)
        return self._reference(self._file.add(raw), len(raw))

    def _reference(self, offset: int, size: int) -> ExternalData:
        return ExternalData(
            (("location", self._file.name), ("offset", str(offset)), ("length", str(size)))
        )

    def _raw(self, type: TensorType, data: Any) -> Data | None:
        """Return the bytes of data; None for data without raw bytes."""
        match data:
            case RawData():
                return data.data
            case Blob(digest):
                if self._resources.knows(digest):
                    return self._resources.find(digest)
                return self._blob_source.find(digest)
            case DataFile():
                return self._blob_source.array(data, type)
        return None

    def sparse(self, sparse: SparseTensor) -> SparseTensor:
        """Return a sparse tensor unchanged: readers do not load external data of sparse tensors."""
        return sparse


class Embedder(_DataMover):
    """Replaces references to external data by the data itself.

    Attributes:
        found: whether the model had external data.
    """

    def __init__(self, base: Path | None) -> None:
        """Create an embedder; `base` is the model's directory, None if the model has no file."""
        super().__init__()
        self._base = base
        self._paths: dict[str, Path] = {}
        self._files: dict[Path, memoryview | FileParts] = {}
        self._digests = FileDigests()
        self.found = False

    def data(self, type: TensorType, data: Any, name: str | None) -> Any:
        """Read the data that an `ExternalData` refers to; return other data unchanged.

        Raises:
            BlobError: the reference is invalid or does not match its file, or the file cannot be
                read.
        """
        if not isinstance(data, ExternalData):
            return data
        self.found = True
        entries = dict(data.entries)
        subject = f"external data of `{name}`"
        location = entries.get("location")
        if location is None:
            raise BlobError(f"{subject} has no location", NO_LOCATION)
        with blob_errors(subject, location, unsafe=UNSAFE, unreadable=MISSING):
            file = self._open(location)
        expected = raw_data_size(type)
        start = _number(entries.get("offset", "0"), subject, "offset")
        default = expected if expected >= 0 else max(len(file) - start, 0)
        length = _number(entries.get("length", str(default)), subject, "length")
        if length != expected:
            needs = "its type has no raw data" if expected < 0 else f"the tensor needs {expected:,}"
            raise BlobError(f"{subject} has {count_noun(length, 'byte')}, but {needs}", RANGE)
        if start + length > len(file):
            raise BlobError(
                f"{subject} ends at byte {start + length:,}, but {location} has only "
                f"{count_noun(len(file), 'byte')}",
                RANGE,
            )
        checksum = entries.get("checksum")
        with blob_errors(subject, location, unsafe=UNSAFE, unreadable=MISSING):
            if checksum:
                self._check(location, file, checksum, subject)
            return RawData(file[start : start + length])

    def _open(self, location: str) -> memoryview | FileParts:
        path = self._paths.get(location)
        if path is None:
            if self._base is None:
                raise PathError(
                    "the directory of the model is unknown: save the model, or pass `base_dir`"
                )
            path = resolve_inside(self._base, location)
            if path not in self._files:
                self._files[path] = view_parts(path)
            self._paths[location] = path
        return self._files[path]

    def _check(
        self, location: str, file: memoryview | FileParts, checksum: str, subject: str
    ) -> None:
        """Raise a `BlobError` unless a file has the SHA-1 `checksum`.

        Each file is read once, whatever the number of its locations and of spellings of its SHA-1.
        """
        blocks = (file[start : start + BLOCK] for start in range(0, len(file), BLOCK))
        actual = self._digests.sha1(self._paths[location], len(file), blocks)
        if actual is None:
            why = f"at most {MAX_HASHED >> 30} GiB are read to verify checksums"
            message = f"{subject}: {location} is too large to verify its `checksum`: {why}"
            raise BlobError(message, CHECKSUM)
        if actual != checksum.lower():
            message = (
                f"{subject}: the SHA-1 of {location} is {actual}, but `checksum` is {checksum}"
            )
            raise BlobError(message, CHECKSUM)


def _number(text: str, subject: str, key: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise BlobError(f"{subject}: the {key} `{text}` is not a number of bytes", RANGE)
    return int(text)


class _Locations(Rewriter):
    """Collects the locations of a model's external data and data files; changes nothing."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.external: dict[str, None] = {}
        self.data_files: dict[str, None] = {}
        self.run(model)

    def data(self, type: TensorType, data: Any, name: str | None) -> Any:
        """Add the location of an `ExternalData` or `DataFile`; return the data unchanged."""
        if isinstance(data, ExternalData):
            self.external[dict(data.entries).get("location", "")] = None
        elif isinstance(data, DataFile):
            self.data_files[data.path] = None
        return data


def _resolved(locations: Iterable[str], base: Path) -> dict[str, Path]:
    """Return the paths of locations below a directory; leave out the others."""
    found = {}
    for location in locations:
        with contextlib.suppress(PathError):
            found[location] = resolve_inside(base, location)
    return found


def external_locations(model: Model, base: Path) -> dict[str, Path]:
    """Return the paths of the files of a model's external data, by their location in the model.

    Args:
        model: the model.
        base: the directory of the model's file; files outside of it are left out.
    """
    return _resolved(_Locations(model).external, base)


def weight_locations(model: Model, base: Path) -> dict[str, Path]:
    """Return the paths of a text's stores, safetensors files and data files, by their location.

    The arguments are those of `external_locations`.
    """
    places = [place.path for place in model.places]
    return _resolved([*places, *_Locations(model).data_files], base)


def stores_of_blobs(model: Model, base: Path) -> dict[str, str]:
    """Map the SHA-256 of each blob in a store to the path of the store, as in the text.

    The arguments are those of `external_locations`. Blobs that the text itself has are left out.
    """
    from onnxtext.weights.statistics import first_uses_of_blobs
    from onnxtext.weights.store import Store

    found: dict[str, str] = {}
    inside = Blobs(model.resources)
    digests = [digest for digest in first_uses_of_blobs(model) if not inside.knows(digest)]
    stores = [place.path for place in model.places if place.kind == "store"]
    for path, directory in _resolved(stores, base).items():
        store = Store(directory)
        with contextlib.suppress(OSError):
            for digest in digests:
                for name in store.matching(digest):
                    found.setdefault(name, path)
    return found


def embed_external(model: Model, base: Path | None) -> None:
    """Embed the external data of a model in its tensors.

    If the model has external data, `model.encoding` is removed: it fits only the unchanged model.

    Args:
        model: the model, changed in place.
        base: the directory of the model's file; None for a model without a file.

    Raises:
        BlobError: a reference is invalid or does not match its file, or the file is missing or
            outside of `base`.
    """
    embedder = Embedder(base)
    embedder.run(model)
    if embedder.found:
        model.encoding = None  # the encoding patch fits only the unchanged model
