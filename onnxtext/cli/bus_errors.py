# SPDX-License-Identifier: Apache-2.0
"""End the process with a message if a file that is mapped into memory is truncated."""

from __future__ import annotations

import os
import signal

from onnxtext.cli.report import ERROR_STATUS, plain_error
from onnxtext.io import files

_handlers: list[object] = []
"""Holds the installed handler, so that it is not garbage-collected."""


def install_handler() -> None:
    """Install a handler for SIGBUS, the signal for reading beyond the end of a mapped file.

    The handler must be a C function. Python would call a Python handler only after the current
    bytecode instruction. But this never ends: the kernel repeats the failed read forever.
    """
    if _handlers or not hasattr(signal, "SIGBUS"):
        return
    import ctypes

    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(_end)
    _handlers.append(handler)
    ctypes.CDLL(None).signal(int(signal.SIGBUS), handler)


def _end(signal_number: int) -> None:
    """Remove temporary files, report which file was truncated, and end the process."""
    try:
        files.remove_temporary_files()
        names = [name for name, old in files.mapped.items() if _is_shorter(name, old.st_size)]
        named = ", ".join(names) or "a file"
        plain_error(f"cannot read {named}: it was truncated while it was being read")
    finally:
        os._exit(ERROR_STATUS)


def _is_shorter(name: str, size: int) -> bool:
    try:
        return os.stat(name).st_size < size  # noqa: PTH116 - a signal handler should do little
    except OSError:
        return False
