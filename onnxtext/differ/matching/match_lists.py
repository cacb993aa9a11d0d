# SPDX-License-Identifier: Apache-2.0
"""Match the entries of two lists, and find moved entries."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter, lt
from typing import TypeVar

from onnxtext.sequences import longest_increasing_subsequence

Pairs = list[tuple[int, int]]
T = TypeVar("T")


def match_keys(old: Iterable[Hashable], new: Iterable[Hashable]) -> Pairs:
    """Return the (old, new) indices of the entries with equal keys, in the order of `new`.

    The n-th occurrence of a key in `old` matches its n-th occurrence in `new`.
    """
    old, new = list(old), list(new)
    if old == new:
        return [(index, index) for index in range(len(old))]
    places: dict[Hashable, list[int]] = {}  # the old indices of each key, descending
    for index in range(len(old) - 1, -1, -1):
        places.setdefault(old[index], []).append(index)
    return [(places[key].pop(), index) for index, key in enumerate(new) if places.get(key)]


def moved_pairs(pairs: Pairs) -> Pairs:
    """Return the moved pairs, in the order of `pairs`, which must be the order of the new list.

    The entries of a longest subsequence with increasing old indices count as unmoved, all other
    entries as moved. The time is O(n log n).
    """
    order = [old_index for old_index, _ in pairs]
    if all(map(lt, order, islice(order, 1, None))):
        return []
    return [
        pair
        for pair, kept in zip(pairs, longest_increasing_subsequence(order), strict=True)
        if not kept
    ]


def unmatched_indices(pairs: Pairs, old_count: int, new_count: int) -> tuple[list[int], list[int]]:
    """Return the old indices and the new indices that are in none of the pairs, ascending."""
    matched_old = {old_index for old_index, _ in pairs}
    matched_new = {new_index for _, new_index in pairs}
    return (
        [index for index in range(old_count) if index not in matched_old],
        [index for index in range(new_count) if index not in matched_new],
    )


def by_new_index(pairs: Iterable[tuple[int, int]]) -> Pairs:
    """Return (old, new) pairs of indices in the order of the new indices."""
    return sorted(pairs, key=itemgetter(1))


def match_rest(
    pairs: Pairs, old: Sequence[T], new: Sequence[T], key: Callable[[int, T], Hashable]
) -> Pairs:
    """Call `match_keys` for the entries that are in none of the `pairs`.

    `key` returns the key of an entry of `old` (0) or `new` (1). Return the old and the added pairs,
    in the order of the new list.
    """
    left, right = unmatched_indices(pairs, len(old), len(new))
    if not left or not right:
        return pairs
    found = match_keys([key(0, old[i]) for i in left], [key(1, new[i]) for i in right])
    return by_new_index([*pairs, *[(left[i], right[j]) for i, j in found]])


def walk_pairs(
    old_count: int, new_count: int, pairs: Pairs, changed: Pairs
) -> Iterator[tuple[int | None, int | None, bool]]:
    """Yield the entries of both lists in the order of the new list; `pairs` must have this order.

    A removed entry follows its nearest matched predecessor in the old list. Without a matched
    predecessor, it comes first. Pairs that are neither in `changed` nor moved are left out.

    Yields:
        (old index, new index, whether the entry was moved) for each entry. A removed entry has the
        new index None; an added entry has the old index None.
    """
    out_of_order = {new: old for old, new in moved_pairs(pairs)}
    left, added = unmatched_indices(pairs, old_count, new_count)
    shown: dict[int, int | None] = {new: old for old, new in changed}
    shown |= out_of_order | dict.fromkeys(added)
    image = dict(pairs) if left else {}
    removed: dict[int, list[int]] = {}  # by the new index of the matched predecessor
    last = -1
    for old in left:
        last = image.get(old - 1, last)
        removed.setdefault(last, []).append(old)
    for new in sorted(shown.keys() | removed.keys()):
        if new in shown:
            yield shown[new], new, new in out_of_order
        yield from ((old, None, False) for old in removed.get(new, ()))
