# SPDX-License-Identifier: Apache-2.0
"""Compare weights through a store with `sha256sum` and `cp` of the same file.

    python -m benchmarks.weights [--bytes N] [--rounds N] [--directory DIR]

A model of N bytes of random float32 in 24 layers (1 GiB by default; less, with a notice, if the
disk has not six times as much free) is printed with `--weights store` and encoded again, each in a
new process, and the bytes are compared. The minimum of the rounds counts. Everything is measured in
one run, because the load of the machine varies. Memory is the peak resident size (`ru_maxrss`),
mapped files included.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

TARGETS = {"from-binary": 2.0, "to-binary": 2.5}
"""Maximum ratio to the time of `sha256sum` and `cp` together."""

_COMMAND = (sys.executable, "-m", "onnxtext")


@dataclass(frozen=True, slots=True)
class Run:
    """The time and memory of a process.

    Attributes:
        seconds: wall time.
        peak: peak resident memory, in bytes.
    """

    seconds: float
    peak: int


def run(command: Sequence[str | Path]) -> Run:
    """Run a process; return its time and memory.

    Raises:
        SystemExit: the process fails.
    """
    start = time.perf_counter()
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {command}")
    return Run(seconds, used.ru_maxrss * 1024)


def measure(work: Path, rounds: int) -> dict[str, Run]:
    """Measure all commands on `m.onnx` in a directory.

    Returns:
        For each command, the minimum time and the maximum memory of all rounds.

    Raises:
        SystemExit: a command fails, or the round trip changes the bytes.
    """
    source, text, back = work / "m.onnx", work / "m.onnxtxt", work / "back.onnx"
    steps: dict[str, Callable[[], Run]] = {
        "sha256sum": lambda: run(["sha256sum", source]),
        "cp": lambda: run(["cp", source, work / "copy.onnx"]),
        "cp and sync": lambda: run(
            ["sh", "-c", f"cp '{source}' '{work}/copy.onnx' && sync '{work}/copy.onnx'"]
        ),
        "from-binary": lambda: run([*_COMMAND, "from-binary", "--weights", "store", source]),
        "to-binary": lambda: run([*_COMMAND, "to-binary", text, "-o", back]),
    }
    best: dict[str, Run] = {}
    for _ in range(rounds):
        for path in (text, back, work / "copy.onnx"):
            path.unlink(missing_ok=True)
        shutil.rmtree(work / "m.weights", ignore_errors=True)
        for name, step in steps.items():
            if name.startswith("cp"):
                (work / "copy.onnx").unlink(missing_ok=True)
            os.sync()  # so that no command waits for the output of others
            made = step()
            known = best.get(name)
            if known is None or made.seconds < known.seconds:
                best[name] = Run(made.seconds, max(made.peak, known.peak if known else 0))
            else:
                best[name] = Run(known.seconds, max(made.peak, known.peak))
        if not filecmp.cmp(source, back, shallow=False):
            raise SystemExit("the round trip changed the bytes")
    return best


def report(size: int, text_size: int, best: dict[str, Run]) -> str:
    """Format the figures as a table."""
    base = best["sha256sum"].seconds + best["cp"].seconds
    synced = best["sha256sum"].seconds + best["cp and sync"].seconds
    lines = [f"{size:,} bytes; a text of {text_size:,} bytes", ""]
    lines.append(
        f"{'':14}{'seconds':>9}{'x (sha256sum + cp)':>20}{'x with sync':>13}{'peak / size':>13}"
    )
    for name, made in best.items():
        peak = (made.peak - 150e6) / size
        row = (
            f"{name:14}{made.seconds:9.2f}{made.seconds / base:20.2f}{made.seconds / synced:13.2f}"
        )
        if name in TARGETS:
            row += f"{made.peak / size:13.2f}  target {TARGETS[name]} and 1.3 + 150 MB ({peak:.2f})"
        lines.append(row)
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--bytes", type=int, default=1 << 30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", type=Path, default=None)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.directory) as name:
        work = Path(name)
        free = shutil.disk_usage(work).free
        size = min(options.bytes, free // 6)
        if size < options.bytes:
            print(f"only {free:,} bytes are free: {size:,} bytes instead of {options.bytes:,}")
        made = [sys.executable, "-m", "benchmarks.weight_model", str(work / "m.onnx"), str(size)]
        subprocess.run(made, check=True)
        best = measure(work, options.rounds)
        print(report((work / "m.onnx").stat().st_size, (work / "m.onnxtxt").stat().st_size, best))


if __name__ == "__main__":
    main()
