# SPDX-License-Identifier: Apache-2.0
"""Which files a command may touch: what the user has named, and nothing that a repository adds.

Whoever clones a repository trusts neither its texts nor its links. So:

- A path that the *user* has given (an argument, `-o`, a store) is followed wherever it leads.
  A link stays a link: what it points to is read or replaced.
- A name that we *derive* from it (`c.onnxtxt` of `c.onnx`, `OUT.data`, names in `-o DIR/`) may be
  a link that leads to a place below its own directory. One that leads out is refused, also if
  nothing is there yet, and also with `--force`: the user has to name the file with `-o`.
- A *walk* over a directory (`fmt DIR`, `verify DIR`) takes regular files only. It enters no link
  to a directory. A link to a file is taken if it leads to a place below the directory; others are
  left out, with a warning.
- A path that a *text or model* holds (stores, safetensors files, data files, external data) is
  relative, and stays below the directory of the text, links included: see `weights.paths`.
- In a *store* blobs are regular files below it. Those that we write take the place of a link;
  `gc` removes the link, never what it leads to.

Files are created under new names and then renamed (`files`). So a hard link from outside keeps
its content, and no link that appears meanwhile is written through.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

Left = Callable[[Path, str], None]
"""Is told which file a walk leaves out, and why."""


def leads_out(path: Path, directory: Path) -> bool:
    """Whether a path leads to a place that is not below a directory, links included."""
    root = os.path.realpath(directory)
    real = os.path.realpath(path)
    return real != root and not real.startswith(root.rstrip(os.sep) + os.sep)


Test = Callable[[Path], bool]


def walk_files(directory: Path, fits: Test, wanted: Test, left: Left) -> Iterator[Path]:
    """The files below a directory that a command may take.

    Args:
        directory: where the user wants us to look.
        fits: whether a file is of the kind that is looked for.
        wanted: whether the user has not excluded a file or directory.
        left: is told about files that are left out for another reason.

    Raises:
        OSError: a directory cannot be read.
    """

    def refuse(error: OSError) -> None:
        raise error

    for root, directories, names in os.walk(directory, onerror=refuse):
        directories[:] = [name for name in directories if wanted(Path(root, name))]
        for name in names:
            path = Path(root, name)
            if fits(path) and wanted(path):
                why = unfit(path, directory)
                if why is None:
                    yield path
                else:
                    left(path, why)


def unfit(path: Path, directory: Path) -> str | None:
    """Why a file that the user has not named is neither read nor written; None if it may be.

    Args:
        path: the file, which need not be there.
        directory: must hold it.
    """
    if path.is_symlink() and leads_out(path, directory):
        return "it is a link that leads out of the directory"
    try:
        mode = path.stat().st_mode
    except OSError:
        return None  # there is none yet; or reading it tells why not
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # a directory is refused by whoever opens it
        return None
    return "it is no regular file"
