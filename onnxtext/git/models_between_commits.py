# SPDX-License-Identifier: Apache-2.0
"""Find the models that differ between two commits, and write both versions to files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from onnxtext.git.drivers import with_matching_suffix
from onnxtext.git.repository import run_git, split_output
from onnxtext.git.verification import read_objects
from onnxtext.io.text_or_binary import MODEL_SUFFIXES


@dataclass(frozen=True, slots=True)
class ChangedModel:
    """A model that differs between two commits.

    Attributes:
        old_path: its old path; None for an added model.
        new_path: its new path; None for a removed model.
        old: the object name of the old blob, all zeros for an added model.
        new: the object name of the new blob, all zeros for a removed model.
    """

    old_path: str | None
    new_path: str | None
    old: str
    new: str

    @property
    def labels(self) -> tuple[str, str]:
        """The old and the new path for display; `/dev/null` (`os.devnull`) for a missing path."""
        return self.old_path or os.devnull, self.new_path or os.devnull


def find_changes(top: Path, old: str, new: str) -> list[ChangedModel]:
    """Return the models that differ between two commits, including renamed models.

    Models are files with a suffix in `MODEL_SUFFIXES`.

    Raises:
        OnnxTextError: git fails, for example because a commit does not exist.
    """
    commits = ["--end-of-options", old, new, "--"]
    options = ["--raw", "-z", "--no-abbrev", "-M", "-r", "--no-textconv"]
    fields = iter(split_output(run_git("-C", str(top), "diff-tree", *options, *commits)))
    result = []
    for entry in fields:
        old_mode, new_mode, before, after, status = entry.removeprefix(":").split(" ")
        old_path = new_path = next(fields)
        if status[0] in "RC":
            new_path = next(fields)
        # Regular files only: no links, no submodules.
        change = ChangedModel(
            old_path if old_mode.startswith("100") else None,
            new_path if new_mode.startswith("100") else None,
            before,
            after,
        )
        paths = (change.old_path, change.new_path)
        if any(path is not None and path.lower().endswith(MODEL_SUFFIXES) for path in paths):
            result.append(change)
    return result


@contextmanager
def files_of(top: Path, change: ChangedModel) -> Iterator[tuple[Path, Path]]:
    """Write both versions of a model to temporary files; yield the paths of the old and the new.

    The files exist during the `with` block. Their suffixes match their content. A missing version
    is an empty model.

    Raises:
        OnnxTextError: an object is missing.
        OSError: a file cannot be written.
    """
    with TemporaryDirectory(prefix="onnxtext-") as directory, ExitStack() as stack:
        read = stack.enter_context(read_objects(top))
        files = []
        sides = ((change.old_path, change.old), (change.new_path, change.new))
        for index, (path, name) in enumerate(sides):
            file = Path(os.devnull)
            if path is not None:
                file = Path(directory, f"{index}{Path(path).suffix}")
                file.write_bytes(read(name))
            files.append(stack.enter_context(with_matching_suffix(file)))
        yield files[0], files[1]
