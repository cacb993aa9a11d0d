# SPDX-License-Identifier: Apache-2.0
"""Read standard input and write standard output, with errors for closed or full streams."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from onnxtext.cli.command_errors import (
    CommandError,
    check_inputs,
    exists_error,
    io_errors,
    terminal_error,
)
from onnxtext.cli.named_files import InputFile
from onnxtext.cli.report import discard_stream, write_stderr
from onnxtext.io.files import has_content, read_input, read_stream, write_atomically
from onnxtext.io.text_or_binary import looks_binary
from onnxtext.terminal import is_terminal

_WAITS_FOR_TEXT = "reading a text from the terminal; Ctrl-D at the start of a line ends it"
"""A hint for users who forgot to name a file: otherwise, the command seems to hang."""


def stdout_buffer() -> BinaryIO:
    """Return the binary stream of standard output; raise a CommandError if it is closed."""
    if sys.stdout is None:
        raise CommandError("cannot-write", "standard output is closed")
    return sys.stdout.buffer


def write_stdout(pieces: Iterable[bytes | memoryview]) -> None:
    """Write pieces to standard output; raise a CommandError if it is closed or not writable."""
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
    """Return the binary stream of standard input; raise a CommandError if it is closed."""
    if sys.stdin is None:
        raise CommandError("cannot-read", "standard input is closed")
    return sys.stdin.buffer


def read_stdin() -> bytes:
    """Read all of standard input; raise a CommandError if it is closed or cannot be read."""
    buffer = stdin_buffer()
    with io_errors("read", "standard input"):
        return read_stream(buffer, "<stdin>")


def read_file(file: InputFile, *, maps: bool = False) -> bytes:
    """Return the content of an input; if it is typed on a terminal, print a hint first.

    With `maps`, a large file is mapped into memory.

    Raises:
        CommandError: the input cannot be read.
    """
    with io_errors("read", file.name):
        if file.source is not None:
            return read_input(file.source, maps=maps)
        if is_terminal(sys.stdin):
            write_stderr(_WAITS_FOR_TEXT)
        return read_stdin()


def write_output(path: Path | None, data: bytes, *, force: bool) -> None:
    """Write data to a file that the user named, atomically; for None, to standard output.

    Raises:
        CommandError: the file has other content and `force` is False; the output cannot be
            written; an input has changed since it was read; or a binary model would be written to
            a terminal.
    """
    check_inputs()
    if path is None:
        if is_terminal(sys.stdout) and looks_binary(data):
            raise terminal_error()
        write_stdout([data])
        return
    with io_errors("write", path):
        if not force and path.is_file() and not has_content(path, data):
            raise exists_error(path)
        write_atomically(path, data)


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
