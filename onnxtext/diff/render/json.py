# SPDX-License-Identifier: Apache-2.0
"""Render a diff as JSON; `docs/diff.md` describes the schema."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import isfinite
from typing import Any

from onnxtext.diff.result import ModelDiff

VERSION = 1
"""Version of the schema; it changes when the meaning of a field changes or a field is removed."""


def render(diff: ModelDiff) -> str:
    """Return one JSON object with a final newline."""
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
