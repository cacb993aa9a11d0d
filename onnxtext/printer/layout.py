# SPDX-License-Identifier: Apache-2.0
"""Lay out a list: on one line if it fits, otherwise on several lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

WIDTH = 100
"""The maximum width of a line, in columns."""

STEP = "  "


def bracket_list(
    items: Sequence[str], brackets: str, indent: str, budget: int, comma: str = ","
) -> str:
    """Return a list on one line if it fits, otherwise with one item per line.

    If an item has line breaks, the list is not on one line. `indent` is the indentation of the
    statement, `budget` the maximum width of a list on one line, and `comma` the text after the last
    item of a list with one item per line.
    """
    opening, closing = brackets[0], brackets[1]
    if not any("\n" in item for item in items):
        flat = f"{opening}{flat_items(items, closing)}{closing}"
        if len(flat) <= budget:
            return flat
    return one_per_line(items, brackets, indent, comma)


def flat_items(items: Sequence[str], closing: str) -> str:
    """Return items joined by commas on one line, without brackets.

    If the last item ends in ` undefined =` and `closing` is `>`, append a space: the parser would
    read `undefined =>` as the beginning of a graph.
    """
    flat = ", ".join(items)
    return flat + " " if closing == ">" and flat.endswith(" undefined =") else flat


def one_per_line(items: Sequence[str], brackets: str, indent: str, comma: str = ",") -> str:
    """Return a list with one item per line, one step deeper than `indent` (see `bracket_list`)."""
    opening, closing = brackets[0], brackets[1]
    parts = [opening]  # many small parts, because an item may be a large tensor
    before = f"\n{indent}{STEP}"
    for item in items:
        parts += (before, item, ",")
    if items:
        parts[-1] = comma
    parts.append(f"\n{indent}{closing}")
    return "".join(parts)


def fill_list(
    items: Sequence[str], brackets: str, indent: str, budget: int, comma: str = ","
) -> str:
    """Return a list on one line if it fits, otherwise in lines that are filled up to `WIDTH`.

    An item with line breaks shares no line with other items. `indent` is the indentation of the
    statement, `budget` the maximum width of a list on one line, and `comma` the text after the last
    item if the list has several lines, except after `...`.
    """
    opening, closing = brackets[0], brackets[1]
    if not items:
        return brackets
    if sum(map(len, items)) + 2 * len(items) <= budget:
        flat = ", ".join(items)
        if "\n" not in flat:
            return f"{opening}{flat}{closing}"
    inner = indent + STEP
    lines = f",\n{inner}".join(wrap_items(items, WIDTH - len(inner)))
    return f"{opening}\n{inner}{lines}{'' if items[-1] == '...' else comma}\n{indent}{closing}"


def wrap_items(items: Sequence[str], width: int) -> list[str]:
    """Distribute items over lines, separated by commas; return the lines without their last commas.

    A line and the comma after it take at most `width` columns, unless a single item is longer. An
    item with line breaks shares no line with other items.
    """
    starts = line_starts(items, width)
    return [", ".join(items[start:end]) for start, end in pairwise([*starts, len(items)])]


def line_starts(items: Sequence[str], width: int) -> list[int]:
    """Return, for each line that `wrap_items` makes, the index of its first item."""
    starts = [0]
    taken = 0
    several = False  # whether the line ends with an item of several lines
    for index, item in enumerate(items):
        size = len(item) + 2
        long = "\n" in item
        if index > starts[-1] and (taken + size - 1 > width or long or several):
            starts.append(index)
            taken = 0
        taken += size
        several = long
    return starts


def fill_list_text(row: str, brackets: str, indent: str, budget: int, comma: str = ",") -> str:
    """Return the same list as `fill_list`; the items are passed as one text.

    `row` has the items, joined by a comma and a blank; no item contains a comma or a line break, or
    is `...`.
    """
    if not row or len(row) + 2 <= budget:
        return f"{brackets[0]}{row}{brackets[1]}"
    inner = indent + STEP
    lines = f",\n{inner}".join(wrap_text(row, WIDTH - len(inner)))
    return f"{brackets[0]}\n{inner}{lines}{comma}\n{indent}{brackets[1]}"


def wrap_text(row: str, width: int) -> list[str]:
    """Return the same lines as `wrap_items`; the items are passed as one text.

    `row` is as for `fill_list_text`. `width` is the maximum number of columns of a line with the
    comma after it; a longer item has a line of its own.
    """
    lines: list[str] = []
    start = 0
    while len(row) - start >= width:
        end = row.rfind(", ", start, start + width + 1)
        if end < 0:
            end = row.find(", ", start)
            if end < 0:
                break
        lines.append(row[start:end])
        start = end + 2
    lines.append(row[start:])
    return lines
