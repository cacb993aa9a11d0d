# SPDX-License-Identifier: Apache-2.0
"""Match nodes of the base whose outputs are now the outputs of new nodes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

Key = Callable[[Any], Hashable]


@dataclass(frozen=True)
class NodeRules:
    """Functions that identify a node although its outputs have changed.

    Attributes:
        outputs: returns the names of the outputs of a node as a tuple; None if it has no outputs.
        reads: returns the names of the inputs of a node.
        label: returns the label of a node; None if it has no label.
        operator: returns the operator of a node.
        unchanged: returns all of a node except its outputs; None for an item that is not a node.
        content: returns the operator, inputs and attributes of a node; None for other items.
        form: returns the operator and attributes of a node.
        whole: returns the whole content of a node.
    """

    outputs: Key
    reads: Callable[[Any], Collection[Hashable]]
    label: Key
    operator: Key
    unchanged: Key
    content: Key
    form: Key
    whole: Key


@dataclass(frozen=True)
class Unmatched:
    """The items of the whole list `items` that are not matched: those at `indices`."""

    items: Sequence[Any]
    indices: Sequence[int]


def pair_moved(base: Unmatched, side: Unmatched, rules: NodeRules) -> dict[int, int]:
    """Match moved nodes: some or all of their outputs are now outputs of a new node.

    For example, `y = Relu (x)` becomes `h = Relu (x)`, and `y = Neg (h)` is new. The new node must
    depend on the moved node, perhaps through other new nodes. The moved node may also be edited if
    the new node has another operator and another label than the node of the base: otherwise, the
    new node could be the edited node of the base.

    Returns:
        A map from the index of each moved node in the side to its index in the base.
    """
    producers = _producers(side, rules.outputs)
    if not producers or not base.indices:
        return {}
    search = _Search(base, side, rules, producers, _producers(base, rules.outputs))
    search.pair_by(rules.unchanged)
    for key in (rules.content, rules.label, rules.operator):
        search.pair_by(key, edited=True)
    return search.pairs


def pair_replaced(base: Unmatched, side: Unmatched, rules: NodeRules) -> dict[int, int]:
    """Match each node of the base with the new node that has the same first output.

    If other new nodes compute other outputs of the base node, the two matched nodes must also have
    the same operator.

    Returns:
        A map from the index of each matched new node to the index of the replaced node.
    """
    producers = _producers(side, rules.outputs)
    pairs: dict[int, int] = {}
    for at in base.indices if producers else ():
        old = base.items[at]
        names = names_of(rules.outputs(old))
        index = producers.get(names[0]) if names else None
        if index is None or index in pairs:
            continue
        new = side.items[index]
        together = {producers[name] for name in names if name in producers} != {index}
        if names[0] == names_of(rules.outputs(new))[0] and (
            not together or rules.operator(new) == rules.operator(old)
        ):
            pairs[index] = at
    return pairs


@dataclass(frozen=True)
class _Search:
    """A search for moved nodes (`pair_moved`).

    Attributes:
        base: the unmatched items of the base.
        side: the unmatched items of the side.
        rules: functions that identify a node.
        producers: maps each output name of the new nodes to the index of the node.
        old_producers: maps each output name of the unmatched base nodes to the index of the node.
        pairs: the matches so far: from indices in the side to indices in the base.
    """

    base: Unmatched
    side: Unmatched
    rules: NodeRules
    producers: Mapping[Hashable, int]
    old_producers: Mapping[Hashable, int]
    pairs: dict[int, int] = field(default_factory=dict)

    def pair_by(self, key: Key, *, edited: bool = False) -> None:
        """Match moved nodes whose `key` is unique, and add the pairs to `pairs`.

        `key` returns the property of a node that must be equal; None if the node lacks it. `edited`
        is whether a node may have been edited: `key` is only one of its properties.
        """
        left = sorted(set(self.base.indices).difference(self.pairs.values()))
        takers = {at: self._takers(at) for at in left}
        if edited:
            replaced = {at: self._unlike(at, found) for at, found in takers.items()}
            # A node was edited in place if all new nodes with its outputs are similar to it.
            takers = {at: found for at, found in replaced.items() if found or not takers[at]}
        if not any(takers.values()):
            return
        candidates: dict[Hashable, list[int]] = defaultdict(list)
        for index in self.side.indices:
            if index not in self.pairs:
                candidates[key(self.side.items[index])].append(index)
        moved = {at: key(self.base.items[at]) for at in takers}
        counts = Counter(moved.values())
        for at, found in takers.items():
            if not found or moved[at] is None or counts[moved[at]] != 1:
                continue
            free = candidates.get(moved[at], [])
            same = {index for index in free if edited and self._is_same(index, at, found)}
            if edited:
                free = [index for index in free if index in same or self._is_free(index, at)]
            if len(free) == 1 and (free[0] in same or self._depend(found, free[0])):
                self.pairs[free[0]] = at

    def _takers(self, at: int) -> set[int]:
        """Return the indices of the new nodes that compute an output of the base node `at`."""
        names = names_of(self.rules.outputs(self.base.items[at]))
        return {self.producers[name] for name in names if name in self.producers}

    def _unlike(self, at: int, takers: set[int]) -> set[int]:
        """Return those `takers` that differ from the base node `at` in both operator and label.

        Two missing labels count as different.
        """
        if not takers:
            return takers
        node = self.base.items[at]
        label, operator = self.rules.label(node), self.rules.operator(node)
        return {
            taker
            for taker in takers
            if self.rules.operator(self.side.items[taker]) != operator
            and (label is None or self.rules.label(self.side.items[taker]) != label)
        }

    def _is_free(self, index: int, at: int) -> bool:
        """Whether no unmatched base node except `at` has an output name of the new node `index`."""
        names = names_of(self.rules.outputs(self.side.items[index]))
        return all(self.old_producers.get(name, at) == at for name in names)

    def _is_same(self, index: int, at: int, takers: set[int]) -> bool:
        """Whether the new node `index` has the operator and the label of the base node `at`.

        Return False if the new node may be a copy: no node reads its outputs, and one of `takers`
        (new nodes with outputs of the base node) has the inputs of the base node.
        """
        rules, new, old = self.rules, self.side.items[index], self.base.items[at]
        label = rules.label(old)
        if label is None or rules.label(new) != label or rules.operator(new) != rules.operator(old):
            return False
        edited = any(rules.reads(self.side.items[taker]) == rules.reads(old) for taker in takers)
        return not edited or not self._read_names.isdisjoint(names_of(rules.outputs(new)))

    @cached_property
    def _read_names(self) -> set[Hashable]:
        """The names that nodes of the side read."""
        return {name for node in self.side.items for name in self.rules.reads(node)}

    def _depend(self, takers: set[int], index: int) -> bool:
        return any(
            _reads_from(taker, index, self.side.items, self.producers, self.rules.reads)
            for taker in takers - {index}
        )


def _producers(nodes: Unmatched, outputs: Key) -> dict[Hashable, int]:
    """Map the name of each output of the unmatched nodes to the index of the node."""
    producers: dict[Hashable, int] = {}
    for at in nodes.indices:
        producers.update(dict.fromkeys(names_of(outputs(nodes.items[at])), at))
    return producers


def names_of(outputs: Hashable) -> tuple[Hashable, ...]:
    """Return the names of outputs that are not omitted; () for an item that has no outputs."""
    return tuple([name for name in outputs if name]) if isinstance(outputs, tuple) else ()


_MAX_CHAIN = 100
"""Maximum number of new nodes to visit when searching for a dependency."""


def _reads_from(
    index: int,
    other: int,
    side: Sequence[Any],
    producers: Mapping[Hashable, int],
    reads: Callable[[Any], Collection[Hashable]],
) -> bool:
    """Whether the new node `index` depends on the node `other`, maybe through other new nodes.

    `producers` maps the name of each output of a new node to the index of this node. Return False
    after `_MAX_CHAIN` nodes.
    """
    waiting, seen = [index], {index}
    while waiting and len(seen) < _MAX_CHAIN:
        for name in reads(side[waiting.pop()]):
            producer = producers.get(name)
            if producer == other:
                return True
            if producer is not None and producer not in seen:
                seen.add(producer)
                waiting.append(producer)
    return False
