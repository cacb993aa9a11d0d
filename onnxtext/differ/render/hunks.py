# SPDX-License-Identifier: Apache-2.0
"""Convert a diff to marked lines, which the text and Markdown renderers share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from onnxtext.diagnostics.terminal_text import escape_controls
from onnxtext.differ.result import FieldChange, Group, ItemChange, ItemKey, ModelDiff, WeightChange
from onnxtext.plurals import count_noun
from onnxtext.printer.quoting import quote_word, value_name

MAX_RENAMES = 20
"""Maximum number of renames to show, unless every difference is shown."""

_HEADLINE = ("op_type", "domain", "overload", "input[", "output[", "type", "name")
"""The headline of a statement shows the fields whose paths begin with these prefixes."""

VERDICTS = {
    "same": "the models are the same",
    "stored-differently": "same model, stored differently",
    "names-differ": "equal except for names of internal values, nodes and graphs",
    "differ": "the models differ",
}


class DiffLine(NamedTuple):
    """A line of a diff.

    Attributes:
        mark: `-`, `+`, `~` (renamed or stored differently), ` ` (context), `#` (a remark), or `@`
            for the head of a hunk.
        text: the content of the line, without the mark.
    """

    mark: str
    text: str

    def content(self) -> str:
        """Return the line with its mark; control characters are escaped."""
        shown = escape_controls(self.text)
        return f"@@ {shown} @@" if self.mark == "@" else f"{self.mark}{shown}"


MAX_ITEMS = 40
"""If a diff has more items than this, similar items are grouped."""

_MAX_SHOWN = 8
"""A group shows at most this number of lines of its first occurrence."""


class Hunk(NamedTuple):
    """Differences that are shown together.

    Attributes:
        occurrences: for each occurrence of the differences, the keys of its items
            (`ItemChange.key`). Empty if the hunk shows remarks, renames or stored differences.
    """

    lines: list[DiffLine]
    occurrences: list[tuple[ItemKey, ...]]


def hunks_of_items(diff: ModelDiff, *, every: bool = False) -> Iterator[Hunk]:
    """Yield the hunks of a diff; if not `every`, similar changes of a large diff share a hunk."""
    grouped: dict[ItemKey, Group] = {}
    if not every and len(diff.items) > MAX_ITEMS:
        for group in diff.groups:
            if len(group.occurrences) > 1 or len(group.occurrences[0]) > _MAX_UNGROUPED:
                grouped.update(dict.fromkeys(chain(*group.occurrences), group))
    items = {item.key: item for item in diff.items}
    shown: set[int] = set()
    for item in diff.items:
        group_of = grouped.get(item.key)
        if group_of is None:
            yield Hunk(list(_item(item)), [(item.key,)])
        elif id(group_of) not in shown:
            shown.add(id(group_of))
            yield Hunk(list(_group(group_of, items)), group_of.occurrences)
    if grouped:
        lines = [
            DiffLine("@", f"{len(diff.items):,} differences"),
            DiffLine("#", " similar changes are grouped; `onnxtext diff --all` shows each"),
        ]
        yield Hunk(lines, [])
    if diff.renames:
        yield Hunk(list(_renames(diff, every=every)), [])
    if diff.stored:
        yield Hunk(list(_stored_differences(diff)), [])
    if diff.notes:
        yield Hunk(
            [DiffLine("@", "not compared"), *[DiffLine("#", note) for note in diff.notes]], []
        )


def _stored_differences(diff: ModelDiff) -> Iterator[DiffLine]:
    yield DiffLine("@", "stored differently")
    for stored in diff.stored:
        first = f", first at {stored.path}" if stored.path else ""
        text = f"{stored.what}: {stored.old} → {stored.new} ({stored.count:,} ×{first})"
        yield DiffLine("~", text)


_MAX_UNGROUPED = 3
"""If a group occurs only once and has at most this many items, its items are shown separately."""


def _group(group: Group, items: Mapping[ItemKey, ItemChange]) -> Iterator[DiffLine]:
    """Yield the title of a group, and its first occurrence as an example."""
    occurrences = [
        [items[key] for key in occurrence if key in items] for occurrence in group.occurrences
    ]
    occurrences = [occurrence for occurrence in occurrences if occurrence]
    yield DiffLine("@", f"{len(occurrences):,} × {group.title}" if occurrences[1:] else group.title)
    lines = [
        line
        for item in sorted(occurrences[0], key=lambda item: item.old is None)
        for line in _item(item)
        if line.mark != "@"
    ]
    yield from lines[:_MAX_SHOWN]
    rest = len(lines) - _MAX_SHOWN
    hidden = [count_noun(rest, "more line")] * (rest > 0)
    hidden += [f"{len(occurrences) - 1:,} more like this"] * (len(occurrences) > 1)
    largest = [
        change.weights.max_abs
        for occurrence in occurrences
        for item in occurrence
        for change in item.fields
        if change.weights is not None and change.weights.max_abs is not None
    ]
    if len(largest) > 1:
        hidden.append(f"max |Δ| of the group {max(largest):.6g}")
    if hidden:
        yield DiffLine("#", f" … and {', '.join(hidden)}")


def _item(item: ItemChange) -> Iterator[DiffLine]:
    yield DiffLine("@", _head(item))
    if item.actions == ("added",):
        yield from _with_marks("+", item.new_text or "")
        return
    if item.actions == ("removed",):
        yield from _with_marks("-", item.old_text or "")
        return
    rest = [change for change in item.fields if not _in_headline(item, change)]
    if len(rest) < len(item.fields):
        yield from _with_marks("-", item.old_text or "")
        yield from _with_marks("+", item.new_text or "")
    elif item.new_text:
        yield from _with_marks(" ", item.new_text)
    indent = "  " if item.new_text else ""
    for change in rest:
        yield from _field(change, indent)


def _head(item: ItemChange) -> str:
    position = item.new or item.old
    assert position is not None
    text = position.path or item.kind
    if item.old is not None and item.new is not None and item.old.path != item.new.path:
        text += f" {'moved from' if 'moved' in item.actions else 'was'} {item.old.path}"
    elif "moved" in item.actions:
        text += " moved"
    return text if position.line is None else f"{text}, line {position.line}"


def _in_headline(item: ItemChange, change: FieldChange) -> bool:
    if not item.old_text or item.old_text == item.new_text or change.note is not None:
        return False
    return item.kind not in ("graph", "function") and change.path.startswith(_HEADLINE)


def _field(change: FieldChange, indent: str) -> Iterator[DiffLine]:
    named = change.weights is not None or (
        change.category == "model" and change.path.startswith("attribute[")
    )
    head = "" if named or not change.path else f"{change.path}: "
    for sign, text in (("-", change.old), ("+", change.new)):
        if text is not None:
            yield from _with_marks(sign, f"{head}{text}", indent)
    if change.weights is not None:
        yield DiffLine("#", indent + _weight_text(change.weights))
    if change.note is not None:
        yield DiffLine("#", indent + change.note)
    if change.category == "order" and change.old == change.new:
        yield DiffLine("#", indent + "its position relative to other items has changed")


def _with_marks(sign: str, text: str, indent: str = "") -> Iterator[DiffLine]:
    for line in text.split("\n"):
        yield DiffLine(sign, indent + line if line else line)


def _weight_text(weights: WeightChange) -> str:
    """Return one line that describes how the elements of a tensor differ."""
    parts = [] if weights.how is None else [weights.how]
    if weights.changed is not None and weights.elements:
        share = 100 * weights.changed / weights.elements
        elements = count_noun(weights.elements, "element")
        parts.append(f"{weights.changed:,} of {elements} changed ({share:.3g}%)")
    elif weights.changed is None:
        parts.append(count_noun(weights.elements, "element"))
    if weights.max_abs is not None and weights.mean_abs is not None:
        parts.append(f"max |Δ| {weights.max_abs:.6g}, mean |Δ| {weights.mean_abs:.6g}")
    if weights.old_nans or weights.new_nans:
        parts.append(f"NaN {weights.old_nans or 0:,} → {weights.new_nans or 0:,}")
    if weights.note is not None:
        parts.append(weights.note)
    return ", ".join(parts)


def _renames(diff: ModelDiff, *, every: bool) -> Iterator[DiffLine]:
    shown = len(diff.renames) if every else MAX_RENAMES
    yield DiffLine("@", f"renamed ({len(diff.renames):,})")
    for rename in diff.renames[:shown]:
        spell = quote_word if rename.kind == "node" else value_name
        owner = "" if rename.path == "graph" else f" in {rename.path}"
        yield DiffLine("~", f"{rename.kind} {spell(rename.old)} → {spell(rename.new)}{owner}")
    if len(diff.renames) > shown:
        yield DiffLine("#", f" … and {len(diff.renames) - shown:,} more; --all shows them")
