# SPDX-License-Identifier: Apache-2.0
"""Collect the differences between two models, and map old value names to new ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from onnxtext.differ.matching.match_lists import Pairs, walk_pairs
from onnxtext.differ.result import (
    Action,
    EncodingChange,
    FieldChange,
    ItemChange,
    ItemPosition,
    ModelDiff,
    Rename,
)
from onnxtext.printer.quoting import value_name

if TYPE_CHECKING:
    from onnxtext.differ.matching.match_graphs import GraphMatch

_INDEX = re.compile(r"\[[^\]]*\]")
Describe = Callable[[int, int], tuple[str, ItemPosition, str]]
"""Maps a model (0 old, 1 new) and an item's index to the item's (name, position, text)."""


class Collector:
    """Collects the differences between two models.

    Attributes:
        notes: sentences that state which parts of the models were not compared, and why. The
            dictionary serves as an ordered set.
        matches: the matching pairs of graphs or functions that were compared.
    """

    def __init__(self) -> None:
        self.items: list[ItemChange] = []
        self.renames: list[Rename] = []
        self.notes: dict[str, None] = {}
        self.matches: list[GraphMatch] = []
        self._stored: dict[tuple[str, str, str], tuple[int, str]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether the collection has no differences so far."""
        return not (self.items or self.renames or self._stored)

    def matched_pairs(
        self, kind: str, counts: tuple[int, int], pairs: Pairs, changed: Pairs, describe: Describe
    ) -> Iterator[tuple[int, int, bool]]:
        """Yield (old index, new index, was moved) for each pair in `changed` and each moved pair.

        Add the other items to `items`, as removed or added, in the order of `walk_pairs`. `counts`
        are the numbers of old and new items; `pairs` has the (old, new) indices of matching items.
        """
        for old, new, was_moved in walk_pairs(*counts, pairs, changed):
            if old is not None and new is not None:
                yield old, new, was_moved
            elif old is not None:
                name, position, text = describe(0, old)
                self.items.append(ItemChange(kind, name, ("removed",), position, None, text))
            elif new is not None:
                name, position, text = describe(1, new)
                self.items.append(ItemChange(kind, name, ("added",), None, position, None, text))

    def record_changed(
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
        """Record the differences of an item that both models have.

        Changes of the category `encoding` are passed to `count_encoding_change`. The item is added
        to `items` if other changes remain, or if it was moved. `texts` are the old and the new
        statement, shortened for display.
        """
        fields = []
        for change in changes:
            if change.category == "encoding":
                field = f"{kind}.{change.path}"
                self.count_encoding_change(field, change.old or "", change.new or "", new.path)
            else:
                fields.append(change)
        actions: list[Action] = ["changed"] if fields else []
        if moved:
            actions.append("moved")
        if actions:
            item_change = ItemChange(kind, name, tuple(actions), old, new, *texts, tuple(fields))
            self.items.append(item_change)

    def count_encoding_change(self, field: str, old: str, new: str, path: str) -> None:
        """Count an occurrence of a field that is equal in both models but encoded differently.

        `field` is the kind of the item and the path of the field, such as `node.domain`; an
        encoding is, for example, `not stored`. `path` is the path of the item in the new model.
        """
        key = _INDEX.sub("", field), old, new
        count, first = self._stored.get(key, (0, path))
        self._stored[key] = count + 1, first

    def note(self, text: str) -> None:
        """Add a sentence about a part of the models that was not compared."""
        self.notes[text] = None

    def result(self, old_label: str, new_label: str) -> ModelDiff:
        """Return the collected differences as a `ModelDiff`."""
        stored = [EncodingChange(*key, *values) for key, values in self._stored.items()]
        return ModelDiff(
            old_label,
            new_label,
            tuple(self.items),
            tuple(self.renames),
            tuple(stored),
            tuple(self.notes),
        )


class NameMap:
    """Maps old value names to new ones, for a graph and the graphs that enclose it.

    Attributes:
        has_renames: whether at least one name is mapped to a different name.
    """

    def __init__(self, outer: NameMap | None = None) -> None:
        self._own: dict[str, str] = {}
        self._old: dict[str, str] = {}  # maps the new names of renamed values to the old names
        self._scopes: tuple[tuple[dict[str, str], dict[str, str]], ...] = ((self._own, self._old),)
        self.has_renames = False
        if outer is not None:
            self._scopes += outer._scopes
            self.has_renames = outer.has_renames

    def add(self, old: str, new: str) -> None:
        """Map `old` to `new`, unless `old` has a mapping in this graph or a name is empty."""
        if old and new and old not in self._own:
            self._own[old] = new
            if old != new:
                self._old.setdefault(new, old)
                self.has_renames = True

    def get(self, name: str) -> str:
        """Return the new name of a value; `name` itself if it has no mapping.

        If the new model gives `name` to another value, the result is a text that names no value
        there.
        """
        for names, old_names in self._scopes if self.has_renames else ():
            if name in names:
                return names[name]
            if name in old_names:
                return f"{name} (of the old model)"
        return name

    def reuse_note(self, name: str) -> str:
        """Return a remark that the old and the new value called `name` are different."""
        for names, old_names in self._scopes:
            if name in names:
                return f"the old `{value_name(name)}` is now `{value_name(names[name])}`"
            if name in old_names:
                return f"the new `{value_name(name)}` is the old `{value_name(old_names[name])}`"
        raise AssertionError(name)
