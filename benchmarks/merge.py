# SPDX-License-Identifier: Apache-2.0
"""Measure how many pairs of edits merge, and how fast: `python -m benchmarks.merge`.

Two people edit different layers of a shared model; their texts are merged by the merge driver and
by git's own line merge. The result is parsed and compared with the model after both edits.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import onnxtext
from benchmarks.merge_edits import KINDS, Pair, pairs
from benchmarks.real import DATA
from benchmarks.transformer import transformer
from onnxtext.merger import merge
from onnxtext.merger.conflict_markers import Markers
from onnxtext.merger.texts.text_merge import merge_lines

SEED = 8
LARGEST = 400_000
"""Models of more bytes are skipped: they are mostly weights, which are merged by digest."""


def shared_pairs(count: int, seed: int = SEED, directory: Path = DATA) -> Iterator[Pair]:
    """Yield up to `count` pairs of edits of the shared models, one model after the other."""
    entries = json.loads((directory / "models" / "index.json").read_text())
    files = [directory / entry["file"] for entry in entries]
    files = [file for file in files if file.stat().st_size <= LARGEST]
    made = 0
    for index in range(count):
        for file in files[index :: max(1, len(files) * 2 // count)] if index < 50 else ():
            for pair in pairs(file.name, file.read_bytes(), 1, seed + made):
                yield pair
                made += 1
                if made == count:
                    return


def verdict(pair: Pair, text: str, conflicts: int) -> str:
    """Return the outcome of a merge: `merged`, `conflict`, or `wrong`."""
    if conflicts:
        return "conflict"
    return "merged" if pair.is_met_by(text) else "wrong"


def ours(pair: Pair) -> str:
    """Return the outcome of the merge driver."""
    result = merge(pair.base.encode(), pair.ours.encode(), pair.theirs.encode())
    return verdict(pair, result.content.decode(), result.conflicts)


def by_lines(pair: Pair) -> str:
    """Return the outcome of git's line merge."""
    text, conflicts, by_git = merge_lines(pair.base, pair.ours, pair.theirs, Markers())
    assert by_git
    return verdict(pair, text, conflicts)


def large(count: int) -> tuple[bytes, bytes, bytes]:
    """Return base, ours and theirs: a transformer, and two texts of it with edits everywhere."""
    base = onnxtext.from_binary(b"".join(transformer(count)))
    one = base.replace("axis = -1", "axis = 1")
    lines = base.split("\n")
    two = "\n".join(
        [f"{line}  # {index}" if index % 50 == 0 else line for index, line in enumerate(lines)]
    )
    return base.encode(), one.encode(), two.encode()


def identical(count: int) -> tuple[bytes, bytes, bytes]:
    """Return base, ours and theirs: equal nodes, and one other node, whose place differs."""
    head = "<onnxtext: 1, ir_version: 10, opset_import: [20]>\ng (float x) => (float y) {\n"
    nodes = ["  = Foo (x)\n" for _ in range(count)]
    last = "  y = Bar (x)\n"
    texts = [[*nodes, last], [last, *nodes], [*nodes[::2], last, *nodes[1::2]]]
    made = [f"{head}{''.join(text)}}}\n".encode() for text in texts]
    return made[0], made[1], made[2]


def reordered(count: int) -> tuple[bytes, bytes, bytes]:
    """Return base, ours and theirs: the nodes are reversed in ours and rotated in theirs."""
    head = "<onnxtext: 1, ir_version: 10, opset_import: [20]>\ng (float x) => (float y0) {\n"
    nodes = [f"  y{index} = Foo (x)\n" for index in range(count)]
    half = count // 2
    texts = [nodes, nodes[::-1], [*nodes[half:], *nodes[:half]]]
    made = [f"{head}{''.join(text)}}}\n".encode() for text in texts]
    return made[0], made[1], made[2]


def all_renamed(count: int) -> tuple[bytes, bytes, bytes]:
    """Return base, ours and theirs: ours renames all values, theirs adds a user of each."""
    head = "<onnxtext: 1, ir_version: 10, opset_import: [20]>\ng (float x) => (float y0) {\n"
    nodes = [f"  y{index} = Foo (x)\n" for index in range(count)]
    names = [f"  {'z' if index else 'y'}{index} = Foo (x)\n" for index in range(count)]
    users = [f"  u{index} = Bar (y{index})\n" for index in range(count)]
    texts = [nodes, names, [*nodes, *users]]
    made = [f"{head}{''.join(text)}}}\n".encode() for text in texts]
    return made[0], made[1], made[2]


SPEED = (
    ("20,000 nodes, edited all over", large),
    ("20,000 nodes that are all alike, in another order", identical),
    ("20,000 nodes, both sides in another order", reordered),
    ("20,000 values, all renamed and all used anew", all_renamed),
)


def main(arguments: list[str] | None = None) -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.merge", description=__doc__)
    parser.add_argument("--pairs", type=int, default=200, metavar="N", help="how many (200)")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--speed", action="store_true", help="measure the speed only")
    options = parser.parse_args(arguments)
    wrong = 0 if options.speed else _count(options.pairs, options.seed)
    for name, make in SPEED:
        texts = make(20_000)
        start = time.process_time()
        result = merge(*texts)
        took = time.process_time() - start
        print(f"{name}: {took:.1f} s of the processor, {result.conflicts} conflicts")
    return int(bool(wrong))


def _count(count: int, seed: int) -> int:
    """Count and print outcomes; return how many pairs the driver does not merge as expected."""
    found: dict[str, Counter[str]] = {kind: Counter() for kind in (*KINDS, "all")}
    for pair in shared_pairs(count, seed):
        mine, git = ours(pair), by_lines(pair)
        if mine != "merged":
            print(f"{mine}: {pair.kind}: {pair.name}", file=sys.stderr)
        for kind in (pair.kind, "all"):
            found[kind].update([f"onnxtext {mine}", f"git {git}", "pairs"])
    print("pairs of edits to different layers of the shared models\n")
    print("| edits | pairs | onnxtext merges | git merge-file merges | and gives another model |")
    print("| --- | --- | --- | --- | --- |")
    for kind, counts in found.items():
        print(
            f"| {kind} | {counts['pairs']} | {counts['onnxtext merged']} | {counts['git merged']} "
            f"| {counts['git wrong']} |"
        )
    print()
    return found["all"]["pairs"] - found["all"]["onnxtext merged"]


if __name__ == "__main__":
    sys.exit(main())
