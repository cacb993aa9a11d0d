# SPDX-License-Identifier: Apache-2.0
"""Render a diff as a summary of counts."""

from __future__ import annotations

from collections import Counter

from onnxtext.diagnostics.terminal_text import escape_controls
from onnxtext.differ.render.hunks import VERDICTS
from onnxtext.differ.result import ModelDiff, OperatorCount

ACTIONS = ("added", "removed", "changed", "moved", "renamed")


def count_items(diff: ModelDiff) -> dict[str, Counter[str]]:
    """Count the added, removed, changed, moved and renamed items of each kind."""
    result: dict[str, Counter[str]] = {}
    for item in diff.items:
        for action in item.actions:
            result.setdefault(item.kind, Counter())[action] += 1
    for rename in diff.renames:
        result.setdefault(rename.kind, Counter())["renamed"] += 1
    return result


def render(diff: ModelDiff) -> str:
    """Return counts of differing items, stored differences, a table of operators, and the verdict.

    Return "" if the models are equal and stored equally.
    """
    if not diff.differs:
        return ""
    counts = count_items(diff)
    width = max(map(len, counts), default=0)
    lines = [
        f" {kind:<{width}} | "
        + ", ".join([f"{by_action[action]:,} {action}" for action in ACTIONS if by_action[action]])
        for kind, by_action in counts.items()
    ]
    lines += [
        f" {stored.what}: {stored.old} → {stored.new}, {stored.count:,} ×" for stored in diff.stored
    ]
    lines += _operators(diff)
    return "\n".join([*lines, f" {VERDICTS[diff.verdict]}"]) + "\n"


def _operators(diff: ModelDiff) -> list[str]:
    """Return a table as lines: operators whose number of nodes differs, and totals; [] if none."""
    rows = [count for count in diff.operators if count.old != count.new]
    if not rows:
        return []
    total = OperatorCount(
        "all nodes", sum(c.old for c in diff.operators), sum(c.new for c in diff.operators)
    )
    cells = [
        (
            escape_controls(c.operator),
            f"{c.old:,}",
            f"{c.new:,}",
            f"{c.new - c.old:+,}" if c.new != c.old else "0",
        )
        for c in (*rows, total)
    ]
    cells.insert(0, ("operator", "before", "after", "difference"))
    widths = [max(len(row[column]) for row in cells) for column in range(4)]
    lines = []
    for name, *numbers in cells:
        columns = [f"{cell:>{width}}" for cell, width in zip(numbers, widths[1:], strict=True)]
        lines.append(" | ".join([f" {name:<{widths[0]}}", *columns]))
    return ["", *lines, ""]
