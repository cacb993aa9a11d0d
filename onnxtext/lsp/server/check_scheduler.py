# SPDX-License-Identifier: Apache-2.0
"""Schedule checks in the checking process: delay, supersede and cancel jobs.

A check waits until its document has not changed for a moment. The result of an outdated check is
discarded. A check that takes too long is stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from onnxtext.diagnostics import Diagnostic
from onnxtext.lsp.server.check_document import Analysis, WorkerError
from onnxtext.lsp.server.check_process import CheckJob, send

DELAY = 0.2
"""Seconds without a change before a document is checked."""
GRACE = 1.0
"""Seconds that an outdated check may run before its process is stopped. Starting a new process also
takes about a second, and the new process has an empty cache."""
TIMEOUT_SECONDS = 60.0
"""Timeout of a check in seconds."""
_GONE = (
    OSError, EOFError, ValueError, pickle.UnpicklingError, AttributeError, ImportError, MemoryError,
)  # fmt: skip
"""The errors of pipes to a process that has ended, or that runs another version of onnxtext."""

Done = Callable[[str, int, Analysis | WorkerError], None]
Found = Callable[[str, int, list[Diagnostic]], None]


class Checker:
    """Checks the newest version of each document, one document at a time.

    Args:
        done: called at the end of each check, with the URI, the version number, and the `Analysis`
            or `WorkerError`.
        found: called before `done`, with the URI, the version number and the diagnostics, as soon
            as the diagnostics are known. For an outdated check, `done` and `found` are not called.

    Attributes:
        running: the URI and the version of the document that is being checked, and the start time.
        process: the checking process, if it was started.
        task: the task that serves the waiting checks, if there was one.
    """

    def __init__(self, done: Done, found: Found | None = None) -> None:
        self._done = done
        self._found = found
        self._delays: dict[str, asyncio.TimerHandle] = {}
        self._waiting: dict[str, tuple[int, CheckJob]] = {}
        self.running: tuple[str, int, float] | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self._thread = ThreadPoolExecutor(1, "checker")  # does blocking I/O with the process
        self.task: asyncio.Task[None] | None = None
        self._kill: asyncio.TimerHandle | None = None
        self._outdated = False
        self._closed = False

    def submit(self, uri: str, version: int, job: CheckJob, delay: float = DELAY) -> None:
        """Check a version of a document after a delay, and cancel the checks of other versions."""
        self.cancel(uri)
        loop = asyncio.get_running_loop()
        self._delays[uri] = loop.call_later(delay, self._due, uri, version, job)

    def cancel(self, uri: str) -> None:
        """Cancel the waiting checks of a document, and discard the result of a running check.

        The running check is stopped when it has run for `GRACE` seconds.
        """
        delay = self._delays.pop(uri, None)
        if delay is not None:
            delay.cancel()
        self._waiting.pop(uri, None)
        if self.running is None or self.running[0] != uri:
            return
        self._outdated = True  # version numbers may repeat after a document is reopened
        if self._kill is None:
            loop = asyncio.get_running_loop()
            left = self.running[2] + GRACE - loop.time()
            self._kill = loop.call_later(max(left, 0), self._stop)

    def start(self) -> None:
        """Start the checking process if necessary, and check the waiting documents."""
        if (self.task is None or self.task.done()) and not self._closed:
            self.task = asyncio.get_running_loop().create_task(self._serve())

    def close(self) -> None:
        """Cancel all checks and end the checking process."""
        self._closed = True
        for handle in (*self._delays.values(), *([self._kill] if self._kill else [])):
            handle.cancel()
        self._waiting.clear()
        self._discard()
        self._thread.shutdown(wait=False)

    def _due(self, uri: str, version: int, job: CheckJob) -> None:
        self._delays.pop(uri, None)
        self._waiting[uri] = version, job
        self.start()

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        self._spawn()
        while self._waiting and not self._closed:
            uri = next(iter(self._waiting))
            version, job = self._waiting.pop(uri)
            self.running = uri, version, loop.time()
            self._outdated = False
            outcome: Analysis | WorkerError | None
            report = partial(self._report, uri, version)
            answer = loop.run_in_executor(
                self._thread, ask, self.process, job, partial(loop.call_soon_threadsafe, report)
            )
            try:
                outcome = await asyncio.wait_for(asyncio.shield(answer), TIMEOUT_SECONDS)
            except asyncio.TimeoutError:
                self._stop()
                await asyncio.wait([answer])
                outcome = WorkerError(f"checking took more than {TIMEOUT_SECONDS:.0f} seconds")
            except _GONE:
                # `_stop` has ended the process, or it has crashed. `_spawn` starts a new one.
                outcome = (
                    None if self.process is None else WorkerError("the checking process crashed")
                )
                self._discard()
            if self._kill is not None:
                self._kill.cancel()
            self._kill = None
            self.running = None
            if outcome is not None and not self._closed and not self._outdated:
                self._done(uri, version, outcome)
            self._spawn()

    def _report(self, uri: str, version: int, diagnostics: list[Diagnostic]) -> None:
        if self._found is not None and not self._closed and not self._outdated:
            self._found(uri, version, diagnostics)

    def _spawn(self) -> None:
        if self._closed or (self.process is not None and self.process.poll() is None):
            return
        self._discard()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "onnxtext.lsp.server.check_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def _stop(self) -> None:
        self._kill = None
        self._discard()

    def _discard(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            if self.running is None:  # else the reading thread closes the pipes
                _close(process)


def ask(
    process: subprocess.Popen[bytes] | None,
    job: CheckJob,
    report: Callable[[list[Diagnostic]], object],
) -> Analysis | WorkerError:
    """Send a job to the process and wait for the result, in a thread.

    `report` is called with the diagnostics as soon as they are known.

    Raises:
        Exception: one of `_GONE`; the process is gone, or its answer cannot be read.
    """
    if process is None or process.stdin is None or process.stdout is None:
        raise EOFError
    try:
        send(process.stdin, job)
        while True:
            result: list[Diagnostic] | Analysis | WorkerError = pickle.load(process.stdout)
            if not isinstance(result, list):
                return result
            report(result)
    except _GONE:
        _close(process)
        raise


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
