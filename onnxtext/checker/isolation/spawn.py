# SPDX-License-Identifier: Apache-2.0
"""Start and end a child process that answers requests.

A new interpreter takes 30 ms of processor time, a fork 2 ms. A fork is safe only if no other thread
can hold a lock, so only the command `onnxtext` forks, and only while it has a single thread.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from onnxtext.checker.isolation import child_main
from onnxtext.checker.isolation.onnx_module import onnx_native_module

if TYPE_CHECKING:
    import subprocess

CODE = """\
import sys
sys.path.insert(0, sys.argv[1])
import child_main
del sys.path[0]
child_main.main(sys.argv[2], sys.argv[3:])
"""
"""The Python program that a new interpreter runs as the child process."""


class Child:
    """A child process and the pipes to and from it.

    Attributes:
        requests: the file descriptor for writing requests.
        answers: the file descriptor for reading answers.
        errors: the file descriptor for reading the child's standard error.
        returncode: the exit status of the child, negative for a signal; None while it runs.
    """

    def __init__(
        self, pid: int, pipes: tuple[int, int, int], spawned: subprocess.Popen[bytes] | None = None
    ) -> None:
        self.pid = pid
        self.requests, self.answers, self.errors = pipes
        self.returncode: int | None = None
        self._spawned = spawned
        self._open = True

    def poll(self) -> int | None:
        """Return the exit status; None while the process runs."""
        if self.returncode is None:
            if self._spawned is not None:
                self.returncode = self._spawned.poll()
            else:
                self._wait(os.WNOHANG)
        return self.returncode

    def wait(self, seconds: float) -> None:
        """Wait until the process has ended, but at most the given number of seconds."""
        deadline = time.monotonic() + seconds
        while self.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)

    def kill(self) -> None:
        """Kill the process."""
        if self.poll() is None:
            with contextlib.suppress(OSError):
                if self._spawned is not None:
                    self._spawned.kill()
                else:
                    os.kill(self.pid, 9)

    def close(self) -> None:
        """Kill the process and close the pipes."""
        self.kill()
        if self._spawned is not None:
            self.returncode = self._spawned.wait()
        elif self.returncode is None:
            self._wait(0)
        self.close_pipes()

    def abandon(self) -> None:
        """In a fork of the parent, close the pipes; the child keeps running for the parent."""
        if self._spawned is not None:
            self._spawned.returncode = 0  # so that subprocess does not wait for the process
        self.close_pipes()

    def close_pipes(self) -> None:
        """Close the pipes."""
        if not self._open:
            return
        self._open = False
        if self._spawned is not None:
            for pipe in (self._spawned.stdin, self._spawned.stdout, self._spawned.stderr):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            return
        for fd in (self.requests, self.answers, self.errors):
            os.close(fd)

    def _wait(self, options: int) -> None:
        try:
            pid, status = os.waitpid(self.pid, options)
        except ChildProcessError:  # other code has already read the exit status
            self.returncode = 0
            return
        if pid:
            self.returncode = os.waitstatus_to_exitcode(status)


def start() -> Child:
    """Start a child process.

    Raises:
        OSError: the process cannot be started.
    """
    return _fork() if may_fork() else _spawn()


def may_fork() -> bool:
    """Whether forking is safe: this is the command `onnxtext` on Linux, with a single thread."""
    if "onnxtext.cli.main" not in sys.modules or sys.platform != "linux":
        return False
    try:
        stat = Path("/proc/self/stat").read_bytes()
        # Field 2, a name in parentheses, may contain spaces and parentheses. Field 20 is the number
        # of threads.
        return stat.rpartition(b")")[2].split()[17] == b"1"
    except (OSError, IndexError):
        return False


def _fork() -> Child:
    module = onnx_native_module()
    module.defs.get_schema("Identity", 1, "")  # registers all schemas, before the fork
    ends: list[int] = []
    try:
        for _ in range(3):
            ends += os.pipe()
        pid = os.fork()
    except OSError:
        for fd in ends:
            os.close(fd)
        raise
    if pid == 0:
        _serve(module, ends[0], ends[3], ends[5])
    for fd in (ends[0], ends[3], ends[5]):
        os.close(fd)
    return Child(pid, (ends[1], ends[2], ends[4]))


def _serve(module: object, requests: int, answers: int, errors: int) -> None:
    """Serve requests in the forked process with onnx's `module`, then exit.

    The other parameters are the file descriptors of the pipes.
    """
    try:
        import fcntl
        import resource

        # The pipes may have the numbers 0, 1 and 2 now: first duplicate them to 10 or more.
        moved = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (requests, answers, errors)]
        for index, fd in enumerate(moved):
            os.dup2(fd, index)
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        os.closerange(3, limit if 0 < limit < 1 << 20 else 1 << 20)
        child_main.serve(module)
    except BaseException:
        pass
    finally:
        os._exit(0)


def interpreter() -> str:
    """Return the path of the Python interpreter; "" if this is a frozen program.

    In a frozen program, `sys.executable` is the program itself, not an interpreter.
    """
    if getattr(sys, "frozen", False):
        return ""
    if sys.platform == "win32":
        # In a virtual environment, `sys.executable` only starts the base interpreter as another
        # process, which would not be limited.
        return getattr(sys, "_base_executable", "") or sys.executable
    return sys.executable


def _spawn() -> Child:
    import subprocess

    path = interpreter()
    if not path:
        raise OSError("no Python interpreter was found")
    file = getattr(onnx_native_module(), "__file__", None) or ""
    paths = [path for path in sys.path if isinstance(path, str) and path]
    process = subprocess.Popen(
        [path, "-I", "-S", "-c", CODE, str(Path(__file__).parent), file, *paths],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    pipes = process.stdin.fileno(), process.stdout.fileno(), process.stderr.fileno()
    return Child(process.pid, pipes, process)
