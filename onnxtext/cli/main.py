# SPDX-License-Identifier: Apache-2.0
"""The process: signals, and what is never shown to people as a traceback."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130
"""The exit status that shells give what Ctrl-C ended."""

_SHOWN = frozenset(("-h", "--help", "-V", "--version"))
"""The options that only write to standard output."""


def main() -> None:
    """Run the command line of this process, and end it with the exit status."""
    _handle_signals()
    # numpy's library of linear algebra, of which nothing is used, would start threads, which take
    # time and memory, and end the process if there is not enough.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        status = _run(sys.argv[1:])
    except KeyboardInterrupt:
        status = INTERRUPTED
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    # What takes time to import is imported here, where Ctrl-C is quiet.
    import click

    from onnxtext.cli.group import group
    from onnxtext.cli.report import TROUBLE, Refused, discard, internal_error, plain_error
    from onnxtext.cli.streams import cannot_write_stdout, occupy_closed_descriptors
    from onnxtext.core import CoreError

    occupy_closed_descriptors()
    if sys.stdout is None and not _SHOWN.isdisjoint(arguments):  # click would write it nowhere
        plain_error("standard output is closed")
        return TROUBLE
    try:
        status = group.main(arguments, "onnxtext", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        try:
            error.show()
        except OSError:
            discard(sys.stderr)
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    except (Refused, CoreError) as refused:
        plain_error(str(refused))
        return TROUBLE
    except OSError as error:
        # An error that names no file comes from a stream; standard error is written elsewhere.
        if error.filename is None and sys.stdout is not None:
            discard(sys.stdout)
            plain_error(cannot_write_stdout(error))
        else:
            plain_error(str(error))
        return TROUBLE
    except Exception as error:
        internal_error(error)
        return TROUBLE
    return status if isinstance(status, int) else 0


def _handle_signals() -> None:
    """End by signals as other commands do."""
    # Whoever closes the pipe we write to wants no more: end quietly, by the signal.
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # The default would leave temporary files behind. What `nohup` has set stays.
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _terminate)


def _terminate(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)
