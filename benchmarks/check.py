# SPDX-License-Identifier: Apache-2.0
"""Compare the time of `onnxtext.check` with `onnx.checker.check_model(full_check=True)`.

    python -m benchmarks.check [NODES…]                 default: 20000 200000
    python -m benchmarks.check --variants [NODES…]      default: 20000; models of other kinds too

Both check the same valid model, alternating; a figure is the minimum processor time of all rounds,
child processes included. `tree` checks the syntax tree; `bytes` includes decoding the binary, which
verifies that nothing is lost; `text` includes parsing and encoding. The official checker gets the
bytes.
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
from onnxtext.checker.engine.check_tree import check_tree
from onnxtext.proto.decode.lift import lift_model

ROUNDS = 9
LARGE = 50_000


def tasks(data: bytes) -> dict[str, Callable[[], object]]:
    """Return the measured tasks by name; each checks the same model."""
    tree = lift_model(data)
    text = onnxtext.from_binary(data)
    return {
        "official": partial(onnx.checker.check_model, data, full_check=True),
        "tree": partial(check, tree, data),
        "bytes": partial(onnxtext.check, data),
        "text": partial(onnxtext.check, text),
    }


def used() -> float:
    """Return the processor time of this process and its children, in seconds."""
    tasks = Path("/proc/self/task").glob("*/children")
    children = [pid for task in tasks for pid in task.read_text().split()]
    nanoseconds = [Path(f"/proc/{pid}/schedstat").read_text().split()[0] for pid in children]
    return time.process_time() + sum(map(int, nanoseconds)) / 1e9


def check(tree: Model, data: bytes) -> object:
    """Check a syntax tree; `data` is its encoding."""
    return check_tree(tree, encoded=lambda: data)


def measure(make: Callable[[int], bytes], count: int) -> dict[str, float]:
    """Return the minimum processor time of each task on a model of `count` nodes."""
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
    parser = argparse.ArgumentParser(description="Measure the time of checking.")
    parser.add_argument("counts", metavar="NODES", type=int, nargs="*", help="the number of nodes")
    parser.add_argument("--variants", action="store_true", help="also other kinds of models")
    parser.add_argument("--only", choices=VARIANTS, help="only this kind of models")
    options = parser.parse_args()
    if options.variants or options.only:
        main(options.counts or [20_000], [options.only] if options.only else [*VARIANTS])
    else:
        main(options.counts or [20_000, 200_000], ["layers"])
