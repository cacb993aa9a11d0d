# SPDX-License-Identifier: Apache-2.0
"""Read and write weight stores: directories with a file per blob, named by SHA-256 (SPEC 6.6).

The name of a file is the SHA-256 of its bytes, all 64 hexadecimal digits. Other files are ignored.
Several texts can share a store: equal bytes are stored once.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from onnxtext.io.files import DIGEST, has_content, replace_file
from onnxtext.tensor.blobs import with_prefix

try:
    import fcntl
except ImportError:  # Windows has no `fcntl`
    fcntl = None  # type: ignore[assignment]

TEMPORARY = re.compile(r"\.onnxtext-[0-9a-f]{12}")
"""Matches the name of a temporary file."""


@dataclass(slots=True)
class Store:
    """A weight store. Its directory need not exist.

    Attributes:
        directory: the directory of the blobs.
    """

    directory: Path
    _names: list[str] | None = None

    def put(self, digest: str, data: bytes | memoryview, check: Callable[[], object] = int) -> bool:
        """Store a blob atomically; if the store has it, only update its modification time.

        Args:
            digest: the SHA-256 of the data, 64 hexadecimal digits.
            data: the bytes.
            check: called after the data was copied to a temporary file. If it raises an exception,
                the blob is not written. The default, `int`, does nothing.

        Returns:
            Whether the blob was written, because it was missing or damaged.

        Raises:
            OSError: the blob cannot be written.
        """
        path = self.directory / digest
        if not path.is_symlink() and has_content(path, data):
            with contextlib.suppress(OSError):
                os.utime(path, follow_symlinks=False)  # `weights gc` keeps recent files
            return False
        with replace_file(path, follow=False) as file:
            file.write(data)
            check()
        return True

    def remove(self, name: str, age: float) -> bool:
        """Remove a file of the store if it exists and is older than `age`.

        An exclusive lock prevents the removal of a blob that another process has just found in
        `put`.

        Args:
            name: name of the file.
            age: number of seconds that must have passed since the file was last stored.

        Returns:
            Whether the file was removed.

        Raises:
            OSError: the file cannot be removed.
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
        """Lock the directory during the `with` block, on systems with `flock`.

        If the directory cannot be opened or locked, the block runs without a lock.

        Args:
            exclusive: whether to take an exclusive lock instead of a shared one.
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
        """Return the sorted digests of all blobs; [] if the directory does not exist.

        Raises:
            OSError: the directory cannot be read.
        """
        if self._names is None:
            try:
                names = [path.name for path in self.directory.iterdir()]
            except FileNotFoundError:
                names = []
            self._names = sorted([name for name in names if DIGEST.fullmatch(name)])
        return self._names

    def matching(self, digest: str) -> list[str]:
        """Return the digests of the blobs whose digest begins with `digest`.

        Raises:
            OSError: the directory cannot be read.
        """
        return with_prefix(self.names(), digest)

    def leftovers(self) -> Iterator[Path]:
        """Yield the temporary files, which killed processes left or other processes still use."""
        if self.directory.is_dir():
            for path in sorted(self.directory.iterdir()):
                if TEMPORARY.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                    yield path
