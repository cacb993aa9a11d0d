# SPDX-License-Identifier: Apache-2.0
"""Show long texts on a terminal through a pager."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable

from onnxtext.cli.streams import write_stdout
from onnxtext.terminal import is_terminal


def find_pager() -> str | None:
    """Return the command line of the pager: `$PAGER`, or `less` if `$PAGER` is not set.

    Return None for no pager, for example if standard output is not a terminal or `$PAGER` is empty.
    """
    if not is_terminal(sys.stdout) or os.environ.get("TERM") == "dumb":
        return None
    chosen = os.environ.get("PAGER")
    if chosen is None:
        chosen = "less -R" if shutil.which("less") else ""
    return None if chosen.strip() in ("", "cat") else chosen


def write_paged(pieces: Iterable[str], pager: str | None) -> None:
    """Write the pieces of a text to the command line `pager`; if it is None, to standard output.

    If the user quits the pager, the remaining pieces are not computed.

    Raises:
        CommandError: there is no pager, and standard output is closed or cannot be written.
    """
    encoded = (piece.encode("utf-8", "backslashreplace") for piece in _blocks(pieces))
    if pager is None:
        for block in encoded:
            write_stdout([block])
        return
    # The options that git uses: keep colors, exit if the text fits, and do not clear the screen.
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    process = subprocess.Popen(pager, shell=True, stdin=subprocess.PIPE, env=environment)
    # Ignore signals: the pager handles Ctrl-C, and writing to a closed pager must raise an error.
    handlers = [(name, signal.signal(name, signal.SIG_IGN)) for name in _signals()]
    assert process.stdin is not None
    try:
        for block in encoded:
            process.stdin.write(block)
            process.stdin.flush()
    except (BrokenPipeError, ConnectionResetError):
        pass
    finally:
        with contextlib.suppress(OSError):
            process.stdin.close()
        process.wait()  # until the user quits the pager
        for name, handler in handlers:
            signal.signal(name, handler)


def _signals() -> list[signal.Signals]:
    return [
        getattr(signal, name) for name in ("SIGINT", "SIGPIPE", "SIGQUIT") if hasattr(signal, name)
    ]


def _blocks(pieces: Iterable[str]) -> Iterable[str]:
    """Join pieces into larger blocks. The first block is small, so that text appears soon."""
    block: list[str] = []
    length, max_characters = 0, 1 << 12
    for piece in pieces:
        block.append(piece)
        length += len(piece)
        if length >= max_characters:
            yield "".join(block)
            block, length, max_characters = [], 0, 1 << 16
    yield "".join(block)
