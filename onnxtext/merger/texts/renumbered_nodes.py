# SPDX-License-Identifier: Apache-2.0
"""Match the nodes of a side that uses names of the base for other values.

For example, `y = Relu (x)` becomes `h = Relu (x)`, and `y = Neg (h)` is new. Or an exporter numbers
values in order: after a node is inserted, most names denote other values. Names then pair the wrong
nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any, NamedTuple

Key = Callable[[Any], Hashable]


@dataclass(frozen=True)
class NodeRules:
    """Functions that identify a node although its outputs have changed.

    Attributes:
        outputs: returns the names of the outputs of a node as a tuple; None if it has no outputs.
        label: returns the label of a node; None if it has no label.
        content: returns the operator, inputs and attributes of a node; None for other items.
        form: returns the operator and attributes of a node.
        whole: returns the whole content of a node.
    """

    outputs: Key
    reads: Callable[[Any], Collection[Hashable]]
    label: Key
    operator: Key
    content: Key
    form: Key
    whole: Key


_NUMBERED = re.compile(r"\d\W*$").search
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
    base: Sequence[Any], side: Sequence[Any], partners: Sequence[int], rules: NodeRules
) -> dict[int, int]:
    """Find better matches of nodes, in regions where names may denote other values.

    The nodes of a region are aligned in several ways. An alignment replaces the given matches if it
    explains the region with fewer edits, or with equally many and fewer lost labels. `partners` has
    the index in the base, or -1, for each node of the side.

    Returns:
        A map from the index of each matched node of the side to its index in the base. Only regions
        with better matches are included.
    """
    found: dict[int, int] = {}
    for region in _regions(base, side, partners, rules):
        if _is_plain(base, side, region, rules):
            continue
        names = _Names(base, side, region, rules)
        best, fewest = region.pairs, names.edits(region.pairs)
        for tokens, backwards in _ALIGNMENTS:
            aligned = names.align(tokens, backwards=backwards)
            if aligned is not None and (count := names.edits(aligned)) < fewest:
                best, fewest = aligned, count
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


def _is_plain(base: Sequence[Any], side: Sequence[Any], region: _Region, rules: NodeRules) -> bool:
    """Whether a side only added nodes, renamed values, and changed attributes in a region.

    Return False if a node of the side computes the old name of a renamed value. If the result is
    True, no other matches explain the region with fewer edits.
    """
    renamed: dict[Hashable, Hashable] = {}
    for index, at in region.pairs:
        outputs = _names_of(rules.outputs(base[index]))
        renamed.update(zip(outputs, _names_of(rules.outputs(side[at])), strict=False))
    computed = {name for at in region.side for name in _names_of(rules.outputs(side[at]))}
    return (
        len(region.pairs) == len(region.base)
        and all(name == new or name not in computed for name, new in renamed.items())
        and all(
            rules.operator(base[index]) == rules.operator(side[at])
            and [renamed.get(name, name) for name in rules.reads(base[index])]
            == list(rules.reads(side[at]))
            for index, at in region.pairs
        )
    )


def _names_of(outputs: Hashable) -> tuple[Hashable, ...]:
    """Return the names of outputs that are not omitted; () for an item that has no outputs."""
    return tuple([name for name in outputs if name]) if isinstance(outputs, tuple) else ()


class _Part(NamedTuple):
    """The parts of a node that are compared; `form` is (operator, operator with attributes)."""

    form: tuple[Hashable, Hashable]
    outputs: tuple[Hashable, ...]
    inputs: tuple[Hashable, ...]
    label: Hashable


class _Names:
    """The names that the nodes of a region use and define."""

    def __init__(
        self, base: Sequence[Any], side: Sequence[Any], region: _Region, rules: NodeRules
    ) -> None:
        self._region = region
        self._old = _parts(base, region.base, rules)
        self._new = _parts(side, region.side, rules)
        self._computed = set(chain.from_iterable(node.outputs for node in self._new.values()))
        named = [{(n.label, n.outputs[:1]) for n in d.values()} for d in (self._old, self._new)]
        self._kept = {name for name in named[0] & named[1] if not _NUMBERED(str(name[0]))}
        self._read = set(chain.from_iterable(node.inputs for node in self._new.values()))

    def edits(self, pairs: Pairs) -> tuple[int, int]:
        """Return (number of edited nodes, number of lost labels) if the nodes of `pairs` match.

        Edited nodes are new, deleted or changed. A node with a new operator counts twice, and
        three times if it also has new inputs. A node that still reads an old name is not edited if
        a new node defines this name. Three edits are added if `_is_unread` holds for any pair. A
        lost label is an edit, too, if another pair keeps both a label without a number at its end
        and the first output name.
        """
        renamed: dict[Hashable, Hashable] = {}
        for index, at in pairs:
            renamed.update(zip(self._old[index].outputs, self._new[at].outputs, strict=False))
        computed = set(chain.from_iterable(node.outputs for node in self._old.values()))
        old_nodes = {at for _, at in pairs}
        added = {
            name for at, node in self._new.items() if at not in old_nodes for name in node.outputs
        }
        edited, labels = 3 * any(self._is_unread(index, at) for index, at in pairs), 0
        for index, at in pairs:
            old, new = self._old[index], self._new[at]
            if old.label is not None and old.label != new.label:
                labels += 1
                edited += not self._kept.isdisjoint((n.label, n.outputs[:1]) for n in (old, new))
            same_inputs = all(
                now == (renamed.get(name) if name in computed else name)
                or (now == name and name in added)
                for name, now in zip_longest(old.inputs, new.inputs)
            )
            if old.form[0] != new.form[0]:
                edited += 2 + (not same_inputs)
            else:
                edited += old.form != new.form or not same_inputs
        return edited + len(self._old) + len(self._new) - 2 * len(pairs), labels

    def _is_unread(self, index: int, at: int) -> bool:
        """Whether a node lost an output to another node, and no node of the side reads its outputs.

        `index` is the index of the node in the base, `at` its index in the side.
        """
        before, after = self._old[index].outputs, self._new[at].outputs
        return not self._computed.isdisjoint(
            set(before).difference(after)
        ) and self._read.isdisjoint(after)

    def align(self, tokens: Tokens, *, backwards: bool) -> Pairs | None:
        """Match nodes with equal `tokens` in order; None if too many nodes differ.

        Two remaining nodes are matched if two matched nodes use their outputs at the same input
        index, or if their first outputs have the same name.

        `backwards` tells whether to prefer matches near the end.
        """
        step = -1 if backwards else 1
        old, new = [tokens(nodes)[::step] for nodes in (self._old, self._new)]
        matched = common_subsequence(old, new, _MAX_EDITS)
        if matched is None:
            return None
        if backwards:
            matched = [(len(old) - 1 - index, len(new) - 1 - at) for index, at in matched]
        starts = self._region.base.start, self._region.side.start
        pairs = {index + starts[0]: at + starts[1] for index, at in matched}
        self._pair_sources(pairs)
        taken = set(pairs.values())
        by_name = {node.outputs[:1]: at for at, node in self._new.items() if at not in taken}
        for index, node in self._old.items():
            if index not in pairs and node.outputs[:1] in by_name:
                pairs[index] = by_name[node.outputs[:1]]
        return list(pairs.items())

    def _pair_sources(self, pairs: dict[int, int]) -> None:
        """For each pair in `pairs`, match the two nodes that compute the inputs at the same index.

        The matched nodes must have equal operators and attributes. Repeat this for the new pairs.
        """
        producers, new_producers = [
            {name: at for at, node in nodes.items() for name in node.outputs}
            for nodes in (self._old, self._new)
        ]
        taken = set(pairs.values())
        waiting = list(pairs.items())
        while waiting:
            index, at = waiting.pop()
            for name, new_name in zip(self._old[index].inputs, self._new[at].inputs, strict=False):
                source, new = producers.get(name, -1), new_producers.get(new_name, -1)
                if source < 0 or new < 0 or source in pairs or new in taken:
                    continue
                if self._old[source].form == self._new[new].form:
                    pairs[source] = new
                    taken.add(new)
                    waiting.append((source, new))


def _parts(items: Sequence[Any], indices: range, rules: NodeRules) -> dict[int, _Part]:
    """Map each of the `indices` to the `_Part` of the node."""
    result = {}
    for at in indices:
        item = items[at]
        form = rules.operator(item), rules.form(item)
        outputs = _names_of(rules.outputs(item))
        result[at] = _Part(form, outputs, tuple(rules.reads(item)), rules.label(item))
    return result


Tokens = Callable[[Mapping[int, _Part]], list[Hashable]]
"""Returns a token for each node of a region."""


def _with_outer_names(nodes: Mapping[int, _Part]) -> list[Hashable]:
    """Return the operator, attributes, and the inputs that are defined outside the region."""
    computed = set(chain.from_iterable(node.outputs for node in nodes.values()))
    return [
        (node.form, *[None if name in computed else name for name in node.inputs])
        for node in nodes.values()
    ]


def _with_forms(nodes: Mapping[int, _Part]) -> list[Hashable]:
    """Return the operator, attributes and number of inputs."""
    return [(node.form, len(node.inputs)) for node in nodes.values()]


def _with_operators(nodes: Mapping[int, _Part]) -> list[Hashable]:
    return [node.form[0] for node in nodes.values()]


def _with_labels(nodes: Mapping[int, _Part]) -> list[Hashable]:
    """Return the label; the operator of a node without a label."""
    return [node.label or node.form[0] for node in nodes.values()]


def _with_outputs(nodes: Mapping[int, _Part]) -> list[Hashable]:
    """Return the name of the first output."""
    return [node.outputs[:1] for node in nodes.values()]


_ALIGNMENTS = (
    (_with_outer_names, False),
    (_with_outer_names, True),
    (_with_forms, False),
    (_with_operators, False),
    (_with_labels, False),
    (_with_outputs, False),
)
"""The alignments to try.

Each is (function that returns a token for each node, whether to prefer matches near the end).
"""


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
