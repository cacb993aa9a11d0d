# SPDX-License-Identifier: Apache-2.0
"""The server's side of the process that checks: jobs are delayed, superseded and cancelled.

While a document changes, its check waits. A check of a version that is no longer the newest is
stopped, at once if it takes long, and its result is never used.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import sys
from collections.abc import Callable

from onnxtext.lsp.analysis import Analysis
from onnxtext.lsp.worker import HEAD, Failure, Job, pack

DELAY = 0.2
"""Seconds without a change before a document is checked."""
GRACE = 0.5
"""Seconds that an outdated check may still take before its process is stopped: starting another
one takes about as long."""
LONGEST = 60.0
"""Seconds after which a check is given up."""

Done = Callable[[str, int, Analysis | Failure], None]


class Checker:
    """Checks documents, the newest version of one at a time.

    Attributes:
        stopped: how many checks were cancelled.
    """

    def __init__(self, done: Done) -> None:
        self._done = done
        self._delays: dict[str, asyncio.TimerHandle] = {}
        self._waiting: dict[str, tuple[int, Job]] = {}
        self._running: tuple[str, int, float] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._kill: asyncio.TimerHandle | None = None
        self._closed = False
        self.stopped = 0

    def submit(self, uri: str, number: int, job: Job, delay: float = DELAY) -> None:
        """Check a version of a document soon, unless a newer one comes."""
        self.cancel(uri)
        loop = asyncio.get_running_loop()
        self._delays[uri] = loop.call_later(delay, self._due, uri, number, job)

    def cancel(self, uri: str) -> None:
        """Forget the checks of a document that are not done."""
        delay = self._delays.pop(uri, None)
        if delay is not None:
            delay.cancel()
        self._waiting.pop(uri, None)
        if self._running is not None and self._running[0] == uri and self._kill is None:
            loop = asyncio.get_running_loop()
            left = self._running[2] + GRACE - loop.time()
            self._kill = loop.call_later(max(left, 0), self._stop)

    def start(self) -> None:
        """Start the process before the first check needs it."""
        self._pump()

    def close(self) -> None:
        """Stop everything."""
        self._closed = True
        for delay in self._delays.values():
            delay.cancel()
        self._waiting.clear()
        self._stop()

    def _due(self, uri: str, number: int, job: Job) -> None:
        self._delays.pop(uri, None)
        self._waiting[uri] = number, job
        self._pump()

    def _pump(self) -> None:
        if (self._task is None or self._task.done()) and not self._closed:
            self._task = asyncio.get_running_loop().create_task(self._serve())

    async def _serve(self) -> None:
        if self._process is None or self._process.returncode is not None:
            await self._spawn()
        while self._waiting and not self._closed:
            uri = next(iter(self._waiting))
            number, job = self._waiting.pop(uri)
            self._running = uri, number, asyncio.get_running_loop().time()
            made: Analysis | Failure | None
            try:
                made = await asyncio.wait_for(self._ask(job), LONGEST)
            except asyncio.TimeoutError:
                self._stop()
                made = Failure(f"checking took more than {LONGEST:.0f} seconds")
            except (OSError, EOFError, asyncio.IncompleteReadError):
                # Stopped by us, or it died: then another version may do better.
                made = None if self._process is None else Failure("the checking process died")
            if self._kill is not None:
                self._kill.cancel()
            self._kill = None
            self._running = None
            if made is not None and not self._closed:
                self._done(uri, number, made)
            if self._process is None or self._process.returncode is not None:
                await self._spawn()

    async def _ask(self, job: Job) -> Analysis | Failure:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise EOFError
        data = await asyncio.get_running_loop().run_in_executor(None, pack, job)
        process.stdin.write(data)
        await process.stdin.drain()
        head = await process.stdout.readexactly(HEAD)
        answer = await process.stdout.readexactly(int.from_bytes(head, "little"))
        made: Analysis | Failure = pickle.loads(answer)
        return made

    async def _spawn(self) -> None:
        if self._closed:
            return
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "onnxtext.lsp.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=1 << 20,
        )

    def _stop(self) -> None:
        process, self._process = self._process, None
        self._kill = None
        if process is not None and process.returncode is None:
            self.stopped += 1
            with contextlib.suppress(ProcessLookupError):
                process.kill()
