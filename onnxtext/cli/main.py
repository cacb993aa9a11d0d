# SPDX-License-Identifier: Apache-2.0
"""Entry point of the command line: show errors and interruptions without tracebacks."""

from __future__ import annotations

import gc
import os
import sys

INTERRUPTED = 130
"""The exit status of shells for a command ended by Ctrl-C."""

_SHOWN = frozenset(("-h", "--help", "-V", "--version"))
"""Options that only write to standard output."""


def main() -> None:
    """Run the command line and exit with its status."""
    try:  # Ctrl-C shows no traceback here either
        from onnxtext.cli.signals import handle_signals, restore_signals

        handle_signals()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    # numpy's linear algebra library, which we do not use, would start threads. These take time and
    # memory, and abort the process if memory is short.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imports create many objects that stay alive. With the default threshold of 700, the garbage
    # collector would traverse them repeatedly.
    gc.set_threshold(100_000)
    try:
        status = _run(sys.argv[1:])
    except KeyboardInterrupt:
        status = INTERRUPTED
    restore_signals()
    # Without `freeze`, the garbage collection at exit would take 10 to 20 ms.
    gc.freeze()
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    # These imports are slow. They are in this function so that `main` handles Ctrl-C during them.
    import click

    from onnxtext.cli.command_errors import CommandError, check_inputs
    from onnxtext.cli.group import group
    from onnxtext.cli.report import ERROR_STATUS, discard_stream, internal_error, plain_error
    from onnxtext.cli.signals import handle_bus_errors
    from onnxtext.cli.streams import cannot_write_stdout, occupy_closed_descriptors
    from onnxtext.io import files, os_errors
    from onnxtext.select_core import CoreError

    occupy_closed_descriptors()
    files.before_mapping = handle_bus_errors
    if "_ONNXTEXT_COMPLETE" in os.environ:
        from onnxtext.cli.commands.completion import register

        register()
    if sys.stdout is None and not _SHOWN.isdisjoint(arguments):  # click would print nothing
        plain_error("standard output is closed")
        return ERROR_STATUS
    try:
        status = group.main(arguments, "onnxtext", standalone_mode=False)
        if arguments[:1] != ["lsp"]:  # it runs long, and files may change meanwhile
            check_inputs()
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        try:
            error.show()
        except OSError:
            discard_stream(sys.stderr)
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    except (CommandError, CoreError) as error:
        plain_error(str(error))
        return ERROR_STATUS
    except OSError as error:
        if os_errors.lacks_current_directory(error):
            plain_error(os_errors.reason_of(error))
        # The error is from standard output, because `write_stderr` never raises.
        elif error.filename is None and sys.stdout is not None:
            discard_stream(sys.stdout)
            plain_error(cannot_write_stdout(error))
        else:
            plain_error(str(error))
        return ERROR_STATUS
    except Exception as error:
        try:
            check_inputs()
        except CommandError as changed:
            plain_error(str(changed))
        else:
            internal_error(error)
        return ERROR_STATUS
    return status if isinstance(status, int) else 0
