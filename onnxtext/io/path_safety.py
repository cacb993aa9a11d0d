# SPDX-License-Identifier: Apache-2.0
"""Keep commands within the files and directories that the user named, despite symbolic links.

The texts and links of a cloned repository are not trusted. Therefore, these rules hold:

- A path given by the *user* (an argument, `-o`, a store) is followed wherever it leads. A link
  stays a link: its target is read or replaced.
- A *derived* name (`c.onnxtxt` of `c.onnx`, `OUT.data`, names in `-o DIR/`) may be a link to a
  path below its own directory. A link that leads out is rejected, even if its target does not
  exist, and even with `--force`: the user has to name the file with `-o`.
- A *walk* over a directory (`fmt DIR`, `verify DIR`) yields regular files only. It does not enter
  links to directories. It follows a link to a file below the directory, and skips a link to a
  file elsewhere with a warning.
- A path in a *text or model* (stores, safetensors files, data files, external data) is relative,
  and must stay below the directory of the text, links included: see `weights.safe_paths`.
- In the working tree of *git*, `git.repository.read_tracked` follows no link, like git itself, and
  `git install` writes no attributes through a link that leads out.
- In a *store*, blobs are regular files below it. A blob that we write replaces a link;
  `gc` removes the link, never its target.

Every file is written under a new name and then renamed (`files`). So other hard links to the old
file keep the old content. An attacker who creates a link meanwhile cannot redirect the writing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from onnxtext.io.files import is_stream

Skipped = Callable[[Path, str], None]
"""A callback that receives each file that a walk skips, and the reason."""

Test = Callable[[Path], bool]


def leads_out(path: Path, directory: Path) -> bool:
    """Whether a path is outside of a directory after links in both are resolved."""
    root = os.path.realpath(directory)
    real = os.path.realpath(path)
    return real != root and not real.startswith(root.rstrip(os.sep) + os.sep)


def walk_files(directory: Path, has_type: Test, selected: Test, skipped: Skipped) -> Iterator[Path]:
    """Yield the files below a directory that a command may process.

    Args:
        directory: the directory that the user named.
        has_type: returns whether a file has the type that the command processes.
        selected: returns False for files and directories that the user excluded.
        skipped: receives each file that passes both tests but is unsafe, and the reason (see
            `unsafe_reason`).

    Raises:
        OSError: a directory cannot be read.
    """

    def refuse(error: OSError) -> None:
        raise error

    for root, directories, names in os.walk(directory, onerror=refuse):
        directories[:] = [name for name in directories if selected(Path(root, name))]
        for name in names:
            path = Path(root, name)
            if has_type(path) and selected(path):
                why = unsafe_reason(path, directory)
                if why is None:
                    yield path
                else:
                    skipped(path, why)


def unsafe_reason(path: Path, directory: Path) -> str | None:
    """Return the reason why a file that the user did not name is unsafe to use; None if it is safe.

    Args:
        path: the file, which may not exist.
        directory: the directory that has to contain the target of a symbolic link.
    """
    if path.is_symlink() and leads_out(path, directory):
        return "it is a symbolic link to a target outside of its directory"
    # For a directory or an unreadable file, opening it raises a better error.
    return "it is not a regular file" if is_stream(path) else None
