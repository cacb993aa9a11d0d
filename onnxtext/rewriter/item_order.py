# SPDX-License-Identifier: Apache-2.0
"""Find the items that an edit moves in a list of a text, and the places of new items."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Mapping, Sequence

from onnxtext.format.concrete_syntax_tree import Tree
from onnxtext.merger.texts.item_keys import key_of
from onnxtext.merger.texts.text_parts import Item, TextPart
from onnxtext.sequences import longest_increasing_subsequence


def arrange(
    theirs: Sequence[Item], edited: Mapping[int, int], places: Mapping[int, int]
) -> tuple[set[int], dict[int, list[int]]]:
    """Find the items that an edit moves in the list of a text, and those that it inserts.

    There are three lists: the list in the text, the list printed before the edit, and `theirs`, the
    list printed after the edit. `edited` maps indices in the second list to indices in `theirs`;
    `places` maps those to indices in the text. An item of `theirs` is new if neither map has it. It
    is ignored if only `edited` has it: the text lacks it.

    Returns:
        (moved, inserted). `moved` are the items to move, as indices in the text. `inserted` maps an
        index in the text to the new and moved items to insert after it, as indices in `theirs`; -1
        is the start of the list.
    """
    order = _new_order(_groups(theirs, edited, places), places)
    ranks = {index: rank for rank, index in enumerate(order)}
    by_place = sorted(places, key=lambda index: places[index])
    kept = longest_increasing_subsequence([ranks[index] for index in by_place])
    moved = {places[index] for index, stays in zip(by_place, kept, strict=True) if not stays}
    inserted: dict[int, list[int]] = defaultdict(list)
    last = -1
    for index in order:
        place = places.get(index)
        if place is None or place in moved:
            inserted[last].append(index)
        else:
            last = place
    return moved, inserted


def _groups(
    theirs: Sequence[Item], edited: Mapping[int, int], places: Mapping[int, int]
) -> dict[int, Hashable]:
    """Map the index in `theirs` of each item to its group; for the parameters, see `arrange`.

    The text may have the items of a group in another order than the printed list. If the edit does
    not change their order, they keep their places: each item becomes a group of its own.
    """
    known = set(edited.values())
    groups = {
        index: _group(item.part, index)
        for index, item in enumerate(theirs)
        if index in places or index not in known
    }
    before = [edited[index] for index in sorted(edited) if edited[index] in places]
    here = sorted(places, key=lambda index: places[index])
    loose = _unsorted(here, groups) - _unsorted(before, groups)
    return {index: index if group in loose else group for index, group in groups.items()}


def _unsorted(indices: Sequence[int], groups: Mapping[int, Hashable]) -> set[Hashable]:
    """Return the groups whose indices do not occur in ascending order in `indices`."""
    greatest: dict[Hashable, int] = {}
    result: set[Hashable] = set()
    for index in indices:
        group = groups[index]
        if greatest.get(group, -1) > index:
            result.add(group)
        greatest[group] = max(index, greatest.get(group, -1))
    return result


def _new_order(groups: Mapping[int, Hashable], places: Mapping[int, int]) -> list[int]:
    """Return the indices of the items of `groups` in the order that the text will have.

    Each position in the text stays with its group. The items of a group get the positions of the
    group in ascending order of their indices. If the text has no item of a group, the items of the
    group follow the item with the next smaller index.
    """
    queues: dict[Hashable, deque[int]] = defaultdict(deque)
    for index, group in groups.items():
        queues[group].append(index)
    slots = [groups[index] for index in sorted(places, key=lambda index: places[index])]
    left = Counter(slots)
    order: list[int] = []
    for group in slots:
        queue = queues[group]
        left[group] -= 1
        while queue and (not left[group] or queue[0] not in places):
            order.append(queue.popleft())
        if left[group]:
            order.append(queue.popleft())
    followers: dict[int, list[int]] = defaultdict(list)
    placed, last = set(order), -1
    for index in groups:
        if index in placed:
            last = index
        else:
            followers[last].append(index)
    return [*followers[-1], *[one for index in order for one in (index, *followers.get(index, ()))]]


def _group(part: TextPart, index: int) -> Hashable:
    """Return the group of an item: the order of items of different groups has no meaning.

    Sections with the same keyword form a group, each metadata block forms its own group, and all
    other items form one group.
    """
    if part.origin == "section":
        key = key_of(part)
        return key[:2] if isinstance(key, tuple) else key
    return index if is_metadata(part, "metadata_block") else None


def is_metadata(part: TextPart, alias: str) -> bool:
    """Whether a part is a `metadata_item` of the kind `alias`, such as `metadata_block`."""
    if part.origin != "metadata_item":
        return False
    return isinstance(part.tree, Tree) and part.tree.alias == alias
