# SPDX-License-Identifier: Apache-2.0
"""Asking git, by running it."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from onnxtext.diagnostics import Diagnostic, OnnxTextError

Scope = Literal["local", "global"]


def run_git(*arguments: str, given: bytes | None = None, fails: Iterable[int] = ()) -> bytes:
    """What a git command prints.

    Args:
        arguments: of `git`.
        given: what it reads.
        fails: exit statuses besides 0 that are an answer too; it is then what was printed.

    Raises:
        OnnxTextError: git is not there, or has failed; what it said is told.
    """
    try:
        done = subprocess.run(
            ["git", *arguments],
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise failed(f"git cannot be run: {error.strerror or error}") from None
    if done.returncode != 0 and done.returncode not in fails:
        said = done.stderr.decode("utf-8", "replace").strip() or f"exit status {done.returncode}"
        verb = arguments[2] if arguments[0] in ("-c", "-C") else arguments[0]
        raise failed(f"git {verb}: {said.removeprefix('fatal: ')}")
    return done.stdout


def failed(message: str, help: str | None = None, notes: tuple[str, ...] = ()) -> OnnxTextError:
    """What to raise where git cannot do what is wanted."""
    return OnnxTextError(Diagnostic("git-failed", message, help=help, notes=notes))


def configured_limit() -> tuple[int | None, str | None]:
    """`onnxtext.maxSize` in bytes, None if it is not set; and what is wrong with it."""
    try:
        said = run_git("config", "--type=int", "--get", "onnxtext.maxSize", fails=[1])
        return (int(said) if said.strip() else None), None
    except OnnxTextError as error:
        return None, error.diagnostics[0].message


def read_config(scope: Scope | None, names: str) -> dict[str, list[str]]:
    """The values of all settings whose names match a regular expression.

    Args:
        scope: where they are set; None for what is in effect, wherever it is set.
        names: as for `git config --get-regexp`; section and variable in lower case.
    """
    where = [] if scope is None else [f"--{scope}"]
    said = run_git("config", *where, "--null", "--get-regexp", names, fails=[1])
    values: dict[str, list[str]] = {}
    for entry in said.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        name, _, value = entry.partition("\n")
        values.setdefault(name, []).append(value)
    return values


def write_setting(scope: Scope, name: str, value: str) -> None:
    """Set one setting, in place of all its values."""
    run_git("config", f"--{scope}", "--replace-all", name, value)


def remove_setting(scope: Scope, name: str) -> None:
    """Remove all values of a setting."""
    run_git("config", f"--{scope}", "--unset-all", name)


def path_of(*arguments: str) -> Path:
    """A path that git prints, such as that of `rev-parse --git-path info/attributes`."""
    said = run_git(*arguments).decode("utf-8", "surrogateescape")
    return Path(said.removesuffix("\n"))


def top_level() -> Path | None:
    """The top of the working tree; None in a bare repository, and outside of any."""
    said = run_git("rev-parse", "--show-toplevel", fails=[128])
    return Path(said.decode("utf-8", "surrogateescape").removesuffix("\n")) if said else None


def read_tracked(top: Path, name: str) -> bytes | None:
    """The content of a file in the working tree; None if there is no regular file of this name.

    Links are not followed, neither at the file nor on the way to it, as git does not follow them:
    they may lead out of the working tree.

    Args:
        top: of the working tree.
        name: as git has it, from the top.

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
        raise failed(f"cannot read {path}: {error.strerror or error}") from None


def in_repository() -> bool:
    """Whether there is a repository here."""
    return bool(run_git("rev-parse", "--git-dir", fails=[128]))


def attribute(name: str, path: str) -> str:
    """The value of an attribute of a path, wherever it is set; `unspecified` for none."""
    said = run_git("check-attr", "-z", name, "--", path)
    return said.decode("utf-8", "surrogateescape").split("\0")[2]
