# SPDX-License-Identifier: Apache-2.0
"""A weight store: a directory with one file a blob, named by its SHA-256 (SPEC 6.6).

The name of a file is the SHA-256 of its bytes, all 64 hexadecimal digits. Other files may be there
and are never looked at. Several texts can share a store: equal bytes are stored once.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from onnxtext.files import holds, write_atomically

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

DIGEST = re.compile(r"[0-9a-f]{64}")
"""What the name of a blob's file looks like."""

TEMPORARY = re.compile(r"\.onnxtext-[0-9a-f]{12}")
"""What the name of a file looks like that was being written when its writer was killed."""


@dataclass(slots=True)
class Store:
    """The store in a directory, which may not be there yet.

    Attributes:
        directory: where the blobs are.
    """

    directory: Path
    _names: list[str] | None = None

    def put(self, digest: str, data: bytes | memoryview) -> bool:
        """Store a blob; its file is there as a whole or not at all.

        Args:
            digest: the SHA-256 of the data, 64 hexadecimal digits.
            data: the bytes.

        Returns:
            Whether it was written: not if it is there already. A file of this name with other
            bytes is damaged, and replaced.

        Raises:
            OSError: it cannot be written.
        """
        path = self.directory / digest
        if not path.is_symlink() and holds(path, data):
            with contextlib.suppress(OSError):
                os.utime(path, follow_symlinks=False)  # young files are safe from `weights gc`
            return False
        write_atomically(path, data, replace=True)
        return True

    def remove(self, name: str, age: float) -> bool:
        """Remove a file, unless it was stored again or is gone since it was looked at.

        Whoever holds the lock is waited for: what `put` has found there must not be removed.

        Args:
            name: of the file.
            age: the least number of seconds since it was stored.

        Returns:
            Whether it was removed.

        Raises:
            OSError: it cannot be removed.
        """
        path = self.directory / name
        with self.locked(exclusive=True):
            try:
                if time.time() - path.lstat().st_mtime <= age:
                    return False
                path.unlink()
            except FileNotFoundError:
                return False
        return True

    @contextlib.contextmanager
    def locked(self, *, exclusive: bool = False) -> Iterator[None]:
        """Hold a lock on the directory, for a `put`. Where there are no locks it does nothing.

        Args:
            exclusive: wait until nobody else holds it, and let nobody else have it meanwhile.
        """
        descriptor = -1
        if fcntl is not None:
            with contextlib.suppress(OSError):
                descriptor = os.open(self.directory, os.O_RDONLY)
                fcntl.flock(descriptor, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        try:
            yield
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    def names(self) -> list[str]:
        """The digests of all blobs, sorted; none if there is no such directory.

        Raises:
            OSError: the directory cannot be read.
        """
        if self._names is None:
            try:
                found = [path.name for path in self.directory.iterdir()]
            except FileNotFoundError:
                found = []
            self._names = sorted([name for name in found if DIGEST.fullmatch(name)])
        return self._names

    def matching(self, digest: str) -> list[str]:
        """The digests of the blobs that begin with some digits.

        Raises:
            OSError: the directory cannot be read.
        """
        names = self.names()
        start = bisect_left(names, digest)
        found = []
        for name in names[start:]:
            if not name.startswith(digest):
                break
            found.append(name)
        return found

    def leftovers(self) -> Iterator[Path]:
        """Files that were being written when their writer was killed."""
        if self.directory.is_dir():
            for path in sorted(self.directory.iterdir()):
                if TEMPORARY.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                    yield path
