# SPDX-License-Identifier: Apache-2.0
"""Answer requests in a child process until the parent closes the pipe.

Every command that checks a model starts this process, so this module avoids slow imports: onnxtext,
the package `onnx`, and modules of the standard library that load slowly. The parent imports this
module for the format of messages.

Each message is a frame: the length of the content (8 bytes, little-endian), then the content. For
requests, the content is encoded by `marshal`. For answers, it is a list of bytes (`pack`), which is
safe to read even if the child has corrupted its memory.
"""

from __future__ import annotations

import faulthandler
import marshal
import os
import select
import signal
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec

try:
    import fcntl
    import resource
except ImportError:  # Windows
    pass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_HEAD = 8
"""The size in bytes of the length at the start of a frame."""
READY = b"ready"
"""The content of the first frame, which the child sends when onnx is loaded."""
FINE = b"fine"
"""The status of a successful request; the results follow."""
OBJECTION = b"objection"
"""The status of a request with a model or node that onnx rejects; onnx's error message follows."""
MEMORY = b"memory"
"""The status of a request that ran out of memory; no data follows."""
NATIVE = "onnx.onnx_cpp2py_export"
"""The compiled part of onnx."""
ORPHANED = 30
"""On Windows, a child whose parent was killed exits after ten times the time limit of its request,
plus this number of seconds. A parent that still runs kills the child earlier."""
_IDLE = 300_000
"""The process exits if it receives no request for this time in milliseconds; not on Windows."""


def main(native: str, paths: list[str]) -> None:
    """Read requests from standard input, and write answers to standard output.

    `native` is the path of the compiled part of onnx, or empty. If this part cannot be loaded
    alone, `onnx` is imported. `paths` are added to the module search path.
    """
    sys.path += paths
    serve(load_native(native))


def serve(module: Any) -> None:
    """Answer requests until the parent closes the pipe or sends none for `_IDLE` milliseconds.

    `module` is the compiled part of onnx.
    """
    _prepare()
    answers = os.dup(1)
    os.dup2(2, 1)  # redirect the output of native code to standard error
    write_all(answers, make_frame(pack([READY])))
    while True:
        content = _receive()
        if content is None:
            return
        write_all(answers, make_frame(answer(module, content)))


def load_native(path: str) -> Any:
    """Load the compiled part of onnx from the file `path`.

    If `path` is "" or loading fails, import `onnx` instead.

    The module cannot be loaded twice: a later import of `onnx` finds it in `sys.modules`.
    """
    if path:
        try:
            loader = ExtensionFileLoader(NATIVE, path)
            spec = ModuleSpec(NATIVE, loader, origin=path)
            module = loader.create_module(spec)
            module.__spec__, module.__loader__, module.__file__ = spec, loader, path
            sys.modules[NATIVE] = module
            loader.exec_module(module)
            return module
        except ImportError:  # the module may need the package to be imported first
            sys.modules.pop(NATIVE, None)
    import importlib

    return importlib.import_module(NATIVE)


def answer(module: Any, content: bytes) -> bytes:
    """Compute the answer to a request; both are contents of frames."""
    seconds, memory, kind, *arguments = marshal.loads(content)
    _limit(seconds, memory)
    try:
        results = [FINE, *_infer(module, kind, arguments)]
    except MemoryError:
        results = [MEMORY]
    # onnx raises RuntimeError, ValueError, IndexError, its own types, ...
    except Exception as error:
        results = [OBJECTION, str(error).encode("utf-8", "backslashreplace")]
    _unlimit()
    return pack(results)


def _infer(module: Any, kind: str, arguments: list[Any]) -> list[bytes]:
    if kind == "model":
        (data,) = arguments
        # `onnx.checker.check_model(full_check=True)` makes the same call.
        module.shape_inference.infer_shapes(data, True, True, False)
        return []
    if kind == "body":
        operator, version, node, given = arguments
        schema = module.defs.get_schema(*operator)
        return [schema.get_context_dependent_function_with_opset_version(version, node, given)]
    operator, node, types, constants, opsets, version = arguments
    try:
        schema = module.defs.get_schema(*operator)
    except module.defs.SchemaError:  # Python code registered it in the parent: infer no types
        return []
    inferred = schema._infer_node_outputs(node, types, constants, {}, opsets, version)
    return [part for name, type in inferred.items() for part in (name.encode(), type)]


# ---- Messages ---------------------------------------------------------------------------------


def make_frame(content: bytes) -> bytes:
    """Return the frame of a message: the length of `content`, then `content`."""
    return len(content).to_bytes(_HEAD, "little") + content


def pack(parts: Iterable[bytes]) -> bytes:
    """Join byte strings to one byte string, which `unpack` can split again."""
    return b"".join([make_frame(part) for part in parts])


def unpack(content: bytes) -> list[bytes]:
    """Return the byte strings that `pack` has joined.

    Raises:
        ValueError: the content ends within a byte string.
    """
    parts = []
    offset = 0
    while offset < len(content):
        end = offset + _HEAD + int.from_bytes(content[offset : offset + _HEAD], "little")
        if end > len(content):
            raise ValueError("the answer is damaged")
        parts.append(content[offset + _HEAD : end])
        offset = end
    return parts


def write_all(fd: int, data: bytes) -> None:
    """Write all bytes to a pipe.

    Raises:
        OSError: the reader has closed the pipe.
    """
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def read_frame(fd: int, wait: Callable[[], None]) -> bytes:
    """Read the next frame and return its content.

    `wait` is called before each read, to wait for data.

    Raises:
        EOFError: the writer has closed the pipe.
    """

    def read(size: int) -> bytes:
        parts = []
        while size > 0:
            wait()
            part = os.read(fd, min(size, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    return read(int.from_bytes(read(_HEAD), "little"))


def _receive() -> bytes | None:
    """Return the content of the next frame; None if the pipe is closed or idle for too long."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(0, select.POLLIN)
        if not poll.poll(_IDLE):
            return None
    try:
        return read_frame(0, lambda: None)
    except EOFError:
        return None


# ---- Limits -----------------------------------------------------------------------------------


def _prepare() -> None:
    """Ignore Ctrl-C, reset other signals, and prevent core dumps and error dialogs.

    Also make standard error non-blocking and, on Windows, the pipes binary.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and kills the child
    if hasattr(os, "set_blocking"):  # onnx must not block if the error pipe is full
        os.set_blocking(2, False)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.SetErrorMode(msvcrt.SEM_FAILCRITICALERRORS | msvcrt.SEM_NOGPFAULTERRORBOX)
        for fd in (0, 1):
            msvcrt.setmode(fd, os.O_BINARY)
        return
    # A limit of 1 byte, not 0: with 0, Linux would still pipe core dumps to a crash reporter.
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (min(1, hard) if hard >= 0 else 1, hard))
    for signal_number in (signal.SIGTERM, signal.SIGPROF, signal.SIGIO, signal.SIGPIPE):
        signal.signal(signal_number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal_number})


def _limit(seconds: float, memory: int) -> None:
    """Limit the processor time and memory of a request; end this process when its parent ends."""
    if sys.platform == "win32":
        # The parent enforces the limits. This timer ends the process if the parent was killed. It
        # works even while native code holds the GIL.
        faulthandler.dump_traceback_later(10 * seconds + ORPHANED, exit=True, file=2)
        return
    _limit_memory(memory)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    # Native code does not notice a closed pipe: let the kernel send SIGIO.
    _notify(os.O_ASYNC)
    poll = select.poll()
    poll.register(0, 0)
    if poll.poll(0):  # the pipe is already closed
        os._exit(0)


def _unlimit() -> None:
    if sys.platform == "win32":
        faulthandler.cancel_dump_traceback_later()
        return
    signal.setitimer(signal.ITIMER_PROF, 0)
    _notify(0)


def _notify(flag: int) -> None:
    """Turn SIGIO for a closed pipe on (`flag` is `os.O_ASYNC`) or off (`flag` is 0)."""
    try:
        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(0, fcntl.F_GETFL) & ~os.O_ASYNC
        fcntl.fcntl(0, fcntl.F_SETFL, flags | flag)
    except OSError:  # unsupported for pipes: then only the time limit ends the process
        return


def _limit_memory(extra: int) -> None:
    """On Linux, limit the address space to its current size plus `extra` bytes."""
    try:
        statm = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:  # not Linux: the parent limits the memory
        return
    used = int(os.read(statm, 100).split()[0]) * resource.getpagesize()
    os.close(statm)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = used + extra
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
