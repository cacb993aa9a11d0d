# SPDX-License-Identifier: Apache-2.0
"""How long checking takes beside `onnx.checker.check_model(full_check=True)`, in one run.

    python -m benchmarks.check [NODES…]                 default: 20000 200000
    python -m benchmarks.check --variants [NODES…]      default: 20000; models of other kinds too

Both check the same valid model, in turns; a figure is the least of all rounds, in seconds of the
processor's time (others may use the machine), child processes included. `tree` is checking the
syntax tree, `bytes` is with lifting the binary to it, which proves that nothing is lost; `text`
with parsing, and with encoding it, which proves that it can be. The official checker gets the
bytes, and reads no text.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import onnx.checker

import onnxtext
from benchmarks.check_models import VARIANTS
from onnxtext.ast import Model
from onnxtext.checker.engine.run import check_tree
from onnxtext.proto.decode.lift import lift_model

ROUNDS = 9
LARGE = 50_000


def tasks(data: bytes) -> dict[str, Callable[[], object]]:
    """What is timed, by its name; each checks the same model."""
    tree = lift_model(data)
    text = onnxtext.from_binary(data)
    return {
        "official": partial(onnx.checker.check_model, data, full_check=True),
        "tree": partial(check, tree, data),
        "bytes": partial(onnxtext.check, data),
        "text": partial(onnxtext.check, text),
    }


def used() -> float:
    """Return the seconds of processor time of this process and its children so far."""
    tasks = Path("/proc/self/task").glob("*/children")
    children = [pid for task in tasks for pid in task.read_text().split()]
    nanoseconds = [Path(f"/proc/{pid}/schedstat").read_text().split()[0] for pid in children]
    return time.process_time() + sum(map(int, nanoseconds)) / 1e9


def check(tree: Model, data: bytes) -> object:
    """Check a syntax tree."""
    return check_tree(tree, encoded=lambda: data)


def measure(make: Callable[[int], bytes], count: int) -> dict[str, float]:
    """Seconds of processor time of each task on a model of so many nodes."""
    timed = tasks(make(count))
    best = dict.fromkeys(timed, float("inf"))
    for _ in range(ROUNDS if count < LARGE else 3):
        for name, task in timed.items():
            start = used()
            found = task()
            best[name] = min(best[name], used() - start)
            assert not found, found
    return best


def main(counts: list[int], variants: list[str]) -> None:
    """Measure, and print a table for each variant and size."""
    for variant in variants:
        before: dict[str, float] = {}
        for count in counts:
            best = measure(VARIANTS[variant], count)
            print(f"{variant}: {count:,} nodes", flush=True)
            for name, seconds in best.items():
                ratio = seconds / best["official"]
                growth = f"  {seconds / before[name]:5.1f} × before" if before else ""
                print(f"  {name:8} {seconds * 1000:9,.0f} ms  × {ratio:4.2f}{growth}", flush=True)
            before = best


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How long checking takes.")
    parser.add_argument("counts", metavar="NODES", type=int, nargs="*", help="of how many nodes")
    parser.add_argument("--variants", action="store_true", help="models of other kinds too")
    parser.add_argument("--only", choices=VARIANTS, help="models of this kind")
    options = parser.parse_args()
    if options.variants or options.only:
        main(options.counts or [20_000], [options.only] if options.only else [*VARIANTS])
    else:
        main(options.counts or [20_000, 200_000], ["layers"])
