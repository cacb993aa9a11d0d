# SPDX-License-Identifier: Apache-2.0
"""Match the entries of two lists, and find moved entries."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from operator import lt

from onnxtext.increasing_subsequence import rising

Pairs = list[tuple[int, int]]


def match_keys(old: Iterable[Hashable], new: Iterable[Hashable]) -> Pairs:
    """Return the (old, new) indices of equal keys, in the order of `new`.

    The n-th occurrence of a key in `old` matches its n-th occurrence in `new`.
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
    """Return the indices in `order` of the entries that were moved.

    Entries in a longest increasing subsequence of `order` keep their order; all others count as
    moved. The time is O(n log n).

    Args:
        order: the distinct old indices of the entries, in the new order.
    """
    if all(map(lt, order, islice(order, 1, None))):
        return set()
    return {at for at, kept in enumerate(rising(order)) if not kept}


def unmatched(count: int, taken: Iterable[int]) -> list[int]:
    """Return the indices below `count` that are not in `taken`."""
    held = set(taken)
    return [index for index in range(count) if index not in held]


def walk(
    old_count: int, new_count: int, pairs: Pairs
) -> Iterator[tuple[int | None, int | None, bool]]:
    """Yield the entries of both lists, in the order of the new list.

    A removed entry comes after the nearest matching entry before it in the old list.

    Args:
        old_count: length of the old list.
        new_count: length of the new list.
        pairs: (old, new) indices of matching entries, in the order of the new list.

    Returns:
        (old index, new index, whether the entry was moved) for each entry. A removed entry has the
        new index None; an added entry has the old index None.
    """
    removed = unmatched(old_count, [one for one, _ in pairs])
    out_of_order = {pairs[at][1] for at in moved([one for one, _ in pairs])}
    partner = {new: old for old, new in pairs}
    behind: dict[int, list[int]] = {}  # removed entries by the new index of their predecessor
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
    yield from ((old, None, False) for old in behind.get(-1, ()))
    for new in range(new_count):
        yield partner.get(new), new, new in out_of_order
        yield from ((old, None, False) for old in behind.get(new, ()))
