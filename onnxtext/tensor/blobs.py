# SPDX-License-Identifier: Apache-2.0
"""Find the bytes of blobs by their digests (SPEC 6.6)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from onnxtext.ast.tensors_and_attributes import DataFile
    from onnxtext.ast.types import TensorType

# The diagnostic codes for blobs.
MISSING = "blob-missing"
AMBIGUOUS = "blob-ambiguous"
DAMAGED = "blob-damaged"
BLOB_SIZE = "blob-size"
UNREADABLE = "weights-unreadable"

PRINTED_DIGITS = 32
"""The number of hexadecimal digits of a SHA-256 that texts show: 128 bits, to avoid collisions."""


class BlobError(ValueError):
    """Weights are missing, ambiguous or unreadable, or do not match their digest or use.

    Attributes:
        at: the offset of the statement in its text; -1 if unknown.
    """

    def __init__(self, message: str, code: str = "invalid-record") -> None:
        super().__init__(message)
        self.code = code
        self.at = -1


class BlobSource(Protocol):
    """A source of blobs and arrays that are stored outside of the text."""

    def find(self, digest: str) -> bytes | memoryview:
        """Return the verified bytes of a blob.

        Raises:
            BlobError: the blob is missing, ambiguous, unreadable or damaged.
        """

    def array(self, file: DataFile, type: TensorType) -> bytes | memoryview:
        """Return the elements of an array in a data file, as `raw_data`.

        Raises:
            BlobError: the array cannot be read, or has another type or shape.
        """


class Blobs:
    """The blobs in the `resources` section of a text.

    Unless `verified` is true, the digest of a resource is verified when the resource is first used.
    """

    def __init__(
        self, resources: Mapping[str, bytes | memoryview], *, verified: bool = False
    ) -> None:
        """Initialize from a dictionary that maps the digests of resources to their bytes.

        `verified` tells whether the digests were just computed from these bytes.
        """
        self._resources = resources
        self._verified: dict[str, bytes | memoryview] = dict(resources) if verified else {}
        self._sizes: set[int] = set()  # the lengths of the digests, computed on first use

    def knows(self, digest: str) -> bool:
        """Whether the digest of a resource begins with `digest`, or `digest` begins with it."""
        return digest in self._resources or bool(self._matching(digest))

    def find(self, digest: str) -> bytes | memoryview:
        """Return the bytes of a blob.

        The digest may be shorter or longer than the digest of the resource.

        Raises:
            BlobError: no resource matches, several resources match, or the SHA-256 of the bytes
                does not begin with the digest of the resource.
        """
        cached = self._verified.get(digest)
        if cached is not None:
            return cached
        matching = self._matching(digest)
        if not matching:
            raise unknown_blob_error(digest)
        if len(matching) > 1:
            raise BlobError(f"{len(matching)} resources match the digest {digest}", AMBIGUOUS)
        data = self._resources[matching[0]]
        actual = digest_of(data)
        if not actual.startswith(matching[0]):
            raise BlobError(
                f"the resource {matching[0]} is damaged: the SHA-256 of its bytes is {actual}",
                DAMAGED,
            )
        if not actual.startswith(digest):
            raise unknown_blob_error(digest)
        self._verified[digest] = data
        return data

    def _matching(self, digest: str) -> list[str]:
        """Return the digests of resources that begin with `digest`, or are a prefix of it."""
        self._sizes = self._sizes or set(map(len, self._resources))
        if digest in self._resources and len(self._sizes) == 1:
            return [digest]
        shorter = [digest[:size] for size in self._sizes if size < len(digest)]
        known = [name for name in shorter if name in self._resources]
        return known + with_prefix(self._sorted_names, digest)

    @cached_property
    def _sorted_names(self) -> list[str]:
        return sorted(self._resources)


def digest_of(data: bytes | memoryview) -> str:
    """Return the SHA-256 of bytes, in hexadecimal digits."""
    digest: str = _hashlib().sha256(data).hexdigest()
    return digest


@cache
def _hashlib() -> Any:
    import hashlib  # only here, because the import is slow

    return hashlib


def with_prefix(digests: list[str], prefix: str) -> list[str]:
    """Return those of some sorted digests that begin with `prefix`."""
    # "g" sorts after all hexadecimal digits.
    return digests[bisect_left(digests, prefix) : bisect_left(digests, prefix + "g")]


def unknown_blob_error(digest: str) -> BlobError:
    """Return the error for a blob that is not in the text."""
    return BlobError(f"the blob {digest} is not in the resources of this text", MISSING)
