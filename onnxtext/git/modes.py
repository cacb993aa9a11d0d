# SPDX-License-Identifier: Apache-2.0
"""The three modes of keeping models in git, with their settings and attributes.

With `textconv`, git stores binary models and shows diffs of their texts. With `filter`, git stores
texts, and the working tree has binary models. With `source`, git and the working tree have texts.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Collection, Sequence
from typing import Literal, get_args

from onnxtext.git.repository import git_error
from onnxtext.io.text_or_binary import TEXT_SUFFIXES

Mode = Literal["textconv", "filter", "source"]
MODES: tuple[Mode, ...] = get_args(Mode)

EXCLUSIVE: dict[Mode, Mode] = {"textconv": "filter", "filter": "textconv"}
"""Maps a mode to the mode that it excludes, because both apply to `*.onnx`."""

_FUNCTION_NAME = '^([A-Za-z_".0-9].*)$'
"""Matches the lines that git shows as hunk headers: the start of a graph, function or section."""

# If the filter process does not answer git's greeting, git aborts a checkout after it has removed
# files. So if Python or onnxtext is missing, the shell answers that it has no capabilities, and git
# leaves the files unchanged. (Python exits with 1 if it cannot import a module, a shell with 126 or
# 127 if it cannot run a program; our filter process uses none of these statuses.)
_FALLBACK = (
    "case $? in 1|126|127) echo 'warning: onnxtext cannot run: git does not convert models' >&2; "
    r"printf '0016git-filter-server\n000eversion=2\n00000000'; cat >/dev/null;; esac"
)

_MODULE = " -m onnxtext git "

_TEXTS = tuple([f"*{suffix} diff=onnxtxt merge=onnxtext" for suffix in TEXT_SUFFIXES])
"""Attributes for diffs and merges of texts; git stores and checks out the same bytes."""

ATTRIBUTES: dict[Mode, tuple[str, ...]] = {
    # -text and others: git must not convert a binary before or after our filter.
    "textconv": ("*.onnx -text diff=onnxtext merge=onnxtext", *_TEXTS),
    "filter": (
        "*.onnx -text -ident -working-tree-encoding filter=onnxtext diff=onnxtext merge=onnxtext",
        *_TEXTS,
    ),
    # eol=lf: multi-line strings must be equal on every system. Blobs are binary even if their bytes
    # look like text.
    "source": (
        *[f"*{suffix} text eol=lf diff=onnxtxt merge=onnxtext" for suffix in TEXT_SUFFIXES],
        "**/*.weights/** binary",
    ),
}

KNOWN = (
    "filter.onnxtext.process", "filter.onnxtext.clean", "filter.onnxtext.smudge",
    "filter.onnxtext.required", "diff.onnxtext.textconv", "diff.onnxtext.cachetextconv",
    "diff.onnxtext.binary", "diff.onnxtext.command", "diff.onnxtext.xfuncname",
    "diff.onnxtxt.xfuncname", "merge.onnxtext.name", "merge.onnxtext.driver",
    "merge.onnxtext.recursive", "difftool.onnxtext.cmd",
)  # fmt: skip
"""Every setting that `install` may write, spelled as in git's output."""

SECTIONS = r"^(filter|diff|merge|difftool)\.onnxte?xt\."
"""Matches the name of any setting in onnxtext's sections, even if `install` never writes it."""


def mode_settings(mode: Mode, command: str, *, structural: bool = False) -> dict[str, str]:
    """Return the git settings of a mode: values by name.

    `command` runs `onnxtext`, and is quoted for git's shell. With `structural`, `git diff` shows
    the output of `onnxtext diff` instead of changed lines.
    """
    # `--`: a file may be named `-h.onnx`.
    common = {
        # If there are several common ancestors, git first merges them into one base. Our driver
        # could leave conflict markers in the base, and then it could not read the base as a model.
        # The driver "binary" takes the common ancestor of these ancestors as the base.
        "merge.onnxtext.name": "onnxtext: three-way merge of ONNX models",
        "merge.onnxtext.driver": f"{command} git merge-driver -- %O %A %B %L %P %S %X %Y",
        "merge.onnxtext.recursive": "binary",
        "difftool.onnxtext.cmd": f'{command} git difftool -- "$LOCAL" "$REMOTE"',
        "diff.onnxtxt.xfuncname": _FUNCTION_NAME,
    }
    if mode == "source":
        return common
    binary = {
        **common,
        "diff.onnxtext.textconv": f"{command} git textconv --",
        "diff.onnxtext.cachetextconv": "true",
        "diff.onnxtext.xfuncname": _FUNCTION_NAME,
    }
    if structural:
        binary["diff.onnxtext.command"] = f"{command} git diff-driver --"
    if mode == "textconv":
        return {**binary, "diff.onnxtext.binary": "true"}
    return {
        **binary,
        "filter.onnxtext.process": f"{command} git filter-process || {_FALLBACK}",
        "filter.onnxtext.clean": f"{command} git clean -- %f",
        "filter.onnxtext.smudge": f"{command} git smudge -- %f",
        # With `required`, git would remove files from the working tree if the filter cannot run.
        "filter.onnxtext.required": "false",
    }


def diff_and_merge_lines(lines: Sequence[str], reduced: Collection[str]) -> list[str]:
    """Return lines of attributes, but only the attributes `diff` and `merge` of `reduced` lines."""
    result = []
    for line in lines:
        pattern, *words = line.split()
        if line in reduced:
            words = [word for word in words if word.startswith(("diff=", "merge="))]
        if words:
            result.append(" ".join([pattern, *words]))
    return list(dict.fromkeys(result))


def is_command(name: str) -> bool:
    """Whether the setting `name` is a command that git runs."""
    commands = ("process", "clean", "smudge", "textconv", "command", "driver", "cmd")
    return name.rpartition(".")[2] in commands


def is_ours(value: str) -> bool:
    """Whether a command looks like the commands that `install` writes, with any Python."""
    return _MODULE in value


def command_program(value: str) -> str:
    """Return the program of a command: `… -m onnxtext` for `… -m onnxtext git clean`."""
    return value.partition(_MODULE)[0] + _MODULE.removesuffix(" git ")


def command_line() -> str:
    """Return the command that runs `onnxtext` with this Python, quoted for git's shell.

    Git runs filters at the top of the working tree. The command does not import modules from there:
    a repository with a directory `onnxtext` could execute its own code.

    Raises:
        OnnxTextError: there is no safe way to run the command.
    """
    if not sys.executable:
        raise git_error("the path of this Python is unknown, so git cannot run it")
    # -I: isolated mode. -P: do not import from the current directory.
    flags = ["-I"] if sys.version_info < (3, 11) else ["-I", "-P"]
    for flag in flags:
        words = [sys.executable, flag, "-m", "onnxtext", "--version"]
        done = subprocess.run(words, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode == 0:
            return " ".join(map(shlex.quote, words[:-1]))
    raise git_error(
        f"{sys.executable} cannot import onnxtext in isolated mode (-I), which git needs",
        help="install onnxtext into a virtual environment, or with pipx",
    )
