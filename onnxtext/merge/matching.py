# SPDX-License-Identifier: Apache-2.0
"""Which items of three versions of a list are the same, and in which order the merge has them.

Everything here takes time n log n at most, also for items that are all alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from onnxtext.merge.keys import call_of, first_output_of, key_of, kind_of, label_of
from onnxtext.merge.versions import Item, Part
from onnxtext.sequences import rising

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
    if near and base and base[0].part.origin in ("node", "value_info", "metadata_item"):
        run(first_output_of, unique=True)
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

    It is the order of the side that has moved more, into which the other one's items are put: what
    it has moved or added stands behind what stands before it on its side. What both have moved
    stands where the first has it. Of what both have put at the same place ours comes first.

    Args:
        triples: the items that the merge has.
    """
    common = [t for t in triples if ABSENT not in (t.base, t.ours, t.theirs)]
    common.sort(key=lambda triple: triple.base)
    kept = rising([triple.ours for triple in common])
    moved_by_us = {id(t) for t, stays in zip(common, kept, strict=True) if not stays}
    kept = rising([triple.theirs for triple in common])
    moved_by_them = {id(t) for t, stays in zip(common, kept, strict=True) if not stays}
    if len(moved_by_them) > len(moved_by_us):
        return _arrange(triples, _theirs, _ours, moved_by_them, moved_by_us - moved_by_them)
    return _arrange(triples, _ours, _theirs, moved_by_us, moved_by_them - moved_by_us)


Place = Callable[[Triple], int]


def _ours(triple: Triple) -> int:
    return triple.ours


def _theirs(triple: Triple) -> int:
    return triple.theirs


def _arrange(
    triples: Sequence[Triple], first: Place, second: Place, moved: set[int], other_moved: set[int]
) -> list[Triple]:
    """Put the items of one side into the order of the other.

    Args:
        triples: the items.
        first: where an item stands on the side whose order is kept.
        second: where it stands on the other side.
        moved: what the first side has moved.
        other_moved: what only the second side has moved.
    """
    placed = {id(t) for t in triples if first(t) == ABSENT or id(t) in other_moved}
    line = sorted([t for t in triples if id(t) not in placed], key=first)
    start = Triple()
    after: dict[int, list[Triple]] = defaultdict(list)  # directly behind an item
    before: dict[int, list[Triple]] = defaultdict(list)
    seconds = sorted([t for t in triples if second(t) != ABSENT], key=second)
    anchors: dict[int, tuple[dict[int, list[Triple]], Triple]] = {}
    for number, triple in enumerate(seconds):
        if id(triple) not in placed:
            continue
        previous = seconds[number - 1] if number else start
        following = _next_kept(seconds, number, placed)
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
        ours_alone = triple.base == ABSENT and triple.theirs == ABSENT
        if not ours_alone:  # what we have added comes before what waits
            made += waiting
            waiting = []
        made += before[id(triple)]
        made.append(triple)
        waiting = waiting + after[id(triple)] if after[id(triple)] else waiting
    return [*made, *waiting]


def _next_kept(items: Sequence[Triple], number: int, placed: set[int]) -> Triple | None:
    """The item behind one, if the order that others are put into has it."""
    if number + 1 < len(items) and id(items[number + 1]) not in placed:
        return items[number + 1]
    return None
