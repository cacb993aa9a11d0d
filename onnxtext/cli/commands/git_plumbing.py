# SPDX-License-Identifier: Apache-2.0
"""Commands that git runs: `filter-process`, `clean`, `smudge`, `textconv`, and the drivers."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnxtext.cli.command_errors import io_errors
from onnxtext.cli.named_files import InputFile
from onnxtext.cli.options import Integer
from onnxtext.cli.report import ERROR_STATUS, Reporter
from onnxtext.cli.streams import (
    print_to_stdout,
    read_stdin,
    stdin_buffer,
    stdout_buffer,
    write_stdout,
)
from onnxtext.diagnostics import OnnxTextError
from onnxtext.diagnostics.terminal_text import escape_controls
from onnxtext.io.files import read_input
from onnxtext.io.os_errors import name_of

if TYPE_CHECKING:
    from onnxtext.git.clean_smudge import ConvertedFile

_UNITS = {"": 0, "k": 10, "m": 20, "g": 30}
_FILE = click.Path(readable=False, path_type=Path)


def _size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Parse a size in bytes as git does: `100m` is 100 MiB.

    Raises:
        BadParameter: the value is not a size.
    """
    if value is None:
        return None
    digits, unit = (value[:-1], value[-1].lower()) if value[-1:].isalpha() else (value, "")
    if not digits.isdecimal() or len(digits) > 18 or unit not in _UNITS:
        raise click.BadParameter(f"{value!r} is not a size such as 1000000, 500k, 100m or 1g.")
    return int(digits) << _UNITS[unit]


_MAX_SIZE = click.option(
    "--max-size",
    callback=_size,
    metavar="SIZE",
    help="Do not convert models larger than SIZE; 100m is 100 MiB. Default: `git config "
    "onnxtext.maxSize`, else 64m.",
)


@click.command("filter-process")
@_MAX_SIZE
def filter_process(max_size: int | None) -> int:
    """Convert all files of one git command.

    This is `filter.onnxtext.process`: git starts it once, instead of once for each file.
    """
    from onnxtext.git.filter_process import PacketError, serve

    limit = cache(lambda: _limit(max_size))
    try:
        serve(stdin_buffer(), stdout_buffer(), limit=limit, warn=_warn)
    except PacketError as error:
        _say(f"onnxtext git filter-process: {error}")
        return ERROR_STATUS
    return 0


@click.command("clean")
@_MAX_SIZE
@click.argument("name", metavar="[PATH]", default="")
def clean(max_size: int | None, name: str) -> int:
    """Convert the model on standard input to text.

    This is `filter.onnxtext.clean`: its output is what git stores for a file. Content that is not
    a model, or too large, is passed through with a warning. PATH is the path of the file in the
    repository; the content of .onnxtxt and .onnxtext files is passed through.
    """
    from onnxtext.git.clean_smudge import clean as convert

    limit = _limit(max_size)
    return _filter(lambda data: convert(data, limit=limit, name=name), name)


@click.command("smudge")
@_MAX_SIZE
@click.argument("name", metavar="[PATH]", default="")
def smudge(max_size: int | None, name: str) -> int:
    """Convert the text on standard input to a model.

    This is `filter.onnxtext.smudge`: its output is what git checks out. Content that cannot be
    converted, such as a text with conflict markers, is passed through with a warning. PATH is the
    path of the file in the repository; the content of .onnxtxt and .onnxtext files is passed
    through.
    """
    from onnxtext.git.clean_smudge import smudge as convert

    limit = _limit(max_size)
    return _filter(lambda data: convert(data, limit=limit, name=name), name)


@click.command("textconv")
@click.argument("file", type=_FILE)
def textconv(file: Path) -> int:
    """Print a model for reviews: weights as digests and statistics.

    This is `diff.onnxtext.textconv`. FILE is a binary model, a text, or anything else; there is
    output for every file.
    """
    from onnxtext.git.textconv import review_text

    with Reporter("full", "auto") as reporter, reporter.reporting(str(file)):
        with io_errors("read", file):
            data = read_input(file, maps=True)
        shown = review_text(data)
        write_stdout([shown.encode() if isinstance(shown, str) else shown])
    return reporter.status


def _filter(convert: Callable[[bytes], ConvertedFile], name: str) -> int:
    """Convert standard input to standard output; `name` is the file name in warnings."""
    data = read_stdin()
    converted = convert(data)
    for warning in converted.warnings:
        _warn(name, warning)
    write_stdout([data if converted.data is None else converted.data])
    return 0


def _limit(option: int | None) -> int:
    """Return the maximum size of a model: the option, else git's setting, else 64 MiB."""
    if option is not None:
        return option
    from onnxtext.git.clean_smudge import DEFAULT_LIMIT, model_limit

    try:
        return model_limit()
    except OnnxTextError as error:
        _warn("onnxtext.maxSize", error.diagnostics[0].message)
        return DEFAULT_LIMIT


def _warn(name: str, message: str) -> None:
    _say(f"warning: {name}: {message}" if name else f"warning: {message}")


def _say(text: str) -> None:
    """Write a line to standard error; the filter must keep working if the stream is closed."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{escape_controls(text)}\n")
        sys.stderr.flush()


@click.command("merge-driver")
@click.argument("base", metavar="%O", type=_FILE)
@click.argument("ours", metavar="%A", type=_FILE)
@click.argument("theirs", metavar="%B", type=_FILE)
@click.argument("marker_size", metavar="%L", default=7, type=Integer(1, 1000))
@click.argument("path", metavar="%P", default="")
@click.argument("labels", metavar="%S %X %Y", nargs=-1)
def merge_driver(
    base: Path, ours: Path, theirs: Path, marker_size: int, path: str, labels: tuple[str, ...]
) -> int:
    """Merge two versions of a model and their ancestor.

    This is `merge.onnxtext.driver`. The result replaces %A. The exit status is 0 if everything was
    merged, 1 if conflicts are marked in it, and 129 if the driver failed.
    """
    from onnxtext.git.drivers import DRIVER_FAILED, merge_files

    try:
        conflicts, notes = merge_files(
            base, ours, theirs, marker_size=marker_size, labels=labels, path=path
        )
    except OSError as error:
        _warn(path, f"{name_of(error, path)}: {error.strerror}; our version is unchanged")
        return DRIVER_FAILED
    except Exception as error:  # exit status 1 would mean a merge with conflicts
        from onnxtext.git.clean_smudge import failure_reason

        _warn(path, f"{failure_reason(error)}; our version is unchanged")
        return DRIVER_FAILED
    for note in notes:
        _warn(path, note)
    return 1 if conflicts else 0


@click.command("diff-driver")
@click.argument("path", metavar="PATH")
@click.argument("sides", metavar="[OLD HEX MODE NEW HEX MODE [NEW-PATH ABOUT]]", nargs=-1)
def diff_driver(path: str, sides: tuple[str, ...]) -> int:
    """Show the differences between two versions of a model.

    This is `diff.onnxtext.command`, with the arguments of GIT_EXTERNAL_DIFF.
    """
    new_path = sides[6] if len(sides) > 6 else path
    print_to_stdout(f"diff --onnxtext a/{escape_controls(path)} b/{escape_controls(new_path)}")
    if len(sides) < 6:
        print_to_stdout("* Unmerged: the file is in conflict")
        return 0
    _show_diff(Path(sides[0]), Path(sides[3]), (f"a/{path}", f"b/{new_path}"))
    return 0  # any other status makes git abort the whole diff


@click.command("difftool")
@click.argument("old", type=_FILE)
@click.argument("new", type=_FILE)
def difftool(old: Path, new: Path) -> int:
    """Show the differences between two versions of a model.

    This is `difftool.onnxtext.cmd`, for `git difftool -t onnxtext`.
    """
    _show_diff(old, new, (str(old), str(new)))
    return 0


def _show_diff(old: Path, new: Path, labels: tuple[str, str]) -> None:
    from onnxtext.cli.commands.diff import run_diff
    from onnxtext.git.drivers import with_matching_suffix

    try:
        with (
            with_matching_suffix(old) as first,
            with_matching_suffix(new) as second,
            Reporter("full", "auto") as reporter,
        ):
            run_diff(InputFile(labels[0], first), InputFile(labels[1], second), reporter)
    except OSError as error:
        _warn(labels[1], f"{name_of(error, labels[1])}: {error.strerror}")


COMMANDS: tuple[click.Command, ...] = (
    filter_process,
    clean,
    smudge,
    textconv,
    merge_driver,
    diff_driver,
    difftool,
)
