# SPDX-License-Identifier: Apache-2.0
"""What a diff of two models says."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

Category = Literal["model", "weights", "order", "names", "metadata", "doc", "encoding"]
"""What a difference is about.

`model`: what the model computes, and its interface. `weights`: elements of tensors. `order`: where
an entry stands in a list whose order means nothing, or nodes that only stand elsewhere. `names`:
labels of nodes and graphs, names of internal values. `metadata`: `metadata_props` and the producer.
`doc`: doc strings. `encoding`: the same values, stored differently.
"""

CATEGORIES: tuple[Category, ...] = get_args(Category)
IGNORABLE = tuple([name for name in CATEGORIES if name != "model"])

Action = Literal["added", "removed", "changed", "moved"]
Verdict = Literal["same", "stored-differently", "names-differ", "differ"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is in one of the models.

    Attributes:
        path: in the field names of the schema, such as `graph.node[12]`.
        line: 1-based line of its statement in the text; None if there is none.
        column: 1-based column, likewise.
    """

    path: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class WeightChange:
    """How the elements of a tensor differ.

    Attributes:
        elements: how many there are.
        changed: how many differ, NaNs with the same bits being equal; None if that is not known.
        max_abs: the largest absolute difference of two numbers; None if no pair has one.
        mean_abs: the mean of all absolute differences, unchanged elements included; likewise.
        old_nans: how many NaNs there were; None if the elements are no floats, or are not known.
        new_nans: how many there are.
        note: why nothing more is known, such as that a file is missing.
    """

    elements: int
    changed: int | None = None
    max_abs: float | None = None
    mean_abs: float | None = None
    old_nans: int | None = None
    new_nans: int | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that differs.

    Attributes:
        path: below that of its item, such as `attribute["axis"]`.
        category: what it is about.
        old: its old value in the syntax of the text; None if there was none.
        new: its new value; None if there is none.
        weights: for the elements of a tensor, how they differ.
    """

    path: str
    category: Category
    old: str | None
    new: str | None
    weights: WeightChange | None = None


@dataclass(frozen=True, slots=True)
class ItemChange:
    """Something that was added, removed, changed or moved.

    Attributes:
        kind: a field of the schema in the singular: `node`, `initializer`, `function`, …; `model`,
            `graph` and `training_info` for their own fields.
        name: what people call it.
        actions: what happened to it, at least one; what was moved may have changed as well.
        old: where it was; None if it was added.
        new: where it is; None if it was removed.
        old_text: its statement as it was; in short if it is still there.
        new_text: its statement as it is; in short if it was there before.
        fields: what changed.
    """

    kind: str
    name: str
    actions: tuple[Action, ...]
    old: Place | None
    new: Place | None
    old_text: str | None = None
    new_text: str | None = None
    fields: tuple[FieldChange, ...] = ()

    def without(self, ignored: Collection[Category]) -> ItemChange | None:
        """This item without some categories; None if nothing is left of it."""
        if "added" in self.actions or "removed" in self.actions:
            return self
        actions = self.actions
        fields = tuple([change for change in self.fields if change.category not in ignored])
        if "changed" in actions and not fields:
            actions = tuple([action for action in actions if action != "changed"])
        # The order of inputs and outputs is the interface.
        if "order" in ignored and self.kind not in ("input", "output"):
            actions = tuple([action for action in actions if action != "moved"])
        return replace(self, actions=actions, fields=fields) if actions else None


@dataclass(frozen=True, slots=True)
class Rename:
    """A name that became another; that all uses followed is no difference of theirs.

    Attributes:
        kind: `value`, `initializer`, `node` (its label), `input` or `output` (of the interface).
        path: of the graph or function it belongs to, in the new model.
        old: the old name.
        new: the new name.
        category: `model` for the interface, else `names`.
    """

    kind: str
    path: str
    old: str
    new: str
    category: Category = "names"


@dataclass(frozen=True, slots=True)
class Stored:
    """Fields that say the same in another encoding.

    Attributes:
        what: the kind of item and its field, such as `node.domain`.
        old: how it was stored: `not stored`, `stored empty`, `raw_data`, …
        new: how it is stored.
        count: in how many places.
        path: the first of them, in the new model.
    """

    what: str
    old: str
    new: str
    count: int
    path: str


@dataclass(frozen=True, slots=True)
class ModelDiff:
    """All differences of two models.

    Attributes:
        old_label: what the old model is called.
        new_label: what the new one is called.
        items: in the order of the new model; what was removed stands where it was.
        renames: in the order of the new model.
        stored: what is the same, but stored differently.
        notes: what could not be compared, and why.
    """

    old_label: str
    new_label: str
    items: tuple[ItemChange, ...] = ()
    renames: tuple[Rename, ...] = ()
    stored: tuple[Stored, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def verdict(self) -> Verdict:
        """The worst that was found."""
        if self.items or any(rename.category != "names" for rename in self.renames):
            only = all(
                change.category in ("names", "encoding") and item.actions == ("changed",)
                for item in self.items
                for change in item.fields or (_STRUCTURAL,)
            )
            if not only or any(rename.category != "names" for rename in self.renames):
                return "differ"
            return "names-differ"
        if self.renames:
            return "names-differ"
        return "stored-differently" if self.stored else "same"

    @property
    def differs(self) -> bool:
        """Whether there is any difference."""
        return self.verdict != "same"

    def without(self, ignored: Collection[Category]) -> ModelDiff:
        """This diff without some categories."""
        if not ignored:
            return self
        items = [kept for item in self.items if (kept := item.without(ignored)) is not None]
        return replace(
            self,
            items=tuple(items),
            renames=tuple([r for r in self.renames if r.category not in ignored]),
            stored=() if "encoding" in ignored else self.stored,
        )


_STRUCTURAL = FieldChange("", "model", None, None)
