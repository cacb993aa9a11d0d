# SPDX-License-Identifier: Apache-2.0
"""Bytes that are named by their digest (DESIGN 5.3)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

PRINTED_DIGITS = 32
"""How many hexadecimal digits of the SHA-256 are printed: 128 bits tell any two blobs apart."""


class BlobError(ValueError):
    """The bytes of a blob are missing, or are not what its digest says."""


def digest_of(data: bytes | memoryview) -> str:
    """The digest under which a blob is printed."""
    return hashlib.sha256(data).hexdigest()[:PRINTED_DIGITS]


class Blobs:
    """The blobs that a text brings along.

    Digests are verified once for each resource, when it is first used.
    """

    def __init__(self, resources: Mapping[str, bytes], *, verified: bool = False) -> None:
        """Take resources.

        Args:
            resources: the bytes by their digests.
            verified: whether the digests were just made of these bytes.
        """
        self._resources = resources
        self._verified: dict[str, bytes] = dict(resources) if verified else {}

    def find(self, digest: str) -> bytes:
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
            raise BlobError(f"the blob {digest} is in no `resources` section of this text")
        if len(found) > 1:
            raise BlobError(f"{len(found)} resources begin with the digest {digest}")
        data = self._resources[found[0]]
        actual = hashlib.sha256(data).hexdigest()
        if not (actual.startswith(found[0]) and actual.startswith(digest)):
            raise BlobError(
                f"the resource {found[0]} is damaged: the SHA-256 of its bytes is {actual}"
            )
        self._verified[digest] = data
        return data


def _agree(left: str, right: str) -> bool:
    return left.startswith(right) or right.startswith(left)
