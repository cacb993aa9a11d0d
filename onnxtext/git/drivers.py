# SPDX-License-Identifier: Apache-2.0
"""Merge driver (`merge.<driver>.driver`) and diff driver (`diff.<driver>.command`) for git.

Source: gitattributes(5), "Defining a custom merge driver" and "Defining an external diff driver";
git(1), GIT_EXTERNAL_DIFF.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from onnxtext.diagnostics import OnnxTextError
from onnxtext.git.clean_smudge import is_source
from onnxtext.git.filter_comment import NOTE, has_note, without_note
from onnxtext.git.left_out_weights import leave_out
from onnxtext.git.repository import git_attribute, read_config
from onnxtext.io.files import has_content, read_input, write_atomically
from onnxtext.io.text_or_binary import BINARY_SUFFIX, TEXT_SUFFIXES, has_binary_content

DRIVER_FAILED = 129
"""The exit status of a driver that fails. Git would interpret 1 to 128 as conflicts."""

_EMPTY_MODEL = b'<onnxtext: 1>\n"" () => () {}\n'
"""The text of an empty model."""


def merge_files(
    base: Path, ours: Path, theirs: Path, *, marker_size: int, labels: tuple[str, ...], path: str
) -> tuple[int, tuple[str, ...]]:
    """Merge three files; the merged content atomically replaces the file `ours`.

    If the filter applies to `path`, a text with conflicts lacks its weights (see `leave_out`).

    Args:
        base: the common ancestor, %O of git.
        ours: our version, %A.
        theirs: their version, %B.
        marker_size: length of conflict markers, %L.
        labels: names of base, ours and theirs, %S %X %Y. Git before 2.44 does not replace these
            placeholders.
        path: path of the file in the repository, %P.

    Returns:
        The number of conflicts, and notes for the user.

    Raises:
        OSError: a file cannot be read or written; `ours` is then unchanged.
    """
    from onnxtext.merger import VERSIONS, merge

    base_label, our_label, their_label = [
        default if label in ("", "%S", "%X", "%Y") else label
        for label, default in zip([*labels, "", "", ""], VERSIONS, strict=False)
    ]
    stored = [read_input(path) for path in (base, ours, theirs)]
    plain = [without_note(data) for data in stored]
    named = (base_label, our_label, their_label)
    merged = merge(*plain, marker_size=marker_size, labels=named, names=named)
    content = merged.content
    if merged.conflicts and not merged.is_binary and _is_filtered(path):
        content = leave_out(content, plain[1:])
    if _wants_note(stored) and not has_binary_content(content):
        content = NOTE + content
    if not has_content(ours, content):
        write_atomically(ours, content)
    return merged.conflicts, merged.notes


def _is_filtered(path: str) -> bool:
    """Whether the filter converts a file on `git add`; False if git cannot be asked."""
    try:
        return (
            not is_source(path)
            and git_attribute("filter", path) == "onnxtext"
            and bool(read_config(None, r"^filter\.onnxtext\.(process|clean)$"))
        )
    except OnnxTextError:
        return False


def _wants_note(versions: Sequence[bytes]) -> bool:
    """Whether the merged text gets the filter's comment.

    `versions` are base, ours and theirs. The text gets the comment if ours or theirs has added the
    comment, or if all versions have it.
    """
    base, ours, theirs = map(has_note, versions)
    return theirs if ours == base else ours


@contextlib.contextmanager
def with_matching_suffix(path: Path) -> Iterator[Path]:
    """Yield a file whose suffix matches its content: `.onnx`, `.onnxtxt` or `.onnxtext`.

    If the suffix of `path` does not match its content, yield a temporary copy with another suffix:
    git stores texts in files named `.onnx`.

    Args:
        path: the file; `/dev/null`, git's name for a missing file, gives an empty model.

    Raises:
        OSError: the file cannot be read.
    """
    data = _EMPTY_MODEL if str(path) in (os.devnull, "/dev/null") else read_input(path)
    suffixes = (BINARY_SUFFIX,) if has_binary_content(data) else TEXT_SUFFIXES
    if path.suffix.lower() in (suffixes if data else (BINARY_SUFFIX,)):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="onnxtext-") as directory:
        copy = Path(directory, f"model{suffixes[0]}")
        copy.write_bytes(data)
        yield copy
