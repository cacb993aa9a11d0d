# SPDX-License-Identifier: Apache-2.0
"""Find the blobs of a text in the weight stores and safetensors files that it references."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnxtext.ast.model import Model, WeightPlace
from onnxtext.ast.rewrite_tensors import Rewriter
from onnxtext.ast.tensors_and_attributes import Blob, DataFile
from onnxtext.ast.types import TensorType
from onnxtext.plurals import count_noun
from onnxtext.tensor.blobs import BLOB_SIZE, BlobError, unknown_blob_error
from onnxtext.weights.declared_sizes import raw_data_size
from onnxtext.weights.safe_paths import blob_errors, resolve_inside, view_file

if TYPE_CHECKING:
    from zipfile import ZipFile

    from onnxtext.weights.safetensors_file import SafetensorsFile
    from onnxtext.weights.store import Store

MISSING = "weights-missing"
DAMAGED = "weights-damaged"
AMBIGUOUS = "weights-ambiguous"

_BLOCK = 1 << 20
"""Number of bytes that are hashed at once."""

_ALWAYS_READ = 64 << 20
"""Blobs of up to this number of bytes are read whatever the size of their tensors."""

_LARGEST = 8 << 30
"""Maximum size of a blob without a tensor: a list of integers in a message of 2 GiB."""


class BlobReader:
    """Reads the blobs that are stored beside a text; reads and verifies each blob only once.

    Attributes:
        base: the directory of the text; None if the text is not in a file.
    """

    def __init__(
        self, base: Path | None, places: Sequence[WeightPlace], model: Model | None = None
    ) -> None:
        """Create a reader; it opens files on first use.

        Args:
            base: the directory of the text; None if the text is not in a file.
            places: the stores and safetensors files of the text.
            model: the model of the text; its tensors limit the sizes of their blobs.
        """
        self.base = base
        self._places = places
        self._model = model
        self._known: dict[str, memoryview] = {}
        self._stores: dict[str, Store] = {}
        self._files: dict[Path, SafetensorsFile] = {}
        self._archives: dict[Path, ZipFile] = {}

    @classmethod
    def of(cls, model: Model, base_dir: str | os.PathLike[str] | None) -> BlobReader:
        """Return a reader of a model's blobs.

        `base_dir` is the directory of the model's text; None if the text is not in a file.
        """
        return cls(None if base_dir is None else Path(base_dir), model.places, model)

    def find(self, digest: str) -> memoryview:
        """Return the verified bytes of a blob.

        Args:
            digest: the first 16 or more hexadecimal digits of the SHA-256 of the bytes.

        Raises:
            BlobError: the blob is missing, ambiguous or damaged, or cannot be read.
        """
        cached = self._known.get(digest)
        if cached is None:
            cached = self._known[digest] = self._find(digest)
        return cached

    def _find(self, digest: str) -> memoryview:
        if not self._places:
            raise unknown_blob_error(digest)
        if self.base is None:
            named = " or ".join([f"`{place.path}`" for place in self._places])
            raise BlobError(
                f"cannot read the blob {digest} from {named}: the directory of the text is "
                "unknown; save the text, or pass `base_dir`",
                MISSING,
            )
        looked = []
        for place in self._places:
            with blob_errors(f"the blob {digest} cannot be read", place.path):
                data = self._read_blob(place, digest)
            if data is not None:
                return data
            looked.append(f"{place.kind} {self.base / place.path}")
        places = ", ".join(looked)
        raise BlobError(f"the blob {digest} is missing; looked in {places}", MISSING)

    def _read_blob(self, place: WeightPlace, digest: str) -> memoryview | None:
        """Return the verified bytes of a blob in one store or file; None if it lacks the blob.

        Raises:
            BlobError: several blobs match the digest, or the blob or the file is damaged.
            OSError: the store or file cannot be read.
            PathError: the path leads out of the directory, or is not a regular file.
        """
        assert self.base is not None
        path = resolve_inside(self.base, place.path)
        file = None
        if place.kind == "safetensors":
            if path not in self._files and not path.exists():
                return None
            file = self._open_safetensors(path)
            matches = file.matching(digest)
        else:
            from onnxtext.weights.store import Store

            matches = self._stores.setdefault(place.path, Store(path)).matching(digest)
        if not matches:
            return None
        if len(matches) > 1:
            raise BlobError(f"{len(matches)} blobs in {path} begin with {digest}", AMBIGUOUS)
        (name,) = matches
        if file is not None:
            part = file.tensors[file.blobs[name]][2]
            self._check_size(digest, part.stop - part.start)
            data = file.data(file.blobs[name])
        else:
            path = resolve_inside(path, name)
            self._check_size(digest, path.lstat().st_size)
            data = view_file(path)
        verify_digest(data, name, f"in {path}")
        return data

    def _check_size(self, digest: str, size: int) -> None:
        """Reject a large blob that has more bytes than its tensors need, before it is read.

        A sparse file needs little space on the disk, but computing the digest of a huge one
        takes very long.
        """
        if size <= _ALWAYS_READ:
            return
        needed = self._needed_sizes
        if size > needed.get(digest, _LARGEST):
            why = f"a blob has at most {_LARGEST:,}"
            why = f"the tensor needs {needed[digest]:,}" if digest in needed else why
            raise BlobError(
                f"the blob {digest} has {count_noun(size, 'byte')}, but {why}", BLOB_SIZE
            )

    @cached_property
    def _needed_sizes(self) -> dict[str, int]:
        return {} if self._model is None else _NeededSizes(self._model).sizes

    def _open_safetensors(self, path: Path) -> SafetensorsFile:
        """Open a safetensors file, or return the file that was opened before."""
        file = self._files.get(path)
        if file is None:
            from onnxtext.weights.safetensors_file import open_safetensors

            file = self._files[path] = open_safetensors(path)
        return file

    def array(self, file: DataFile, type: TensorType) -> bytes | memoryview:
        """Return the elements of an array in a data file, encoded as in `TensorProto.raw_data`.

        Raises:
            BlobError: the array cannot be read, or has another type or shape.
        """
        from onnxtext.weights.array_files import read_array

        return read_array(self.base, file, type, self._open_safetensors, self._archives)


class _NeededSizes(Rewriter):
    """Collects the sizes of the tensors in blobs; changes nothing.

    Attributes:
        sizes: maps the digest of each blob to the size in bytes of the largest tensor in it.
    """

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.sizes: dict[str, int] = {}
        self.run(model)

    def data(self, type: TensorType, data: Any, name: str | None) -> Any:
        """Note the size of a tensor whose data is a blob; return the data unchanged."""
        if isinstance(data, Blob) and (size := raw_data_size(type)) >= 0:
            self.sizes[data.digest] = max(size, self.sizes.get(data.digest, 0))
        return data


def verify_digest(data: memoryview, digest: str, location: str) -> None:
    """Verify the SHA-256 of bytes.

    Args:
        data: the bytes.
        digest: the expected SHA-256, or its first digits.
        location: the location of the bytes in the error message, such as "in w.safetensors".

    Raises:
        BlobError: the digests differ.
    """
    import hashlib  # only here, because the import is slow

    hashed = hashlib.sha256()
    for start in range(0, len(data), _BLOCK):  # in blocks, so that signals can interrupt it
        hashed.update(data[start : start + _BLOCK])
    actual = hashed.hexdigest()
    if not actual.startswith(digest):
        raise BlobError(
            f"the blob {digest} is damaged: the SHA-256 of its {count_noun(len(data), 'byte')} "
            f"{location} is {actual}",
            DAMAGED,
        )
