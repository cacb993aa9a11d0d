# SPDX-License-Identifier: Apache-2.0
"""Read, compare and atomically replace files."""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO, FileIO, UnsupportedOperation
from pathlib import Path
from typing import IO, Any, BinaryIO

_CHUNK = 1 << 20
_MAPPED = 1 << 20
"""Minimum size in bytes of a file that is mapped into memory."""

mapped: dict[str, os.stat_result] = {}
"""The status of each file when it was first mapped into memory, by its name."""

before_mapping: Callable[[], object] | None = None
"""Called before a file is mapped; None if files are read instead.

Reading a mapped file raises SIGBUS if the file becomes shorter. The command line sets a function
that installs a handler of SIGBUS, which ends the process. Other programs must not be ended.
"""

DIGEST = re.compile(r"[0-9a-f]{64}")
"""Matches the file name of a blob in a weight store: the SHA-256 of its bytes."""

_temporary: set[Path] = set()


@contextlib.contextmanager
def replace_file(path: Path, *, follow: bool = True) -> Iterator[BinaryIO]:
    """Yield a new file that replaces `path` when the block ends without an error.

    The new file keeps the permissions of the old file, and its owner if the system permits it. A
    symbolic link stays a link: its target is replaced. A device or pipe (`/dev/null`) is written
    to directly.

    Args:
        path: the file.
        follow: False to replace a link, device or pipe itself by a regular file. The new file then
            has default permissions. Use this for names that the user did not give.

    Raises:
        OSError: the file cannot be written; an old regular file is then untouched.
    """
    old = _status(path) if follow else None
    if old is not None and not stat.S_ISREG(old.st_mode):
        with path.open("wb") as device:
            yield device
        return
    target = Path(os.path.realpath(path)) if follow else path
    descriptor, temporary = _create_beside(target, old)
    with _discarded_on_error(temporary):
        with os.fdopen(descriptor, "wb") as file:
            _copy_owner_and_mode(old, temporary)
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)


@contextlib.contextmanager
def replace_path(path: Path) -> Iterator[Path]:
    """Yield the path of a new file that replaces `path` when the block ends without an error.

    Use it instead of `replace_file` for libraries that open files by name. Unlike `replace_file`,
    it also replaces devices and pipes.

    Raises:
        OSError: the file cannot be written; the old file is untouched.
    """
    old = _status(path)
    target = Path(os.path.realpath(path))
    descriptor, temporary = _create_beside(target, old)
    created = os.fstat(descriptor)
    os.close(descriptor)
    with _discarded_on_error(temporary):
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        # The library may have replaced the file that we created.
        _copy_owner_and_mode(old or created, temporary)
        temporary.replace(target)


def write_atomically(
    path: Path, data: bytes | memoryview, *, instead_of: bytes | None = None
) -> None:
    """Write a file atomically.

    Args:
        path: the file.
        data: its content.
        instead_of: the content that the caller read from the file. If the file now has other
            content, for example after a change in an editor, it is kept and an error is raised.

    Raises:
        OSError: the file cannot be written, or has changed since it was read.
    """
    with replace_file(path) as file:
        file.write(data)
        if instead_of is not None:  # fsync may take long, so it comes before the comparison
            file.flush()
            os.fsync(file.fileno())
        if instead_of is not None and path.is_file() and not has_content(path, instead_of):
            raise OSError(errno.EBUSY, "it has changed since it was read", os.fspath(path))


@contextlib.contextmanager
def _discarded_on_error(temporary: Path) -> Iterator[None]:
    """Remove a temporary file if the `with` block raises an exception.

    During the block, `remove_temporary_files` removes it, too.
    """
    _temporary.add(temporary)
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    finally:
        _temporary.discard(temporary)


def is_stream(path: Path) -> bool:
    """Whether a path is a pipe or a device, which cannot be read first and replaced later."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def is_same(left: Path, right: Path) -> bool:
    """Whether two paths name the same file, which need not exist."""
    try:
        return left.samefile(right)
    except OSError:
        return os.path.realpath(left) == os.path.realpath(right)


def read_input(path: Path, *, maps: bool = False) -> bytes:
    """Return the whole content of a file, pipe or device that the user named.

    Args:
        path: the path of the input.
        maps: whether to map a large file into memory instead of copying it, if `before_mapping` is
            set. The result can then be an `mmap`, which slices like bytes.

    Raises:
        OSError: the input cannot be read, or is a stream longer than the limit of `read_stream`.
    """
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return read_stream(file, os.fspath(path))
        if maps and before_mapping is not None and status.st_size >= _MAPPED:
            content: Any = map_file(file, path)
            return content  # type: ignore[no-any-return]
        return read_regular(file, path)


def read_regular(file: BinaryIO, path: Path) -> bytes:
    """Return the content of a regular file, opened for reading.

    Raises:
        OSError: the file cannot be read, or changed meanwhile.
    """
    before = os.fstat(file.fileno())
    content = file.read()
    check_unchanged(path, before, os.fstat(file.fileno()))
    return content


def check_unchanged(path: str | Path, before: os.stat_result, after: os.stat_result) -> None:
    """Raise an OSError if a file was changed or replaced between two statuses of its path."""
    # `Store.put` updates the times of blobs, but the content of a blob never changes.
    touched = before.st_mtime_ns != after.st_mtime_ns and not DIGEST.fullmatch(Path(path).name)
    # A file may get a new inode number when it is opened again (sshfs): compare two properties.
    replaced = before.st_ctime_ns != after.st_ctime_ns and not os.path.samestat(before, after)
    if touched or before.st_size != after.st_size or replaced:
        raise OSError(errno.EBUSY, "it changed while it was being read", os.fspath(path))


def check_mapped(*, again: bool = False) -> None:
    """Check that no mapped file was written to since it was mapped.

    If the file was removed or replaced by another, nothing is raised: the mapped content stays.

    Args:
        again: whether the files are checked again later. If not, `mapped` is emptied.

    Raises:
        OSError: a file has changed.
    """
    files = list(mapped.items())
    if not again:
        mapped.clear()
    for path, before in files:
        try:
            after = os.stat(path)  # noqa: PTH116 - the key of `mapped` is a str
        except OSError:
            continue
        if os.path.samestat(before, after):
            check_unchanged(path, before, after)
            if before.st_mtime_ns != after.st_mtime_ns:
                _check_blob(path)
                if again:
                    mapped[path] = after


def _check_blob(path: str) -> None:
    """Check that a blob whose time has changed was only stored again, not written to."""
    import hashlib

    digest = hashlib.sha256()
    with open(path, "rb") as file:  # noqa: PTH123 - the key of `mapped` is a str
        while part := file.read(_CHUNK):
            digest.update(part)
    if digest.hexdigest() != os.path.basename(path):  # noqa: PTH119
        raise OSError(errno.EBUSY, "it changed while it was being read", path)


def map_file(file: BinaryIO, path: Path) -> mmap.mmap:
    """Call `before_mapping`, map a file that is not empty into memory, and add it to `mapped`.

    Raises:
        OSError: the file cannot be mapped.
    """
    assert before_mapping is not None
    before_mapping()
    status = os.fstat(file.fileno())
    content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    mapped.setdefault(os.fspath(path), status)
    return content


def remove_temporary_files() -> None:
    """Remove the unfinished files of `replace_file` and `replace_path` before the process ends."""
    for path in _temporary:
        with contextlib.suppress(OSError):
            path.unlink()


def read_stream(file: IO[bytes], name: str) -> bytes:
    """Return all bytes of a stream, such as a pipe or a device.

    The stream is read in chunks, so that signals can interrupt reading.

    Raises:
        OSError: the stream cannot be read, or has more than 256 MiB (a device) or 4 GiB (a pipe).
    """
    try:
        mode = os.fstat(file.fileno()).st_mode
    except UnsupportedOperation:  # not backed by a file descriptor
        mode = 0
    max_bytes = _MAX_DEVICE_BYTES if stat.S_ISCHR(mode) else MAX_PIPE_BYTES
    data = BytesIO()
    while part := file.read(_CHUNK):
        data.write(part)
        if data.tell() > max_bytes and not stat.S_ISREG(mode):
            raise OSError(errno.EFBIG, f"its content is larger than {max_bytes >> 20:,} MiB", name)
        if len(part) < _CHUNK:  # reading a terminal again would wait for more input
            break
    return data.getvalue()


_MAX_DEVICE_BYTES = 1 << 28
MAX_PIPE_BYTES = 1 << 32


def has_content(path: Path, data: bytes | memoryview) -> bool:
    """Whether `path` is a regular file with exactly this content, and reading it is permitted.

    Raises:
        OSError: `path` is a directory, or inspecting or reading it fails.
    """
    return holds_pieces(path, [data])


def holds_pieces(path: Path, pieces: Sequence[bytes | memoryview]) -> bool:
    """Whether `path` is a regular file whose content equals the concatenation of the pieces.

    If the sizes differ, nothing is read. Reading stops at the first chunk that differs. Return
    False if reading the file is not permitted.

    Raises:
        OSError: `path` is a directory, or inspecting or reading it fails.
    """
    status = _status(path)
    size = sum(map(len, pieces))
    if status is None or not stat.S_ISREG(status.st_mode) or status.st_size != size:
        return False
    try:
        with path.open("rb", buffering=0) as file:
            return all(_next_bytes_equal(file, memoryview(piece)) for piece in _join_pieces(pieces))
    except PermissionError:
        return False


def _next_bytes_equal(file: FileIO, data: memoryview) -> bool:
    """Whether the next bytes of a file equal `data`."""
    buffer = memoryview(bytearray(min(_CHUNK, len(data))))
    offset = 0
    while offset < len(data):
        count = file.readinto(buffer[: len(data) - offset])
        # Comparing memoryviews is slow (item by item); comparing bytes is fast.
        if not count or bytes(buffer[:count]) != bytes(data[offset : offset + count]):
            return False
        offset += count
    return True


def _join_pieces(pieces: Sequence[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """Join consecutive short pieces, so that fewer chunks have to be compared."""
    short: list[bytes | memoryview] = []
    size = 0
    for piece in pieces:
        if len(piece) >= _CHUNK:
            yield b"".join(short)
            yield piece
            short, size = [], 0
            continue
        short.append(piece)
        size += len(piece)
        if size >= _CHUNK:
            yield b"".join(short)
            short, size = [], 0
    yield b"".join(short)


def _status(path: Path) -> os.stat_result | None:
    """Return the status of a file or of a link's target; None if it does not exist."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    return status


def _create_beside(target: Path, old: os.stat_result | None) -> tuple[int, Path]:
    """Create a file in the directory of `target`; return (its descriptor, its path).

    `old` is the status of the file to replace; None if there is none. The new file never has wider
    permissions than the file to replace.
    """
    mode = 0o666 if old is None else stat.S_IMODE(old.st_mode) & 0o777
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        # A short name: a suffix on the target's name could exceed the maximum length.
        temporary = target.with_name(f".onnxtext-{os.urandom(6).hex()}")
        try:
            return os.open(temporary, flags, mode), temporary
        except FileExistsError:
            continue
        except BaseException as error:  # a signal handler may raise after the file was created
            with contextlib.suppress(OSError):
                temporary.unlink()
            if isinstance(error, OSError):
                error.filename = os.fspath(target)  # the caller does not know `temporary`
            raise


def _copy_owner_and_mode(old: os.stat_result | None, new: Path) -> None:
    """Give a new file the owner and permissions of the old file, where this is permitted."""
    if old is None:
        return
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(new, old.st_uid, old.st_gid)
    with contextlib.suppress(OSError):
        new.chmod(stat.S_IMODE(old.st_mode))
