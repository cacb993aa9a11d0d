# SPDX-License-Identifier: Apache-2.0
"""Compute the SHA-1 of files, for the key `checksum` of external data.

The SHA-1 covers the whole file, even if a tensor uses little of it, and a sparse file of 1 TiB
takes no space on the disk. So the number of bytes to hash is limited.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

MAX_HASHED = 1 << 34
"""Maximum number of bytes to hash for a model: 16 GiB, which take 10 to 30 seconds."""

BLOCK = 1 << 18
"""Number of bytes to read at once."""


class FileDigests:
    """The SHA-1 of the files of a model; each file is hashed once."""

    def __init__(self) -> None:
        self._digests: dict[Path, str | None] = {}
        self._left = MAX_HASHED

    def sha1(self, path: Path, size: int, blocks: Iterable[bytes | memoryview]) -> str | None:
        """Return the SHA-1 of a file; None if this would exceed `MAX_HASHED` for the model.

        Args:
            path: the file; links must be resolved.
            size: its size in bytes.
            blocks: its content.
        """
        if path not in self._digests:
            self._digests[path] = None if size > self._left else self._hash(size, blocks)
        return self._digests[path]

    def _hash(self, size: int, blocks: Iterable[bytes | memoryview]) -> str:
        import hashlib  # slow to import

        self._left -= size
        digest = hashlib.sha1(usedforsecurity=False)
        for block in blocks:
            digest.update(block)
        return digest.hexdigest()
