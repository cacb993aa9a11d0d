# SPDX-License-Identifier: Apache-2.0
"""Run the command line as a process on real files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
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
NO_MODEL = b"\x0b\x0b\x0b"


@cache
def binary(text: str = TEXT) -> bytes:
    """The model of the text above."""
    return onnxtext.to_binary(text)


@dataclass(frozen=True)
class Result:
    """The result of a process."""

    status: int
    out: bytes
    err: str

    def findings(self) -> list[dict[str, Any]]:
        """Standard error of `--output-format json`."""
        found: list[dict[str, Any]] = json.loads(self.err)
        return found


def environment(**changes: str) -> dict[str, str]:
    """Return an environment without settings of the developer's shell."""
    unwanted = ("NO_COLOR", "ONNXTEXT_DEBUG", "PYTHONWARNINGS", "COLUMNS", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {**kept, "TERM": "xterm", **changes}


def onnxtext_command(*arguments: str | Path) -> list[str]:
    """Return the command line of `onnxtext` as a list."""
    return [sys.executable, "-m", "onnxtext", *map(str, arguments)]


def run(
    *arguments: str | Path,
    cwd: Path | None = None,
    stdin: bytes = b"",
    env: dict[str, str] | None = None,
    before: Callable[[], None] | None = None,
) -> Result:
    """Run `onnxtext` with these arguments."""
    return run_command(onnxtext_command(*arguments), cwd, stdin, env, before)


# Root may do everything, even in CI: without capabilities it is a user like any other.
WITHOUT_PRIVILEGES = """\
import ctypes
header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
assert ctypes.CDLL(None).capset(header, sets) == 0
"""


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
        timeout=60,
        preexec_fn=before,
    )
    return Result(done.returncode, done.stdout, done.stderr.decode())


def names(directory: Path) -> list[str]:
    """Return the names in a directory, including temporary files."""
    return sorted(entry.name for entry in directory.iterdir())
