# SPDX-License-Identifier: Apache-2.0
"""Run processes, and measure their time and memory."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of a process.

    Attributes:
        seconds: from its start to its end.
        peak: its peak memory in bytes; None if it is not above the peak of this process.
        output: its standard output.
        failed: the reason of its failure; empty on success.
    """

    seconds: float
    peak: int | None
    output: bytes
    failed: str


def run(command: Sequence[str | Path], *, timeout: float) -> Finished:
    """Run a command in the repository, with a timeout."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            # Idle threads of numpy's OpenBLAS spin, and count as processor time.
            env={**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
        )
        timer = threading.Timer(timeout, process.kill)
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            in_time = timer.is_alive()
            timer.cancel()
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        failed = "" if in_time else f"takes longer than {timeout:.0f} s"
        if in_time and process.returncode != 0:
            failed = _reason(process.returncode, _last_line(errors.fileno()))
        output.seek(0)
        return Finished(seconds, _peak(usage), output.read(), failed)


def python(*arguments: str | Path) -> list[str | Path]:
    """Return a command that runs this Python."""
    return [sys.executable, *arguments]


def _peak(usage: resource.struct_rusage) -> int | None:
    """Return the peak memory of a process; None if it is not above the peak of this process.

    On Linux, the peak of a child includes its parent's memory until it runs its own program. So
    this process has to stay small: it imports neither onnx nor numpy.
    """
    if usage.ru_maxrss <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
        return None
    return usage.ru_maxrss if sys.platform == "darwin" else usage.ru_maxrss * 1024


def _reason(code: int, said: str) -> str:
    how = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
    return f"{how}: {said}" if said else how


def _last_line(descriptor: int) -> str:
    size = os.lseek(descriptor, 0, os.SEEK_END)
    tail = os.pread(descriptor, 1000, max(0, size - 1000)).decode("utf-8", "replace")
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    return lines[-1][:110] if lines else ""
