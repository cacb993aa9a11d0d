# SPDX-License-Identifier: Apache-2.0
"""Create the errors of commands that cannot read, write or run something."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from onnxtext.diagnostics import Diagnostic
from onnxtext.io.files import check_mapped, is_same
from onnxtext.io.os_errors import name_of, reason_of
from onnxtext.io.text_or_binary import MODEL_SUFFIXES


class CommandError(Exception):
    """A command cannot process a file, or cannot run; `diagnostic` has the reason."""

    def __init__(self, code: str, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(code, message, help=help)


@contextlib.contextmanager
def io_errors(verb: Literal["read", "write"], name: object) -> Iterator[None]:
    """Convert an `OSError` in the `with` block to a `CommandError` that names the file."""
    try:
        yield
    except OSError as error:
        code = "cannot-read" if verb == "read" else "cannot-write"
        is_directory = verb == "read" and isinstance(error, IsADirectoryError)
        help = "name a file in this directory" if is_directory else None
        raise CommandError(code, f"cannot {verb} {name}: {reason_of(error)}", help) from None


@contextlib.contextmanager
def read_errors(default: str | Path) -> Iterator[None]:
    """Convert an `OSError` in the `with` block to a `CommandError`.

    The new error names the file of the `OSError`, or else `default`.
    """
    try:
        yield
    except OSError as error:
        message = f"cannot read {name_of(error, default)}: {reason_of(error)}"
        raise CommandError("cannot-read", message) from None


def check_inputs(*, again: bool = False) -> None:
    """Raise a CommandError if an input has changed since it was mapped into memory.

    After this call, the inputs may change, unless `again`: then a later call checks them again.
    """
    with read_errors(""):
        check_mapped(again=again)


def terminal_error() -> CommandError:
    """Create the error for a binary model that would be written to a terminal."""
    return CommandError(
        "binary-to-terminal",
        "binary models are not written to a terminal",
        help="redirect standard output, or name a file with `-o`",
    )


def exists_error(path: Path) -> CommandError:
    """Create the error for an output that exists with other content, without `--force`."""
    return CommandError(
        "output-exists",
        f"{path} exists and has other content",
        help="`--force` overwrites it; `-o` names another output",
    )


def check_not_overwritten(
    inputs: Iterable[Path | None], output: Path | None, writer: str, help: str | None = None
) -> None:
    """Raise a CommandError if an output would overwrite an input of the same command.

    An input that is None is standard input; the output None is standard output. `writer` is what
    would overwrite the input, such as "its own conversion".
    """
    for path in inputs:
        if path is not None and output is not None and is_same(path, output):
            message = f"{path} would be overwritten by {writer}"
            raise CommandError("output-is-input", message, help)


def check_no_model_lost(inputs: Iterable[Path | None], output: Path | None, writer: str) -> None:
    """Raise a CommandError if a report or other result would overwrite an input or a model.

    An existing file with a model's suffix counts as a model; for a link, the suffix of its target
    counts, too. The arguments are those of `check_not_overwritten`.
    """
    check_not_overwritten(inputs, output, writer)
    if output is None or not os.path.isfile(output):  # noqa: PTH113 - `is_file` raises OSError
        return
    for path in (output, Path(os.path.realpath(output))):
        if path.suffix.lower() in MODEL_SUFFIXES:
            message = f"{writer} would overwrite {path}, which has the suffix of a model"
            raise CommandError("output-exists", message, help="name another output")


def no_input_error() -> CommandError:
    """Create the error for a binary model that would be read from a terminal."""
    return CommandError(
        "no-input",
        "no file is named, and standard input is a terminal",
        help="name a file, or redirect standard input",
    )
