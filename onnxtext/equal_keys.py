# SPDX-License-Identifier: Apache-2.0
"""Find the items of two lists that have equal keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator

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
