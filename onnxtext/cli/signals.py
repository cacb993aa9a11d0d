# SPDX-License-Identifier: Apache-2.0
"""Handle the signals that end the process. Importing this module must be fast."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

_ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
_RETRY = 0.01
"""Seconds after which `_end` tries again to end the process, if a signal interrupted an import."""


def handle_signals() -> None:
    """Let signals end the process: SIGPIPE quietly, others after removing temporary files."""
    # End quietly if the reader closes our pipe.
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # The default action would leave temporary files behind; the exceptions that `_end` raises let
    # `with` blocks remove them. Ignored signals stay ignored (`nohup`, background jobs).
    for signal_number in signals_of(*_ENDING):
        if signal.getsignal(signal_number) != signal.SIG_IGN:
            signal.signal(signal_number, _end)


def handle_bus_errors() -> None:
    """Let SIGBUS, the signal for reading beyond the end of a mapped file, end with a message.

    The handler must be a C function. Python would call a Python handler only after the current
    bytecode instruction. But this never ends: the kernel repeats the failed read forever.
    """
    if _bus_handlers or not hasattr(signal, "SIGBUS"):
        return
    import ctypes

    from onnxtext.cli.report import ERROR_STATUS, plain_error
    from onnxtext.io import files

    def is_shorter(name: str, size: int) -> bool:
        try:
            return os.stat(name).st_size < size  # noqa: PTH116 - a signal handler should do little
        except OSError:
            return False

    def end(signal_number: int) -> None:
        try:
            files.remove_temporary_files()
            names = [name for name, old in files.mapped.items() if is_shorter(name, old.st_size)]
            named = ", ".join(names) or "a file"
            plain_error(f"cannot read {named}: it was truncated while it was being read")
        finally:
            os._exit(ERROR_STATUS)

    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(end)
    _bus_handlers.append(handler)
    ctypes.CDLL(None).signal(int(signal.SIGBUS), handler)


_bus_handlers: list[object] = []
"""Holds the installed handler, so that it is not garbage-collected."""


def restore_signals() -> None:
    """Restore the default action of signals: at exit, an exception would show a traceback."""
    for signal_number in signals_of(*_ENDING):
        if signal.getsignal(signal_number) == _end:
            signal.signal(signal_number, signal.SIG_DFL)
    if hasattr(signal, "setitimer"):  # `_end` may have started the timer
        signal.setitimer(signal.ITIMER_REAL, 0)


def signals_of(*names: str) -> list[signal.Signals]:
    """Return the signals with these names, except those that this platform lacks."""
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


def _end(signal_number: int, frame: FrameType | None) -> None:
    """Raise an exception that ends the process; wait for running imports first (not on Windows).

    Some compiled modules, such as onnx and orjson, crash if an exception interrupts their
    initialization.
    """
    if hasattr(signal, "setitimer") and _is_importing(frame):
        signal.signal(signal.SIGALRM, lambda _, later: _end(signal_number, later))
        signal.setitimer(signal.ITIMER_REAL, _RETRY)
    elif signal_number == signal.SIGINT:
        raise KeyboardInterrupt
    else:
        sys.exit(128 + signal_number)


def _is_importing(frame: FrameType | None) -> bool:
    """Whether an import statement is on the stack."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False
