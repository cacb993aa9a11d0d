# SPDX-License-Identifier: Apache-2.0
"""The result of a diff: data classes for items, fields, renames and weights that differ."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
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
"""(Kind of an item, old path or None if it was added, new path or None if it was removed)."""

Action = Literal["added", "removed", "changed", "moved"]
Verdict = Literal["same", "stored-differently", "names-differ", "differ"]


@dataclass(frozen=True, slots=True)
class ItemPosition:
    """The position of an item in one of the models.

    Attributes:
        path: the path of the item in the ONNX schema, such as `graph.node[12]`.
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
        changed: number of elements with different bits; None if unknown.
        max_abs: the largest absolute difference; None if no difference could be computed.
        mean_abs: the mean absolute difference of the element pairs without NaN; None if `max_abs`
            is None.
        old_nans: number of NaNs in the old tensor; None if unknown or if NaNs cannot occur.
        new_nans: number of NaNs in the new tensor; None if `old_nans` is None.
        note: the reason why other attributes are unknown, such as a missing file.
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
        path: the path of the field in its item, such as `attribute["axis"]`.
        category: the category of the difference, such as `weights` or `names`.
        old: the old value in the syntax of the text; None if the old model lacks the field.
        new: the new value in the syntax of the text; None if the new model lacks the field.
        weights: how the elements of a tensor differ; None for other fields.
        note: a remark if `old` and `new` are the same name, but denote different values; else None.
    """

    path: str
    category: Category
    old: str | None
    new: str | None
    weights: WeightChange | None = None
    note: str | None = None

    @classmethod
    def moved(cls, path: str, old: int, new: int, category: Category = "order") -> FieldChange:
        """Return the change of an item whose index in a list was `old` and is `new`."""
        return cls(path, category, f"at position {old}", f"at position {new}")


@dataclass(frozen=True, slots=True)
class ItemChange:
    """An item that was added, removed, changed or moved.

    Attributes:
        kind: the schema field of the item, in the singular: `node`, `initializer`, `function`, …;
            `model`, `graph` or `training_info` for changes of their own fields.
        name: the display name of the item.
        actions: `added`, `removed`, `changed` or `moved`; a moved item may be changed, too.
        old: the old position; None if the item was added.
        new: the new position; None if the item was removed.
        old_text: the old statement; None if the item was added. If both models have the item, the
            statement lacks attributes, decorators and data, or is None (a graph, for example).
        new_text: the new statement; None if the item was removed, otherwise like `old_text`.
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
        """Remove changes whose category is in `ignored`; return None if no change remains.

        Added and removed items, and moves of inputs and outputs, are always kept.
        """
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
    """A renamed value, initializer or node. Uses of the new name are not reported as differences.

    Attributes:
        kind: `value`, `initializer`, `node`, or `input` or `output` of the main graph.
        path: path of the graph or function in the new model.
        old: the old name.
        new: the new name.
        category: `model` for inputs and outputs of the main graph, otherwise `names`.
    """

    kind: str
    path: str
    old: str
    new: str
    category: Category = "names"


@dataclass(frozen=True, slots=True)
class EncodingChange:
    """A field whose values are equal in both models but stored differently.

    Attributes:
        what: the kind of the item and the path of the field, such as `node.domain`.
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
    """The old and new number of nodes of an operator, including nested graphs and functions."""

    operator: str
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class Group:
    """All occurrences of a change. One occurrence may have several items.

    Attributes:
        title: a description of the change, such as `MatMul + Add became FusedMatMul`.
        occurrences: for each occurrence, the keys of its items (`ItemChange.key`).
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
        notes: sentences that state which parts were not compared, and why.
        operators: the number of nodes of each operator in both models.
        groups: the items, grouped by similar changes, for short views of large diffs.
    """

    old_label: str
    new_label: str
    items: tuple[ItemChange, ...] = ()
    renames: tuple[Rename, ...] = ()
    stored: tuple[EncodingChange, ...] = ()
    notes: tuple[str, ...] = ()
    operators: tuple[OperatorCount, ...] = ()
    groups: tuple[Group, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The overall result, such as `names-differ`; the most severe difference determines it."""
        names_only = all(rename.category == "names" for rename in self.renames) and all(
            item.actions == ("changed",) and {c.category for c in item.fields} == {"names"}
            for item in self.items
        )
        if not names_only:
            return "differ"
        if self.items or self.renames:
            return "names-differ"
        return "stored-differently" if self.stored else "same"

    @property
    def differs(self) -> bool:
        """Whether there is any difference, even if only in the encoding."""
        return self.verdict != "same"

    def __bool__(self) -> bool:
        return self.differs

    def __str__(self) -> str:
        """Return the text that `onnxtext diff` prints."""
        from onnxtext.differ.render.text import render

        return render(self)

    def without(self, ignored: Collection[Category]) -> ModelDiff:
        """Return the diff without the changes whose category is in `ignored`."""
        if not ignored:
            return self
        items = [kept for item in self.items if (kept := item.without(ignored)) is not None]
        return replace(
            self,
            items=tuple(items),
            renames=tuple([r for r in self.renames if r.category not in ignored]),
            stored=() if "encoding" in ignored else self.stored,
        )
