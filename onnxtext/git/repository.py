# SPDX-License-Identifier: Apache-2.0
"""Query and configure a repository by running git.

Functions that run git raise the errors of `run_git`, unless their docstrings list others.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from onnxtext.diagnostics import Diagnostic, OnnxTextError

Scope = Literal["local", "global"]


def run_git(*arguments: str, stdin: bytes | None = None, fails: Iterable[int] = ()) -> bytes:
    """Run a git command and return its output.

    Args:
        arguments: arguments of `git`.
        stdin: the standard input of the command.
        fails: exit statuses besides 0 that are not errors.

    Raises:
        OnnxTextError: git is missing, or has failed; the message includes git's error output.
    """
    try:
        done = subprocess.run(
            ["git", *arguments],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise git_error(f"git cannot be run: {error.strerror or error}") from None
    if done.returncode != 0 and done.returncode not in fails:
        reason = done.stderr.decode("utf-8", "replace").strip() or f"exit status {done.returncode}"
        verb = arguments[2] if arguments[0] in ("-c", "-C") else arguments[0]
        raise git_error(f"git {verb}: {reason.removeprefix('fatal: ')}")
    return done.stdout


def split_output(output: bytes) -> list[str]:
    """Split git's output at the NULs that end its parts (option `-z`)."""
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1]


def to_path(output: bytes) -> Path:
    """Return the path that git has printed in one line."""
    return Path(output.decode("utf-8", "surrogateescape").removesuffix("\n"))


def git_error(message: str, help: str | None = None) -> OnnxTextError:
    """Create the error for a failure of git or of its configuration."""
    return OnnxTextError(Diagnostic("git-failed", message, help=help))


def read_config(scope: Scope | None, names: str) -> dict[str, list[str]]:
    """Return the values of all settings whose names match a regular expression, by name.

    As for `git config --get-regexp`, sections and variables in names are in lower case. If `scope`
    is None, all configurations are read.
    """
    scope_option = [] if scope is None else [f"--{scope}"]
    listed = run_git("config", *scope_option, "--null", "--get-regexp", names, fails=[1])
    values: dict[str, list[str]] = {}
    for entry in split_output(listed):
        name, _, value = entry.partition("\n")
        values.setdefault(name, []).append(value)
    return values


def remove_setting(scope: Scope, name: str) -> None:
    """Remove all values of a setting."""
    run_git("config", f"--{scope}", "--unset-all", name)


def top_level() -> Path | None:
    """Return the top of the working tree; None in a bare repository and outside any repository."""
    path = run_git("rev-parse", "--show-toplevel", fails=[128])
    return to_path(path) if path else None


def read_tracked(top: Path, name: str) -> bytes | None:
    """Return the content of a regular file in the working tree; None if there is no such file.

    Links are not followed: a link may lead out of the working tree, and git does not follow links
    either. `name` is the path relative to `top`.

    Raises:
        OnnxTextError: the file cannot be read.
    """
    path = Path(os.path.realpath(top), name)
    try:
        if not stat.S_ISREG(path.lstat().st_mode) or os.path.realpath(path) != str(path):
            return None
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        message = f"cannot read {path}: {error.strerror or error}"
        raise OnnxTextError(Diagnostic("cannot-read", message)) from None


def read_stored(version: str, name: str) -> bytes:
    """Return the content of a file in a version, such as `HEAD`, or `:0` for the index.

    `name` is the path relative to the top of the working tree. Return empty content if the version
    or the file does not exist, or if git fails.
    """
    try:
        return run_git("cat-file", "blob", f"{version}:{name}", fails=[128])
    except OnnxTextError:
        return b""


def in_repository() -> bool:
    """Whether the current directory is in a repository."""
    return bool(run_git("rev-parse", "--git-dir", fails=[128]))


def git_attribute(name: str, path: str) -> str:
    """Return the value of a git attribute for a path; `unspecified` if no file sets it."""
    return split_output(run_git("check-attr", "-z", name, "--", path))[2]
