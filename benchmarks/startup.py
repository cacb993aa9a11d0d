# SPDX-License-Identifier: Apache-2.0
"""Measure whole processes that do little: the overhead of a command."""

from __future__ import annotations

import compileall
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import onnxtext
from benchmarks.processes import python, run
from benchmarks.results import Row
from benchmarks.runner import Options
from benchmarks.workloads import WORK

NAME = "start-up"
ABOUT = "whole processes, on a model of one node"
REFERENCE = 'python -c "import onnx"'
_LEAST = 5
"""Minimum number of repetitions: start-up is short, so its measurement is noisy."""
_TINY = """\
<ir_version: 10, opset_import: [20]>
tiny (float[N, 4] x) => (float[N, 4] y) {
  y = Relu (x)
}
"""


def measure(options: Options, *, quick: bool = False) -> list[Row]:
    """Measure the start-up of our command line and of its dependencies."""
    WORK.mkdir(exist_ok=True)
    # Without this, `PYTHONDONTWRITEBYTECODE` makes every process compile all modules.
    compileall.compile_dir(Path(onnxtext.__file__).parent, quiet=1)
    with tempfile.TemporaryDirectory(prefix="results-", dir=WORK) as directory:
        text, binary = Path(directory, "tiny.onnxtxt"), Path(directory, "tiny.onnx")
        text.write_text(_TINY, encoding="utf-8")
        commands: dict[str, list[str | Path]] = {
            REFERENCE: python("-c", "import onnx"),
            'python -c ""': python("-c", ""),
            "onnxtext --help": _ours("--help"),
            "onnxtext to-binary tiny.onnxtxt -o -": _ours("to-binary", text, "-o", "-"),
            "onnxtext to-binary --no-check tiny.onnxtxt -o -": _ours(
                "to-binary", "--no-check", text, "-o", "-"
            ),
            "onnxtext check tiny.onnxtxt": _ours("check", text),
            "onnxtext check tiny.onnx": _ours("check", binary),
            "onnxtext from-binary tiny.onnx -o -": _ours("from-binary", binary, "-o", "-"),
        }
        run(_ours("to-binary", text, "-o", binary), timeout=options.timeout)
        rows = {name: Row(NAME, "process", name, REFERENCE) for name in commands}
        for _ in range(2 if quick else max(_LEAST, options.repeat)):
            for name, command in commands.items():
                if rows[name].failed is None:
                    options.say(name)
                    _run(rows[name], command, options)
    return list(rows.values())


def _ours(*arguments: str | Path) -> list[str | Path]:
    """Return our command, as installed beside this Python."""
    script = Path(sys.executable).parent / "onnxtext"
    return [script, *arguments] if script.exists() else python("-m", "onnxtext", *arguments)


def _run(row: Row, command: Sequence[str | Path], options: Options) -> None:
    finished = run(command, timeout=options.timeout)
    if finished.failed:
        row.failed = finished.failed
        return
    row.runs += 1
    row.seconds = min(finished.seconds, row.seconds or finished.seconds)
    if finished.peak is not None:
        row.peak = min(finished.peak, row.peak or finished.peak)
    row.size = len(finished.output)
