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
    triples: Sequence[Triple], *, theirs_first: bool = False
) -> tuple[list[Triple], bool]:
    """The order of the merged list.

    Of two items that both sides have, the order is that of the side that has changed it. What only
    one side has stands behind what stands before it there. Of what both have put at the same place
    ours comes first.

    Args:
        triples: the items that the merge has.
        theirs_first: whether their order decides where the two contradict each other.

    Returns:
        The items in order, and whether the changes of order of both sides fit together.
    """
    shared = [t for t in triples if ABSENT not in (t.ours, t.theirs)]
    line, fits = _merged_order(shared, theirs_first)
    known = [t for t in shared if t.base != ABSENT]
    known.sort(key=lambda triple: triple.base)
    behind: dict[int, list[Triple]] = defaultdict(list)
    before: dict[int, list[Triple]] = defaultdict(list)
    start = Triple()
    in_line = set(map(id, shared))
    for place, other in ((_ours, _theirs), (_theirs, _ours)):
        kept = rising([other(triple) for triple in known])
        moved = {id(t) for t, stays in zip(known, kept, strict=True) if not stays}
        anchor, where = start, behind
        own = sorted([t for t in triples if place(t) != ABSENT], key=place)
        following = _following(own, in_line)
        for triple, after in zip(own, following, strict=True):
            if id(triple) in in_line:
                anchor, where = triple, behind
                continue
            if id(anchor) in moved and after is not None and id(after) not in moved:
                anchor, where = after, before
            where[id(anchor)].append(triple)
    made = list(behind[id(start)])
    for triple in line:
        made += before.get(id(triple), ())
        made.append(triple)
        made += behind.get(id(triple), ())
    return made, fits


Place = Callable[[Triple], int]


def _ours(triple: Triple) -> int:
    return triple.ours


def _theirs(triple: Triple) -> int:
    return triple.theirs


def _following(items: Sequence[Triple], in_line: set[int]) -> list[Triple | None]:
    """For each item the next one that both sides have."""
    found: list[Triple | None] = []
    following: Triple | None = None
    for triple in reversed(items):
        found.append(following)
        if id(triple) in in_line:
            following = triple
    return found[::-1]


def _merged_order(shared: list[Triple], theirs_first: bool) -> tuple[list[Triple], bool]:
    """The order of what both sides have: for each two items that of the side that changed it."""
    by_us, by_them = sorted(shared, key=_ours), sorted(shared, key=_theirs)
    if by_us == by_them:
        return by_us, True
    known = sorted([t for t in shared if t.base != ABSENT], key=lambda triple: triple.base)
    if len(known) == len(shared):
        if by_us == known:
            return by_them, True
        if by_them == known:
            return by_us, True
    first, second = (_theirs, _ours) if theirs_first else (_ours, _theirs)

    def compare(one: Triple, other: Triple) -> int:
        found = first(one) - first(other)
        if found * (second(one) - second(other)) > 0 or ABSENT in (one.base, other.base):
            return found
        return other.base - one.base  # one side has changed it

    made = sorted(shared, key=cmp_to_key(compare))
    # Both orders decide, each where they differ, if and only if these numbers add up.
    new_base = sorted(known, key=_ours), sorted(known, key=_theirs)
    apart = _inversions(by_us, _theirs)
    changed = [_inversions(order, lambda triple: triple.base) for order in new_base]
    fits = (
        _inversions(made, _ours) + _inversions(made, _theirs) == apart
        and _inversions(new_base[0], _theirs) == apart
        and 2 * _inversions([t for t in made if t.base != ABSENT], lambda triple: triple.base)
        == sum(changed) + apart
    )
    return (made if fits else sorted(shared, key=first)), fits


def _inversions(items: Sequence[Triple], place: Place) -> int:
    """How many pairs of items stand the other way round in a version."""
    seen: list[int] = []
    count = 0
    for triple in items:
        at = place(triple)
        count += len(seen) - bisect_left(seen, at)
        insort(seen, at)
    return count
