# SPDX-License-Identifier: Apache-2.0
"""Layout, with no ONNX in it: what stands on one line, and how longer lists are broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence

WIDTH = 100
"""Columns of a line; names do not count, so that renaming never reflows."""

STEP = "  "
RowMaker = Callable[[int], list[str]]

ROWS = (16, 8, 4, 1)
"""How many numbers stand on a line of a list that does not fit on one."""


def bracketed(
    items: Sequence[str], brackets: str, indent: str, budget: int, comma: str = ","
) -> str:
    """A list: flat if it fits, else one item a line, each with a comma.

    Args:
        items: texts of the items; one with line breaks breaks the list.
        brackets: the opening and the closing one.
        indent: the indentation of the statement.
        budget: columns that a flat list may take.
        comma: what stands after the last item of a broken list.
    """
    opening, closing = brackets[0], brackets[1]
    if not any("\n" in item for item in items):
        flat = f"{opening}{', '.join(items)}{closing}"
        if len(flat) <= budget:
            return flat
    return broken(items, brackets, indent, comma)


def broken(items: Sequence[str], brackets: str, indent: str, comma: str = ",") -> str:
    """A list with one item a line; the items are indented one step."""
    opening, closing = brackets[0], brackets[1]
    lines = [f"{indent}{STEP}{item}," for item in items]
    if lines:
        lines[-1] = lines[-1][:-1] + comma
    return "\n".join([opening, *lines, indent + closing])


def numbers(
    rows_of: RowMaker, count: int, brackets: str, indent: str, budget: int, comma: str = ","
) -> str:
    """A flat list of numbers: on one line if it fits, else in rows of 16, 8, 4 or 1.

    Args:
        rows_of: gives the numbers as text, so many to a row.
        count: how many there are.
        brackets: the opening and the closing one.
        indent: the indentation of the statement.
        budget: columns that the list may take on one line.
        comma: what stands after the last number of a broken list.
    """
    opening, closing = brackets[0], brackets[1]
    if not count:
        return brackets
    if count <= budget:
        flat = f"{opening}{rows_of(count)[0]}{closing}"
        if len(flat) <= budget:
            return flat
    inner = indent + STEP
    for size in ROWS:
        rows = rows_of(size)
        if size == 1 or max(map(len, rows)) + len(inner) < WIDTH:
            return broken(rows, brackets, indent, comma)
    raise AssertionError("unreachable: rows of one always fit")
