# SPDX-License-Identifier: Apache-2.0
"""The three ways to keep models in git: which settings and attributes each of them needs."""

from __future__ import annotations

import shlex
import subprocess
import sys
from typing import Literal, get_args

from onnxtext.git.repository import failed

Mode = Literal["textconv", "filter", "source"]
MODES: tuple[Mode, ...] = get_args(Mode)

_RIVALS: dict[Mode, Mode] = {"textconv": "filter", "filter": "textconv"}
"""Both are about `*.onnx`; `source` is about texts, and goes with either."""

_FUNCTION_NAME = '^([A-Za-z_".0-9].*)$'
"""What stands behind `@@` in diffs: lines at the margin that begin a graph, function or section."""

# Git stops in the middle of a checkout, its files already removed, if the command of a process does
# not greet it. So where Python or onnxtext is gone, the shell does: "I am able to do nothing", and
# git leaves the files as they are. (Python exits with 1 if it cannot import a module, a shell with
# 126 or 127 if it cannot run a program; we never do.)
_UNABLE = (
    "case $? in 1|126|127) echo 'warning: onnxtext cannot be run: models stay as they are' >&2; "
    r"printf '0016git-filter-server\n000eversion=2\n00000000'; cat >/dev/null;; esac"
)

_MARK = " -m onnxtext git "

ATTRIBUTES: dict[Mode, tuple[str, ...]] = {
    # -text: git is never to convert line ends in a binary. The filter sees what these leave of it.
    "textconv": ("*.onnx -text diff=onnxtext merge=onnxtext",),
    "filter": (
        "*.onnx -text -ident -working-tree-encoding filter=onnxtext diff=onnxtext merge=onnxtext",
    ),
    # eol=lf: a string of several lines is the same on every system. Blobs are no text, even if
    # they look like it.
    "source": (
        "*.onnxtxt text eol=lf diff=onnxtxt merge=onnxtext",
        "*.onnxtext text eol=lf diff=onnxtxt merge=onnxtext",
        "**/*.weights/** binary",
    ),
}

KNOWN = (
    "filter.onnxtext.process",
    "filter.onnxtext.clean",
    "filter.onnxtext.smudge",
    "filter.onnxtext.required",
    "diff.onnxtext.textconv",
    "diff.onnxtext.cachetextconv",
    "diff.onnxtext.binary",
    "diff.onnxtext.command",
    "diff.onnxtext.xfuncname",
    "diff.onnxtxt.xfuncname",
    "merge.onnxtext.name",
    "merge.onnxtext.driver",
    "merge.onnxtext.recursive",
    "difftool.onnxtext.cmd",
)
"""Every setting that `install` may write, spelled as git lists it."""

SECTIONS = r"^(filter|diff|merge|difftool)\.onnxte?xt\."
"""Matches the names of settings in our sections, those of others included."""


def settings(mode: Mode, command: str, *, structural: bool = False) -> dict[str, str]:
    """The settings of git that a mode needs, by name.

    Args:
        mode: the mode.
        command: runs `onnxtext`, quoted for git's shell.
        structural: whether `git diff` is to show the structural diff.
    """
    common = {
        # A conflict in a merge of common ancestors would be a text with markers, which no merge
        # of models can start from: "binary" takes their own ancestor instead.
        "merge.onnxtext.name": "onnxtext: three-way merge of ONNX models",
        "merge.onnxtext.driver": f"{command} git merge-driver %O %A %B %L %P %S %X %Y",
        "merge.onnxtext.recursive": "binary",
        "difftool.onnxtext.cmd": f'{command} git difftool "$LOCAL" "$REMOTE"',
    }
    if mode == "source":
        return {**common, "diff.onnxtxt.xfuncname": _FUNCTION_NAME}
    made = {
        **common,
        "diff.onnxtext.textconv": f"{command} git textconv",
        "diff.onnxtext.cachetextconv": "true",
        "diff.onnxtext.xfuncname": _FUNCTION_NAME,
    }
    if structural:
        made["diff.onnxtext.command"] = f"{command} git diff-driver"
    if mode == "textconv":
        return {**made, "diff.onnxtext.binary": "true"}
    return {
        **made,
        "filter.onnxtext.process": f"{command} git filter-process || {_UNABLE}",
        "filter.onnxtext.clean": f"{command} git clean -- %f",
        "filter.onnxtext.smudge": f"{command} git smudge -- %f",
        # If it were true, git would delete files from the working tree where we cannot be run.
        "filter.onnxtext.required": "false",
    }


def is_command(name: str) -> bool:
    """Whether the value of a setting is run by git."""
    return name.rpartition(".")[2] in ("process", "clean", "smudge", "textconv", "command") or (
        name in ("merge.onnxtext.driver", "difftool.onnxtext.cmd")
    )


def is_ours(value: str) -> bool:
    """Whether a command is one that `install` writes, of whatever Python."""
    return _MARK in value


def program(value: str) -> str:
    """What runs `onnxtext`, of a command that is ours."""
    return value.partition(_MARK)[0] + _MARK.removesuffix(" git ")


def joined(modes: frozenset[Mode], mode: Mode) -> frozenset[Mode]:
    """The modes that there are when one is added."""
    return modes - {_RIVALS.get(mode, mode)} | {mode}


def command_line() -> str:
    """How git runs `onnxtext`, wherever it is: this Python, quoted for git's shell.

    Git runs filters at the top of the working tree. Python must not look for modules there: a
    repository with a directory `onnxtext` would have its code run.

    Raises:
        OnnxTextError: there is no way to run it that is safe.
    """
    if not sys.executable:
        raise failed("it is not known which Python this is, so git cannot be told")
    flags = ["-I"] if sys.version_info < (3, 11) else ["-I", "-P"]  # isolated; no current directory
    for flag in flags:
        words = [sys.executable, flag, "-m", "onnxtext", "--version"]
        done = subprocess.run(words, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode == 0:
            return " ".join(map(shlex.quote, words[:-1]))
    raise failed(
        f"{sys.executable} finds onnxtext only where it is not safe for git to look",
        help="install onnxtext into a virtual environment, or with pipx",
    )
