# SPDX-License-Identifier: Apache-2.0
"""What git calls for a merge (`merge.<driver>.driver`) and a diff (`diff.<driver>.command`).

Source: gitattributes(5), "Defining a custom merge driver" and "Defining an external diff driver";
git(1), GIT_EXTERNAL_DIFF.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from onnxtext.files import holds, write_atomically
from onnxtext.git.content import HEAD, is_binary

TROUBLE = 129
"""The exit status that says to git that the driver has failed: no conflict, no merge."""

_LABELS = ("base", "ours", "theirs")
_NOTHING = b'<onnxtext: 1>\n"" () => () {}\n'


def merge_files(
    base: Path, ours: Path, theirs: Path, *, marker_size: int, labels: tuple[str, ...], path: str
) -> tuple[int, tuple[str, ...]]:
    """Merge three files; what comes out takes the place of ours, as a whole.

    Args:
        base: the common ancestor, %O of git.
        ours: our version, %A.
        theirs: their version, %B.
        marker_size: %L.
        labels: of base, ours and theirs, %S %X %Y. A git older than 2.44 hands over these very
            letters, as it knows no labels.
        path: of the file in the repository, %P.

    Returns:
        How many conflicts are left, and what is to be said.

    Raises:
        OSError: a file cannot be read or written; ours is then untouched.
    """
    from onnxtext.merge import merge

    named = [*labels, *[""] * 3][:3]
    shown = [
        default if given in ("", "%S", "%X", "%Y") else given
        for given, default in zip(named, _LABELS, strict=True)
    ]
    made = merge(
        base.read_bytes(),
        ours.read_bytes(),
        theirs.read_bytes(),
        marker_size=marker_size,
        labels=(shown[0], shown[1], shown[2]),
        path=path,
    )
    if not holds(ours, made.content):
        write_atomically(ours, made.content)
    return made.conflicts, made.notes


@contextlib.contextmanager
def named_by_content(path: Path) -> Iterator[Path]:
    """A file whose name says what it holds: git has texts in files that are called `.onnx`.

    Args:
        path: the file; `/dev/null` stands for a file that is not there: an empty model.

    Raises:
        OSError: it cannot be read.
    """
    data = _NOTHING if str(path) in (os.devnull, "/dev/null") else path.read_bytes()
    suffix = ".onnx" if is_binary(data[:HEAD]) else ".onnxtxt"
    if path.suffix.lower() == suffix:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="onnxtext-") as directory:
        copy = Path(directory, f"model{suffix}")
        copy.write_bytes(data)
        yield copy
