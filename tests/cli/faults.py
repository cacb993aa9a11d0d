# SPDX-License-Identifier: Apache-2.0
"""Run a command once for each of its file operations; the operation fails or kills the command.

    python -m tests.cli.faults DIRECTORY KIND,... ARGUMENT...

DIRECTORY has the files that each run starts with, KIND is the name of an error or signal. The
results of all runs are printed as JSON. `test_faults.py` starts this program, which imports
everything once and forks a child for each run.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

EVENTS = (
    "open", "os.rename", "os.remove", "os.mkdir", "os.chmod", "os.chown", "os.utime", "os.scandir",
    "os.listdir", "mmap.__new__", "fsync", "opened",
)  # fmt: skip
"""Events of file operations that can fail; `fsync` and `opened` are added to Python's own."""


def fault(kind: str) -> None:
    """Raise an error instead of a file operation, or send a signal right before it."""
    number = getattr(errno, kind, None)
    if number is not None:
        raise OSError(number, os.strerror(number))
    os.kill(os.getpid(), getattr(signal, kind))


def watch(directory: Path, happens: Callable[[], None]) -> None:
    """Call a function before each file operation below a directory."""
    busy = False

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal busy
        path = arguments[0] if arguments else None
        relevant = isinstance(path, str) and (
            not Path(path).is_absolute() or Path(path).is_relative_to(directory)
        )
        if busy or event not in EVENTS or not (relevant or event == "mmap.__new__"):
            return
        busy = True
        try:
            happens()
        finally:
            busy = False

    def fsync(descriptor: int) -> None:
        hook("fsync", ("",))
        synchronize(descriptor)

    def opened(path: Any, *options: Any) -> int:
        descriptor = open_file(path, *options)
        hook("opened", (os.fspath(path),))  # now the file is there
        return descriptor

    synchronize, os.fsync = os.fsync, fsync  # type: ignore[assignment]
    open_file, os.open = os.open, opened  # type: ignore[assignment]
    sys.addaudithook(hook)


def attempt(directory: Path, arguments: list[str], kind: str, number: int) -> dict[str, Any]:
    """Run the command with a fault in the file operation of this 1-based number."""
    child = os.fork()
    if child == 0:
        os.chdir(directory)
        os.dup2(os.open("../out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(os.open("../err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        counter = itertools.count(1)

        def happens() -> None:
            if next(counter) == number:
                Path("../fired").touch()
                fault(kind)

        watch(directory, happens)
        sys.argv = ["onnxtext", *arguments]
        run_command()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    fired = directory.parent / "fired"
    there = fired.exists()
    fired.unlink(missing_ok=True)
    stderr = (directory.parent / "err").read_text("utf-8", "replace")
    return {"kind": kind, "at": number, "fired": there, "status": status, "stderr": stderr,
            "files": digests(directory)}  # fmt: skip


def digests(directory: Path) -> dict[str, str]:
    """Return the digests of all files in a directory, by their paths."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in directory.rglob("*")
        if path.is_file()
    }


def run_command() -> None:
    """Run the command in this process until it ends."""
    from onnxtext.cli.main import main

    status: Any = 99
    try:
        main()
    except SystemExit as error:
        status = error.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def sweep(source: Path, kinds: list[str], arguments: list[str]) -> list[dict[str, Any]]:
    """Return all runs, the first one without a fault; repeat a run if it leaves other files."""
    directory = source.parent / "work"

    def fresh() -> None:
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(source, directory)

    fresh()
    runs = [attempt(directory, arguments, "", 0)]
    for kind in kinds:
        for number in itertools.count(1):
            fresh()
            result = attempt(directory, arguments, kind, number)
            if not result["fired"]:
                break
            runs.append(result)
            if result["files"] != runs[0]["files"]:
                result["again"] = attempt(directory, arguments, "", 0)
    return runs


if __name__ == "__main__":
    import numpy as np  # noqa: F401  # imported before the forks

    import onnxtext
    from onnxtext.cli.commands import fmt, from_binary, merge, to_binary, weights  # noqa: F401

    onnxtext.format_text(onnxtext.from_binary(onnxtext.to_binary("g () => () {}")))
    json.dump(sweep(Path(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:]), sys.stdout)
