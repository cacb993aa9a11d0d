# SPDX-License-Identifier: Apache-2.0
"""Match the items of three versions of a list.

All functions take O(n log n) time, even if all items are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onnxtext.merger.texts.item_keys import (
    body_of,
    content_of,
    form_of,
    inputs_of,
    key_of,
    kind_of,
    label_of,
    outputs_of,
    signature_of,
)
from onnxtext.merger.texts.renumbered_nodes import NodeRules, pair_renumbered
from onnxtext.merger.texts.text_parts import Item, TextPart
from onnxtext.sequences import equal_keys

ABSENT = -1


@dataclass(slots=True, eq=False)
class MatchedItem:
    """The indices of an item in the three versions of a list.

    Attributes:
        base: index in the common ancestor; `ABSENT` if the item is new.
        ours: index in our version, or `ABSENT`.
        theirs: index in their version, or `ABSENT`.
        replaced: whether a side's item may be unrelated to the item of the base: it was matched
            only by its position and `MatchRules.replacement_key`, and the other side's item does
            not have the same key.
    """

    base: int = ABSENT
    ours: int = ABSENT
    theirs: int = ABSENT
    replaced: bool = False


@dataclass(frozen=True)
class MatchRules:
    """Functions that identify an item of a list.

    Attributes:
        content: returns the whole content of an item.
        key: returns the key of an item, such as its name; None for an item without a key.
        rename_keys: each returns a property that a renamed item keeps; the most reliable first.
        replacement_key: returns the property that an item shares with its replacement at the same
            position.
        nodes: functions that identify a node whose outputs have changed; None if the items are not
            nodes.
    """

    content: Callable[[Any], Hashable]
    key: Callable[[Any], Hashable]
    rename_keys: tuple[Callable[[Any], Hashable], ...] = ()
    replacement_key: Callable[[Any], Hashable] | None = None
    nodes: NodeRules | None = None


def text_match_rules(items: Sequence[Item]) -> MatchRules:
    """Return the rules for matching the items of a list, chosen by the kind of the first item."""

    def of(key: Callable[[TextPart], Hashable]) -> Callable[[Item], Hashable]:
        return lambda item: key(item.part)

    rules = MatchRules(of(lambda part: part.body), of(key_of))
    origin = items[0].part.origin if items else ""
    if origin in ("head", "graph"):  # the top-level items, such as functions
        return replace(rules, rename_keys=(of(content_of), of(signature_of), of(body_of)))
    if origin in ("value_info", "metadata_item"):
        return replace(rules, rename_keys=(of(content_of),), replacement_key=of(kind_of))
    if origin != "node":
        return rules
    nodes = NodeRules(
        outputs=of(outputs_of),
        reads=lambda item: inputs_of(item.part),
        label=of(label_of),
        operator=of(kind_of),
        content=of(content_of),
        form=of(form_of),
        whole=rules.content,
    )
    return node_match_rules(nodes)


def node_match_rules(nodes: NodeRules) -> MatchRules:
    """Return the rules for matching the nodes of a list."""
    return MatchRules(nodes.whole, nodes.outputs, (nodes.label, nodes.content), nodes=nodes)


def match(
    base: Sequence[Any], ours: Sequence[Any], theirs: Sequence[Any], rules: MatchRules
) -> list[MatchedItem]:
    """Match the items of three lists; return a `MatchedItem` for each distinct item.

    The items of the base come first, in order.
    """
    from_ours, by_position_ours = _pair(base, ours, rules)
    from_theirs, by_position_theirs = _pair(base, theirs, rules)
    _pair_as_other_side(ours, theirs, from_ours, from_theirs, base, rules)
    _pair_as_other_side(theirs, ours, from_theirs, from_ours, base, rules)
    replaced = by_position_ours | by_position_theirs
    matched_items = [MatchedItem(index, replaced=index in replaced) for index in range(len(base))]
    for at, found in enumerate(from_ours):
        if found != ABSENT:
            matched_items[found].ours = at
    for at, found in enumerate(from_theirs):
        if found != ABSENT:
            matched_items[found].theirs = at
    for index in replaced:
        matched_item = matched_items[index]
        if ABSENT not in (matched_item.ours, matched_item.theirs):
            # The match by position is reliable if both sides have the same new name for the item.
            key = rules.key(ours[matched_item.ours])
            matched_item.replaced = key is None or key != rules.key(theirs[matched_item.theirs])
    return matched_items + _new_items(ours, theirs, from_ours, from_theirs, rules)


def pair_items(base: Sequence[Any], side: Sequence[Any], rules: MatchRules) -> list[int]:
    """Return for each item of a side the index of its match in the base, or `ABSENT`."""
    return _pair(base, side, rules)[0]


def _new_items(
    ours: Sequence[Any],
    theirs: Sequence[Any],
    from_ours: Sequence[int],
    from_theirs: Sequence[int],
    rules: MatchRules,
) -> list[MatchedItem]:
    """Match the new items of our side with the new items of their side.

    `from_ours` and `from_theirs` have the index in the base, or `ABSENT`, of each item.
    """
    new_ours = [index for index, found in enumerate(from_ours) if found == ABSENT]
    new_theirs = [index for index, found in enumerate(from_theirs) if found == ABSENT]
    both, _ = _pair(
        [ours[at] for at in new_ours],
        [theirs[at] for at in new_theirs],
        replace(rules, rename_keys=(), replacement_key=None, nodes=None),
    )
    partner = {
        new_ours[found]: new_theirs[index] for index, found in enumerate(both) if found != ABSENT
    }
    taken = set(partner.values())
    matched_items = [MatchedItem(ABSENT, at, partner.get(at, ABSENT)) for at in new_ours]
    return matched_items + [MatchedItem(theirs=at) for at in new_theirs if at not in taken]


def _pair(
    base: Sequence[Any], side: Sequence[Any], rules: MatchRules
) -> tuple[list[int], set[int]]:
    """Match the items of a side with the base.

    Returns:
        (for each item of the side, its index in the base or `ABSENT`; the base indices that were
        matched by position and `replacement_key` only)
    """
    found = _pair_by_keys(base, side, rules, {})
    if rules.nodes is None:
        return found
    better = pair_renumbered(base, side, found[0], rules.nodes)
    return _pair_by_keys(base, side, rules, better) if better else found


def _pair_by_keys(
    base: Sequence[Any], side: Sequence[Any], rules: MatchRules, matched: Mapping[int, int]
) -> tuple[list[int], set[int]]:
    """Match the items of a side with the base, one key after the other.

    `matched` has the items that are already matched: it maps indices in the side to indices in the
    base. For the result, see `_pair`.
    """
    partners = [ABSENT] * len(side)
    used = [False] * len(base)
    for at, other in matched.items():
        partners[at] = other
        used[other] = True

    def run(key: Callable[[Any], Hashable], *, unique: bool = False) -> None:
        groups = equal_keys(
            ((at, key(item)) for at, item in enumerate(base) if not used[at]),
            ((at, key(item)) for at, item in enumerate(side) if partners[at] == ABSENT),
        )
        for in_base, in_side in groups:
            if unique and (len(in_side) != 1 or len(in_base) != 1):
                continue
            for at, other in zip(in_side, in_base, strict=False):
                partners[at] = other
                used[other] = True

    run(rules.content)
    run(rules.key)
    for key in rules.rename_keys:
        run(key, unique=True)
    if rules.replacement_key is None or not base:
        return partners, set()
    return partners, _pair_neighbors(base, side, partners, used, rules.replacement_key)


def _pair_as_other_side(
    side: Sequence[Any],
    other: Sequence[Any],
    from_side: list[int],
    from_other: Sequence[int],
    base: Sequence[Any],
    rules: MatchRules,
) -> None:
    """Give an unmatched item of `side` the match that an item of `other` with the same key has.

    For example, both sides rename the output of `y = Relu (x)` to `z`, and `side` also changes the
    operator: `z = Tanh (x)`. Only the node of `other` is similar enough to be matched with the base
    directly. `from_side` and `from_other` have the index in the base, or `ABSENT`, of each item of
    `side` and `other`; `from_side` is updated.
    """
    places = {found: at for at, found in enumerate(from_side) if found != ABSENT}
    added = {rules.key(item) for item, at in zip(other, from_other, strict=True) if at == ABSENT}
    for key in (rules.key, *rules.rename_keys):
        new = [(at, key(side[at])) for at, index in enumerate(from_side) if index == ABSENT]
        moved = (
            (found, key(item))
            for item, found in zip(other, from_other, strict=True)
            if found != ABSENT and (found not in places or key is rules.key)
        )
        for in_side, in_base in equal_keys(new, moved):
            if len(in_side) != 1 or len(in_base) != 1:
                continue
            (at,), (found,) = in_side, in_base
            place = places.get(found, ABSENT)
            if place != ABSENT:
                # The base item already has a match in `side`. Keep the match, unless the matched
                # item is probably a new one that reuses the key: its content differs from the base
                # item, and `other` has also added an item with this key.
                item = side[place]
                if rules.key(item) not in added or rules.content(item) == rules.content(
                    base[found]
                ):
                    continue
                from_side[place] = ABSENT
            from_side[at] = found
            places[found] = at


def _pair_neighbors(
    base: Sequence[Any],
    side: Sequence[Any],
    partners: list[int],
    used: list[bool],
    replacement_key: Callable[[Any], Hashable],
) -> set[int]:
    """Match items by position and `replacement_key`; return their indices in the base.

    Two items are at the same position if their predecessors match, or if both are first. `partners`
    (see `_pair_by_keys`) and `used` (which base items are matched) are updated.
    """

    def ends_gap(index: int, other: int) -> bool:
        """Whether the items after the two items match or are both unmatched, or both lists end.

        Otherwise, one version has more unmatched items here, and the two may be unrelated.
        """
        if index + 1 >= len(side) or other + 1 >= len(base):
            return index + 1 >= len(side) and other + 1 >= len(base)
        following = partners[index + 1]
        return following == other + 1 or (following == ABSENT and not used[other + 1])

    matched: set[int] = set()
    before = ABSENT
    for index, item in enumerate(side):
        other = before + 1
        if (
            partners[index] == ABSENT
            and other < len(base)
            and not used[other]
            and (index == 0 or before != ABSENT)
            and (kind := replacement_key(item)) is not None
            and kind == replacement_key(base[other])
            and ends_gap(index, other)
        ):
            partners[index] = other
            used[other] = True
            matched.add(other)
        before = partners[index]
    return matched
