# SPDX-License-Identifier: Apache-2.0
"""Which items of three versions of a list are the same, and in which order the merge has them.

Everything here takes time n log n at most, also for items that are all alike.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from onnxtext.merge.keys import call_of, key_of, kind_of, label_of
from onnxtext.merge.versions import Item, Part

ABSENT = -1


@dataclass(slots=True, eq=False)
class Triple:
    """An item in its versions, by its places in their lists; `ABSENT` where it is not.

    Attributes:
        base: in the common ancestor.
        ours: in our version.
        theirs: in their version.
    """

    base: int = ABSENT
    ours: int = ABSENT
    theirs: int = ABSENT


def match(base: Sequence[Item], ours: Sequence[Item], theirs: Sequence[Item]) -> list[Triple]:
    """The items of three lists as triples: those of the base in order, then what was added."""
    from_ours, from_theirs = _pair(base, ours), _pair(base, theirs)
    triples = [Triple(at, ABSENT, ABSENT) for at in range(len(base))]
    for at, found in enumerate(from_ours):
        if found != ABSENT:
            triples[found].ours = at
    for at, found in enumerate(from_theirs):
        if found != ABSENT:
            triples[found].theirs = at
    new_ours = [at for at, found in enumerate(from_ours) if found == ABSENT]
    new_theirs = [at for at, found in enumerate(from_theirs) if found == ABSENT]
    both = _pair([ours[at] for at in new_ours], [theirs[at] for at in new_theirs], near=False)
    partner = {new_ours[found]: new_theirs[at] for at, found in enumerate(both) if found != ABSENT}
    taken = set(partner.values())
    triples += [Triple(ABSENT, at, partner.get(at, ABSENT)) for at in new_ours]
    triples += [Triple(ABSENT, ABSENT, at) for at in new_theirs if at not in taken]
    return triples


def _pair(base: Sequence[Item], side: Sequence[Item], *, near: bool = True) -> list[int]:
    """For each item of a side which one of the base it is.

    Args:
        base: the items of the base.
        side: those of the side.
        near: whether items may be the same that have another name, for what they say or for where
            they stand.
    """
    found = [ABSENT] * len(side)
    used = [False] * len(base)

    def run(key: Callable[[Part], Hashable], *, unique: bool = False) -> None:
        places: dict[Hashable, list[int]] = defaultdict(list)
        for at, item in enumerate(base):
            if not used[at] and (known := key(item.part)) is not None:
                places[known].append(at)
        mine: dict[Hashable, list[int]] = defaultdict(list)
        for at, item in enumerate(side):
            if found[at] == ABSENT and places and (known := key(item.part)) is not None:
                mine[known].append(at)
        for known, ats in mine.items():
            others = places.get(known, [])
            if unique and (len(ats) != 1 or len(others) != 1):
                continue
            for at, other in zip(ats, others, strict=False):
                found[at] = other
                used[other] = True

    run(lambda part: part.body)
    run(key_of)
    if near and base and base[0].part.origin in ("node", "value_info"):
        run(label_of, unique=True)
        run(call_of, unique=True)
        _pair_neighbours(base, side, found, used)
    return found


def _pair_neighbours(
    base: Sequence[Item], side: Sequence[Item], found: list[int], used: list[bool]
) -> None:
    """Take for the same what stands at the same place and has the same operator or type."""
    before = ABSENT
    for at, item in enumerate(side):
        other = before + 1
        if (
            found[at] == ABSENT
            and other < len(base)
            and not used[other]
            and (other == 0 or before != ABSENT)
            and (kind := kind_of(item.part)) is not None
            and kind == kind_of(base[other].part)
            and _end_of_gap(base, side, found, used, at, other)
        ):
            found[at] = other
            used[other] = True
        before = found[at]


def _end_of_gap(
    base: Sequence[Item], side: Sequence[Item], found: list[int], used: list[bool], at: int, to: int
) -> bool:
    """Whether what follows on both sides is the same again: nothing was put in or taken out."""
    if at + 1 >= len(side) or to + 1 >= len(base):
        return at + 1 >= len(side) and to + 1 >= len(base)
    return found[at + 1] == to + 1 or (found[at + 1] == ABSENT and not used[to + 1])


def arrange(triples: Sequence[Triple]) -> list[Triple]:
    """The order of the merged list.

    Moves of both sides are kept: what one side has moved stands where that side has it, else
    where the other has it; what both have moved, where we have it. Of what both have put at the
    same place ours comes first.

    Args:
        triples: the items that the merge has.
    """
    common = [t for t in triples if ABSENT not in (t.base, t.ours, t.theirs)]
    common.sort(key=lambda triple: triple.base)
    kept_ours = _rising([triple.ours for triple in common])
    kept_theirs = _rising([triple.theirs for triple in common])
    moved_by_us = {id(t) for t, kept in zip(common, kept_ours, strict=True) if not kept}
    moved_by_them = {
        id(t) for t, kept in zip(common, kept_theirs, strict=True) if not kept
    } - moved_by_us
    placed_by_them = [t for t in triples if t.ours == ABSENT or id(t) in moved_by_them]
    theirs_ids = set(map(id, placed_by_them))
    line = sorted([t for t in triples if id(t) not in theirs_ids], key=lambda t: t.ours)
    return _insert(line, triples, theirs_ids, moved_by_us)


def _insert(
    line: list[Triple], triples: Sequence[Triple], placed: set[int], moved: set[int]
) -> list[Triple]:
    """Put what they have placed into our order: behind what stands before it in theirs."""
    start = Triple()
    after: dict[int, list[Triple]] = defaultdict(list)  # directly behind an item
    before: dict[int, list[Triple]] = defaultdict(list)
    in_theirs = sorted([t for t in triples if t.theirs != ABSENT], key=lambda t: t.theirs)
    anchors: dict[int, tuple[dict[int, list[Triple]], Triple]] = {}
    for number, triple in enumerate(in_theirs):
        if id(triple) not in placed:
            continue
        previous = in_theirs[number - 1] if number else start
        following = next_kept(in_theirs, number, placed)
        if id(previous) in anchors:
            where, anchor = anchors[id(previous)]
        elif id(previous) in moved and following is not None and id(following) not in moved:
            where, anchor = before, following
        else:
            where, anchor = after, previous
        where[id(anchor)].append(triple)
        anchors[id(triple)] = (where, anchor)
    made: list[Triple] = []
    waiting = after[id(start)]
    for triple in line:
        if not (triple.base == ABSENT and triple.theirs == ABSENT):  # what we added comes first
            made += waiting
            waiting = []
        made += before[id(triple)]
        made.append(triple)
        waiting = waiting + after[id(triple)] if after[id(triple)] else waiting
    return [*made, *waiting]


def next_kept(items: Sequence[Triple], number: int, placed: set[int]) -> Triple | None:
    """The item behind one, if the order that others are put into has it."""
    if number + 1 < len(items) and id(items[number + 1]) not in placed:
        return items[number + 1]
    return None


def _rising(numbers: Sequence[int]) -> list[bool]:
    """Which numbers belong to a longest rising subsequence (patience sorting)."""
    tops: list[int] = []
    places: list[int] = []
    below = [ABSENT] * len(numbers)
    for at, number in enumerate(numbers):
        pile = bisect_left(tops, number)
        below[at] = places[pile - 1] if pile else ABSENT
        if pile == len(tops):
            tops.append(number)
            places.append(at)
        else:
            tops[pile] = number
            places[pile] = at
    kept = [False] * len(numbers)
    at = places[-1] if places else ABSENT
    while at != ABSENT:
        kept[at] = True
        at = below[at]
    return kept
