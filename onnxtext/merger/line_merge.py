# SPDX-License-Identifier: Apache-2.0
"""Merge texts line by line with `git merge-file`, for texts that do not parse."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from onnxtext.merger.conflict_markers import Markers, whole_conflict

_MAX_CONFLICTS = 127
"""The exit status of `git merge-file` is the number of conflicts, but at most this number."""


def merge_lines(base: str, ours: str, theirs: str, markers: Markers) -> tuple[str, int, bool]:
    """Merge three texts line by line.

    Returns:
        (text, number of conflicts, whether git has merged the texts). If git fails, the whole texts
        become one conflict.
    """
    names = markers.labels
    command = ["git", "merge-file", "-p", "--diff3", f"--marker-size={markers.size}"]
    command += ["-L", names[1], "-L", names[0], "-L", names[2], "ours", "base", "theirs"]
    try:
        with tempfile.TemporaryDirectory(prefix="onnxtext-merge-") as directory:
            for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
                (Path(directory) / name).write_bytes(text.encode("utf-8", "surrogateescape"))
            done = subprocess.run(
                command, cwd=directory, capture_output=True, check=False, env=_environment()
            )
    except OSError:
        done = None
    if done is None or not 0 <= done.returncode <= _MAX_CONFLICTS:
        return whole_conflict(base, ours, theirs, markers), 1, False
    return done.stdout.decode("utf-8", "surrogateescape"), done.returncode, True


def _environment() -> dict[str, str]:
    """Return the environment without git's variables, which could select another repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
