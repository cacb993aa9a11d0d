# SPDX-License-Identifier: Apache-2.0
"""The paths of git's attributes files: the default, the recorded one, and paths for display."""

from __future__ import annotations

import os
from pathlib import Path

from onnxtext.git.repository import Scope, run_git, to_path, top_level


def default_file(scope: Scope) -> Path:
    """Return the default attributes file of a repository or user (gitattributes(5))."""
    if scope == "local":
        # All working trees of the repository share this file; it is never committed.
        return absolute(to_path(run_git("rev-parse", "--git-path", "info/attributes")))
    file = run_git("config", "--global", "--type=path", "--get", "core.attributesFile", fails=[1])
    if file:
        return absolute(to_path(file))
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home, "git", "attributes")


def absolute(path: Path) -> Path:
    """Return an absolute path without `..`."""
    return Path(os.path.abspath(path))  # noqa: PTH100  # keep symbolic links


def path_to_record(scope: Scope, file: Path) -> str:
    """Return the path of the attributes file to record in the configuration.

    The path of a file in the working tree is relative, because users may move the working tree.
    """
    top = top_level() if scope == "local" else None
    if top is not None and file.is_relative_to(absolute(top)):
        return file.relative_to(absolute(top)).as_posix()
    return str(file)


def resolve_recorded(scope: Scope, recorded: str) -> Path:
    """Return the attributes file for a path that `path_to_record` has returned."""
    top = top_level() if scope == "local" else None
    return absolute(Path(recorded) if top is None else top / recorded)


def display_path(path: Path) -> str:
    """Return a path for display: relative if it is below the current directory."""
    current = absolute(Path())
    return str(path.relative_to(current) if path.is_relative_to(current) else path)
