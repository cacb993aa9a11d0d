# SPDX-License-Identifier: Apache-2.0
"""The result of a diff: data classes for items, fields, renames and weights that differ."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

Category = Literal["model", "weights", "order", "names", "metadata", "doc", "encoding"]
"""What a difference concerns.

`model`: the computation and the interface. `weights`: elements of tensors. `order`: the order of
nodes, or of a list whose order has no meaning. `names`: labels of nodes and graphs, names of
internal values. `metadata`: `metadata_props` and the producer. `doc`: doc strings. `encoding`:
equal values that are stored differently.
"""

CATEGORIES: tuple[Category, ...] = get_args(Category)
IGNORABLE = tuple([name for name in CATEGORIES if name != "model"])

ItemKey = tuple[str, str | None, str | None]
"""The kind of an item, its old path and its new path."""

Action = Literal["added", "removed", "changed", "moved"]
Verdict = Literal["same", "stored-differently", "names-differ", "differ"]


@dataclass(frozen=True, slots=True)
class ItemPosition:
    """The position of an item in one of the models.

    Attributes:
        path: in the field names of the schema, such as `graph.node[12]`.
        line: 1-based line of its statement in the text; None if unknown, as in binary models.
        column: 1-based column of its statement in the text; None if the line is None.
    """

    path: str
    line: int | None = None
    column: int | None = None


Positions = tuple[ItemPosition, ItemPosition]
"""The old and the new position of an item."""


@dataclass(frozen=True, slots=True)
class WeightChange:
    """How the elements of a tensor differ.

    Attributes:
        elements: number of elements.
        changed: number of elements that differ; NaNs with equal bits are equal. None if unknown.
        max_abs: the largest absolute difference; None if no difference could be computed.
        mean_abs: the mean absolute difference of the pairs without NaN; None like `max_abs`.
        old_nans: number of NaNs in the old tensor; None if unknown or if elements are not floats.
        new_nans: number of NaNs in the new tensor, likewise.
        note: the reason why the other attributes are unknown, such as a missing file.
        how: how the new elements derive from the old elements: `transposed`, `cast from float to
            float16`, `quantized from float to uint8`; None if unknown.
    """

    elements: int
    changed: int | None = None
    max_abs: float | None = None
    mean_abs: float | None = None
    old_nans: int | None = None
    new_nans: int | None = None
    note: str | None = None
    how: str | None = None


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field that differs.

    Attributes:
        path: relative to its item, such as `attribute["axis"]`.
        category: what the difference concerns.
        old: its old value in the syntax of the text; None if it was absent.
        new: its new value; None if it is absent.
        weights: how the elements of a tensor differ; None for other fields.
    """

    path: str
    category: Category
    old: str | None
    new: str | None
    weights: WeightChange | None = None


@dataclass(frozen=True, slots=True)
class ItemChange:
    """An item that was added, removed, changed or moved.

    Attributes:
        kind: a field of the schema in the singular: `node`, `initializer`, `function`, …; `model`,
            `graph` and `training_info` for changes of their own fields.
        name: its name for display.
        actions: added, removed, changed or moved; a moved item may be changed, too.
        old: its old position; None if it was added.
        new: its new position; None if it was removed.
        old_text: its old statement; a headline if both models have the item.
        new_text: its new statement; a headline if both models have the item.
        fields: the fields that differ.
    """

    kind: str
    name: str
    actions: tuple[Action, ...]
    old: ItemPosition | None
    new: ItemPosition | None
    old_text: str | None = None
    new_text: str | None = None
    fields: tuple[FieldChange, ...] = ()

    @property
    def key(self) -> ItemKey:
        """The key that identifies the item in a diff."""
        old = None if self.old is None else self.old.path
        return self.kind, old, None if self.new is None else self.new.path

    def without(self, ignored: Collection[Category]) -> ItemChange | None:
        """Return the item without changes of ignored categories; None if no change remains."""
        if "added" in self.actions or "removed" in self.actions:
            return self
        actions = self.actions
        fields = tuple([change for change in self.fields if change.category not in ignored])
        if "changed" in actions and not fields:
            actions = tuple([action for action in actions if action != "changed"])
        # The order of inputs and outputs belongs to the interface.
        if "order" in ignored and self.kind not in ("input", "output"):
            actions = tuple([action for action in actions if action != "moved"])
        return replace(self, actions=actions, fields=fields) if actions else None


@dataclass(frozen=True, slots=True)
class Rename:
    """A renamed value, initializer or node; its uses under the new name are not differences.

    Attributes:
        kind: `value`, `initializer`, `node` (its label), `input` or `output` (of the interface).
        path: path of its graph or function in the new model.
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
    """A field that is equal in both models but stored differently.

    Attributes:
        what: the kind of item and its field, such as `node.domain`.
        old: the old encoding: `not stored`, `stored empty`, `raw_data`, …
        new: the new encoding.
        count: number of occurrences.
        path: the path of the first occurrence in the new model.
    """

    what: str
    old: str
    new: str
    count: int
    path: str


@dataclass(frozen=True, slots=True)
class OperatorCount:
    """The number of nodes of an operator, in nested graphs and functions too."""

    operator: str
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class Group:
    """Similar differences.

    Attributes:
        title: the common change: `MatMul + Add became FusedMatMul`.
        occurrences: the item keys of each occurrence of the change.
    """

    title: str
    occurrences: list[tuple[ItemKey, ...]]


@dataclass(frozen=True, slots=True)
class ModelDiff:
    """All differences of two models.

    Attributes:
        old_label: name of the old model.
        new_label: name of the new model.
        items: differing items in the order of the new model; removed items at their old position.
        renames: renamed items, in the order of the new model.
        stored: equal fields that are stored differently.
        notes: the parts that could not be compared, and why.
        operators: the operators of both models.
        groups: the items grouped by similar changes, for diffs with many items.
    """

    old_label: str
    new_label: str
    items: tuple[ItemChange, ...] = ()
    renames: tuple[Rename, ...] = ()
    stored: tuple[Stored, ...] = ()
    notes: tuple[str, ...] = field(default=())
    operators: tuple[OperatorCount, ...] = ()
    groups: tuple[Group, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The overall result, by the most severe difference."""
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

    def __bool__(self) -> bool:
        return self.differs

    def __str__(self) -> str:
        """Return the text that `onnxtext diff` prints."""
        from onnxtext.differ.render.text import render

        return render(self)

    def without(self, ignored: Collection[Category]) -> ModelDiff:
        """Return the diff without changes of ignored categories."""
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
