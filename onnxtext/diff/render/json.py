# SPDX-License-Identifier: Apache-2.0
"""A diff as JSON, for programs; the schema is described in `docs/diff.md`."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import isfinite
from typing import Any

from onnxtext.diff.model import ModelDiff

VERSION = 1
"""Of the schema; it changes when a field changes its meaning or goes away."""


def render(diff: ModelDiff) -> str:
    """One JSON object, with a final newline."""
    made = {
        "version": VERSION,
        "old": diff.old_label,
        "new": diff.new_label,
        "verdict": diff.verdict,
        "items": [_item(asdict(item)) for item in diff.items],
        "renames": [asdict(rename) for rename in diff.renames],
        "stored": [asdict(stored) for stored in diff.stored],
        "notes": list(diff.notes),
    }
    return json.dumps(made, indent=2, allow_nan=False) + "\n"


def _item(item: dict[str, Any]) -> dict[str, Any]:
    for change in item["fields"]:
        weights = change["weights"]
        if weights is None:
            continue
        for name in ("max_abs", "mean_abs"):
            number = weights[name]
            if number is not None and not isfinite(number):
                weights[name] = str(number)  # JSON has no infinities
    return item
