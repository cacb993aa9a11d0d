# SPDX-License-Identifier: Apache-2.0
"""Read standard input and write standard output, with errors for closed or full streams."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from onnxtext.cli.command_errors import CommandError, io_errors, no_input_error
from onnxtext.cli.report import discard_stream
from onnxtext.io.files import read_input, read_stream
from onnxtext.terminal import is_terminal

WAITS_FOR_TEXT = "reading a text from the terminal; Ctrl-D at the start of a line ends it"
"""A hint for users who forgot to name a file: otherwise, the command seems to hang."""


def stdout_buffer() -> BinaryIO:
    """Return the binary stream of standard output.

    Raises:
        CommandError: standard output is closed.
    """
    if sys.stdout is None:
        raise CommandError("cannot-write", "standard output is closed")
    return sys.stdout.buffer


def write_stdout(pieces: Iterable[bytes | memoryview]) -> None:
    """Write all pieces to standard output.

    Raises:
        CommandError: standard output is closed, or cannot be written.
    """
    buffer = stdout_buffer()
    try:
        for piece in pieces:
            buffer.write(piece)
        buffer.flush()
    except OSError as error:
        discard_stream(sys.stdout)
        raise CommandError("cannot-write", cannot_write_stdout(error)) from None


def cannot_write_stdout(error: OSError) -> str:
    """Return the message for an error on standard output."""
    return f"cannot write to standard output: {error.strerror or error}"


def print_to_stdout(text: str, end: str = "\n") -> None:
    """Write a text to standard output in the stream's encoding; escape unsupported characters.

    Raises:
        CommandError: standard output is closed, or cannot be written.
    """
    encoding = "utf-8" if sys.stdout is None else sys.stdout.encoding
    write_stdout([(text + end).encode(encoding, "backslashreplace")])


def stdin_buffer() -> BinaryIO:
    """Return the binary stream of standard input.

    Raises:
        CommandError: standard input is closed.
    """
    if sys.stdin is None:
        raise CommandError("cannot-read", "standard input is closed")
    return sys.stdin.buffer


def read_stdin() -> bytes:
    """Read all of standard input.

    Raises:
        CommandError: standard input is closed, or cannot be read.
    """
    buffer = stdin_buffer()
    with io_errors("read", "standard input"):
        return read_stream(buffer, "<stdin>")


def read_argument(file: str, name: object) -> bytes:
    """Return the content of a file that is named on the command line.

    Args:
        file: the path of the file, or `-` for standard input.
        name: the name of the file in messages.

    Raises:
        CommandError: the file cannot be read.
    """
    with io_errors("read", name):
        return read_stdin() if file == "-" else read_input(Path(file))


def read_file_or_stdin(file: str, name: str) -> tuple[bytes, Path]:
    """Return the bytes of a model, and the directory to which paths of its weights are relative.

    Args:
        file: the path of the file, or `-` for standard input; a large file is mapped into memory.
        name: the name of the file in messages.

    Raises:
        CommandError: the file cannot be read, or standard input is a terminal.
    """
    if file == "-":
        if is_terminal(sys.stdin):
            raise no_input_error()
        return read_stdin(), Path()
    path = Path(file)
    with io_errors("read", name):
        return read_input(path, maps=True), path.parent


def occupy_closed_descriptors() -> None:
    """Open the null device for each closed standard stream.

    Otherwise the next opened file would get the descriptor of the stream, and libraries would
    print warnings into that file.
    """
    for index in range(3):
        try:
            os.fstat(index)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != index:  # a lower descriptor was free
                os.dup2(opened, index)
                os.close(opened)
            os.set_inheritable(index, True)
