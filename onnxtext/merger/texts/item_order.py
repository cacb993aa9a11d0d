# SPDX-License-Identifier: Apache-2.0
"""Order the items of a merged list.

The time is about O(n log n), even if all items are equal.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cmp_to_key
from itertools import accumulate, compress
from operator import and_, attrgetter, lt

from onnxtext.merger.texts.match_items import ABSENT, MatchedItem
from onnxtext.sequences import longest_increasing_subsequence


def arrange(
    matched_items: Sequence[MatchedItem], *, strict: bool = False, theirs_first: bool = False
) -> tuple[list[MatchedItem], bool]:
    """Order the items of a merged list.

    Two items that both sides have are in the order of the side that changed their order. An item
    that one side added follows its predecessor on that side; `_MergedItems.insert` has the
    exceptions. Where both sides added items at the same position, ours come first.

    Args:
        matched_items: the items of the merge.
        strict: whether the order has a meaning, as in a list of inputs. If so, the changes are
            compatible only if two conditions hold: every two items can be in the order of the side
            that changed it, and no side added items before a shared item while the other side moved
            items.
        theirs_first: whether the order of theirs wins if the sides contradict each other.

    Returns:
        (items in order, whether the two sides' changes of the order are compatible)
    """
    shared = [t for t in matched_items if ABSENT not in (t.ours, t.theirs)]
    moved = _both_moved(shared)
    line, consistent = _merged_order(shared, moved, strict, theirs_first)
    merged = _MergedItems(line)
    for position_of, moves in ((_ours, moved[1]), (_theirs, moved[0])):
        unsure = merged.insert(
            sorted([t for t in matched_items if position_of(t) != ABSENT], key=position_of), moves
        )
        consistent = consistent and not (strict and moves and unsure)
    return merged.all(), consistent


class _MergedItems:
    """A merged list under construction; `insert` adds the items that only one side has."""

    def __init__(self, shared: list[MatchedItem]) -> None:
        self._shared = shared
        self._ids = set(map(id, shared))
        self._start = MatchedItem()
        self._after: dict[int, list[MatchedItem]] = defaultdict(list)
        self._before: dict[int, list[MatchedItem]] = defaultdict(list)

    def insert(self, items: Sequence[MatchedItem], moved: set[int]) -> bool:
        """Insert the items that only one side has, each after its predecessor on that side.

        If the other side has moved items, there are two exceptions. Items after the last shared
        item of the side are inserted at the end of the merge. If the predecessor of an item has
        moved, but its successor has not, the item is inserted before its successor.

        `moved` has the `id()`s of the items that the other side has moved.

        Returns:
            Whether an item that both sides have follows an inserted item on that side.
        """
        anchor, inserted, unsure = self._start, self._after, False
        for matched_item, after in zip(items, self._following(items), strict=True):
            if id(matched_item) in self._ids:
                anchor, inserted = matched_item, self._after
                continue
            unsure = unsure or after is not None
            if after is None and moved:
                anchor = self._shared[-1]
            elif after is not None and id(anchor) in moved and id(after) not in moved:
                anchor, inserted = after, self._before
            inserted[id(anchor)].append(matched_item)
        return unsure

    def _following(self, items: Sequence[MatchedItem]) -> list[MatchedItem | None]:
        """Return, for each item, the next of `items` that is shared; None if none follows."""
        found: list[MatchedItem | None] = []
        following: MatchedItem | None = None
        for matched_item in reversed(items):
            found.append(following)
            if id(matched_item) in self._ids:
                following = matched_item
        return found[::-1]

    def all(self) -> list[MatchedItem]:
        """Return all items in order."""
        result = list(self._after[id(self._start)])
        for matched_item in self._shared:
            result += self._before.get(id(matched_item), ())
            result.append(matched_item)
            result += self._after.get(id(matched_item), ())
        return result


Position = Callable[[MatchedItem], int]
"""Returns the index of an item in one of the versions."""
_base: Position = attrgetter("base")
_ours: Position = attrgetter("ours")
_theirs: Position = attrgetter("theirs")


def _both_moved(shared: Sequence[MatchedItem]) -> tuple[set[int], set[int]]:
    """Return the `id()`s of the items that ours moved, and of the items that theirs moved.

    Each set is a result of `_moved_items`. The sets are disjoint if possible.
    """
    ours, theirs = _moved_items(shared, _ours, set()), _moved_items(shared, _theirs, set())
    if ours & theirs and not (others := _moved_items(shared, _theirs, ours)) & ours:
        return ours, others
    if ours & theirs and not (others := _moved_items(shared, _ours, theirs)) & theirs:
        return others, theirs
    return ours, theirs


def _moved_items(
    shared: Sequence[MatchedItem], position_of: Position, others: set[int]
) -> set[int]:
    """Return a minimal set of items, as `id()`s, whose moves explain the order of a side.

    Items that the other side has moved (`others`) are left out if possible.
    """
    in_base = sorted([t for t in shared if t.base != ABSENT], key=_base)
    numbers = [position_of(matched_item) for matched_item in in_base]
    kept = longest_increasing_subsequence(numbers)
    if others:
        moved = [id(matched_item) in others for matched_item in in_base]
        kept = increasing_subsequence_through(numbers, moved, sum(kept)) or kept
    return {
        id(matched_item) for matched_item, stays in zip(in_base, kept, strict=True) if not stays
    }


def increasing_subsequence_through(
    numbers: Sequence[int], required: Sequence[bool], longest: int
) -> list[bool] | None:
    """Find an increasing subsequence of length `longest` that contains all required numbers.

    The numbers are distinct and at least 0; the subsequence must contain those for which `required`
    is true. `longest` is the length of their longest increasing subsequences.

    Returns:
        For each number, whether it is in the subsequence. None if there is no such subsequence.
    """
    pairs = list(zip(numbers, required, strict=True))
    end = max(numbers, default=0) + 1
    below = list(accumulate([number if want else -1 for number, want in pairs], max, initial=-1))
    above = list(accumulate([n if want else end for n, want in pairs[::-1]], min, initial=end))
    eligible = list(map(lt, below, numbers))
    eligible = list(map(and_, eligible, map(lt, numbers, above[-2::-1])))
    subsequence = longest_increasing_subsequence(list(compress(numbers, eligible)))
    if sum(subsequence) < longest or not all(compress(eligible, required)):
        return None
    stays = iter(subsequence)
    return [fit and next(stays) for fit in eligible]


def _merged_order(
    shared: list[MatchedItem], moved: tuple[set[int], set[int]], strict: bool, theirs_first: bool
) -> tuple[list[MatchedItem], bool]:
    """Return (items that both sides have, in merged order; whether the sides are compatible).

    `shared` has these items, and `moved` is the result of `_both_moved`. For the other parameters,
    see `arrange`.
    """
    by_us, by_them = sorted(shared, key=_ours), sorted(shared, key=_theirs)
    if by_us == by_them:
        return by_us, True
    in_base = sorted([t for t in shared if t.base != ABSENT], key=_base)
    if len(in_base) == len(shared):
        if by_us == in_base:
            return by_them, True
        if by_them == in_base:
            return by_us, True
    pairwise = _pairwise(shared, by_us, by_them)
    if pairwise is not None:
        return pairwise, True
    if strict or moved[0] & moved[1] or len(in_base) < len(shared):
        return (by_them if theirs_first else by_us), False
    # The sides moved different items: start from the order of the side with more moves, and
    # repeat the moves of the other side.
    swap = len(moved[1]) > len(moved[0])
    few = moved[0] if swap else moved[1]
    orders = (by_them, by_us) if swap else (by_us, by_them)
    merged = _MergedItems(
        [matched_item for matched_item in orders[0] if id(matched_item) not in few]
    )
    merged.insert(orders[1], moved[1] if swap else moved[0])
    return merged.all(), True


def _pairwise(
    shared: list[MatchedItem], by_us: list[MatchedItem], by_them: list[MatchedItem]
) -> list[MatchedItem] | None:
    """Order every two items as on the side that changed their order; None if impossible.

    `by_us` and `by_them` are the items in `shared`, in the order of ours and of theirs.
    """
    present = [[t for t in order if t.base != ABSENT] for order in (by_us, by_them)]
    apart = _inversions(by_us, _theirs)
    if len(present[0]) < len(by_us) and _inversions(present[0], _theirs) != apart:
        return None
    ours, theirs = _inversions(present[0], _base), _inversions(present[1], _base)
    if abs(ours - theirs) == apart:  # one side made all changes of the other, and more
        return by_us if ours > theirs else by_them

    def compare(left: MatchedItem, right: MatchedItem) -> int:
        result = left.ours - right.ours
        if result * (left.theirs - right.theirs) > 0 or ABSENT in (left.base, right.base):
            return result
        return right.base - left.base  # one side has swapped the two items

    ordered = sorted(shared, key=cmp_to_key(compare))
    # `compare` is not transitive, so it may contradict the sorted order of some pair of items. The
    # sum is `apart` only if it contradicts none.
    if _inversions(ordered, _ours) + _inversions(ordered, _theirs) != apart:
        return None
    changed = _inversions([t for t in ordered if t.base != ABSENT], _base)
    return ordered if 2 * changed == ours + theirs + apart else None


def _inversions(items: Sequence[MatchedItem], position_of: Position) -> int:
    """Count the pairs of items whose positions (from `position_of`) are in reverse order."""
    seen: list[int] = []
    count = 0
    for index, at in enumerate(map(position_of, items)):
        lower = bisect_left(seen, at)
        count += index - lower
        seen.insert(lower, at)
    return count
