# SPDX-License-Identifier: Apache-2.0
"""Render a diff as a summary of counts."""

from __future__ import annotations

from collections import Counter

from onnxtext.diff.render.hunks import VERDICTS
from onnxtext.diff.result import ModelDiff

ACTIONS = ("added", "removed", "changed", "moved", "renamed")


def counts(diff: ModelDiff) -> dict[str, Counter[str]]:
    """Count the actions by kind of item."""
    made: dict[str, Counter[str]] = {}
    for item in diff.items:
        for action in item.actions:
            made.setdefault(item.kind, Counter())[action] += 1
    for rename in diff.renames:
        made.setdefault(rename.kind, Counter())["renamed"] += 1
    return made


def render(diff: ModelDiff) -> str:
    """Return a line for each kind, and the verdict; "" for equal models."""
    if not diff.differs:
        return ""
    found = counts(diff)
    width = max(map(len, found), default=0)
    lines = [
        f" {kind:<{width}} | "
        + ", ".join([f"{number[action]:,} {action}" for action in ACTIONS if number[action]])
        for kind, number in found.items()
    ]
    lines += [
        f" {stored.what}: {stored.old} → {stored.new}, {stored.count:,} ×" for stored in diff.stored
    ]
    return "\n".join([*lines, f" {VERDICTS[diff.verdict]}"]) + "\n"
