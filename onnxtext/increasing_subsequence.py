# SPDX-License-Identifier: Apache-2.0
"""Find a longest increasing subsequence of a list, such as the items that keep their order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence


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
