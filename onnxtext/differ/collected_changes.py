# SPDX-License-Identifier: Apache-2.0
"""Collect the differences of two models, and map old value names to new ones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from onnxtext.differ.message_fields import Difference
from onnxtext.differ.result import (
    Action,
    FieldChange,
    ItemChange,
    ItemPosition,
    ModelDiff,
    Rename,
    Stored,
)

if TYPE_CHECKING:
    from onnxtext.differ.match_graphs import GraphMatch

_INDEX = re.compile(r"\[[^\]]*\]")


class Collector:
    """Collects the differences of two models.

    Attributes:
        items: the added, removed, changed and moved items.
        renames: the renamed values and nodes.
        notes: sentences about the parts of the models that could not be compared.
        matches: the graphs and functions that were compared.
    """

    def __init__(self) -> None:
        self.items: list[ItemChange] = []
        self.renames: list[Rename] = []
        self.notes: dict[str, None] = {}
        self.matches: list[GraphMatch] = []
        self._stored: dict[tuple[str, str, str], tuple[int, str]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no difference was found yet."""
        return not (self.items or self.renames or self._stored)

    def added(self, kind: str, name: str, position: ItemPosition, text: str) -> None:
        """Add an item that only the new model has."""
        self.items.append(ItemChange(kind, name, ("added",), None, position, None, text))

    def removed(self, kind: str, name: str, position: ItemPosition, text: str) -> None:
        """Add an item that only the old model has."""
        self.items.append(ItemChange(kind, name, ("removed",), position, None, text, None))

    def changed(
        self,
        kind: str,
        name: str,
        old: ItemPosition,
        new: ItemPosition,
        changes: Iterable[FieldChange],
        *,
        texts: tuple[str | None, str | None] = (None, None),
        moved: bool = False,
    ) -> None:
        """Add an item that both models have, if it differs; count encoding differences apart."""
        fields = []
        for change in changes:
            if change.category == "encoding":
                self.stored(f"{kind}.{change.path}", change.old or "", change.new or "", new.path)
            else:
                fields.append(change)
        actions: list[Action] = ["changed"] if fields else []
        if moved:
            actions.append("moved")
        if actions:
            made = ItemChange(kind, name, tuple(actions), old, new, *texts, tuple(fields))
            self.items.append(made)

    def stored(self, what: str, old: str, new: str, path: str) -> None:
        """Count a field, such as `node.domain`, whose equal values are stored differently."""
        key = _INDEX.sub("", what), old, new
        count, first = self._stored.get(key, (0, path))
        self._stored[key] = count + 1, first

    def renamed(self, rename: Rename) -> None:
        """Add a rename."""
        self.renames.append(rename)

    def note(self, text: str) -> None:
        """Add a note about something that could not be compared."""
        self.notes[text] = None

    def made(self, old_label: str, new_label: str) -> ModelDiff:
        """Return the collected differences as a `ModelDiff`."""
        stored = [Stored(*key, *found) for key, found in self._stored.items()]
        return ModelDiff(
            old_label,
            new_label,
            tuple(self.items),
            tuple(self.renames),
            tuple(stored),
            tuple(self.notes),
        )


def field_changes(differences: Iterable[Difference], prefix: str = "") -> list[FieldChange]:
    """Convert differences to field changes; `prefix` is put before each path."""
    return [FieldChange(prefix + d.path, d.category, d.old, d.new) for d in differences]


class NameMap:
    """Maps old value names to new ones, in a graph and its enclosing graphs.

    Attributes:
        any: whether at least one name is mapped to a different name.
    """

    def __init__(self, outer: NameMap | None = None) -> None:
        self._own: dict[str, str] = {}
        self._outer: tuple[dict[str, str], ...] = ()
        self.any = False
        if outer is not None:
            self._outer = (outer._own, *outer._outer)
            self.any = outer.any

    def add(self, old: str, new: str) -> None:
        """Map an old name; the first mapping of a name wins."""
        if old and new and old not in self._own:
            self._own[old] = new
            self.any = self.any or old != new

    def get(self, name: str) -> str:
        """Return the new name of a value; the old name if the value is not mapped."""
        found = self._own.get(name)
        if found is not None:
            return found
        for names in self._outer:
            if name in names:
                return names[name]
        return name

    def keeps(self, names: Iterable[str]) -> bool:
        """Whether each of these names is mapped to itself."""
        return all(self.get(name) == name for name in names)
