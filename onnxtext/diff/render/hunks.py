# SPDX-License-Identifier: Apache-2.0
"""Convert a diff to marked lines, which the text and Markdown renderers share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from onnxtext.diff.result import FieldChange, ItemChange, ModelDiff, Place, WeightChange
from onnxtext.printer.strings import value_name, word

MOST_RENAMES = 20
"""Maximum number of renames to show; JSON has all."""

_HEADLINE = ("op_type", "domain", "overload", "input[", "output[", "type", "name")
"""Fields that are part of the headline of a statement."""

VERDICTS = {
    "same": "the models are the same",
    "stored-differently": "same model, stored differently",
    "names-differ": "equal up to the names of internal values",
    "differ": "the models differ",
}


class Line(NamedTuple):
    """A line of a diff.

    Attributes:
        mark: `-`, `+`, `~` (renamed or moved), ` ` (context), `#` (a remark), or `@` for the head
            of a hunk.
        text: the line.
    """

    mark: str
    text: str


def hunks(diff: ModelDiff) -> Iterator[list[Line]]:
    """Return the differences, each as a list of lines."""
    for item in diff.items:
        yield list(_item(item))
    if diff.renames:
        yield list(_renames(diff))
    if diff.stored:
        yield [
            Line("@", "stored differently"),
            *[
                Line(
                    "~",
                    f"{stored.what}: {stored.old} → {stored.new} ({stored.count:,} ×, first at "
                    f"{stored.path})",
                )
                for stored in diff.stored
            ],
        ]
    if diff.notes:
        yield [Line("@", "not compare_messages"), *[Line("#", note) for note in diff.notes]]


def _item(item: ItemChange) -> Iterator[Line]:
    yield Line("@", _head(item))
    if item.actions == ("added",):
        yield from _with_marks("+", item.new_text or "")
        return
    if item.actions == ("removed",):
        yield from _with_marks("-", item.old_text or "")
        return
    shown = [change for change in item.fields if _in_headline(item, change)]
    if shown:
        yield from _with_marks("-", item.old_text or "")
        yield from _with_marks("+", item.new_text or "")
    elif item.new_text:
        yield from _with_marks(" ", item.new_text)
    indent = "  " if item.new_text else ""
    for change in item.fields:
        if change not in shown:
            yield from _field(change, indent)


def _head(item: ItemChange) -> str:
    place = item.new or item.old
    assert place is not None
    text = place.path or item.kind
    if item.old is not None and item.new is not None and item.old.path != item.new.path:
        text += f" {'moved from' if 'moved' in item.actions else 'was'} {item.old.path}"
    elif "moved" in item.actions:
        text += " moved"
    return text + _line(place)


def _line(place: Place) -> str:
    return "" if place.line is None else f", line {place.line}"


def _in_headline(item: ItemChange, change: FieldChange) -> bool:
    if not item.old_text or item.old_text == item.new_text:
        return False
    return item.kind not in ("graph", "function") and change.path.startswith(_HEADLINE)


def _field(change: FieldChange, indent: str) -> Iterator[Line]:
    named = change.weights is not None or (
        change.category == "model" and change.path.startswith("attribute[")
    )
    head = "" if named or not change.path else f"{change.path}: "
    for mark, text in (("-", change.old), ("+", change.new)):
        if text is not None:
            yield from _with_marks(mark, f"{head}{text}", indent)
    if change.weights is not None:
        yield Line("#", indent + weight_text(change.weights))


def _with_marks(mark: str, text: str, indent: str = "") -> Iterator[Line]:
    for line in text.split("\n"):
        yield Line(mark, indent + line if line else line)


def weight_text(weights: WeightChange) -> str:
    """Format how the elements of a tensor differ, in one line."""
    parts = []
    if weights.changed is not None and weights.elements:
        share = 100 * weights.changed / weights.elements
        parts.append(f"{weights.changed:,} of {weights.elements:,} elements changed ({share:.3g}%)")
    elif weights.changed is None:
        parts.append(f"{weights.elements:,} elements")
    if weights.max_abs is not None and weights.mean_abs is not None:
        parts.append(f"max |Δ| {weights.max_abs:.6g}, mean |Δ| {weights.mean_abs:.6g}")
    if weights.old_nans or weights.new_nans:
        parts.append(f"NaN {weights.old_nans or 0:,} → {weights.new_nans or 0:,}")
    if weights.note is not None:
        parts.append(weights.note)
    return ", ".join(parts)


def _renames(diff: ModelDiff) -> Iterator[Line]:
    yield Line("@", f"renamed ({len(diff.renames):,})")
    for rename in diff.renames[:MOST_RENAMES]:
        spell = word if rename.kind == "node" else value_name
        where = "" if rename.path == "graph" else f" in {rename.path}"
        yield Line("~", f"{rename.kind} {spell(rename.old)} → {spell(rename.new)}{where}")
    if len(diff.renames) > MOST_RENAMES:
        yield Line("#", f"… and {len(diff.renames) - MOST_RENAMES:,} more; --json lists all")
