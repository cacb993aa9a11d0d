# SPDX-License-Identifier: Apache-2.0
"""Show the differences of two models on a page: list them, and align the lines of the texts."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

from onnxtext.differ import ItemChange, ItemPosition, ModelDiff
from onnxtext.differ.render.hunks import VERDICTS, hunks_of_items
from onnxtext.viewer.colored_lines import ColoredText

_MAX_PLACES = 5_000
"""Maximum number of occurrences to list for each difference."""


def list_changes(diff: ModelDiff, old: ColoredText, new: ColoredText) -> dict[str, Any]:
    """Return the data for the list of differences on a page: `verdict`, a summary, and `hunks`.

    There is a hunk for each difference, or for each group of similar differences. Its fields are
    `title`; `lines`, which are (mark, text) pairs (`differ.render.hunks.DiffLine`); and `places`,
    the positions of up to `_MAX_PLACES` occurrences: (index in `old.lines`, index in `new.lines`).
    An index is -1 if the difference has no line in this text.
    """
    items = {item.key: item for item in diff.items}
    changes = []
    for hunk in hunks_of_items(diff):
        if not hunk.lines:
            continue
        kept = [[items[key] for key in keys if key in items] for keys in hunk.occurrences]
        places = [_place(group, old, new) for group in kept[:_MAX_PLACES] if group]
        title, *lines = hunk.lines
        changes.append({"title": title.text, "lines": lines, "places": places})
    return {"verdict": VERDICTS[diff.verdict], "hunks": changes}


def _place(items: list[ItemChange], old: ColoredText, new: ColoredText) -> tuple[int, int]:
    """Return the first line of the items in the old text and in the new text; -1 for no line."""
    before = [line for item in items if (line := _line(item.old, old)) >= 0]
    after = [line for item in items if (line := _line(item.new, new)) >= 0]
    return min(before, default=-1), min(after, default=-1)


def _line(position: ItemPosition | None, text: ColoredText) -> int:
    return -1 if position is None or position.line is None else text.line(position.line - 1)


def align_lines(old: list[str], new: list[str]) -> list[tuple[str, int, int, int]]:
    """Align the lines of two texts, like a line diff.

    Return, for each run of equal (`=`), removed (`-`) or added (`+`) lines, (mark, first line in
    the old text, first line in the new text, number of lines). Line numbers count from 0.
    """
    result = []
    for tag, start, end, first, last in SequenceMatcher(None, old, new).get_opcodes():
        if tag == "equal":
            result.append(("=", start, first, end - start))
            continue
        if end > start:
            result.append(("-", start, first, end - start))
        if last > first:
            result.append(("+", end, first, last - first))
    return result
