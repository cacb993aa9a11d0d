# SPDX-License-Identifier: Apache-2.0
"""Merge canonical models field by field and item by item.

Each result is a `Resolved`: the merge with conflicts resolved to ours, to theirs and to the base.
These three values are equal unless there is a conflict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from onnxtext.ast.byte_strings import to_text
from onnxtext.merger.models.message_rules import (
    MODEL,
    NODE_RULES,
    Fields,
    MessageKind,
    RepeatedField,
    by_position,
    join_message,
    node_inputs,
    split_message,
    without_inputs,
)
from onnxtext.merger.renames import Renames, are_contradictory
from onnxtext.merger.texts.item_order import arrange
from onnxtext.merger.texts.match_items import ABSENT, MatchedItem, MatchRules, match
from onnxtext.wire.writer import LENGTH

Resolved = tuple[Any, ...]
"""A merged value: resolved to ours, to theirs and to the base (None: no value)."""
FieldPath = tuple[int, int]
"""Identifies a list by (message, field number).

The message is 0 for the model, 7 for the main graph (field 7 of the model), and -1 for all others.
"""


@dataclass(frozen=True)
class _Matched:
    """A merged list.

    Attributes:
        orders: three orders of the `MatchedItem`s: contradictions between ours and theirs are
            resolved to ours, to theirs and to the base.
        found: maps the `id()` of each `MatchedItem` to the merged item.
        ambiguous: whether the whole list is a conflict, because items could be matched in several
            ways.
    """

    orders: Sequence[list[MatchedItem]]
    found: dict[int, Resolved]
    ambiguous: bool


@dataclass
class ModelMerger:
    """Merges three versions of a model.

    Attributes:
        renames: the renames of ours and the renames of theirs.
        forced: items to turn into conflicts even if they merge cleanly: maps each list to indices
            of items in the merge resolved to ours.
        ambiguous: whether there is a conflict that the results do not show. For example, an item
            in `forced` is equal in ours and theirs.
    """

    renames: tuple[Renames, Renames]
    forced: dict[FieldPath, set[int]] = field(default_factory=dict)
    ambiguous: bool = False
    _lists: dict[FieldPath, _Matched] = field(default_factory=dict)

    def model(self, base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bytes, bytes]:
        """Merge whole models.

        The arguments are canonical bytes; `base` is empty without a common ancestor. If a first
        call has merged items that must be conflicts, set `forced`, and call `model` again.

        Returns:
            The merged model three times, with each conflict resolved to ours, to theirs, and to the
            base.
        """
        self.ambiguous = False
        simple = None if self.forced else _three_way(base, ours, theirs)
        return simple or self._fields(MODEL, base, ours, theirs, 0)

    # ---- Messages ---------------------------------------------------------------------------

    def _message(
        self, kind: MessageKind, base: bytes | None, ours: bytes | None, theirs: bytes | None
    ) -> Resolved:
        if (simple := _three_way(base, ours, theirs)) is not None:
            return simple
        if base is None and ours is not None and theirs is not None:
            base = b"" if kind.merge_if_both_add else _common_definition(kind, ours, theirs)
        if base is None or ours is None or theirs is None:
            return ours, theirs, base
        return self._fields(kind, base, ours, theirs)

    def _fields(
        self, kind: MessageKind, base: bytes, ours: bytes, theirs: bytes, owner: int = -1
    ) -> Resolved:
        """Merge messages field by field.

        `owner` is 0 for the model, 7 for the main graph, else -1.
        """
        versions = [split_message(base), split_message(ours), split_message(theirs)]
        merged: tuple[Fields, Fields, Fields] = ({}, {}, {})
        for numbers in _groups(kind, versions):
            parts = [{key: v[key] for key in v if key >> 3 in numbers} for v in versions]
            for target, part in zip(merged, self._group(kind, numbers, parts, owner), strict=True):
                if part is None:
                    return ours, theirs, base
                target.update(part)
        if kind.meaning is not None:
            meanings = map(kind.meaning, versions)
            if are_contradictory(self.renames, *meanings):
                return ours, theirs, base
        mine, others, before = merged
        joined = join_message(mine)
        # Without a conflict, the results are equal: large messages are not copied again.
        return (
            joined,
            joined if others == mine else join_message(others),
            joined if before == mine else join_message(before),
        )

    def _group(
        self, kind: MessageKind, numbers: frozenset[int], parts: Sequence[Fields], owner: int
    ) -> Resolved:
        """Merge a set of fields; return (None, None, None) if the whole message is a conflict."""
        base, ours, theirs = parts
        number = min(numbers)
        key = number << 3 | LENGTH
        list_key = (owner, number)
        holds_forced = list_key in self.forced or (list_key == (0, 7) and self.forced)
        if not holds_forced and (simple := _three_way(base, ours, theirs)) is not None:
            return simple
        items = [part.get(key, []) for part in parts]
        if number in kind.lists and len(numbers) == 1:
            lists = self._list(kind.lists[number], items, list_key)
            return tuple([{key: found} if found else {} for found in lists])
        if number in kind.messages and max(map(len, items)) == 1:
            single = [item[0] if item else None for item in items]
            if None not in single[1:] and (kind.merge_if_both_add or None not in single):
                if list_key == (0, 7):
                    before, mine, others = [item or b"" for item in single]
                    found = self._fields(kind.messages[number], before, mine, others, 7)
                else:
                    found = self._message(kind.messages[number], *single)
                return tuple([{key: [item]} for item in found])
        elif number in kind.positions:
            merged = _positions(*items)
            if merged is not None and number in kind.distinct and len(set(merged)) < len(merged):
                merged = None
            if merged is not None:
                return ({key: merged},) * 3
        if kind.merge_if_both_add:
            return ours, theirs, base
        return None, None, None

    # ---- Lists ------------------------------------------------------------------------------

    def _list(
        self, repeated: RepeatedField, items: Sequence[list[bytes]], list_key: FieldPath
    ) -> Resolved:
        """Merge the items of the list `list_key`; items in `forced` become conflicts."""
        if repeated.key is by_position:
            assert repeated.kind is not None
            return self._by_position(repeated.kind, items)
        if list_key[0] < 0:
            matched = self._match(repeated, items)
        else:
            matched = self._lists.get(list_key) or self._match(repeated, items)
            self._lists[list_key] = matched
        if matched.ambiguous:
            return items[1], items[2], items[0]
        matched_items = matched.found
        if list_key in self.forced:
            matched_items = matched_items.copy()
            shown = [
                matched_item
                for matched_item in matched.orders[0]
                if matched_items[id(matched_item)][0] is not None
            ]
            for matched_item in [shown[index] for index in self.forced[list_key]]:
                matched_items[id(matched_item)] = self._conflict(*_versions(matched_item, items))
        merged: list[list[bytes]] = []
        for version, order in enumerate(matched.orders):
            merged.append([r for t in order if (r := matched_items[id(t)][version]) is not None])
        return tuple(merged)

    def _match(self, repeated: RepeatedField, items: Sequence[list[bytes]]) -> _Matched:
        """Match the items of three lists, merge each match, and order the results."""
        key = cache(repeated.key)
        rules = MatchRules(
            lambda item: item,
            key,
            tuple(map(cache, repeated.rename_keys)),
            repeated.replacement_key,
            NODE_RULES if repeated.is_node else None,
        )
        matched_items = match(items[0], items[1], items[2], rules)
        merged_items = {
            id(matched_item): self._item(repeated, matched_item, items)
            for matched_item in matched_items
        }
        order, consistent = arrange(matched_items, strict=repeated.ordered)
        orders = [order, order, order]
        if not consistent:
            orders[1] = arrange(matched_items, strict=True, theirs_first=True)[0]
            orders[2] = sorted(matched_items, key=lambda matched_item: matched_item.base)
        return _Matched(orders, merged_items, self._is_ambiguous(items, key))

    def _item(
        self, repeated: RepeatedField, matched_item: MatchedItem, items: Sequence[list[bytes]]
    ) -> Resolved:
        base, ours, theirs = _versions(matched_item, items)
        if matched_item.replaced and base not in (ours, theirs) and ours != theirs:
            # The items were matched by position only. If a side renamed the item, a merge would
            # lose changes.
            return self._conflict(base, ours, theirs)
        if repeated.is_node and base is not None:
            for side, other, renames in ((ours, theirs, 0), (theirs, ours, 1)):
                if other is None and side is not None and self._only_inputs(base, side, renames):
                    # One side deleted the node, the other side only renamed its inputs.
                    return None, None, None
        if repeated.kind is None or None in (ours, theirs) or (base is None and ours == theirs):
            simple = _three_way(base, ours, theirs)
            return (ours, theirs, base) if simple is None else simple
        return self._message(repeated.kind, base, ours, theirs)

    def _only_inputs(self, base: bytes, side: bytes, number: int) -> bool:
        """Whether a node of a side differs from its base only in inputs that the side renamed.

        `number` is the side: 0 for ours, 1 for theirs.
        """
        before, after = ([to_text(data) for data in node_inputs(node)] for node in (base, side))
        return without_inputs(base) == without_inputs(side) and (
            self.renames[number].inputs_differ_only_by_renames(before, after)
        )

    def _conflict(self, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> Resolved:
        self.ambiguous |= ours == theirs
        return ours, theirs, base

    def _by_position(self, kind: MessageKind, items: Sequence[list[bytes]]) -> Resolved:
        """Merge a list whose items have no keys, by position; a conflict if the lengths differ."""
        base, ours, theirs = items
        if not len(base) == len(ours) == len(theirs):
            return ours, theirs, base
        merged = [self._message(kind, *item) for item in zip(*items, strict=True)]
        return tuple([[item[version] for item in merged] for version in range(3)])

    @staticmethod
    def _is_ambiguous(items: Sequence[list[bytes]], key: Any) -> bool:
        """Whether several items of a list share a key, and both sides changed these items."""
        groups: list[dict[Hashable, list[bytes]]] = []
        for listed in items:
            by_key: dict[Hashable, list[bytes]] = defaultdict(list)
            for item in listed:
                by_key[item if (item_key := key(item)) is None else (item_key,)].append(item)
            groups.append(by_key)
        shared = {k for group in groups for k, same in group.items() if len(same) > 1}
        base, ours, theirs = groups
        return any(base.get(k) != ours.get(k) and base.get(k) != theirs.get(k) for k in shared)


def _common_definition(kind: MessageKind, ours: bytes, theirs: bytes) -> bytes | None:
    """Return the definition of an item that both sides add, as the base of a merge.

    The definition is the item without its `kind.described` fields. Return None if `kind.described`
    is empty, or if the sides define the item differently.
    """
    if not kind.described:
        return None
    defined = [
        {key: value for key, value in split_message(side).items() if key >> 3 not in kind.described}
        for side in (ours, theirs)
    ]
    return join_message(defined[0]) if defined[0] == defined[1] else None


def _versions(matched_item: MatchedItem, items: Sequence[list[bytes]]) -> list[bytes | None]:
    places = (matched_item.base, matched_item.ours, matched_item.theirs)
    return [
        None if index == ABSENT else listed[index]
        for index, listed in zip(places, items, strict=True)
    ]


def _three_way(base: Any, ours: Any, theirs: Any) -> Resolved | None:
    """Merge three values; return None if both sides changed the base in different ways."""
    if theirs in (ours, base):
        return ours, ours, ours
    if ours == base:
        return theirs, theirs, theirs
    return None


def _groups(kind: MessageKind, versions: Sequence[Fields]) -> list[frozenset[int]]:
    """Divide the fields into sets; each set is merged as a whole.

    The sets are `kind.units` and, if `_is_divided_differently`, `kind.divided`. Each other field is
    a set of its own.
    """
    there = {key >> 3 for fields in versions for key in fields}
    units = [*kind.units, kind.divided] if _is_divided_differently(kind, versions) else kind.units
    groups = [unit & there for unit in units if unit & there]
    together = frozenset().union(*units)
    return [*groups, *[frozenset((number,)) for number in sorted(there - together)]]


def _is_divided_differently(kind: MessageKind, versions: Sequence[Fields]) -> bool:
    """Whether both sides changed the same item, differently, in the fields `kind.divided`."""
    lists: list[dict[Hashable, tuple[int, bytes]]] = [
        {
            kind.lists[number].key(item): (number, item)
            for number in sorted(kind.divided)
            for item in fields.get(number << 3 | LENGTH, ())
        }
        for fields in versions
    ]
    base, ours, theirs = lists
    return any(
        ours.get(key) != theirs.get(key) and base.get(key) not in (ours.get(key), theirs.get(key))
        for key in {*base, *ours, *theirs}
    )


def _positions(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> list[bytes] | None:
    """Merge lists in which the position identifies an item; None for a conflict.

    The sides may change different items. If a side appended or removed items at the end, the other
    side may only change items that the first side kept. The result is None if items may have been
    shifted.
    """
    changed, other = (theirs, ours) if len(ours) == len(base) else (ours, theirs)
    count = min(len(base), len(changed))
    if len(other) != len(base) or other[count:] != base[count:]:
        return None
    if len(changed) != len(base) and (
        changed[:count] != base[:count]
        or any(one != before and one in base for one, before in zip(other, base, strict=True))
    ):
        return None  # the other side may have shifted or swapped items
    if len(changed) < len(base) and len(set(base)) < len(base):
        return None
    placed: list[bytes] = []
    for before, one, two in zip(base, changed, other, strict=False):
        merged = _three_way(before, one, two)
        if merged is None:
            return None
        placed.append(merged[0])
    return [*placed, *changed[count:]]
