# SPDX-License-Identifier: Apache-2.0
"""Open files beside a text by untrusted names: no path may leave the text's directory."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO, RawIOBase
from pathlib import Path, PureWindowsPath
from typing import Any, BinaryIO

from onnxtext.io import files
from onnxtext.io.files import check_unchanged, map_file, read_regular
from onnxtext.io.os_errors import name_of
from onnxtext.io.path_safety import leads_out
from onnxtext.tensor.blobs import UNREADABLE, BlobError

MIN_MAPPED_BYTES = 1 << 16
"""Minimum size in bytes of files that may be mapped."""

_CHUNK = 1 << 20

_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_BINARY")
)


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
    with open_regular(path) as file:
        mapped = _map_if_large(file, path)
        return memoryview(read_regular(file, path)) if mapped is None else mapped


def view_parts(path: Path) -> memoryview | FileParts:
    """Return a view of a regular file of which only some parts are needed.

    The file is mapped as by `view_file`, or its parts are read when they are needed.

    Raises:
        PathError: the file is a link, a directory, a device or a pipe.
        OSError: the file cannot be read.
    """
    with open_regular(path) as file:
        mapped = _map_if_large(file, path)
        return FileParts(path, os.fstat(file.fileno())) if mapped is None else mapped


def _map_if_large(file: BinaryIO, path: Path) -> memoryview | None:
    """Map a large file into memory; return None if it must be read instead.

    This is the case if the file is small, if SIGBUS is not handled, if too many files are open, or
    if the system cannot map this file.
    """
    if files.before_mapping is None or os.fstat(file.fileno()).st_size < MIN_MAPPED_BYTES:
        return None
    try:
        return memoryview(map_file(file, path))
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENODEV):
            raise
        return None


class FileParts:
    """A regular file whose slices are read when they are needed.

    If the file changes or is replaced after the view was created, reading a slice fails.
    """

    def __init__(self, path: Path, status: os.stat_result) -> None:
        """Create a view of the file with this path and status."""
        self._path = path
        self._status = status

    def __len__(self) -> int:
        return self._status.st_size

    def __getitem__(self, part: slice) -> memoryview:
        """Return a part of the file; raise OSError if it cannot be read, or has changed."""
        if part.step is not None:
            raise ValueError("a part of a file has no step")
        start, stop, _ = part.indices(len(self))
        size = max(stop - start, 0)
        # Descriptors are faster than file objects: a file can have many small tensors. Descriptors
        # that stay open could become too many: each tensor can have a file of its own.
        descriptor = os.open(self._path, _FLAGS)
        try:
            # Check before seeking: if a pipe has replaced the file, seeking fails.
            check_unchanged(self._path, self._status, os.fstat(descriptor))
            os.lseek(descriptor, start, os.SEEK_SET)
            first = os.read(descriptor, min(size, _CHUNK))
            data = memoryview(first) if len(first) == size else _read_rest(descriptor, first, size)
            check_unchanged(self._path, self._status, os.fstat(descriptor))
        finally:
            os.close(descriptor)
        return data


def _read_rest(descriptor: int, first: bytes, size: int) -> memoryview:
    """Return `size` bytes, or fewer at the end of the file; `first` has been read already."""
    data = memoryview(bytearray(size))
    count = len(first)
    data[:count] = first
    with FileIO(descriptor, closefd=False) as file:
        while more := file.readinto(data[count:]):  # the system reads at most 2 GiB at once
            count += more
    return data[:count].toreadonly()


class PartsReader(RawIOBase):
    """Reads a view of a file through the interface of files."""

    def __init__(self, view: memoryview | FileParts) -> None:
        """Create a reader at the beginning of the view."""
        self._view = view
        self._position = 0

    def readable(self) -> bool:
        """Return True: all views can be read."""
        return True

    def seekable(self) -> bool:
        """Return True: all views can be read from any offset."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to an offset from the beginning, the position or the end; return the position."""
        starts = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: len(self._view)}
        position = starts[whence] + offset
        if position < 0:  # the error of regular files: `zipfile` handles it
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._position = position
        return position

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes, at most 1 MiB, into `buffer`; return their number."""
        size = min(len(buffer), _CHUNK)
        data = self._view[self._position : self._position + size]
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading, and follow no link.

    Raises:
        PathError: the file is a link, a directory, a device or a pipe.
        OSError: the file cannot be opened.
    """
    if not stat.S_ISREG(path.lstat().st_mode):
        raise PathError(f"{path} is not a regular file")
    return os.fdopen(os.open(path, _FLAGS), "rb")
