# SPDX-License-Identifier: Apache-2.0
"""Find the unmatched nodes of a graph, and their producers and consumers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from onnxtext.ast.model import Node
from onnxtext.differ.graph_lists import GraphLists
from onnxtext.differ.matching.node_signatures import LeafKey, NodeKinds

Uses = dict[str, list[tuple[int, int]]]
"""Maps the name of each value to its uses: (node index, input index)."""


@dataclass(slots=True)
class MatchSide:
    """One of the two graphs whose nodes are matched.

    Attributes:
        statements: the key of each node from `NodeKinds.statements`, which includes all names.
        kinds: computes the keys of nodes.
        leaf_key: returns the key of a value that no node of the graph computes.
        partner: for each node, the index of the matching node in the other graph; -1 if unmatched.
        left: the indices of the unmatched nodes, ascending.
    """

    body: GraphLists
    statements: Sequence[int]
    kinds: NodeKinds
    leaf_key: LeafKey
    partner: list[int] = field(init=False)
    left: Sequence[int] = field(init=False)
    _uses: Uses | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.partner = [-1] * len(self.body.nodes)
        self.left = range(len(self.partner))

    @property
    def uses(self) -> Uses:
        """All uses of each output of the nodes that were unmatched at first access."""
        if self._uses is None:
            nodes = self.body.nodes
            uses: Uses = {name: [] for i in self.left for name in nodes[i].outputs if name}
            for index, node in enumerate(nodes):
                if not uses.keys().isdisjoint(node.inputs):
                    for slot, name in enumerate(node.inputs):
                        if name in uses:
                            uses[name].append((index, slot))
            self._uses = uses
        return self._uses

    def matched_uses(self, marks: Sequence[int]) -> Uses:
        """Map the name of each output of the unmatched nodes to its uses outside of these nodes.

        A use is (mark of a matched node, input index), or (-1, index) for a graph output. `marks`
        has a number for each node, equal for matching nodes of both graphs; -1 for unmatched nodes.
        """
        nodes = self.body.nodes
        result = {
            name: [(marks[user], slot) for user, slot in self.uses[name] if marks[user] >= 0]
            for index in self.left
            for name in nodes[index].outputs
            if name
        }
        for place, value in enumerate(self.body.outputs):
            if value.name in result:
                result[value.name].append((-1, place))
        return result

    def operator(self, index: int) -> tuple[str, str]:
        """Return the operator and domain of a node."""
        node = self.body.nodes[index]
        return node.op_type, node.domain or ""

    def first_output(self, index: int) -> str:
        """Return the first named output of a node; "" if it has none."""
        return next(filter(None, self.body.nodes[index].outputs), "")


def unmatched_nodes(side: MatchSide) -> Iterable[tuple[int, Node]]:
    """Return the unmatched nodes with their indices."""
    nodes = side.body.nodes
    return [(index, nodes[index]) for index in side.left]


def value_uses(side: MatchSide) -> Uses:
    """Return the uses of each value by unmatched nodes."""
    result: Uses = {}
    for index, node in unmatched_nodes(side):
        for slot, name in enumerate(node.inputs):
            if name:
                result.setdefault(name, []).append((index, slot))
    return result


def unique_uses(side: MatchSide, uses: Sequence[tuple[int, int]]) -> dict[Hashable, int]:
    """Map (input index, operator) to the unmatched node whose input at this index is a given value.

    `uses` has (node index, input index) of each use of the value. A key that several unmatched
    nodes have is mapped to -1.
    """
    result: dict[Hashable, int] = {}
    for index, slot in uses:
        if side.partner[index] < 0:
            key = (slot, side.operator(index))
            result[key] = -1 if key in result else index
    return result


def consumer_keys(side: MatchSide, marks: Sequence[int]) -> dict[int, Hashable]:
    """Map the index of each unmatched node to a key; nodes with equal keys have equal consumers.

    Unmatched consumers are ignored. Graph outputs count as matched consumers. A node without
    matched consumers has the key None. `marks` is as in `MatchSide.matched_uses`.
    """
    consumers = side.matched_uses(marks)
    result: dict[int, Hashable] = {}
    for index, node in unmatched_nodes(side):
        below = tuple(
            [
                tuple(sorted(consumers.get(name, ())))
                for slot, name in enumerate(node.outputs)
                if side.body.producers.get(name) == (index, slot)
            ]
        )
        result[index] = below if any(below) else None
    return result


def producer_keys(side: MatchSide, marks: Sequence[int]) -> dict[int, Hashable]:
    """Map the index of each unmatched node to a key; nodes with equal keys have equal producers.

    All unmatched producers count as the same producer. `marks` is as in `consumer_keys`.
    """

    def source(name: str) -> Hashable:
        producer = side.body.producers.get(name)
        return side.leaf_key(name) if producer is None else (marks[producer[0]], producer[1])

    return {index: tuple(map(source, node.inputs)) for index, node in unmatched_nodes(side)}


def previous_matches(side: MatchSide, marks: Sequence[int]) -> dict[int, int]:
    """Map the index of each unmatched node to the mark of the nearest matched node before it.

    The mark is -1 if there is no such node. `marks` is as in `MatchSide.matched_uses`.
    """
    result = {}
    mark = -1
    for index in side.left:
        if index and marks[index - 1] >= 0:
            mark = marks[index - 1]
        result[index] = mark
    return result
