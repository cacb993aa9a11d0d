# SPDX-License-Identifier: Apache-2.0
"""Standard input and output, which may be closed, full, or no files at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import BinaryIO

from onnxtext.cli.report import Refused, discard
from onnxtext.files import read_stream


def stdout_buffer() -> BinaryIO:
    """Standard output for bytes.

    Raises:
        Refused: it is closed.
    """
    if sys.stdout is None:
        raise Refused("cannot-write", "standard output is closed")
    return sys.stdout.buffer


def write_stdout(pieces: Iterable[bytes | memoryview]) -> None:
    """Write all pieces to standard output.

    Raises:
        Refused: it is closed, or cannot be written.
    """
    buffer = stdout_buffer()
    try:
        for piece in pieces:
            buffer.write(piece)
        buffer.flush()
    except OSError as error:
        discard(sys.stdout)
        raise Refused("cannot-write", cannot_write_stdout(error)) from None


def cannot_write_stdout(error: OSError) -> str:
    """The message for an error on standard output."""
    return f"cannot write to standard output: {error.strerror or error}"


def say(text: str, end: str = "\n") -> None:
    """Write a text to standard output, in its encoding; what that lacks is escaped.

    Raises:
        Refused: it is closed, or cannot be written.
    """
    encoding = "utf-8" if sys.stdout is None else sys.stdout.encoding
    write_stdout([(text + end).encode(encoding, "backslashreplace")])


def stdin_buffer() -> BinaryIO:
    """Standard input for bytes.

    Raises:
        Refused: it is closed.
    """
    if sys.stdin is None:
        raise Refused("cannot-read", "standard input is closed")
    return sys.stdin.buffer


def read_stdin() -> bytes:
    """All of standard input.

    Raises:
        Refused: it is closed, or cannot be read.
    """
    buffer = stdin_buffer()
    try:
        return read_stream(buffer, "<stdin>")
    except OSError as error:
        message = f"cannot read standard input: {error.strerror or error}"
        raise Refused("cannot-read", message) from None


def occupy_closed_descriptors() -> None:
    """Open the null device as each standard stream that is closed.

    Otherwise the next file that is opened would get its number, and a library that prints a
    warning would write it into that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:  # another one was free as well, for a reason we do not know
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
