# SPDX-License-Identifier: Apache-2.0
"""Format results for terminals: all rows with ratios, and a comparison of two runs."""

from __future__ import annotations

from itertools import groupby
from statistics import median

from benchmarks.results import Results, Row
from benchmarks.tables import aligned, amount, duration, ratio
from benchmarks.workloads import named

NOTABLE = 0.10
"""Larger relative changes are marked."""
MEASURES = {"seconds": "first", "warm": "warm", "peak": "peak", "size": "result"}
"""The compared fields of rows, and their column headings."""


def table(results: Results) -> str:
    """Format all rows; each figure is followed by its ratio to the reference."""
    lines = [", ".join(f"{name} {value}" for name, value in results.head.items())]
    for (workload, direction), group in groupby(
        results.rows, lambda row: (row.workload, row.direction)
    ):
        rows = list(group)
        size = rows[0].model_size
        of = f", {amount(size)}" if size else ""
        lines += ["", f"{workload}{of}: {direction} (× {rows[0].reference})"]
        cells: list[list[str]] = []
        for row in rows:
            cells.append(_cells(row, results.reference_of(row)))
            ratios = results.file_ratios(row) if row.reference != row.peer else []
            if ratios:
                worst = max(ratios)
                name = named(workload).files[ratios.index(worst)]
                cells.append([f"  median ×{median(ratios):.2f}, worst ×{worst:.2f}", name])
        lines += aligned([_headings(direction), *cells])
    return "\n".join(lines)


def _headings(direction: str) -> list[str]:
    if direction == "process":
        return ["", "time", "", "peak", ""]
    return ["", "first", "", "warm", "", "peak", "", "result", "", "MB/s", "same"]


def _cells(row: Row, reference: Row | None) -> list[str]:
    if row.failed is not None:
        return [row.peer, f"failed: {row.failed}"]
    cells = [row.peer]
    shown = ("seconds", "peak") if row.direction == "process" else tuple(MEASURES)
    for measure in shown:
        value, other = getattr(row, measure), getattr(reference, measure, None)
        cells += [(duration if measure in ("seconds", "warm") else amount)(value)]
        cells += [ratio(value, other)]
    if row.direction == "process":
        return cells
    speed = row.model_size / row.seconds / 1e6 if row.model_size and row.seconds else 0
    return [*cells, f"{speed:,.1f}", row.same or ""]


def comparison(old: Results, new: Results) -> str:
    """Format the ratios of two runs, new divided by old: less than one is an improvement."""
    before = {row.key: row for row in old.rows}
    table = [["", *(f"{name}  " for name in (*MEASURES.values(), "first ×"))]]
    for row in new.rows:
        was = before.get(row.key)
        table.append(_compared(was, row))
        if was is not None and len(table[-1]) > 2:
            table[-1].append(_change(_relative(was, old), _relative(row, new)))
    notable = sum(cell.endswith((">", "<")) for cells in table for cell in cells[1:])
    names = " / ".join(
        f"{one.head.get('commit', '?')} of {one.head.get('date', '?')}" for one in (new, old)
    )
    return "\n".join(
        [
            f"{names} (> and < mark changes of more than {NOTABLE:.0%})",
            *aligned(table),
            f"{notable} of the figures changed by more than {NOTABLE:.0%}",
        ]
    )


def _compared(old: Row | None, new: Row) -> list[str]:
    name = " ".join(new.key)
    if old is None:
        return [name, "is new"]
    if new.failed is not None:
        return [name, f"failed{' again' if old.failed else ''}: {new.failed}"]
    if old.failed is not None:
        return [name, f"no longer fails: {old.failed}"]
    if new.model != old.model:
        return [
            name,
            "was measured on another model: the benchmarks, numpy, onnx or protobuf changed",
        ]
    return [name, *(_change(getattr(old, one), getattr(new, one)) for one in MEASURES)]


def _relative(row: Row, results: Results) -> float | None:
    """Return the time of a row relative to its reference, which depends less on the machine."""
    reference = results.reference_of(row)
    if reference is None or not reference.seconds or row.seconds is None:
        return None
    return row.seconds / reference.seconds


def _change(old: float | None, new: float | None) -> str:
    if not old or not new:
        return "–  "
    change = new / old
    mark = ">" if change > 1 + NOTABLE else "<" if change < 1 / (1 + NOTABLE) else " "
    return f"{change:.2f} {mark}"
