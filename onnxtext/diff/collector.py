# SPDX-License-Identifier: Apache-2.0
"""Collects the differences of two models while they are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable

from onnxtext.diff.model import (
    Action,
    FieldChange,
    ItemChange,
    ModelDiff,
    Place,
    Rename,
    Stored,
)
from onnxtext.diff.records import Difference

_INDEX = re.compile(r"\[[^\]]*\]")


class Collector:
    """The differences that were found so far."""

    def __init__(self) -> None:
        self.items: list[ItemChange] = []
        self.renames: list[Rename] = []
        self.notes: dict[str, None] = {}
        self._stored: dict[tuple[str, str, str], tuple[int, str]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found yet."""
        return not (self.items or self.renames or self._stored)

    def added(self, kind: str, name: str, place: Place, text: str) -> None:
        """Something is new."""
        self.items.append(ItemChange(kind, name, ("added",), None, place, None, text))

    def removed(self, kind: str, name: str, place: Place, text: str) -> None:
        """Something is gone."""
        self.items.append(ItemChange(kind, name, ("removed",), place, None, text, None))

    def changed(
        self,
        kind: str,
        name: str,
        old: Place,
        new: Place,
        changes: Iterable[FieldChange],
        *,
        texts: tuple[str | None, str | None] = (None, None),
        moved: bool = False,
    ) -> None:
        """Something is still there; nothing is collected if it is as it was."""
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
        """Something says the same in another encoding."""
        key = _INDEX.sub("", what), old, new
        count, first = self._stored.get(key, (0, path))
        self._stored[key] = count + 1, first

    def renamed(self, rename: Rename) -> None:
        """A name became another."""
        self.renames.append(rename)

    def note(self, text: str) -> None:
        """Something could not be compared."""
        self.notes[text] = None

    def made(self, old_label: str, new_label: str) -> ModelDiff:
        """All that was found."""
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
    """Differences of messages as changes of fields."""
    return [FieldChange(prefix + d.path, d.category, d.old, d.new) for d in differences]


class Names:
    """What values of the old model are called in the new one, in a graph and around it."""

    def __init__(self, outer: Names | None = None) -> None:
        self._own: dict[str, str] = {}
        self._outer: tuple[dict[str, str], ...] = ()
        self.any = False
        if outer is not None:
            self._outer = (outer._own, *outer._outer)
            self.any = outer.any

    def add(self, old: str, new: str) -> None:
        """An old value is a new one; the first definition of a name counts."""
        if old and new and old not in self._own:
            self._own[old] = new
            self.any = self.any or old != new

    def get(self, name: str) -> str:
        """What a value is called now; as before if it is nowhere."""
        found = self._own.get(name)
        if found is not None:
            return found
        for names in self._outer:
            if name in names:
                return names[name]
        return name

    def keeps(self, names: Iterable[str]) -> bool:
        """Whether some values are called as before."""
        return all(self.get(name) == name for name in names)
