# SPDX-License-Identifier: Apache-2.0
"""Bytes that are named by their digest (SPEC 6.6)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from onnxtext.ast.types import TensorType
    from onnxtext.ast.values import DataFile

MISSING = "blob-missing"
AMBIGUOUS = "blob-ambiguous"
DAMAGED = "blob-damaged"
SIZE = "blob-size"
"""The codes of what is wrong with blobs that a text brings along."""
PRINTED_DIGITS = 32
"""How many hexadecimal digits of the SHA-256 are printed: 128 bits tell any two blobs apart."""


class BlobError(ValueError):
    """The bytes of a blob are missing, or are not what its digest says.

    Attributes:
        code: of the diagnostic.
    """

    def __init__(self, message: str, code: str = "invalid-record") -> None:
        super().__init__(message)
        self.code = code


class Elsewhere(Protocol):
    """Where the blobs are that a text does not bring along itself."""

    def find(self, digest: str) -> bytes | memoryview:
        """The bytes of a blob, verified.

        Raises:
            BlobError: they are missing or damaged.
        """

    def array(self, file: DataFile, type: TensorType) -> bytes | memoryview:
        """The elements of an array in a data file, as `raw_data`.

        Raises:
            BlobError: they cannot be read, or are of another type or shape.
        """


class Blobs:
    """The blobs that a text brings along.

    Digests are verified once for each resource, when it is first used.
    """

    def __init__(
        self, resources: Mapping[str, bytes | memoryview], *, verified: bool = False
    ) -> None:
        """Take resources.

        Args:
            resources: the bytes by their digests.
            verified: whether the digests were just made of these bytes.
        """
        self._resources = resources
        self._verified: dict[str, bytes | memoryview] = dict(resources) if verified else {}

    def knows(self, digest: str) -> bool:
        """Whether a resource begins with these digits, or they with it."""
        return any(_agree(name, digest) for name in self._resources)

    def find(self, digest: str) -> bytes | memoryview:
        """The bytes of a blob.

        Args:
            digest: the digest in the text, which may be shorter or longer than the resource's.

        Raises:
            BlobError: no resource, or more than one, begins like this; or its bytes are damaged.
        """
        known = self._verified.get(digest)
        if known is not None:
            return known
        found = [name for name in self._resources if _agree(name, digest)]
        if not found:
            raise unknown(digest)
        if len(found) > 1:
            raise BlobError(f"{len(found)} resources begin with the digest {digest}", AMBIGUOUS)
        data = self._resources[found[0]]
        actual = hashlib.sha256(data).hexdigest()
        if not (actual.startswith(found[0]) and actual.startswith(digest)):
            raise BlobError(
                f"the resource {found[0]} is damaged: the SHA-256 of its bytes is {actual}", DAMAGED
            )
        self._verified[digest] = data
        return data


def unknown(digest: str) -> BlobError:
    """The error of a blob that nothing in a text brings along or refers to."""
    return BlobError(f"the blob {digest} is in no `resources` section of this text", MISSING)


def _agree(left: str, right: str) -> bool:
    return left.startswith(right) or right.startswith(left)
