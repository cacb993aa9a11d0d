# SPDX-License-Identifier: Apache-2.0
"""Recognize a node of the base whose outputs a new node has now."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Key = Callable[[Any], Hashable]


@dataclass(frozen=True)
class NodeRules:
    """Functions that identify a node although its outputs have changed.

    Attributes:
        outputs: returns the names of the outputs of a node as a tuple; None without outputs.
        reads: returns the names of the inputs of a node.
        unchanged: returns all of a node except its outputs; None for an item that is not a node.
    """

    outputs: Key
    reads: Callable[[Any], Collection[Hashable]]
    unchanged: Key


@dataclass(frozen=True)
class Unmatched:
    """Items without a partner.

    Attributes:
        items: a list of items.
        indices: the indices of those without a partner.
    """

    items: Sequence[Any]
    indices: Sequence[int]


def pair_moved(base: Unmatched, side: Unmatched, rules: NodeRules) -> dict[int, int]:
    """Match nodes whose outputs a new node has now, all or some of them.

    For example, `y = Relu (x)` becomes `h = Relu (x)`, and `y = Neg (h)` is new. The new node must
    depend on the moved one, perhaps through other new nodes.

    Args:
        base: the items of the base.
        side: the items of the side.
        rules: functions that identify a node.

    Returns:
        For each moved node, its index in the base by its index in the side.
    """
    makers = _makers(side, rules.outputs)
    if not makers or not base.indices:
        return {}
    candidates: dict[Hashable, list[int]] = defaultdict(list)
    for at in side.indices:
        candidates[rules.unchanged(side.items[at])].append(at)
    counts = Counter([rules.unchanged(base.items[at]) for at in base.indices])
    pairs: dict[int, int] = {}
    for at in base.indices:
        key = rules.unchanged(base.items[at])
        found = candidates.get(key, ())
        if key is None or len(found) != 1 or counts[key] != 1:
            continue
        takers = _takers(base.items[at], makers, rules.outputs) - {found[0]}
        if any(_reads_from(taker, found[0], side.items, makers, rules.reads) for taker in takers):
            pairs[found[0]] = at
    return pairs


def _makers(side: Unmatched, outputs: Key) -> dict[Hashable, int]:
    """Map the name of each output of the unmatched nodes to the index of the node."""
    makers: dict[Hashable, int] = {}
    for at in side.indices:
        names = outputs(side.items[at])
        if isinstance(names, tuple):
            makers.update(dict.fromkeys(names, at))
    return makers


def _takers(node: Any, makers: Mapping[Hashable, int], outputs: Key) -> set[int]:
    """Return the indices of the new nodes that have outputs of a node of the base."""
    names = outputs(node)
    if not isinstance(names, tuple):
        return set()
    return {makers[name] for name in names if name in makers}


_MAX_CHAIN = 100
"""Maximum number of new nodes to visit when searching for a dependency."""


def _reads_from(
    index: int,
    other: int,
    side: Sequence[Any],
    makers: Mapping[Hashable, int],
    reads: Callable[[Any], Collection[Hashable]],
) -> bool:
    """Whether a new node reads the outputs of another, directly or through new nodes between them.

    Args:
        index: the index of the node in `side`.
        other: the index of the other node.
        side: the nodes of the side.
        makers: maps the name of each output of a new node to the index of this node.
        reads: returns the names of the inputs of a node.
    """
    waiting, seen = [index], {index}
    while waiting and len(seen) < _MAX_CHAIN:
        for name in reads(side[waiting.pop()]):
            maker = makers.get(name)
            if maker == other:
                return True
            if maker is not None and maker not in seen:
                seen.add(maker)
                waiting.append(maker)
    return False
