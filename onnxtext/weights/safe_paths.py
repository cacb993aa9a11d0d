# SPDX-License-Identifier: Apache-2.0
"""Open files beside a text by untrusted names: no path may leave the text's directory."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath
from typing import BinaryIO

from onnxtext.io import files
from onnxtext.io.files import check_unchanged, map_file, name_of, read_regular
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
    """Return the bytes of a regular file.

    The command line maps large files into memory. The Python API reads them, because truncating a
    mapped file ends the process that reads it.

    Args:
        path: a result of `resolve_inside`. It is a link only if the file was replaced since then.

    Raises:
        PathError: the file is a link, a directory, a device or a pipe.
        OSError: the file cannot be read.
    """
    with _open_regular(path) as file:
        if _is_mapped(file):
            try:
                return memoryview(map_file(file, path))
            except OSError as error:
                # Too many files are open, or this file cannot be mapped: read it instead.
                if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENODEV):
                    raise
        return memoryview(read_regular(file, path))


def view_parts(path: Path) -> memoryview | FileParts:
    """Return a view of a regular file of which only some parts are needed.

    The file is mapped as by `view_file`, or its parts are read when they are needed.

    Raises:
        PathError: the file is a link, a directory, a device or a pipe.
        OSError: the file cannot be read.
    """
    with _open_regular(path) as file:
        mapped = _is_mapped(file)
    return view_file(path) if mapped else FileParts(path)


class FileParts:
    """A regular file whose slices are read from the file; its content must not change meanwhile."""

    def __init__(self, path: Path) -> None:
        """Create a view of the file that has this path now."""
        self._path = path
        self._status = path.lstat()

    def __len__(self) -> int:
        return self._status.st_size

    def __getitem__(self, part: slice) -> memoryview:
        """Return the bytes of a part of the file.

        Raises:
            OSError: the file cannot be read, or has changed since the view was created.
        """
        start, stop, _ = part.indices(len(self))
        with _open_regular(self._path) as file:
            file.seek(start)
            data = file.read(stop - start)
            check_unchanged(self._path, self._status, os.fstat(file.fileno()))
        return memoryview(data)


def _open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading, and follow no link."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise PathError(f"{path} is not a regular file")
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags | getattr(os, "O_NOFOLLOW", 0)), "rb")


def _is_mapped(file: BinaryIO) -> bool:
    """Whether an open file is mapped into memory: it is large, and SIGBUS is handled."""
    size = os.fstat(file.fileno()).st_size
    return files.before_mapping is not None and size >= MIN_MAPPED_BYTES
