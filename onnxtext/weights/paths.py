# SPDX-License-Identifier: Apache-2.0
"""Files beside a text. What names them is not to be trusted: no path leaves the directory."""

from __future__ import annotations

import errno
import mmap
import os
import stat
from pathlib import Path, PureWindowsPath

MAPPED = 1 << 16
"""Files of fewer bytes are read, not mapped: a mapping costs a file descriptor."""


class PathError(ValueError):
    """A path leads out of its directory, or to nothing that can be read."""


def inside(base: Path, name: str) -> Path:
    """The real path of a file below a directory.

    Args:
        base: the directory.
        name: a relative path, with `/` between its parts.

    Raises:
        PathError: the path is absolute, has a part `..`, or a link leads out of the directory.
    """
    parts = name.split("/")
    if not name or "\0" in name or "\\" in name:
        raise PathError(f"`{name}` is no path: it is relative and has / between its parts")
    if name.startswith("/") or PureWindowsPath(name).drive:
        raise PathError(f"the path `{name}` is absolute: it has to be relative to the text")
    if ".." in parts:
        raise PathError(f"the path `{name}` leads out of the directory of the text")
    root = os.path.realpath(base)
    real = os.path.realpath(Path(root, *parts))
    if real != root and not real.startswith(root.rstrip(os.sep) + os.sep):
        raise PathError(f"a link on the path `{name}` leads out of the directory of the text")
    return Path(real)


def view_file(path: Path) -> memoryview:
    """The bytes of a regular file, mapped if they are many.

    Raises:
        PathError: it is a directory, a device or a pipe.
        OSError: it cannot be read.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise PathError(f"{path} is no regular file")
        if status.st_size >= MAPPED:
            try:
                return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            except OSError as error:
                # So many files cannot be mapped at the same time.
                if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENODEV):
                    raise
        return memoryview(file.read())
