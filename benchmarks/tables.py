# SPDX-License-Identifier: Apache-2.0
"""Format figures and columns."""

from __future__ import annotations


def aligned(table: list[list[str]]) -> list[str]:
    """Format columns, names left-aligned and figures right-aligned.

    A line of two cells is a name and a remark, which takes the rest of the line.
    """
    whole = [cells for cells in table if len(cells) > 2]
    widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
    widths[0] = max(len(cells[0]) for cells in table)
    lines = []
    for name, *cells in table:
        padded = [f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=False)]
        rest = cells if len(cells) == 1 else padded
        lines.append("  ".join(["", f"{name:<{widths[0]}}", *rest]).rstrip())
    return lines


def duration(seconds: float | None) -> str:
    """Format a time with three digits, in seconds or milliseconds."""
    if seconds is None:
        return "–"
    if seconds < 0.9995:
        return f"{_three(seconds * 1000)} ms"
    return f"{_three(seconds)} s"


def amount(count: float | None) -> str:
    """Format a size with three digits, in kB or MB."""
    if count is None:
        return "–"
    if count < 999_500:
        return f"{_three(count / 1e3)} kB"
    return f"{_three(count / 1e6)} MB"


def ratio(one: float | None, other: float | None) -> str:
    """Format a ratio."""
    if one is None or not other:
        return "–"
    return f"×{_three(one / other)}"


def _three(value: float) -> str:
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:,.{digits}f}"
