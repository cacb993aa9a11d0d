# SPDX-License-Identifier: Apache-2.0
"""Render a diff as JSON; `docs/diff.md` describes the schema."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import isfinite
from typing import Any

from onnxtext.differ.result import ModelDiff

VERSION = 1
"""Version of the schema; it changes when the meaning of a field changes or a field is removed."""


def render(diff: ModelDiff) -> str:
    """Return the diff as a JSON object, with a final newline."""
    result = {
        "version": VERSION,
        "old": diff.old_label,
        "new": diff.new_label,
        "verdict": diff.verdict,
        "items": [_item(asdict(item)) for item in diff.items],
        "renames": [asdict(rename) for rename in diff.renames],
        "stored": [asdict(stored) for stored in diff.stored],
        "notes": list(diff.notes),
        "operators": [asdict(count) for count in diff.operators],
        "groups": _groups(diff),
    }
    return json.dumps(result, indent=2, allow_nan=False) + "\n"


def _groups(diff: ModelDiff) -> list[dict[str, Any]]:
    """Return the groups; each occurrence is a list of indices of items."""
    numbers = {item.key: index for index, item in enumerate(diff.items)}
    result = []
    for group in diff.groups:
        occurrences = [
            [numbers[key] for key in occurrence if key in numbers]
            for occurrence in group.occurrences
        ]
        occurrences = [occurrence for occurrence in occurrences if occurrence]
        if occurrences:
            result.append({"title": group.title, "occurrences": occurrences})
    return result


def _item(item: dict[str, Any]) -> dict[str, Any]:
    for change in item["fields"]:
        weights = change["weights"]
        if weights is None:
            continue
        for name in ("max_abs", "mean_abs"):
            difference = weights[name]
            if difference is not None and not isfinite(difference):
                weights[name] = str(difference)  # JSON has no infinities
    return item
