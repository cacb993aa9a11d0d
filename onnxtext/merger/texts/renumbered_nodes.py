# SPDX-License-Identifier: Apache-2.0
"""Match the nodes of a side that has given names of old values to other values.

For example, an exporter numbers values in order. After a node is inserted, most names denote other
values, so that names pair the wrong nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from onnxtext.merger.texts.moved_nodes import NodeRules, names_of

_MIN_RUN_LENGTH = 32
"""Minimum number of consecutive unchanged nodes that separate two regions of edits."""
_MAX_EDITS = 400
"""Maximum number of insertions and deletions in an alignment."""
Pairs = list[tuple[int, int]]
"""Matched nodes: (index in the base, index in the side)."""


class _Region(NamedTuple):
    """A region of edits: the indices in the base and the side, and the matches within it."""

    base: range
    side: range
    pairs: Pairs


def pair_renumbered(
    base: Sequence[Any],
    side: Sequence[Any],
    partners: Sequence[int],
    guessed: Collection[int],
    rules: NodeRules,
) -> dict[int, int]:
    """Find better matches of nodes, in regions where names denote other values than in the base.

    The nodes of a region are aligned by their operators and attributes. The alignment replaces the
    given matches if it explains the region with fewer edits. `partners` has the index in the base,
    or -1, for each node of the side. Each node of the base that was matched only by its position
    (`guessed`) counts as an edit.

    Returns:
        A map from the index of each matched node of the side to its index in the base. Only regions
        with better matches are included.
    """
    found: dict[int, int] = {}
    for region in _regions(base, side, partners, rules):
        if not _is_suspicious(base, side, region, guessed, rules):
            continue
        names = _Names(base, side, region, rules)
        best, fewest_edits = region.pairs, names.edits(region.pairs)
        fewest_edits += sum(index in guessed for index, _ in best)
        for with_outer_names, backwards in ((True, False), (True, True), (False, False)):
            aligned = names.align(with_outer_names=with_outer_names, backwards=backwards)
            if aligned is not None and (edits := names.edits(aligned)) < fewest_edits:
                best, fewest_edits = aligned, edits
        if best is not region.pairs:
            found.update((at, index) for index, at in best)
    return found


def _regions(
    base: Sequence[Any], side: Sequence[Any], partners: Sequence[int], rules: NodeRules
) -> Iterator[_Region]:
    """Yield the regions of edits, which runs of unchanged nodes separate."""
    starts = (0, 0)
    for first, last in _unchanged_runs(base, side, partners, rules):
        ends = (partners[first], first)
        yield from _region(starts, ends, partners)
        starts = (partners[last] + 1, last + 1)
    yield from _region(starts, (len(base), len(side)), partners)


def _region(
    starts: tuple[int, int], ends: tuple[int, int], partners: Sequence[int]
) -> Iterator[_Region]:
    old, new = [range(start, end) for start, end in zip(starts, ends, strict=True)]
    if old and new:
        yield _Region(old, new, [(partners[at], at) for at in new if partners[at] in old])


def _unchanged_runs(
    base: Sequence[Any], side: Sequence[Any], partners: Sequence[int], rules: NodeRules
) -> Iterator[tuple[int, int]]:
    """Yield the first and last index in the side of each long run of unchanged nodes.

    A run at the beginning or at the end of both lists may be short.
    """
    same = [
        index >= 0 and rules.whole(base[index]) == rules.whole(side[at])
        for at, index in enumerate(partners)
    ]
    start, reached = 0, -1  # the start of the run, and the last index in the base of earlier runs
    for at in range(len(side) + 1):
        ends = at == len(side) or not same[at]
        if not ends and (at == start or partners[at] == partners[at - 1] + 1):
            continue
        is_outer = (start == 0 and partners[:1] == [0]) or (
            at == len(side) and partners[-1:] == [len(base) - 1]
        )
        if at > start and (is_outer or at - start >= _MIN_RUN_LENGTH) and partners[start] > reached:
            yield start, at - 1
            reached = partners[at - 1]
        start = at + 1 if ends else at


def _is_suspicious(
    base: Sequence[Any],
    side: Sequence[Any],
    region: _Region,
    guessed: Collection[int],
    rules: NodeRules,
) -> bool:
    """Whether names may pair the wrong nodes of a region.

    Return True if a node of the base whose match is doubtful (`_changed_nodes`) may have another
    match: a node of the side with the same operator whose own match is doubtful or missing.
    """
    changed = _changed_nodes(base, side, region, guessed, rules)
    if not changed:
        return False
    partner = dict(region.pairs)
    same = {at for index, at in region.pairs if index not in changed}
    places: dict[Hashable, set[int]] = {}
    for at in region.side:
        if at not in same:
            places.setdefault(rules.operator(side[at]), set()).add(at)
    for index in changed:
        own = set() if index in guessed else {partner.get(index)}
        if places.get(rules.operator(base[index]), set()) - own:
            return True
    return False


def _changed_nodes(
    base: Sequence[Any],
    side: Sequence[Any],
    region: _Region,
    guessed: Collection[int],
    rules: NodeRules,
) -> set[int]:
    """Return the indices in the base of the nodes whose matches are doubtful.

    These nodes are unmatched, matched only by position (`guessed`), or matched with a node that has
    another operator or other inputs than expected. If the inputs differ, the nodes that compute the
    inputs are doubtful, too.
    """
    paired = {index for index, _ in region.pairs}
    producers: dict[Hashable, int] = {}
    renamed: dict[Hashable, Hashable] = {}
    for index, at in region.pairs:
        outputs = names_of(rules.outputs(base[index]))
        producers.update(dict.fromkeys(outputs, index))
        renamed.update(zip(outputs, names_of(rules.outputs(side[at])), strict=False))
    changed = {index for index in region.base if index not in paired or index in guessed}
    for index, at in region.pairs:
        inputs = rules.reads(base[index])
        if [renamed.get(name, name) for name in inputs] != list(rules.reads(side[at])):
            changed.update([index, *[producers[name] for name in inputs if name in producers]])
        elif rules.operator(base[index]) != rules.operator(side[at]):
            changed.add(index)
    return changed


class _Part(NamedTuple):
    """The parts of a node that are compared; `form` is (operator, operator with attributes)."""

    form: tuple[Hashable, Hashable]
    outputs: tuple[Hashable, ...]
    inputs: tuple[Hashable, ...]


class _Names:
    """The names that the nodes of a region use and define."""

    def __init__(
        self, base: Sequence[Any], side: Sequence[Any], region: _Region, rules: NodeRules
    ) -> None:
        self._region = region
        self._old = _parts(base, region.base, rules)
        self._new = _parts(side, region.side, rules)
        self._computed = set(chain.from_iterable(outputs for _, outputs, _ in self._new.values()))
        self._read = set(chain.from_iterable(inputs for _, _, inputs in self._new.values()))

    def edits(self, pairs: Pairs) -> int:
        """Count the nodes that are new, deleted or edited if the nodes of `pairs` match.

        A node with a new operator counts twice: as a deleted and as a new node. Two edits are added
        if `_is_unread` holds for any pair.
        """
        renamed: dict[Hashable, Hashable] = {}
        for index, at in pairs:
            renamed.update(zip(self._old[index].outputs, self._new[at].outputs, strict=False))
        computed = set(chain.from_iterable(node.outputs for node in self._old.values()))
        edited = 2 * any(self._is_unread(index, at) for index, at in pairs)
        for index, at in pairs:
            old, new = self._old[index], self._new[at]
            expected = tuple([renamed.get(n) if n in computed else n for n in old.inputs])
            if old.form[0] != new.form[0]:
                edited += 2
            else:
                edited += old.form != new.form or expected != new.inputs
        return edited + len(self._old) + len(self._new) - 2 * len(pairs)

    def _is_unread(self, index: int, at: int) -> bool:
        """Whether a node lost an output to another node, and no node of the side reads its outputs.

        `index` is the index of the node in the base, `at` its index in the side.
        """
        before, after = self._old[index][1], self._new[at][1]
        return not self._computed.isdisjoint(
            set(before).difference(after)
        ) and self._read.isdisjoint(after)

    def align(self, *, with_outer_names: bool, backwards: bool) -> Pairs | None:
        """Match nodes in order, by operator and attributes; None if too many nodes differ.

        Two remaining nodes are matched if two matched nodes use their outputs at the same input
        index, or if their first outputs have the same name.

        With `with_outer_names`, inputs that are defined outside the region must be equal, too.
        `backwards` tells whether to prefer matches near the end.
        """
        step = -1 if backwards else 1
        old, new = [
            _tokens(nodes, with_outer_names=with_outer_names)[::step]
            for nodes in (self._old, self._new)
        ]
        matched = common_subsequence(old, new, _MAX_EDITS)
        if matched is None:
            return None
        if backwards:
            matched = [(len(old) - 1 - index, len(new) - 1 - at) for index, at in matched]
        starts = self._region.base.start, self._region.side.start
        pairs = {index + starts[0]: at + starts[1] for index, at in matched}
        self._pair_sources(pairs)
        taken = set(pairs.values())
        by_name = {node[1][:1]: at for at, node in self._new.items() if at not in taken}
        for index, node in self._old.items():
            if index not in pairs and node[1][:1] in by_name:
                pairs[index] = by_name[node[1][:1]]
        return list(pairs.items())

    def _pair_sources(self, pairs: dict[int, int]) -> None:
        """For each pair in `pairs`, match the two nodes that compute the inputs at the same index.

        The matched nodes must have equal operators and attributes. Repeat this for the new pairs.
        """
        producers, new_producers = [
            {name: at for at, (_, outputs, _) in nodes.items() for name in outputs}
            for nodes in (self._old, self._new)
        ]
        taken = set(pairs.values())
        waiting = list(pairs.items())
        while waiting:
            index, at = waiting.pop()
            for name, new_name in zip(self._old[index][2], self._new[at][2], strict=False):
                source, new = producers.get(name, -1), new_producers.get(new_name, -1)
                if source < 0 or new < 0 or source in pairs or new in taken:
                    continue
                if self._old[source][0] == self._new[new][0]:
                    pairs[source] = new
                    taken.add(new)
                    waiting.append((source, new))


def _parts(items: Sequence[Any], indices: range, rules: NodeRules) -> dict[int, _Part]:
    """Map each of the `indices` to the `_Part` of the node."""
    result = {}
    for at in indices:
        item = items[at]
        form = rules.operator(item), rules.form(item)
        result[at] = _Part(form, names_of(rules.outputs(item)), tuple(rules.reads(item)))
    return result


def _tokens(nodes: Mapping[int, _Part], *, with_outer_names: bool) -> list[Hashable]:
    """Return the operator, attributes and inputs of each node.

    An input is replaced by None if a node of the region computes it, or if `with_outer_names` is
    False.
    """
    computed = set(chain.from_iterable(outputs for _, outputs, _ in nodes.values()))
    return [
        (form, *[None if name in computed or not with_outer_names else name for name in inputs])
        for form, _, inputs in nodes.values()
    ]


def common_subsequence(old: Sequence[Any], new: Sequence[Any], limit: int) -> Pairs | None:
    """Return the pairs of indices of a longest common subsequence, by the algorithm of Myers.

    Return None if `old` and `new` differ in more than `limit` insertions and deletions.
    """
    ends, history = {1: 0}, []
    for count in range(min(limit, len(old) + len(new)) + 1):
        history.append(ends.copy())
        for diagonal in range(-count, count + 1, 2):
            left, above = ends.get(diagonal - 1, -1), ends.get(diagonal + 1, -1)
            at = above if diagonal == -count or (diagonal != count and left < above) else left + 1
            while at < len(old) and 0 <= at - diagonal < len(new) and old[at] == new[at - diagonal]:
                at += 1
            ends[diagonal] = at
            if at >= len(old) and at - diagonal >= len(new):
                return _trace(history, len(old), len(new))
    return None


def _trace(history: Sequence[dict[int, int]], at: int, other: int) -> Pairs:
    """Return the pairs that `common_subsequence` found, in order, by going back from the end.

    `history` has the `ends` before each step; `at` and `other` are the lengths of the lists.
    """
    pairs: Pairs = []
    for count in range(len(history) - 1, -1, -1):
        ends, diagonal = history[count], at - other
        left, above = ends.get(diagonal - 1, -1), ends.get(diagonal + 1, -1)
        down = diagonal == -count or (diagonal != count and left < above)
        before = diagonal + 1 if down else diagonal - 1
        start = ends.get(before, 0) if count else 0
        begin = (start if down else start + 1) if count else 0
        while at > begin and other > 0:
            at, other = at - 1, other - 1
            pairs.append((at, other))
        if count:
            at, other = start, start - before
    return pairs[::-1]
