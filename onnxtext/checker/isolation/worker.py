# SPDX-License-Identifier: Apache-2.0
"""The child process: answers requests until its pipe is closed.

It runs as little Python as possible: it is started for every command that checks a model.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import signal
import sys
from typing import Any

from onnxtext.checker.isolation.frames import (
    FINE,
    HEAD,
    MEMORY,
    OBJECTION,
    READY,
    framed,
    pack,
    write_all,
)
from onnxtext.checker.native import native

IDLE = 300_000
"""Milliseconds without a request after which the process ends."""

try:
    import fcntl
    import resource
except ImportError:  # Windows
    pass


def main(paths: list[str]) -> None:
    """Serve requests from standard input; answers go to standard output.

    Args:
        paths: where else modules may be.
    """
    sys.path += paths
    _prepare()
    answers = os.dup(1)
    os.dup2(2, 1)  # native code may print
    module = native()
    write_all(answers, framed(pack([READY])))
    while True:
        content = _receive()
        if content is None:
            return
        write_all(answers, framed(_answer(module, content)))


def _answer(module: Any, content: bytes) -> bytes:
    seconds, memory, kind, *arguments = marshal.loads(content)
    with _limited(seconds, memory):
        try:
            results = _infer(module, kind, arguments)
        except MemoryError:
            return pack([MEMORY])
        # onnx raises RuntimeError, ValueError, IndexError, its own types, ...
        except Exception as error:
            return pack([OBJECTION, str(error).encode("utf-8", "backslashreplace")])
    return pack([FINE, *results])


def _infer(module: Any, kind: str, arguments: list[Any]) -> list[bytes]:
    if kind == "model":
        (data,) = arguments
        # As `onnx.checker.check_model(full_check=True)` does.
        module.shape_inference.infer_shapes(data, True, True, False)
        return []
    operator, node, types, constants, opsets, version = arguments
    schema = module.defs.get_schema(*operator)
    made = schema._infer_node_outputs(node, types, constants, {}, opsets, version)
    return [part for name, type in made.items() for part in (name.encode(), type)]


# ---- Pipes ------------------------------------------------------------------------------------


def _receive() -> bytes | None:
    """The content of the next frame; None at the end."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(0, select.POLLIN)
        if not poll.poll(IDLE):
            return None
    head = _read(HEAD)
    size = int.from_bytes(head, "little")
    content = _read(size)
    return content if len(head) == HEAD and len(content) == size else None


def _read(size: int) -> bytes:
    parts = []
    while size > 0:
        part = os.read(0, min(size, 1 << 20))
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


# ---- Limits -----------------------------------------------------------------------------------


def _prepare() -> None:
    """Ends by signals, leaves no core dump, shows no dialog."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends the child
    if sys.platform == "win32":
        import msvcrt

        msvcrt.SetErrorMode(msvcrt.SEM_FAILCRITICALERRORS | msvcrt.SEM_NOGPFAULTERRORBOX)
        for fd in (0, 1):
            msvcrt.setmode(fd, os.O_BINARY)
        return
    # 1, not 0: with 0 Linux still pipes the core to a crash reporter.
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    os.set_blocking(2, False)  # onnx must not wait for the parent to read its error messages
    for number in (signal.SIGPROF, signal.SIGIO, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})


class _limited:  # noqa: N801 - it is used like a function
    """Limits processor time and memory; the process ends if its parent does."""

    def __init__(self, seconds: float, memory: int) -> None:
        self._seconds = seconds
        self._memory = memory

    def __enter__(self) -> None:
        if sys.platform == "win32":
            return
        _limit_memory(self._memory)
        signal.setitimer(signal.ITIMER_PROF, self._seconds)
        # Native code does not notice the end of the pipe: the kernel sends SIGIO then.
        with contextlib.suppress(OSError):
            fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
        poll = select.poll()
        poll.register(0, 0)
        if poll.poll(0):
            os._exit(0)

    def __exit__(self, *error: object) -> None:
        if sys.platform == "win32":
            return
        with contextlib.suppress(OSError):
            fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) & ~os.O_ASYNC)
        signal.setitimer(signal.ITIMER_PROF, 0)


def _limit_memory(more: int) -> None:
    """Limit the address space to what is in use, and so many bytes more."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - pathlib takes 5 ms to import
            used = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:  # not Linux: the parent watches
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = used + more
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
