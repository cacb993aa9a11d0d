# SPDX-License-Identifier: Apache-2.0
"""Garbage collection of weight stores: find referenced and orphaned blobs, and verify blobs."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from onnxtext.io.files import DIGEST
from onnxtext.io.text_or_binary import TEXT_SUFFIXES
from onnxtext.weights.find_blobs import verify_digest
from onnxtext.weights.safe_paths import resolve_inside, view_file
from onnxtext.weights.store import TEMPORARY, Store

_BLOB = re.compile(rb'blob"([0-9a-f]{16,64})"')
_CHUNK = 1 << 24
_OVERLAP = 128
_HEAD = 4096


def find_texts(store: Path) -> Iterator[Path]:
    """Yield the files that may be texts with references to a store.

    The search covers all files below the store's parent directory, and the files directly in each
    directory above it. A text can only reference paths below its own directory, so texts in other
    places cannot reference the store; directories beside the store are searched only for safety.
    Links to directories are not followed. Files that begin with binary data are skipped, unless
    they have the suffix of a text.

    Raises:
        OSError: a directory or text cannot be read, so its references are unknown.
    """

    def raise_error(error: OSError) -> None:
        raise error

    parent = Path(os.path.realpath(store)).parent
    for root, directories, names in os.walk(parent, onerror=raise_error):
        directories.sort()
        yield from _texts(Path(root), names)
    for directory_above in parent.parents:
        yield from _texts(directory_above, [path.name for path in directory_above.iterdir()])


def _texts(directory: Path, names: list[str]) -> Iterator[Path]:
    for name in sorted(names):
        path = directory / name
        # Skip blobs and temporary files. A temporary file may be a text that is being written, but
        # then its blobs are new, or other texts use them.
        ours = DIGEST.fullmatch(name) or TEMPORARY.fullmatch(name)
        if not ours and _is_file(path) and _may_be_text(path):
            yield path


def _is_file(path: Path) -> bool:
    """Whether a listed file is a regular file.

    Raises:
        OSError: the file cannot be read, or it has vanished and has the suffix of a text. A program
            may be replacing such a text non-atomically, and the new text may need blobs.
    """
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        gone = error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
        if gone and (path.is_symlink() or not path.name.lower().endswith(TEXT_SUFFIXES)):
            return False
        raise


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    """Add the path to each `OSError` in the `with` block; only errors of opening have it."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def _may_be_text(path: Path) -> bool:
    if path.name.lower().endswith(TEXT_SUFFIXES):
        return True
    try:
        with _named_errors(path), path.open("rb") as file:
            return b"\0" not in file.read(_HEAD)
    except (PermissionError, FileNotFoundError):
        return False


def referenced_blobs(text: Path) -> set[str]:
    """Return the digests (16 to 64 hexadecimal digits) of all blob references in a text.

    The text is not parsed: references in texts with errors and in comments count too. Keeping a
    blob too long costs disk space; removing it too early costs weights.

    Raises:
        OSError: the text cannot be read.
    """
    result: set[str] = set()
    with _named_errors(text), text.open("rb") as file:
        before = b""
        while chunk := file.read(_CHUNK):
            result.update(match.decode() for match in _BLOB.findall(before + chunk))
            before = chunk[-_OVERLAP:]
    return result


@dataclass(slots=True)
class StoreReferences:
    """The references to a store.

    Attributes:
        store: the store.
        texts: the number of searched files that reference the store or have the suffix of a text.
        users: maps the digest of each blob to the texts that reference it.
        orphaned: the digests of the blobs that no text references, without directories.
        leftovers: the temporary files in the store, of killed and running processes.
    """

    store: Store
    texts: int = 0
    users: dict[str, list[Path]] = field(default_factory=dict)
    orphaned: list[str] = field(default_factory=list)
    leftovers: list[Path] = field(default_factory=list)


def find_references(directory: Path) -> StoreReferences:
    """Find the references to the blobs of a store in the texts of `find_texts`.

    Raises:
        OSError: the store, a searched directory or a text cannot be read.
    """
    store = Store(directory)
    result = StoreReferences(store, users={name: [] for name in store.names()})
    for text in find_texts(directory):
        names = [n for digest in sorted(referenced_blobs(text)) for n in store.matching(digest)]
        for name in names:
            result.users[name].append(text)
        result.texts += bool(names) or text.name.lower().endswith(TEXT_SUFFIXES)
    unused = [directory / name for name, texts in result.users.items() if not texts]
    # A directory cannot be removed like a blob, and may have files of the user.
    result.orphaned = [path.name for path in unused if path.is_symlink() or not path.is_dir()]
    result.leftovers = list(store.leftovers())
    return result


def check_blob(store: Store, name: str) -> int:
    """Verify the digest of a blob; return its size in bytes.

    Raises:
        BlobError: the blob is damaged.
        PathError: the blob is not a regular file.
        OSError: the blob cannot be read.
    """
    path = resolve_inside(store.directory, name)
    data = view_file(path)
    verify_digest(data, name, f"in {path}")
    return len(data)
