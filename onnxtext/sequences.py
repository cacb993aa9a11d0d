# SPDX-License-Identifier: Apache-2.0
"""Compare sequences: common prefixes, equal keys, increasing subsequences."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any


def common_prefix(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Return the length of the common prefix of two sequences."""
    low, high = 0, min(len(left), len(right))
    while low < high:  # the first `low` items are equal; the first difference is not after `high`
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def longest_increasing_subsequence(numbers: Sequence[int]) -> list[bool]:
    """Return, for each number, whether it belongs to the longest increasing subsequence.

    If there are several, one of them is chosen. The algorithm is patience sorting, O(n log n).

    Args:
        numbers: distinct numbers, such as the old index of each item of a list.
    """
    tops: list[int] = []  # the top number of each pile
    indices: list[int] = []  # the index of each top in `numbers`
    previous = [-1] * len(numbers)  # each number's predecessor: its index, or -1
    for index, number in enumerate(numbers):
        pile = bisect_left(tops, number)
        if pile:
            previous[index] = indices[pile - 1]
        if pile == len(tops):
            tops.append(number)
            indices.append(index)
        else:
            tops[pile] = number
            indices[pile] = index
    kept = [False] * len(numbers)
    index = indices[-1] if indices else -1
    while index >= 0:
        kept[index] = True
        index = previous[index]
    return kept


Keys = Iterable[tuple[int, Hashable]]
"""Indices of items with their keys; an item with the key None has no equal item."""


def equal_keys(left: Keys, right: Keys) -> Iterator[tuple[list[int], list[int]]]:
    """Yield (indices in `left`, indices in `right`) for each key, except None, in both lists.

    The keys come in the order of `right`. `right` is not read if all keys of `left` are None.
    """
    places: dict[Hashable, list[int]] = defaultdict(list)
    for index, key in left:
        if key is not None:
            places[key].append(index)
    if not places:
        return
    found: dict[Hashable, list[int]] = defaultdict(list)
    for index, key in right:
        if key in places:
            found[key].append(index)
    for key, indices in found.items():
        yield places[key], indices
