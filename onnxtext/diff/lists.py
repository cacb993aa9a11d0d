# SPDX-License-Identifier: Apache-2.0
"""Matching the entries of two lists, and finding what was moved."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice
from operator import lt
from typing import TypeVar

from onnxtext.sequences import rising

T = TypeVar("T")

Pairs = list[tuple[int, int]]


def match_keys(old: Iterable[Hashable], new: Iterable[Hashable]) -> Pairs:
    """Pairs of indices of equal keys; of several equal ones the first go with the first.

    Args:
        old: a key for each entry.
        new: likewise.
    """
    old, new = list(old), list(new)
    if old == new:
        return [(index, index) for index in range(len(old))]
    places: dict[Hashable, list[int]] = {}
    for index, key in enumerate(old):
        places.setdefault(key, []).append(index)
    used: dict[Hashable, int] = {}
    pairs = []
    for index, key in enumerate(new):
        held = places.get(key)
        if held is not None:
            count = used.get(key, 0)
            if count < len(held):
                used[key] = count + 1
                pairs.append((held[count], index))
    return pairs


def moved(order: Sequence[int]) -> set[int]:
    """The fewest positions to take out of a sequence so that the rest ascends.

    Args:
        order: where each entry was, in its new order; all are different.

    Returns:
        Positions in `order`: all but a longest increasing subsequence (patience, O(n log n)).
    """
    if all(map(lt, order, islice(order, 1, None))):
        return set()
    return {at for at, kept in enumerate(rising(order)) if not kept}


def unmatched(count: int, taken: Iterable[int]) -> list[int]:
    """The indices below `count` that are not taken."""
    held = set(taken)
    return [index for index in range(count) if index not in held]


def merged(
    new_count: int, pairs: Sequence[tuple[int, int]], removed: Sequence[int]
) -> list[tuple[int | None, int | None]]:
    """Entries of both lists in one order: the new one's, what was removed where it was.

    Args:
        new_count: how long the new list is.
        pairs: indices that belong together.
        removed: old indices without a counterpart, ascending.

    Returns:
        Old and new index of each entry.
    """
    partner = {new: old for old, new in pairs}
    behind: dict[int, list[int]] = {}  # removed entries by the old index before them
    image = dict(pairs)
    last = -1
    at = 0
    limit = max([*image, *removed], default=-1) + 1
    for old in range(limit):
        if old in image:
            last = image[old]
        elif at < len(removed) and removed[at] == old:
            behind.setdefault(last, []).append(old)
            at += 1
    made: list[tuple[int | None, int | None]] = [(old, None) for old in behind.get(-1, ())]
    for new in range(new_count):
        made.append((partner.get(new), new))
        made += [(old, None) for old in behind.get(new, ())]
    return made


def groups(indices: Iterable[int], key: Callable[[int], T]) -> dict[T, list[int]]:
    """Indices by a key, in order."""
    made: dict[T, list[int]] = {}
    for index in indices:
        made.setdefault(key(index), []).append(index)
    return made
