# SPDX-License-Identifier: Apache-2.0
"""Open files beside a text by untrusted names: no path may leave the text's directory."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath

from onnxtext.io.files import map_file, name_of, read_regular
from onnxtext.io.path_safety import leads_out
from onnxtext.tensor.blobs import UNREADABLE, BlobError

MIN_MAPPED_BYTES = 1 << 16
"""Files of at least this many bytes are mapped; smaller files are read."""


class PathError(ValueError):
    """A path is invalid, leads out of its directory, or does not name a regular file."""


@contextmanager
def blob_errors(
    subject: str, default: str | Path, *, unsafe: str = UNREADABLE, unreadable: str = UNREADABLE
) -> Iterator[None]:
    """Convert a `PathError` or `OSError` of the `with` block to a `BlobError`.

    Args:
        subject: the beginning of the error message.
        default: the name of the file, if an `OSError` has none.
        unsafe: the code for a `PathError`.
        unreadable: the code for an `OSError`.
    """
    try:
        yield
    except PathError as error:
        raise BlobError(f"{subject}: {error}", unsafe) from None
    except OSError as error:
        why = f"{name_of(error, default)}: {error.strerror or error}"
        raise BlobError(f"{subject}: {why}", unreadable) from None


def resolve_inside(base: Path, name: str) -> Path:
    """Resolve the path of a file below a directory.

    Args:
        base: the directory.
        name: a relative path, with `/` between its parts.

    Raises:
        PathError: the path is empty, absolute, has a backslash, a NUL or a part `..`, or a link
            leads out of the directory.
    """
    parts = name.split("/")
    if not name or "\0" in name or "\\" in name:
        raise PathError(f"`{name}` is not a valid path: it must be relative, with `/`")
    if name.startswith("/") or PureWindowsPath(name).drive:
        raise PathError(f"the path `{name}` is absolute: it must be relative to the model")
    if ".." in parts:
        raise PathError(f"the path `{name}` leads out of the directory of the model")
    path = Path(os.path.realpath(base), *parts)
    if leads_out(path, base):
        raise PathError(f"a link in `{name}` leads out of the directory that must contain the file")
    return Path(os.path.realpath(path))


def view_file(path: Path) -> memoryview:
    """Return the bytes of a regular file; map a large file into memory.

    Args:
        path: a result of `resolve_inside`. It is a link only if the file was replaced since then.

    Raises:
        PathError: the file is a link, a directory, a device or a pipe.
        OSError: the file cannot be read.
    """
    if not stat.S_ISREG(path.lstat().st_mode):
        raise PathError(f"{path} is not a regular file")
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if status.st_size >= MIN_MAPPED_BYTES:
            try:
                return memoryview(map_file(file, path))
            except OSError as error:
                # Too many files are open, or this file cannot be mapped: read it instead.
                if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENODEV):
                    raise
        return memoryview(read_regular(file, path))
