# SPDX-License-Identifier: Apache-2.0
"""The parent's side of the child process: start it, ask it, end it."""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from onnxtext.checker.isolation.frames import HEAD, READY, framed, unpack, write_all

STARTING = 60.0
"""Seconds that the child may take to start."""
_CODE = """\
import sys
sys.path += sys.argv[1:3]
from onnxtext.checker.isolation.worker import main
main(sys.argv[3:])
"""
_LIMITED = sys.platform not in ("win32", "darwin")
"""Whether the child can limit its own memory; else the parent watches it."""

Kind = Literal["crash", "time", "memory", "unavailable", "stopped"]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer.

    Attributes:
        kind: the child crashed, ran out of time or memory, could not be started, or was not asked
            because too many requests had failed.
        detail: the signal, or what the child wrote before it died; may be empty.
    """

    kind: Kind
    detail: str = ""


class Died(Exception):
    """The child did not answer, and is no more.

    Attributes:
        failure: why.
        outside: whether another process may have killed it.
    """

    def __init__(self, failure: Failure, *, outside: bool = False) -> None:
        super().__init__(failure.kind)
        self.failure = failure
        self.outside = outside


class Worker:
    """A child process.

    Raises:
        OSError: it cannot be started.
        Died: it did not start.
    """

    def __init__(self) -> None:
        executable = _executable()
        if executable is None:
            raise OSError("there is no Python interpreter to run it")
        self._process = subprocess.Popen(
            [executable, "-I", "-S", "-c", _CODE, *_paths()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._ready = False
        self._exceeded: Literal["time", "memory"] | None = None

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def ask(self, seconds: float, memory: int, kind: str, *arguments: Any) -> list[bytes]:
        """The parts of the answer to a request.

        Args:
            seconds: the limit of processor time.
            memory: how many bytes of memory may be allocated.
            kind: the request.
            arguments: its arguments.

        Raises:
            Died: there is no answer; the process has ended.
        """
        try:
            if not self._ready:
                self._start()
            self._send(framed(marshal.dumps((seconds, memory, kind, *arguments))))
            if not _LIMITED:
                return unpack(self._watched(seconds, memory))
            # The child measures processor time; this is for a child that waits or is starved.
            return unpack(self._receive(10 * seconds + 20))
        except (OSError, EOFError, ValueError):
            raise self._died() from None
        except BaseException:  # Ctrl-C: the child is busy
            self.close()
            raise

    def _start(self) -> None:
        try:
            if unpack(self._receive(STARTING)) != [READY]:
                raise EOFError
        except (OSError, EOFError, ValueError):
            died = self._died()
            raise Died(Failure("unavailable", died.failure.detail), outside=died.outside) from None
        self._ready = True

    def close(self) -> None:
        """End the process."""
        process = self._process
        with contextlib.suppress(OSError):
            process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def abandon(self) -> None:
        """Close this process's copies of the pipes, after a fork; the child is the parent's."""
        process = self._process
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        process.returncode = 0  # it is not waited for here

    # ---- Pipes ------------------------------------------------------------------------------

    def _send(self, data: bytes) -> None:
        """Write a request; a child that has died is an OSError here, never a signal."""
        assert self._process.stdin is not None
        fd = self._process.stdin.fileno()
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

    def _watched(self, seconds: float, memory: int) -> bytes:
        """The content of a frame from a child whose limits are enforced here."""
        from onnxtext.checker.isolation.watch import Watch

        watch = Watch(self._process, 10 * seconds + 20, memory)
        try:
            with watch:
                return self._receive(10 * seconds + 30)
        finally:
            self._exceeded = self._exceeded or watch.exceeded

    def _receive(self, seconds: float) -> bytes:
        """The content of a frame.

        Raises:
            EOFError: the process has ended, or was ended because it took too long.
        """
        assert self._process.stdout is not None
        fd = self._process.stdout.fileno()
        deadline = time.monotonic() + seconds
        size = int.from_bytes(self._read(fd, HEAD, deadline), "little")
        return self._read(fd, size, deadline)

    def _read(self, fd: int, size: int, deadline: float) -> bytes:
        parts = []
        while size > 0:
            self._wait(fd, deadline)
            part = os.read(fd, min(size, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _wait(self, fd: int, deadline: float) -> None:
        """Wait until there is something to read.

        Raises:
            EOFError: it took too long.
        """
        if not hasattr(select, "poll"):  # Windows: a read ends when the process does
            return
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        if not poll.poll(1000 * max(deadline - time.monotonic(), 0)):
            self._exceeded = "time"
            raise EOFError

    # ---- Death ------------------------------------------------------------------------------

    def _died(self) -> Died:
        """Why the process has ended; it is ended if it has not."""
        process = self._process
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0 if self._exceeded else 1)
        said = self._said()
        self.close()
        code = process.returncode
        if self._exceeded == "time" or code == -getattr(signal, "SIGPROF", 0):
            return Died(Failure("time"))
        if self._exceeded == "memory" or "bad_alloc" in said:
            return Died(Failure("memory"))
        if code in (-getattr(signal, "SIGKILL", 0), -signal.SIGTERM):
            return Died(Failure("memory"), outside=True)  # the kernel kills where memory is short
        name = f"exit status {code}"
        if code < 0:
            with contextlib.suppress(ValueError):
                name = signal.Signals(-code).name
        return Died(Failure("crash", f"{name}: {said}" if said else name))

    def _said(self) -> str:
        """The last line of what the process wrote to standard error."""
        assert self._process.stderr is not None
        fd = self._process.stderr.fileno()
        if hasattr(os, "set_blocking"):
            with contextlib.suppress(OSError):
                os.set_blocking(fd, False)
        said = b""
        with contextlib.suppress(OSError):
            said = os.read(fd, 1 << 16)
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip()[-_LONGEST:] if lines else ""  # an assertion stands at the end


_LONGEST = 160


def _executable() -> str | None:
    """The interpreter; None if this process is a program with an interpreter inside."""
    if getattr(sys, "frozen", False) or not sys.executable:
        return None
    return sys.executable


def _paths() -> list[str]:
    """Where onnxtext, onnx and everything else is found."""
    root = Path(__file__).parents[3]
    found = find_spec("onnx")
    places = list(found.submodule_search_locations or ()) if found is not None else []
    onnx = Path(places[0]).parent if places else root
    return [str(root), str(onnx), *[item for item in sys.path if isinstance(item, str) and item]]
