# SPDX-License-Identifier: Apache-2.0
"""Which items of three versions of a list are the same, and in which order the merge has them.

Everything here takes time n log n at most, also for items that are all alike.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cmp_to_key
from typing import Any

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
        replaced: whether a side has something else at its place, which may be the same item.
    """

    base: int = ABSENT
    ours: int = ABSENT
    theirs: int = ABSENT
    replaced: bool = False


@dataclass(frozen=True)
class Rules:
    """What identifies an item of a list.

    Attributes:
        content: all of an item.
        key: its key; None for items without one.
        similar: what an item keeps when it is renamed, from the most certain to the least.
        alike: what an item has in common with one that may replace it at the same place.
        weak: whether what was matched by its place only is marked as replaced.
    """

    content: Callable[[Any], Hashable]
    key: Callable[[Any], Hashable]
    similar: tuple[Callable[[Any], Hashable], ...] = ()
    alike: Callable[[Any], Hashable] | None = None
    weak: bool = False


def text_rules(items: Sequence[Item]) -> Rules:
    """The rules for the items of a text's list."""

    def of(key: Callable[[Part], Hashable]) -> Callable[[Item], Hashable]:
        return lambda item: key(item.part)

    if not items or items[0].part.origin not in ("node", "value_info", "metadata_item"):
        return Rules(of(lambda part: part.body), of(key_of))
    similar = (first_output_of, label_of, call_of)
    return Rules(
        of(lambda part: part.body), of(key_of), tuple([of(key) for key in similar]), of(kind_of)
    )


def match(
    base: Sequence[Any], ours: Sequence[Any], theirs: Sequence[Any], rules: Rules
) -> list[Triple]:
    """The items of three lists as triples: those of the base in order, then what was added."""
    from_ours, weak_ours = _pair(base, ours, rules)
    from_theirs, weak_theirs = _pair(base, theirs, rules)
    weak = (weak_ours | weak_theirs) if rules.weak else ()
    triples = [Triple(at, ABSENT, ABSENT, at in weak) for at in range(len(base))]
    for at, found in enumerate(from_ours):
        if found != ABSENT:
            triples[found].ours = at
    for at, found in enumerate(from_theirs):
        if found != ABSENT:
            triples[found].theirs = at
    new_ours = [at for at, found in enumerate(from_ours) if found == ABSENT]
    new_theirs = [at for at, found in enumerate(from_theirs) if found == ABSENT]
    both, _ = _pair(
        [ours[at] for at in new_ours],
        [theirs[at] for at in new_theirs],
        replace(rules, similar=(), alike=None),
    )
    partner = {new_ours[found]: new_theirs[at] for at, found in enumerate(both) if found != ABSENT}
    taken = set(partner.values())
    triples += [Triple(ABSENT, at, partner.get(at, ABSENT)) for at in new_ours]
    triples += [Triple(ABSENT, ABSENT, at) for at in new_theirs if at not in taken]
    return triples


def _pair(base: Sequence[Any], side: Sequence[Any], rules: Rules) -> tuple[list[int], set[int]]:
    """Match the items of a side.

    Args:
        base: the items of the base.
        side: those of the side.
        rules: what identifies an item.

    Returns:
        For each item of the side its place in the base; the places that were matched because
        something similar stands there.
    """
    found = [ABSENT] * len(side)
    used = [False] * len(base)

    def run(key: Callable[[Any], Hashable], *, unique: bool = False) -> None:
        places: dict[Hashable, list[int]] = defaultdict(list)
        for at, item in enumerate(base):
            if not used[at] and (known := key(item)) is not None:
                places[known].append(at)
        mine: dict[Hashable, list[int]] = defaultdict(list)
        for at, item in enumerate(side):
            if found[at] == ABSENT and places and (known := key(item)) is not None:
                mine[known].append(at)
        for known, ats in mine.items():
            others = places.get(known, [])
            if unique and (len(ats) != 1 or len(others) != 1):
                continue
            for at, other in zip(ats, others, strict=False):
                found[at] = other
                used[other] = True

    run(rules.content)
    run(rules.key)
    for key in rules.similar:
        run(key, unique=True)
    if rules.alike is None or not base:
        return found, set()
    return found, _pair_neighbours(base, side, found, used, rules.alike)


def _pair_neighbours(
    base: Sequence[Any],
    side: Sequence[Any],
    found: list[int],
    used: list[bool],
    alike: Callable[[Any], Hashable],
) -> set[int]:
    """Match what stands at the same place and has the same operator or type."""
    matched: set[int] = set()
    before = ABSENT
    for at, item in enumerate(side):
        other = before + 1
        if (
            found[at] == ABSENT
            and other < len(base)
            and not used[other]
            and (other == 0 or before != ABSENT)
            and (kind := alike(item)) is not None
            and kind == alike(base[other])
            and _end_of_gap(base, side, found, used, at, other)
        ):
            found[at] = other
            used[other] = True
            matched.add(other)
        before = found[at]
    return matched


def _end_of_gap(
    base: Sequence[Any], side: Sequence[Any], found: list[int], used: list[bool], at: int, to: int
) -> bool:
    """Whether what follows on both sides is the same again: nothing was put in or taken out."""
    if at + 1 >= len(side) or to + 1 >= len(base):
        return at + 1 >= len(side) and to + 1 >= len(base)
    return found[at + 1] == to + 1 or (found[at + 1] == ABSENT and not used[to + 1])


# ---- Order ----------------------------------------------------------------------------------


def arrange(
    triples: Sequence[Triple], *, strict: bool = False, theirs_first: bool = False
) -> tuple[list[Triple], bool]:
    """The order of the merged list.

    Of two items that both sides have, the order is that of the side that has changed it. What only
    one side has stands behind what stands before it there. Of what both have put at the same place
    ours comes first.

    Args:
        triples: the items that the merge has.
        strict: whether each place has a meaning, so that the changes of both sides must fit
            together for every two items.
        theirs_first: whether their order decides where the two contradict each other.

    Returns:
        The items in order, and whether the changes of order of both sides fit together.
    """
    shared = [t for t in triples if ABSENT not in (t.ours, t.theirs)]
    moved = _both_moved(shared)
    line, fits = _merged_order(shared, moved, strict, theirs_first)
    rows = _Rows(line)
    for place, moves in ((_ours, moved[1]), (_theirs, moved[0])):
        unsure = rows.insert(sorted([t for t in triples if place(t) != ABSENT], key=place), moves)
        fits = fits and not (strict and moves and unsure)
    return rows.all(), fits


class _Rows:
    """Items in order, with others to be put between them."""

    def __init__(self, line: list[Triple]) -> None:
        self._line = line
        self._there = set(map(id, line))
        self._start = Triple()
        self._behind: dict[int, list[Triple]] = defaultdict(list)
        self._before: dict[int, list[Triple]] = defaultdict(list)

    def insert(self, items: Sequence[Triple], moved: set[int]) -> bool:
        """Put the missing ones of some items behind what stands before them.

        Args:
            items: in the order of one side.
            moved: items that the other side has moved, from which what stands next to them goes
                away if the item behind has stayed.

        Returns:
            Whether one was put in elsewhere than at the end.
        """
        anchor, where, unsure = self._start, self._behind, False
        for triple, after in zip(items, self._following(items), strict=True):
            if id(triple) in self._there:
                anchor, where = triple, self._behind
                continue
            unsure = unsure or after is not None
            if id(anchor) in moved:
                if after is None:
                    anchor = self._line[-1]
                elif id(after) not in moved:
                    anchor, where = after, self._before
            where[id(anchor)].append(triple)
        return unsure

    def _following(self, items: Sequence[Triple]) -> list[Triple | None]:
        """For each item the next one that is in line."""
        found: list[Triple | None] = []
        following: Triple | None = None
        for triple in reversed(items):
            found.append(following)
            if id(triple) in self._there:
                following = triple
        return found[::-1]

    def all(self) -> list[Triple]:
        """All items in order."""
        made = list(self._behind[id(self._start)])
        for triple in self._line:
            made += self._before.get(id(triple), ())
            made.append(triple)
            made += self._behind.get(id(triple), ())
        return made


Place = Callable[[Triple], int]


def _ours(triple: Triple) -> int:
    return triple.ours


def _theirs(triple: Triple) -> int:
    return triple.theirs


def _base(triple: Triple) -> int:
    return triple.base


def _both_moved(shared: Sequence[Triple]) -> tuple[set[int], set[int]]:
    """What each side has moved, other items if that can be."""
    ours, theirs = _moved(shared, _ours, set()), _moved(shared, _theirs, set())
    if ours & theirs and not (others := _moved(shared, _theirs, ours)) & ours:
        return ours, others
    if ours & theirs and not (others := _moved(shared, _ours, theirs)) & theirs:
        return others, theirs
    return ours, theirs


def _moved(shared: Sequence[Triple], place: Place, others: set[int]) -> set[int]:
    """What a side has moved: as few items as explain its order.

    Args:
        shared: the items that both sides have.
        place: where they stand on that side.
        others: what the other side has moved; rather something else than these.
    """
    known = sorted([t for t in shared if t.base != ABSENT], key=_base)
    numbers = [place(triple) for triple in known]
    if others:
        kept = _rising(numbers, [id(triple) in others for triple in known])
    else:
        kept = rising(numbers)
    return {id(triple) for triple, stays in zip(known, kept, strict=True) if not stays}


def _rising(numbers: Sequence[int], wanted: Sequence[bool]) -> list[bool]:
    """Which numbers belong to that longest rising subsequence which has the most wanted ones."""
    ranks = {number: rank for rank, number in enumerate(sorted(numbers), 1)}
    tree: list[tuple[int, int, int]] = [(0, 0, -1)] * (len(numbers) + 1)  # Fenwick's, of maxima
    before: list[int] = []
    best = (0, 0, -1)
    for at, number in enumerate(numbers):
        found = (0, 0, -1)
        rank = ranks[number] - 1
        while rank > 0:
            found = max(found, tree[rank])
            rank &= rank - 1
        before.append(found[2])
        made = (found[0] + 1, found[1] + wanted[at], at)
        best = max(best, made)
        rank = ranks[number]
        while rank <= len(numbers):
            tree[rank] = max(tree[rank], made)
            rank += rank & -rank
    kept = [False] * len(numbers)
    at = best[2]
    while at >= 0:
        kept[at] = True
        at = before[at]
    return kept


def _merged_order(
    shared: list[Triple], moved: tuple[set[int], set[int]], strict: bool, theirs_first: bool
) -> tuple[list[Triple], bool]:
    """The order of what both sides have, and whether nothing contradicts it."""
    by_us, by_them = sorted(shared, key=_ours), sorted(shared, key=_theirs)
    if by_us == by_them:
        return by_us, True
    known = sorted([t for t in shared if t.base != ABSENT], key=_base)
    if len(known) == len(shared):
        if by_us == known:
            return by_them, True
        if by_them == known:
            return by_us, True
    made = _pairwise(shared, by_us, by_them)
    if made is not None:
        return made, True
    if strict or moved[0] & moved[1] or len(known) < len(shared):
        return (by_them if theirs_first else by_us), False
    # Other items were moved: all moves are made, from the side with more of them on.
    swap = len(moved[1]) > len(moved[0])
    few = moved[0] if swap else moved[1]
    orders = (by_them, by_us) if swap else (by_us, by_them)
    rows = _Rows([triple for triple in orders[0] if id(triple) not in few])
    rows.insert(orders[1], moved[1] if swap else moved[0])
    return rows.all(), True


def _pairwise(
    shared: list[Triple], by_us: list[Triple], by_them: list[Triple]
) -> list[Triple] | None:
    """The order in which any two items stand as the side has them that has changed their order.

    Returns:
        None if there is none.
    """

    def compare(one: Triple, other: Triple) -> int:
        found = one.ours - other.ours
        if found * (one.theirs - other.theirs) > 0 or ABSENT in (one.base, other.base):
            return found
        return other.base - one.base  # one side has changed it

    made = sorted(shared, key=cmp_to_key(compare))
    known = [[t for t in order if t.base != ABSENT] for order in (by_us, by_them, made)]
    # Every pair is as wanted if and only if these numbers add up.
    apart = _inversions(by_us, _theirs)
    changed = _inversions(known[0], _base) + _inversions(known[1], _base)
    if (
        _inversions(made, _ours) + _inversions(made, _theirs) == apart
        and _inversions(known[0], _theirs) == apart
        and 2 * _inversions(known[2], _base) == changed + apart
    ):
        return made
    return None


def _inversions(items: Sequence[Triple], place: Place) -> int:
    """How many pairs of items stand the other way round in a version."""
    seen: list[int] = []
    count = 0
    for triple in items:
        at = place(triple)
        count += len(seen) - bisect_left(seen, at)
        insort(seen, at)
    return count
