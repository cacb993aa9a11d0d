# SPDX-License-Identifier: Apache-2.0
"""Standard output as a place to write to."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from onnxtext.cli.report import Refused


def write_stdout(pieces: Iterable[bytes | memoryview]) -> None:
    """Write all pieces to standard output.

    Raises:
        Refused: it is closed, or cannot be written.
    """
    if sys.stdout is None:
        raise Refused("cannot-write", "standard output is closed")
    try:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except OSError as error:
        message = f"cannot write to standard output: {error.strerror or error}"
        raise Refused("cannot-write", message) from None
