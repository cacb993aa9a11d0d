# SPDX-License-Identifier: Apache-2.0
"""Files are replaced as a whole or not at all; and what kind they are."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from io import BytesIO, FileIO, UnsupportedOperation
from pathlib import Path
from typing import IO, BinaryIO

_CHUNK = 1 << 20


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` when the block ends without an error.

    The new file keeps the permissions of the old one, and its owner where that is allowed. A
    symbolic link stays one: what it points to is replaced. What is no file but a device or a pipe
    (`/dev/null`) is written to.

    Raises:
        OSError: the file cannot be written; the old one is then untouched.
    """
    old = _status(path)
    if old is not None and not stat.S_ISREG(old.st_mode):
        with path.open("wb") as device:
            yield device
        return
    target = Path(os.path.realpath(path))
    descriptor, temporary = _create_beside(target, old)
    with _discarded_on_error(temporary):
        with os.fdopen(descriptor, "wb") as file:
            _take_over(temporary, old)
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)


@contextlib.contextmanager
def replacing_path(path: Path) -> Iterator[Path]:
    """Like `replacing`, for libraries that open files by their names: gives the name to write to.

    Raises:
        OSError: the file cannot be written; the old one is then untouched.
    """
    old = _status(path)
    target = Path(os.path.realpath(path))
    descriptor, temporary = _create_beside(target, old)
    made = os.fstat(descriptor)
    os.close(descriptor)
    with _discarded_on_error(temporary):
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        _take_over(temporary, old or made)  # the library may have made another file
        temporary.replace(target)


def write_atomically(
    path: Path,
    data: bytes | memoryview,
    *,
    replace: bool = False,
    instead_of: bytes | None = None,
) -> None:
    """Write a file as a whole or not at all.

    Args:
        path: the file.
        data: its content.
        replace: whether to put a regular file in the place of a link, device or pipe, instead of
            writing to what is there: for names that no user has given.
        instead_of: what was read from the file. If it holds something else by now, as after an
            editor has saved it, it is kept.

    Raises:
        OSError: the file cannot be written, or has other content than was read.
    """
    if not replace:
        with replacing(path) as file:
            file.write(data)
            if instead_of is not None and path.is_file() and not holds(path, instead_of):
                raise OSError(errno.EBUSY, "it was changed meanwhile", os.fspath(path))
        return
    descriptor, temporary = _create_beside(path, None)
    with _discarded_on_error(temporary):
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


@contextlib.contextmanager
def _discarded_on_error(temporary: Path) -> Iterator[None]:
    """Remove a new file if the block fails."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def is_stream(path: Path) -> bool:
    """Whether a path leads to a pipe or a device, which cannot be read and then replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def read_input(path: Path) -> bytes:
    """All bytes of what a user has named: a file, or a stream that comes to an end.

    Raises:
        OSError: it cannot be read; or it is a stream that gives more than `read_stream` takes.
    """
    with path.open("rb") as file:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return file.read()
        return read_stream(file, os.fspath(path))


def read_stream(file: IO[bytes], name: str) -> bytes:
    """All bytes of a pipe or device, or of a file that is read through one.

    It is read in parts: signals end it between two of them.

    Args:
        file: is read.
        name: what to call it in errors.

    Raises:
        OSError: it cannot be read, or seems to have no end, as `/dev/zero`.
    """
    try:
        mode = os.fstat(file.fileno()).st_mode
    except UnsupportedOperation:  # it is no file of the system
        mode = 0
    most = _MOST_OF_DEVICE if stat.S_ISCHR(mode) else _MOST_OF_PIPE
    data = BytesIO()
    while part := file.read(_CHUNK):
        data.write(part)
        if data.tell() > most and not stat.S_ISREG(mode):
            raise OSError(errno.EFBIG, f"it gives more than {most >> 20:,} MiB", name)
        if len(part) < _CHUNK:  # a terminal would be asked again
            break
    return data.getvalue()


_MOST_OF_DEVICE = 1 << 28
_MOST_OF_PIPE = 1 << 32


def name_of(error: OSError, default: str | Path) -> str:
    """The file that an error is about: not a descriptor, and never nothing.

    Args:
        error: the error.
        default: what was read or written when it happened.
    """
    name = error.filename
    return os.fsdecode(name) if isinstance(name, (str, bytes, os.PathLike)) else str(default)


def holds(path: Path, data: bytes | memoryview) -> bool:
    """Whether a regular file holds exactly these bytes; see `holds_pieces`."""
    return holds_pieces(path, [data])


def holds_pieces(path: Path, pieces: Sequence[bytes | memoryview]) -> bool:
    """Whether a regular file holds exactly these bytes, one piece after the other.

    Nothing is read where the size tells, and no more than up to the first difference. Of a file
    that we may not read we know nothing: the answer is no.

    Raises:
        OSError: the file is there and reading it fails.
    """
    status = _status(path)
    size = sum(map(len, pieces))
    if status is None or not stat.S_ISREG(status.st_mode) or status.st_size != size:
        return False
    try:
        with path.open("rb", buffering=0) as file:
            return all(_reads(file, memoryview(piece)) for piece in _joined(pieces))
    except PermissionError:
        return False


def _reads(file: FileIO, data: memoryview) -> bool:
    """Whether this is what the next bytes of a file say."""
    buffer = memoryview(bytearray(min(_CHUNK, len(data))))
    at = 0
    while at < len(data):
        count = file.readinto(buffer[: len(data) - at])
        # Comparing views goes item by item; comparing with bytes does not.
        if not count or bytes(buffer[:count]) != bytes(data[at : at + count]):
            return False
        at += count
    return True


def _joined(pieces: Sequence[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """The same bytes in fewer pieces: none is short but the last."""
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
    """What `path` leads to; None if that is not there yet."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    return status


def _create_beside(target: Path, old: os.stat_result | None) -> tuple[int, Path]:
    """A new file in the directory of `target`, never readable by more people than the old one."""
    mode = 0o666 if old is None else stat.S_IMODE(old.st_mode) & 0o777
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        # The name is short, whatever the target's is: that may be as long as names can be.
        temporary = target.with_name(f".onnxtext-{os.urandom(6).hex()}")
        try:
            return os.open(temporary, flags, mode), temporary
        except FileExistsError:
            continue
        except BaseException:  # a signal, right after the file was created
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def _take_over(temporary: Path, old: os.stat_result | None) -> None:
    """Give the new file the old one's owner and permissions, as far as we may."""
    if old is None:
        return
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(temporary, old.st_uid, old.st_gid)
    with contextlib.suppress(OSError):
        temporary.chmod(stat.S_IMODE(old.st_mode))
