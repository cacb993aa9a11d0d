# SPDX-License-Identifier: Apache-2.0
"""Caring for weight stores: which blobs texts name, and which nobody does."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from onnxtext.filetype import TEXT_SUFFIXES
from onnxtext.weights.paths import inside, view_file
from onnxtext.weights.reader import verify
from onnxtext.weights.store import DIGEST, TEMPORARY, Store

_BLOB = re.compile(rb'blob"([0-9a-f]{16,64})"')
_CHUNK = 1 << 24
_OVERLAP = 128
_HEAD = 4096


def find_texts(store: Path) -> Iterator[Path]:
    """The texts that may name a store: those below its parent, and in the directories above.

    A text names no path that leaves its own directory, so no others can. Links to directories are
    not followed. A file by any name may be a text; one that begins with binary data is none.

    Args:
        store: its directory.

    Raises:
        OSError: a directory or text cannot be read, so that nobody knows what it names.
    """

    def refuse(error: OSError) -> None:
        raise error

    parent = Path(os.path.realpath(store)).parent
    for root, directories, names in os.walk(parent, onerror=refuse):
        directories.sort()
        yield from _texts(Path(root), names)
    for above in parent.parents:
        yield from _texts(above, [path.name for path in above.iterdir()])


def _texts(directory: Path, names: list[str]) -> Iterator[Path]:
    for name in sorted(names):
        path = directory / name
        # A file that is being written names only blobs that are young, or named by others.
        ours = DIGEST.fullmatch(name) or TEMPORARY.fullmatch(name)
        if not ours and _is_file(path) and _may_be_text(path):
            yield path


def _is_file(path: Path) -> bool:
    """Whether a file that was listed is a regular file.

    Raises:
        OSError: it cannot be read; or it has the name of a text, and has vanished. A program that
            is replacing it, but not atomically, may still need the blobs that it named.
    """
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        gone = error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
        if gone and (path.is_symlink() or not path.name.lower().endswith(TEXT_SUFFIXES)):
            return False
        raise


def _may_be_text(path: Path) -> bool:
    if path.name.lower().endswith(TEXT_SUFFIXES):
        return True
    try:
        with path.open("rb") as file:
            return b"\0" not in file.read(_HEAD)
    except (PermissionError, FileNotFoundError):
        return False


def named_blobs(text: Path) -> set[str]:
    """The digests of all that looks like a blob in a text.

    The text is not parsed: one with an error keeps its blobs too, and so does one that only
    mentions them in a comment. What is kept too long costs disk; what is removed too soon, weights.

    Raises:
        OSError: it cannot be read.
    """
    found: set[str] = set()
    with text.open("rb") as file:
        before = b""
        while chunk := file.read(_CHUNK):
            found.update(match.decode() for match in _BLOB.findall(before + chunk))
            before = chunk[-_OVERLAP:]
    return found


@dataclass(slots=True)
class Usage:
    """What is known of a store.

    Attributes:
        store: the store.
        texts: the texts that were found, and how many blobs of the store each names.
        users: the texts that name each blob of the store.
        unused: blobs that no text names.
        leftovers: files that were being written when their writer was killed.
    """

    store: Store
    texts: dict[Path, int] = field(default_factory=dict)
    users: dict[str, list[Path]] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)
    leftovers: list[Path] = field(default_factory=list)


def usage(directory: Path) -> Usage:
    """Which blobs of a store are named by texts; `find_texts` says where they are looked for.

    Args:
        directory: the store's.

    Raises:
        OSError: the store, a directory beside it or a text cannot be read.
    """
    store = Store(directory)
    made = Usage(store, users={name: [] for name in store.names()})
    for text in find_texts(directory):
        count = 0
        for digest in sorted(named_blobs(text)):
            for name in store.matching(digest):
                made.users[name].append(text)
                count += 1
        if count or text.name.lower().endswith(TEXT_SUFFIXES):
            made.texts[text] = count
    made.unused = [name for name, texts in made.users.items() if not texts]
    made.leftovers = list(store.leftovers())
    return made


def check_blob(store: Store, name: str) -> int:
    """The size of a blob in bytes, after its digest was verified.

    Raises:
        BlobError: it is damaged.
        PathError: it is no regular file.
        OSError: it cannot be read.
    """
    path = inside(store.directory, name)
    data = view_file(path)
    verify(data, name, f"in {path}")
    return len(data)
