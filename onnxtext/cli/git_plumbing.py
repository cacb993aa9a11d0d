# SPDX-License-Identifier: Apache-2.0
"""What git runs: `onnxtext git filter-process`, `clean`, `smudge`, `textconv`, and the drivers."""

from __future__ import annotations

import contextlib
import mmap
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnxtext.cli.report import NO_MEMORY, TROUBLE, Refused, Reporter
from onnxtext.cli.streams import read_stdin, say, stdin_buffer, stdout_buffer, write_stdout
from onnxtext.collector import lacks_memory
from onnxtext.diagnostics.safe import safe
from onnxtext.files import name_of, read_input

if TYPE_CHECKING:
    from onnxtext.git.content import Converted

_UNITS = {"": 0, "k": 10, "m": 20, "g": 30}
_FILE = click.Path(readable=False, path_type=Path)


def _size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """A number of bytes as git reads it: `100m`."""
    if value is None:
        return None
    number, unit = (value[:-1], value[-1].lower()) if value[-1:].isalpha() else (value, "")
    if not number.isdecimal() or unit not in _UNITS:
        raise click.BadParameter(f"{value!r} is no size such as 1000000, 500k, 100m or 1g")
    return int(number) << _UNITS[unit]


_MAX_SIZE = click.option(
    "--max-size",
    callback=_size,
    metavar="SIZE",
    help="Leave larger models as they are; 100m is 100 MiB. Without it, `git config "
    "onnxtext.maxSize` says it, else 64m.",
)


@click.command("filter-process")
@_MAX_SIZE
def filter_process(max_size: int | None) -> int:
    """Convert what git hands over, file after file.

    This is `filter.onnxtext.process`: git starts it once for all files of a command.
    """
    from onnxtext.git.pktline import PacketError
    from onnxtext.git.process import serve

    try:
        serve(
            stdin_buffer(),
            stdout_buffer(),
            limit=_Limit(max_size).bytes,
            warn=_warn,
        )
    except PacketError as error:
        _say(f"onnxtext git filter-process: {error}")
        return TROUBLE
    return 0


@click.command("clean")
@_MAX_SIZE
@click.argument("name", metavar="[PATH]", default="")
def clean(max_size: int | None, name: str) -> int:
    """Turn the model on standard input into text.

    This is `filter.onnxtext.clean`: what git stores for a file. What is no model, or too large,
    comes out as it is, with a warning. PATH is what the warning calls the file.
    """
    from onnxtext.git.content import clean as convert

    limit = _Limit(max_size).bytes()
    return _filter(lambda data: convert(data, limit=limit, name=name), name)


@click.command("smudge")
@click.argument("name", metavar="[PATH]", default="")
def smudge(name: str) -> int:
    """Turn the text on standard input into a model.

    This is `filter.onnxtext.smudge`: what git checks out. What cannot be converted, such as text
    with the markers of a conflict, comes out as it is, with a warning. PATH is what the warning
    calls the file.
    """
    from onnxtext.git.content import smudge as convert

    return _filter(lambda data: convert(data, name=name), name)


@click.command("textconv")
@click.argument("file", type=_FILE)
def textconv(file: Path) -> int:
    """Print a model for reviews: weights as digests and statistics.

    This is `diff.onnxtext.textconv`. FILE is a binary model, a text, or anything else: there is
    something to show for every file.
    """
    from onnxtext.git.textconv import review_text

    with Reporter("full", "auto") as reporter, reporter.watching(str(file)):
        shown = review_text(_read(file))
        write_stdout([shown.encode() if isinstance(shown, str) else shown])
    return reporter.status


def _filter(convert: Any, name: str) -> int:
    data = read_stdin()
    converted: Converted = convert(data)
    for warning in converted.warnings:
        _warn(name, warning)
    write_stdout([data if converted.data is None else converted.data])
    return 0


def _read(file: Path) -> bytes:
    """The content of a file; a large one is mapped."""
    try:
        if file.stat().st_size < 1 << 20:
            return read_input(file)
        with file.open("rb") as opened:
            mapped: Any = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
            return mapped  # type: ignore[no-any-return]  # it slices like bytes
    except OSError as error:
        why = error.strerror or str(error)
        raise Refused("cannot-read", f"cannot read {file}: {why}") from None


class _Limit:
    """The most bytes of a model that is cleaned, asked of git when it is needed."""

    def __init__(self, given: int | None) -> None:
        self._limit = given

    def bytes(self) -> int:
        """The limit."""
        if self._limit is None:
            from onnxtext.git.content import DEFAULT_LIMIT
            from onnxtext.git.repository import configured_limit

            limit, trouble = configured_limit()
            if trouble is not None:
                _warn("onnxtext.maxSize", trouble)
            self._limit = DEFAULT_LIMIT if limit is None else limit
        return self._limit


def _warn(name: str, message: str) -> None:
    _say(f"warning: {name}: {message}" if name else f"warning: {message}")


def _say(text: str) -> None:
    # A filter goes on without anybody who listens.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{safe(text)}\n")
        sys.stderr.flush()


@click.command("merge-driver")
@click.argument("base", metavar="%O", type=_FILE)
@click.argument("ours", metavar="%A", type=_FILE)
@click.argument("theirs", metavar="%B", type=_FILE)
@click.argument("marker_size", metavar="%L", default=7, type=click.IntRange(1, 1000))
@click.argument("path", metavar="%P", default="")
@click.argument("labels", metavar="%S %X %Y", nargs=-1)
def merge_driver(
    base: Path, ours: Path, theirs: Path, marker_size: int, path: str, labels: tuple[str, ...]
) -> int:
    """Merge two versions of a model and their ancestor.

    This is `merge.onnxtext.driver`. The result takes the place of %A. The exit status is 0 if
    everything was merged, 1 if conflicts are marked in it, and 129 if nothing could be done.
    """
    from onnxtext.git.drivers import TROUBLE as FAILED
    from onnxtext.git.drivers import merge_files

    try:
        conflicts, notes = merge_files(
            base, ours, theirs, marker_size=marker_size, labels=labels, path=path
        )
    except OSError as error:
        _warn(path, f"{name_of(error, path)}: {error.strerror}; our version is left as it is")
        return FAILED
    except Exception as error:  # git must not take half a merge for a whole one
        said = f"internal error: {type(error).__name__}: {error}".partition("\n")[0][:200]
        said = NO_MEMORY if lacks_memory(error) else said
        _warn(path, f"{said}; our version is left as it is")
        return FAILED
    for note in notes:
        _warn(path, note)
    return 1 if conflicts else 0


@click.command("diff-driver")
@click.argument("path", metavar="PATH")
@click.argument("sides", metavar="[OLD HEX MODE NEW HEX MODE [NEW-PATH ABOUT]]", nargs=-1)
def diff_driver(path: str, sides: tuple[str, ...]) -> int:
    """Show what two versions of a model differ in.

    This is `diff.onnxtext.command`, with the arguments of GIT_EXTERNAL_DIFF.
    """
    new_path = sides[6] if len(sides) > 6 else path
    say(f"diff --onnxtext a/{safe(path)} b/{safe(new_path)}")
    if len(sides) < 6:
        say("* Unmerged: the file is in conflict")
        return 0
    _show_diff(Path(sides[0]), Path(sides[3]), (f"a/{path}", f"b/{new_path}"))
    return 0  # git stops the whole diff otherwise


@click.command("difftool")
@click.argument("old", type=_FILE)
@click.argument("new", type=_FILE)
def difftool(old: Path, new: Path) -> int:
    """Show what two versions of a model differ in.

    This is `difftool.onnxtext.cmd`, for `git difftool -t onnxtext`.
    """
    _show_diff(old, new, (str(old), str(new)))
    return 0


def _show_diff(old: Path, new: Path, labels: tuple[str, str]) -> None:
    from onnxtext.cli.diff import run_diff
    from onnxtext.git.drivers import named_by_content

    try:
        with named_by_content(old) as first, named_by_content(new) as second:
            run_diff(first, second, labels=labels)
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
