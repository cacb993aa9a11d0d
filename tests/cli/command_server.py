# SPDX-License-Identifier: Apache-2.0
"""Start commands by forking a process that has imported their modules: see `command.py`.

    python command_server.py SOCKET [--engines]

SOCKET is the file descriptor of a listening socket; the server ends when its standard input is
closed. With `--engines`, it also imports what each `run` of a model imports, which takes 0.1 s. A
request is a JSON object with the file descriptors of the standard streams; the responses are the
process id, then the wait status. Each connection has a process of its own.

The forked process behaves like a new process `python -m onnxtext`. Packages that the command line
imports late (numpy, onnx) are not imported, because commands test whether they are loaded.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import socket
import sys
from pathlib import Path

NOT_IMPORTED = ("onnxtext.lsp", "onnxtext.engines", "onnxtext.__main__")
"""Modules that are not imported in advance: few commands need them, or they run the program."""


def import_commands() -> None:
    """Import the modules of the command line, and load the tables of the parser."""
    import onnxtext

    root = Path(onnxtext.__file__).parent
    for file in sorted(root.rglob("*.py")):
        parts = [
            part for part in file.relative_to(root).with_suffix("").parts if part != "__init__"
        ]
        name = ".".join(["onnxtext", *parts])
        if not name.startswith(NOT_IMPORTED):
            try:
                importlib.import_module(name)
            except ImportError as error:
                if not (error.name or "").startswith("onnxtext._core"):
                    raise  # otherwise the native core is not compiled, and commands do without it
    onnxtext.parse("g () => () {}")  # each process would take 9 ms to load the tables
    late = {"numpy", "onnx", "google.protobuf"} & sys.modules.keys()
    assert not late, f"these change what a command does: {late}"


def accept(listener: socket.socket) -> socket.socket:
    """Fork a process for each connection; return the connection in the forked process."""
    children = 0
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:
            os._exit(0)
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            return connection
        connection.close()
        children += 1
        while children and os.waitpid(-1, os.WNOHANG)[0]:
            children -= 1


def serve(connection: socket.socket) -> None:
    """Fork a process for each request; return in the forked process, and exit at the end."""
    while True:
        message, streams, _, _ = socket.recv_fds(connection, 1 << 18, 3)
        if not message:
            os._exit(0)
        child = os.fork()
        if child == 0:
            connection.close()
            become(json.loads(message), streams)
            return
        for stream in streams:
            os.close(stream)
        connection.send(b"%d" % child)
        connection.send(b"%d" % os.waitpid(child, 0)[1])


def become(request: dict[str, object], streams: list[int]) -> None:
    """Set the streams, directory, environment and arguments of this process to those requested."""
    for index, stream in enumerate(streams):
        os.dup2(stream, index)
        os.close(stream)
    os.chdir(str(request["cwd"]))
    sys.path[0] = str(request["cwd"])
    os.umask(int(str(request["umask"])))
    environment = request["environment"]
    assert isinstance(environment, dict)
    os.environ.clear()
    os.environ.update(environment)
    arguments = request["arguments"]
    assert isinstance(arguments, list)
    sys.argv[1:] = arguments


def run_command() -> int:
    """Run the command; return the exit status of the process."""
    try:
        runpy.run_module("onnxtext", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


if __name__ == "__main__":
    import_commands()
    if "--engines" in sys.argv:
        os.environ["OPENBLAS_NUM_THREADS"] = "1"  # only a process without other threads may fork
        for name in ("numpy", "onnx", "onnxtext.engines"):
            importlib.import_module(name)
    gc.freeze()  # a collection would copy the memory that the processes share
    serve(accept(socket.socket(fileno=int(sys.argv[1]))))
    status = run_command()
    # End like the interpreter, but do not destroy all modules, which takes 30 ms.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    os._exit(status)
