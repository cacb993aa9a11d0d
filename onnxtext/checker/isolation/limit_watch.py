# SPDX-License-Identifier: Apache-2.0
"""Kill a child process that exceeds its time or memory limit on macOS and Windows.

On Linux, this is not needed: the child limits its own time and memory (`child_main`).
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Literal

from onnxtext.checker.isolation.spawn import Child

SLICE = 0.2
"""Seconds between two checks of the limits."""


class LimitWatch:
    """Kills a child process that exceeds the time or memory limit of a request.

    Attributes:
        exceeded: the limit that the process has exceeded, `time` or `memory`; None if neither.
    """

    def __init__(self, process: Child, seconds: float, memory: int) -> None:
        self.exceeded: Literal["time", "memory"] | None = None
        self._process = process
        self._deadline = time.monotonic() + seconds
        self._memory = memory

    def result(self, receive: Callable[[], bytes]) -> bytes:
        """Run a function that reads from the process; return its result or raise its error.

        The function must raise an error when the process ends. It runs in a thread: on Windows,
        nothing can interrupt a read, not even Ctrl-C.
        """
        future: Future[bytes] = Future()

        def run() -> None:
            try:
                future.set_result(receive())
            except BaseException as error:
                future.set_exception(error)

        thread = threading.Thread(target=run, name="onnxtext-watch", daemon=True)
        thread.start()
        try:
            while not wait((future,), SLICE).done:
                if time.monotonic() > self._deadline:
                    self.exceeded = "time"
                elif memory_of(self._process.pid) > self._memory:
                    self.exceeded = "memory"
                if self.exceeded:
                    self._process.kill()
                    break
            return future.result()  # raises if the process was killed
        finally:
            if not future.done():
                self._process.kill()
            thread.join()


def memory_of(pid: int) -> int:
    """Return the memory that a process uses, in bytes; 0 if unknown."""
    if sys.platform == "win32":
        return _windows_memory(pid)
    try:
        # Without `ps`, or in a sandbox that forbids it, only time is limited.
        done = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=False, timeout=5
        )
        return int(done.stdout or 0) * 1024
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0


def _windows_memory(pid: int) -> int:
    if sys.platform != "win32":
        return 0
    import ctypes
    from ctypes import wintypes

    class Counters(ctypes.Structure):
        # PROCESS_MEMORY_COUNTERS of psapi.h
        _fields_ = [
            ("size", wintypes.DWORD),
            ("faults", wintypes.DWORD),
            *[(f"size{index}", ctypes.c_size_t) for index in range(6)],
            ("committed", ctypes.c_size_t),
            ("peak", ctypes.c_size_t),
        ]

    counters = Counters()
    counters.size = ctypes.sizeof(counters)
    query = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION
    kernel = ctypes.WinDLL("kernel32")
    kernel.OpenProcess.restype = wintypes.HANDLE
    handle = kernel.OpenProcess(query, False, pid)
    if not handle:
        return 0
    try:
        read = kernel.K32GetProcessMemoryInfo
        read.argtypes = [wintypes.HANDLE, ctypes.POINTER(Counters), wintypes.DWORD]
        return counters.committed if read(handle, ctypes.byref(counters), counters.size) else 0
    finally:
        kernel.CloseHandle(wintypes.HANDLE(handle))
