# SPDX-License-Identifier: Apache-2.0
"""Which items of three versions of a list are the same.

Everything here takes time n log n at most, also for items that are all alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onnxtext.merge.keys import call_of, first_output_of, key_of, kind_of, label_of
from onnxtext.merge.versions import Item, Part

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
        if not places:
            return
        mine: dict[Hashable, list[int]] = defaultdict(list)
        for at, item in enumerate(side):
            if found[at] == ABSENT and (known := key(item)) in places:
                mine[known].append(at)
        for known, ats in mine.items():
            others = places[known]
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
