# SPDX-License-Identifier: Apache-2.0
"""Files are replaced as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` when the block ends without an error.

    The new file keeps the permissions of the old one. A symbolic link stays one: what it points
    to is replaced.

    Raises:
        OSError: the file cannot be written; the old one is then untouched.
    """
    target = path.resolve() if path.is_symlink() else path
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _mode(target: Path) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file as a whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    with replacing(path) as file:
        file.write(data)
