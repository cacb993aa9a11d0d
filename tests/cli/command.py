# SPDX-License-Identifier: Apache-2.0
"""Run the command line as a process on real files.

A new process takes up to 0.3 s to import its modules. So where possible, `run` forks a process that
has already imported them. The start of a process (imports, variables that it reads then) is tested
with `run(…, fresh=True)` and `onnxtext_command`.
"""

from __future__ import annotations

import atexit
import json
import os
import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import onnxtext

TEXT = """\
<
  onnxtext: 1,
  ir_version: 10,
  opset_import: [20],
>
g (float[N] x) => (float[N] y) {
  y = Relu (x)
}
"""
OTHER_TEXT = TEXT.replace("Relu", "Tanh")
BAD_TEXT = TEXT.replace("Relu (x)", "Relu (x")
PATIENCE = 300
"""Seconds after which a command is killed: it hangs, even if the machine is busy."""
NO_MODEL = b"\x0b\x0b\x0b"


@cache
def binary(text: str = TEXT) -> bytes:
    """Return the binary model of a text, by default of `TEXT`."""
    return onnxtext.to_binary(text)


@dataclass(frozen=True)
class Result:
    """The result of a process: its standard output as bytes, its standard error as text."""

    status: int
    out: bytes
    err: str

    def findings(self) -> list[dict[str, Any]]:
        """Return the findings that `--output-format json` wrote to standard error."""
        found: list[dict[str, Any]] = json.loads(self.err)
        return found


def environment(**changes: str) -> dict[str, str]:
    """Return an environment without settings of the developer's shell."""
    unwanted = ("NO_COLOR", "ONNXTEXT_DEBUG", "PYTHONWARNINGS", "COLUMNS", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {**kept, "TERM": "xterm", "LC_ALL": "C.UTF-8", **changes}


def onnxtext_command(*arguments: str | Path) -> list[str]:
    """Return the command line of `onnxtext` as a list."""
    return [sys.executable, "-m", "onnxtext", *map(str, arguments)]


def run(
    *arguments: str | Path,
    cwd: Path | None = None,
    stdin: bytes = b"",
    env: dict[str, str] | None = None,
    before: Callable[[], None] | None = None,
    fresh: bool = False,
) -> Result:
    """Run `onnxtext` with these arguments.

    Args:
        cwd: its directory.
        stdin: its standard input.
        env: its environment variables.
        before: called in the new process before the command starts.
        fresh: start a new interpreter in any case.
    """
    env = env or environment()
    usual = _read_at_start(env) == _read_at_start(environment())
    if before is None and not fresh and usual and CAN_FORK:
        return _server_for(env, *arguments[:1]).run(arguments, cwd or Path.cwd(), stdin, env)
    return run_command(onnxtext_command(*arguments), cwd, stdin, env, before)


def write_tool(directory: Path, env: dict[str, str]) -> None:
    """Write a program `onnxtext` for shells that run with this environment.

    Like `run`, it forks a process where it can.
    """
    directory.mkdir(exist_ok=True)
    _write_program(directory / "onnxtext", f'exec {_client(env)} "$@"')


def write_python(path: Path, env: dict[str, str]) -> None:
    """Write a program that runs Python; for `-I -m onnxtext`, it does the same as `write_tool`."""
    command = f'[ "$1 $2 $3" != "-I -m onnxtext" ] || {{ shift 3; exec {_client(env)} "$@"; }}'
    _write_program(path, f'{command}\nexec {shlex.quote(sys.executable)} "$@"')


def _client(env: dict[str, str]) -> str:
    """Return the command line that runs `onnxtext` for a shell with this environment."""
    if not CAN_FORK:
        return shlex.join(onnxtext_command())
    client = str(Path(__file__).with_name("command_client.py"))
    return shlex.join([sys.executable, "-I", "-S", client, _server_for(env).address])


def _write_program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


CAN_FORK = sys.platform == "linux"


def _read_at_start(env: dict[str, str]) -> dict[str, str]:
    """Return the variables that the interpreter or our modules read when they start."""
    start = ("PYTHON", "LC_", "LANG", "ONNXTEXT_CORE", "COVERAGE_", "OPENBLAS_")
    return {name: value for name, value in env.items() if name.startswith(start)}


class _Server:
    """A process that runs `command_server.py`, which forks a process for each command."""

    def __init__(self, variables: dict[str, str], *options: str) -> None:
        usual = environment()
        env = {name: usual[name] for name in usual.keys() - _read_at_start(usual).keys()}
        env |= variables
        kind = socket.AF_UNIX, socket.SOCK_SEQPACKET
        program = Path(__file__).with_name("command_server.py")
        with socket.socket(*kind) as listener:
            listener.bind("")  # the system chooses an abstract name
            listener.listen()
            self.address = listener.getsockname()[1:].decode()
            # The process ends when its input is closed. Its streams are pipes, because Python opens
            # terminals and files differently.
            self._process = subprocess.Popen(
                [sys.executable, program, str(listener.fileno()), *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=env,
                pass_fds=[listener.fileno()],
            )
        self._socket = socket.socket(*kind)
        self._socket.connect(f"\0{self.address}")
        self._lock = threading.Lock()
        atexit.register(self._close)

    def _close(self) -> None:
        self._socket.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._process.wait()

    def run(
        self, arguments: tuple[str | Path, ...], cwd: Path, stdin: bytes, env: dict[str, str]
    ) -> Result:
        """Run a command; wait first for the commands of other threads."""
        request = {
            "arguments": list(map(str, arguments)),
            "cwd": str(cwd),
            "umask": _umask(),
            "environment": env,
        }
        pipes = [os.pipe() for _ in range(3)]
        (their_in, our_in), (our_out, their_out), (our_err, their_err) = pipes
        theirs = [their_in, their_out, their_err]
        with self._lock, ThreadPoolExecutor(3) as threads:
            with suppress(BrokenPipeError):  # `_receive` tells why the server ended
                socket.send_fds(self._socket, [json.dumps(request).encode()], theirs)
            for stream in theirs:
                os.close(stream)
            process = int(self._receive())
            timer = threading.Timer(PATIENCE, os.kill, (process, 9))
            timer.start()
            threads.submit(_write, our_in, stdin)
            out, err = threads.submit(_read, our_out), threads.submit(_read, our_err)
            status = int(self._receive())
            timer.cancel()
            return Result(os.waitstatus_to_exitcode(status), out.result(), err.result().decode())

    def _receive(self) -> bytes:
        answer = b""
        with suppress(ConnectionResetError):
            answer = self._socket.recv(100)
        if not answer:
            assert self._process.stderr is not None
            raise AssertionError(f"the server ended: {self._process.stderr.read().decode()}")
        return answer


def _server_for(env: dict[str, str], verb: str | Path = "") -> _Server:
    """Return the server of this process for an environment; a forked process starts its own.

    The verb `run` has a server that has imported numpy and onnx.
    """
    options = ("--engines",) if verb == "run" else ()
    return _server(os.getpid(), tuple(sorted(_read_at_start(env).items())), *options)


@cache
def _server(pid: int, variables: tuple[tuple[str, str], ...], *options: str) -> _Server:
    return _Server(dict(variables), *options)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _write(stream: int, data: bytes) -> None:
    with suppress(BrokenPipeError), open(stream, "wb", buffering=0) as file:
        while data:
            data = data[file.write(data) :]


def _read(stream: int) -> bytes:
    with open(stream, "rb") as file:
        return file.read()


# Root, also in CI, ignores the permissions of files unless it drops its capabilities.
WITHOUT_PRIVILEGES = """\
import ctypes
header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
assert ctypes.CDLL(None).capset(header, sets) == 0
"""


def run_unchecked(*arguments: str | Path, **options: Any) -> Result:
    """Run `onnxtext` without checks, for models that violate rules."""
    unchecked = ["--no-check"] if arguments[0] == "to-binary" else []
    return run(*arguments, *unchecked, **options)


def run_patched(patch: str, *arguments: str | Path, env: dict[str, str] | None = None) -> Result:
    """Run `onnxtext` in a process where some Python code was executed before."""
    code = f"{patch}\nfrom onnxtext.cli.main import main\nmain()"
    return run_command([sys.executable, "-c", code, *map(str, arguments)], env=env)


def run_command(
    command: list[str],
    cwd: Path | None = None,
    stdin: bytes = b"",
    env: dict[str, str] | None = None,
    before: Callable[[], None] | None = None,
) -> Result:
    """Run any command."""
    done = subprocess.run(
        command,
        cwd=cwd,
        input=stdin,
        env=env or environment(),
        capture_output=True,
        check=False,
        timeout=PATIENCE,
        preexec_fn=before,
    )
    return Result(done.returncode, done.stdout, done.stderr.decode())


def names(directory: Path) -> list[str]:
    """Return the names in a directory, including temporary files."""
    return sorted(entry.name for entry in directory.iterdir())
