# SPDX-License-Identifier: Apache-2.0
"""Compare the conversion of single constructs with that of the official printer and parser.

    python -m benchmarks.constructs [--count N] [--rounds N] [--only PATTERN]

Prints three Markdown tables, those of docs/performance.md: our time divided by the official time,
for models of N constructs of one kind; our time for a model of 10,000 nodes with one rare item,
divided by our time without it; and our time for one item that the official text lacks.

Each call runs once without being measured, then once per round, alternating with the others. The
minimum of the processor times counts. Exits with 1 if a conversion loses a byte.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from functools import partial
from typing import Any

from onnx import ModelProto
from onnx.parser import ParseError

from benchmarks.construct_models import CONSTRUCTS, ITEMS, RARE_ITEMS, plain_nodes
from benchmarks.peers import official, ours

_NONE = "–"
"""The cell of a ratio for which the official tools have no figure."""


def fastest(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the minimum of the processor time of each call, in seconds."""
    best = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            gc.collect()
            start = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - start)
    return best


def our_conversions(model: ModelProto) -> dict[str, Callable[[], Any]]:
    """Return our conversions to text and back, as functions without parameters.

    Raises:
        SystemExit: the conversion loses a byte.
    """
    data = model.SerializeToString(deterministic=True)
    text = ours.to_text(data, "section")
    if ours.to_binary(text) != data:
        raise SystemExit("a conversion lost bytes")
    return {
        "to text": partial(ours.to_text, data, "section"),
        "back": partial(ours.to_binary, text),
    }


def construct_row(model: ModelProto, rounds: int) -> list[str]:
    """Return the ratios of our times to the official times: to text, back, from official text."""
    data = model.SerializeToString(deterministic=True)
    text = official.to_text(data, "section")
    calls = our_conversions(model)
    calls["official to text"] = partial(official.to_text, data, "section")
    try:
        official.to_binary(text)
    except ParseError:  # the official parser does not read what the printer wrote
        found = fastest(calls, rounds)
        return [_ratio(found["to text"], found["official to text"]), _NONE, _NONE]
    calls["from official text"] = partial(ours.to_binary, text)
    calls["official back"] = partial(official.to_binary, text)
    found = fastest(calls, rounds)
    return [
        _ratio(found["to text"], found["official to text"]),
        _ratio(found["back"], found["official back"]),
        _ratio(found["from official text"], found["official back"]),
    ]


def rare_row(edit: Callable[[ModelProto], None], rounds: int) -> list[str]:
    """Return the factors by which one item slows the conversion of a model down."""
    before, after = _before_and_after(plain_nodes(typed=True), edit, rounds)
    return [_ratio(after[name], before[name]) for name in before]


def item_row(edit: Callable[[ModelProto], None], count: int, rounds: int) -> list[str]:
    """Return the time for one item to text and back, in µs."""
    before, after = _before_and_after(plain_nodes(count, typed=True), edit, rounds)
    return [f"{(after[name] - before[name]) / count * 1e6:.1f}" for name in before]


def _before_and_after(
    model: ModelProto, edit: Callable[[ModelProto], None], rounds: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the times of our conversions of a model before and after an edit."""
    before = our_conversions(model)
    edit(model)
    after = {f"edited {name}": call for name, call in our_conversions(model).items()}
    found = fastest(before | after, rounds)
    return {name: found[name] for name in before}, {
        name: found[f"edited {name}"] for name in before
    }


def _ratio(one: float, other: float) -> str:
    return f"{one / other:.2f}"


def _table(headings: Sequence[str], rows: Iterator[list[str]]) -> None:
    print(f"| {' | '.join(headings)} |\n|{' --- |' * len(headings)}")
    for cells in rows:
        print(f"| {' | '.join(cells)} |", flush=True)
    print()


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--count", type=int, default=3_000, help="constructs per model (3000)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of measurement (7)")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="only rows with such names")
    options = parser.parse_args()

    def rows(table: dict[str, Any], row: Callable[[Any], list[str]]) -> Iterator[list[str]]:
        for name, entry in table.items():
            if fnmatch(name, options.only):
                yield [name, *row(entry)]

    count, rounds = options.count, options.rounds
    _table(
        ["construct", "to text", "back", "from official text"],
        rows(CONSTRUCTS, lambda made: construct_row(made(count), rounds)),
    )
    _table(["one item", "to text", "back"], rows(RARE_ITEMS, partial(rare_row, rounds=rounds)))
    _table(
        ["item, µs", "to text", "back"], rows(ITEMS, partial(item_row, count=count, rounds=rounds))
    )


if __name__ == "__main__":
    main()
