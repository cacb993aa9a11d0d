# SPDX-License-Identifier: Apache-2.0
"""Find the blobs of a text in the weight stores and safetensors files that it references."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from onnxtext.ast.model import WeightPlace
from onnxtext.ast.tensors_and_attributes import DataFile
from onnxtext.ast.types import TensorType
from onnxtext.io.files import name_of
from onnxtext.tensor.blobs import UNREADABLE, BlobError
from onnxtext.weights.safe_paths import PathError, resolve_inside, view_file
from onnxtext.weights.store import Store

MISSING = "weights-missing"
DAMAGED = "weights-damaged"
AMBIGUOUS = "weights-ambiguous"


class BlobReader:
    """Reads the blobs that are stored beside a text; reads and verifies each blob only once.

    Attributes:
        base: the directory of the text; None if the text is not in a file.
    """

    def __init__(self, base: Path | None, places: Sequence[WeightPlace]) -> None:
        self.base = base
        self._places = places
        self._known: dict[str, memoryview] = {}
        self._stores: dict[str, Store] = {}
        self._files: dict[Path, dict[str, memoryview]] = {}

    def find(self, digest: str) -> memoryview:
        """Return the verified bytes of a blob.

        Args:
            digest: the first 16 or more hexadecimal digits of the SHA-256 of the bytes.

        Raises:
            BlobError: the blob is missing, ambiguous or damaged.
        """
        cached = self._known.get(digest)
        if cached is None:
            cached = self._known[digest] = self._find(digest)
        return cached

    def _find(self, digest: str) -> memoryview:
        if self.base is None:
            named = " or ".join([f"`{place.path}`" for place in self._places])
            raise BlobError(
                f"cannot read the blob {digest} from {named}: the directory of the text is "
                "unknown; pass `base_dir`",
                MISSING,
            )
        looked = []
        for place in self._places:
            try:
                data = self._look(place, digest)
            except PathError as error:
                raise BlobError(f"the blob {digest} cannot be read: {error}", UNREADABLE) from None
            except OSError as error:
                raise BlobError(
                    f"the blob {digest} cannot be read: {name_of(error, place.path)}: "
                    f"{error.strerror or error}",
                    UNREADABLE,
                ) from None
            if data is not None:
                return data
            looked.append(f"{place.kind} {self.base / place.path}")
        places = ", ".join(looked)
        raise BlobError(f"the blob {digest} is missing; looked in {places}", MISSING)

    def _look(self, place: WeightPlace, digest: str) -> memoryview | None:
        """Return the bytes of a blob in one store or file; None if missing."""
        assert self.base is not None
        path = resolve_inside(self.base, place.path)
        blobs: dict[str, memoryview] = {}
        if place.kind == "safetensors":
            blobs = self._blobs_in_file(path)
            matches = [name for name in blobs if name.startswith(digest)]
        else:
            matches = self._stores.setdefault(place.path, Store(path)).matching(digest)
        if not matches:
            return None
        if len(matches) > 1:
            raise BlobError(f"{len(matches)} blobs in {path} begin with {digest}", AMBIGUOUS)
        (name,) = matches
        if place.kind != "safetensors":
            path = resolve_inside(path, name)
            blobs = {name: view_file(path)}
        verify_digest(blobs[name], name, f"in {path}")
        return blobs[name]

    def _blobs_in_file(self, path: Path) -> dict[str, memoryview]:
        """Map digests to the blobs in a safetensors file; return {} if the file is missing."""
        blobs = self._files.get(path)
        if blobs is None:
            from onnxtext.weights.safetensors_file import read_safetensors

            if not path.exists():
                return {}
            blobs = self._files[path] = read_safetensors(path)
        return blobs

    def array(self, file: DataFile, type: TensorType) -> bytes | memoryview:
        """Return the elements of an array in a data file, encoded as in `TensorProto.raw_data`.

        Raises:
            BlobError: the array cannot be read, or has another type or shape.
        """
        from onnxtext.weights.array_files import read_array

        return read_array(self.base, file, type)


def verify_digest(data: memoryview, digest: str, location: str) -> None:
    """Verify the SHA-256 of bytes.

    Args:
        data: the bytes.
        digest: the expected SHA-256, or its first digits.
        location: the location of the bytes in the error message, such as "in w.safetensors".

    Raises:
        BlobError: the digests differ.
    """
    actual = hashlib.sha256(data).hexdigest()
    if not actual.startswith(digest):
        raise BlobError(
            f"the blob {digest} is damaged: the SHA-256 of its {len(data):,} bytes {location} is "
            f"{actual}",
            DAMAGED,
        )
