# SPDX-License-Identifier: Apache-2.0
"""Control a child process from its parent: start it, send requests, end it."""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import signal
import sys
import time
from typing import Any, Literal

from onnxtext.checker.isolation.child_main import READY, make_frame, read_frame, unpack, write_all
from onnxtext.checker.isolation.spawn import start
from onnxtext.quick_dataclass import dataclass

STARTING = 60.0
"""The maximum time in seconds that the child may take to start."""
LIMITED = sys.platform not in ("win32", "darwin")
"""Whether the child can limit its own time and memory. If not, the parent limits them."""

Kind = Literal["crash", "time", "memory", "unavailable", "stopped"]


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a request has no answer.

    Attributes:
        kind: one of these words:
            `crash`: the child crashed or sent a malformed answer.
            `time`, `memory`: it exceeded its time or memory limit.
            `unavailable`: it could not be started.
            `stopped`: the request was not sent, because earlier requests failed too often or took
            too much time.
        detail: further information, such as the signal and the last line of the child's error
            output; may be empty.
    """

    kind: Kind
    detail: str = ""


class WorkerDied(Exception):
    """Raised if a child process gave no valid answer within its limits, or cannot be started.

    Attributes:
        outside: whether the cause may be something other than the request. If so, a second attempt
            may succeed.
    """

    def __init__(self, failure: Failure, *, outside: bool = False) -> None:
        super().__init__(failure.kind)
        self.failure = failure
        self.outside = outside


class Worker:
    """A child process that answers requests; the constructor starts it.

    Raises:
        OSError: the process cannot be started.
    """

    def __init__(self) -> None:
        self.child = start()
        self._ready = False
        self._exceeded: Literal["time", "memory"] | None = None

    def ask(self, seconds: float, memory: int, kind: str, *arguments: Any) -> list[bytes]:
        """Send a request, and return the answer: a status, then the results or an error message.

        `seconds` and `memory` limit the processor time, and the bytes that the request may
        allocate. `arguments` are those of the `InferenceClient` method called `kind`.

        Raises:
            WorkerDied: the process could not start, exceeded a limit, ended without an answer, or
                sent a malformed answer.
        """
        try:
            if not self._ready:
                self._start()
            self._send(make_frame(marshal.dumps((seconds, memory, kind, *arguments))))
            if not LIMITED:
                return unpack(self._receive_within_limits(seconds, memory))
            # The child limits its processor time, but a blocked child uses none: limit real time.
            return unpack(self.receive(10 * seconds + 20))
        except (OSError, EOFError, ValueError) as error:
            raise self._kill_and_find_cause(damaged=isinstance(error, ValueError)) from None
        except BaseException:  # Ctrl-C, while the child is busy
            self.child.close()
            raise

    def _start(self) -> None:
        try:
            if unpack(self.receive(STARTING)) != [READY]:
                raise EOFError
        except (OSError, EOFError, ValueError):
            died = self._kill_and_find_cause()
            raise WorkerDied(
                Failure("unavailable", died.failure.detail), outside=died.outside
            ) from None
        self._ready = True

    def _send(self, data: bytes) -> None:
        """Write a request; if the child has died, raise OSError instead of receiving SIGPIPE."""
        fd = self.child.requests
        if not hasattr(signal, "SIGPIPE") or signal.getsignal(signal.SIGPIPE) != signal.SIG_DFL:
            write_all(fd, data)
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
        try:
            write_all(fd, data)
        except BrokenPipeError:
            if signal.SIGPIPE in signal.sigpending():
                signal.sigwait({signal.SIGPIPE})
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _receive_within_limits(self, seconds: float, memory: int) -> bytes:
        """Receive a frame, and kill the child if it exceeds its time or memory limit."""
        from onnxtext.checker.isolation.limit_watch import LimitWatch

        watch = LimitWatch(self.child, 10 * seconds + 20, memory)
        try:
            return watch.result(lambda: self.receive(10 * seconds + 30))
        finally:
            self._exceeded = self._exceeded or watch.exceeded

    def receive(self, seconds: float) -> bytes:
        """Return the content of the next frame.

        Raises:
            EOFError: the process has ended, or no answer has come within `seconds`.
        """
        fd = self.child.answers
        deadline = time.monotonic() + seconds
        return read_frame(fd, lambda: self._wait(fd, deadline))

    def _wait(self, fd: int, deadline: float) -> None:
        """Wait until there is data to read; raise EOFError if the deadline has passed."""
        if not hasattr(select, "poll"):  # Windows: a read ends when the process ends
            return
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        if not poll.poll(1000 * max(deadline - time.monotonic(), 0)):
            self._exceeded = "time"
            raise EOFError

    def _kill_and_find_cause(self, *, damaged: bool = False) -> WorkerDied:
        """End the process if it still runs; return the cause of its death as an error to raise.

        `damaged` tells whether the answer of the process was malformed.
        """
        child = self.child
        child.wait(0 if self._exceeded else 1)
        damaged = damaged and child.poll() is None
        child.kill()  # otherwise reading its standard error may block
        message = self._last_error()
        child.close()
        code = child.returncode or 0
        if self._exceeded == "time" or code == -getattr(signal, "SIGPROF", 0):
            return WorkerDied(Failure("time"))
        if self._exceeded == "memory" or "bad_alloc" in message:
            return WorkerDied(Failure("memory"))
        if damaged:
            return WorkerDied(Failure("crash", "its answer is damaged"))
        if code in (-getattr(signal, "SIGKILL", 0), -signal.SIGTERM):
            # Probably the kernel killed the child for lack of memory.
            return WorkerDied(Failure("memory"), outside=True)
        if code == -getattr(signal, "SIGIO", 0):
            # The child requests SIGIO for a closed pipe. The kernel may also send SIGIO if the
            # child reads a request before the parent has finished writing it.
            return WorkerDied(Failure("crash", "SIGIO"), outside=True)
        name = describe_exit(code)
        return WorkerDied(Failure("crash", f"{name}: {message}" if message else name))

    def _last_error(self) -> str:
        """Return the end of the last line that the process wrote to standard error; "" if none."""
        fd = self.child.errors
        if hasattr(os, "set_blocking"):
            with contextlib.suppress(OSError):
                os.set_blocking(fd, False)
        data = b""
        with contextlib.suppress(OSError):
            data = os.read(fd, 1 << 16)
        lines = data.decode("utf-8", "replace").strip().splitlines()
        # Keep the end of a long line: a failed assertion ends with its condition.
        return lines[-1].strip()[-_MAX_LINE_LENGTH:] if lines else ""


def describe_exit(code: int) -> str:
    """Return the name of the signal or Windows exception that ended a process, or its exit status.

    `code` is the exit status, negative for a signal.
    """
    if code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return _EXCEPTIONS.get(code & 0xFFFFFFFF, f"exit status {code}")


_EXCEPTIONS = {
    0xC0000005: "access violation",
    0xC000001D: "illegal instruction",
    0xC0000094: "integer division by zero",
    0xC00000FD: "stack overflow",
    0xC0000374: "heap corruption",
    0xC0000409: "fail-fast exception or stack buffer overrun",
}
"""Maps the exit statuses of processes that Windows ended to the names of the exceptions."""
_MAX_LINE_LENGTH = 160
"""The maximum number of characters of an error line."""
