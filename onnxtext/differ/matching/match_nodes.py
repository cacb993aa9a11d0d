# SPDX-License-Identifier: Apache-2.0
"""Match the nodes of two graphs.

Nodes are matched in steps, from the strongest evidence to the weakest: equal statements with equal
neighbors; equal computations with any names; equal statements; equal names; connections to matched
nodes; position between matched nodes. If the new graph reuses many names for other values,
connections come before equal statements. Each step takes linear time, except for sorting.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property

from onnxtext.ast.model import Node
from onnxtext.differ.matching.match_lists import match_keys
from onnxtext.differ.matching.node_signatures import Interner, Signatures
from onnxtext.differ.unmatched_nodes import (
    MatchSide,
    Uses,
    consumer_keys,
    previous_matches,
    producer_keys,
    unique_uses,
    unmatched_nodes,
    value_uses,
)
from onnxtext.sequences import equal_keys

Keys = Mapping[int, Hashable]
"""Keys of nodes by index; nodes with the key None are not matched."""

_MAX_ACCIDENTS = 2
"""If more names than this denote different values in the two graphs, names count as reused."""


class NodeMatcher:
    """Matches the nodes of two graphs."""

    def __init__(self, old: MatchSide, new: MatchSide, numbers: Interner) -> None:
        self.old = old
        self.new = new
        self._numbers = numbers

    def run(self) -> list[tuple[int, int]]:
        """Return the pairs of indices of matching nodes, in the order of the new graph."""
        self._run(self._match_equal_in_context, self._match_computations)
        if self._has_unmatched() and self._names_were_reused():
            self._run(self._propagate, self._match_by_inputs, self._propagate)
        self._run(
            self._match_equal,
            self._match_names,
            self._propagate,
            self._match_outputs,
            self._propagate,
            self._match_by_consumers,
            self._propagate,
            self._match_between_neighbors,
            self._match_by_consumers,
        )
        return [(partner, index) for index, partner in enumerate(self.new.partner) if partner >= 0]

    def _run(self, *steps: Callable[[], None]) -> None:
        """Run steps in order while both graphs have unmatched nodes."""
        for step in steps:
            if self._has_unmatched():
                step()

    def _has_unmatched(self) -> bool:
        """Update the lists of unmatched nodes; return whether both graphs have unmatched nodes."""
        for side in (self.old, self.new):
            side.left = [index for index in side.left if side.partner[index] < 0]
        return bool(self.old.left and self.new.left)

    def _join(self, old: int, new: int) -> None:
        self.old.partner[old] = new
        self.new.partner[new] = old

    def _match(self, old: Keys, new: Keys, *, same_count: bool = False) -> None:
        """Match unmatched nodes with equal keys; nodes that share a key are matched in order.

        `same_count`: match only keys that occur equally often in both graphs.
        """
        if not self._has_unmatched():
            return
        groups = equal_keys(
            [(index, old[index]) for index in self.old.left],
            [(index, new[index]) for index in self.new.left],
        )
        for left, right in groups:
            if not same_count or len(left) == len(right):
                for old_index, new_index in zip(left, right, strict=False):
                    self._join(old_index, new_index)

    def _match_by(
        self, key: Callable[[MatchSide, int, Node], Hashable], *, same_count: bool = False
    ) -> None:
        """Match unmatched nodes with equal `key(graph, index of the node, node)`; see `_match`."""
        old, new = (
            {i: key(side, i, n) for i, n in unmatched_nodes(side)} for side in (self.old, self.new)
        )
        self._match(old, new, same_count=same_count)

    # ---- By statements and computations -----------------------------------------------------

    def _match_equal_in_context(self) -> None:
        """Match nodes with equal statements if all their producers or all their consumers match.

        An equal statement alone is weak evidence. If the names of values are numbers, an added node
        shifts the numbers, so that different nodes may have equal statements. If several nodes of a
        graph have equal statements, they are matched in order.
        """
        old_producers, new_producers = self.old.body.producers, self.new.body.producers
        nodes = self.old.body.nodes
        candidates = [-1] * len(nodes)
        for index, other in match_keys(self.old.statements, self.new.statements):
            candidates[index] = other
        above, bad_below = bytearray(len(nodes)), bytearray(len(nodes))
        used = bytearray(len(nodes))
        results = {value.name for value in self.new.body.outputs}
        for value in self.old.body.outputs:
            if value.name in old_producers and value.name in results:
                used[old_producers[value.name][0]] = 1
        for index, node in enumerate(nodes):
            other = candidates[index]
            supported = other >= 0
            for name in node.inputs:
                before, after = old_producers.get(name), new_producers.get(name)
                if before is None:
                    supported = supported and after is None
                elif other >= 0 and after is not None and candidates[before[0]] == after[0]:
                    used[before[0]] = 1
                    supported = supported and above[before[0]] == 1
                else:
                    bad_below[before[0]] = 1
                    supported = False
            above[index] = supported
        for index, other in enumerate(candidates):
            if other >= 0 and (above[index] or (used[index] and not bad_below[index])):
                self._join(index, other)

    def _match_equal(self) -> None:
        """Match nodes with equal statements."""
        self._match_by(lambda s, i, n: s.statements[i])

    def _match_computations(self) -> None:
        """Match nodes by their `Signatures`: first by both signatures, then by only one of them.

        The signature `above` describes what a node computes. The signature `below` describes how
        the outputs of the node are used.
        """
        old, new = (Signatures(side, marks, self._numbers) for side, marks in self._with_marks())
        stated = [
            {i: (side.statements[i], signer.above[i], signer.below[i]) for i in side.left}
            for side, signer in ((self.old, old), (self.new, new))
        ]
        self._match(*stated)
        both: list[Keys] = [
            {i: None if i in s.unused else (s.above[i], s.below[i]) for i in s.above}
            for s in (old, new)
        ]
        self._match(*both, same_count=True)
        self._match_unique(old.above, new.above)
        self._match_unique(old.below, new.below)

    def _match_unique(self, old: Mapping[int, int], new: Mapping[int, int]) -> None:
        """Match nodes by signatures that occur exactly once in each graph.

        Two nodes with the same unique signature are a pair. A rival of a node is an unmatched node
        of the other graph that is in no pair and has the same first output name.

        - If either node has a rival with the same operator, skip the pair: the rival is probably
          the same node with a changed input.
        - If the rival of the old node has the inputs of the new node, and `_kept_uses` has the
          output name, the new node is a copy: match the old node with the rival.
        - Otherwise, match the pair.
        """
        if not self._has_unmatched():
            return
        left, right = _unique(self.old.left, old), _unique(self.new.left, new)
        pairs = [(index, right[key]) for key, index in left.items() if key in right]
        taken = {new_index for _, new_index in pairs}
        names = {name: i for i in self.new.left if (name := self.new.first_output(i))}
        old_taken = {old_index for old_index, _ in pairs}
        old_names = {name: i for i in self.old.left if (name := self.old.first_output(i))}
        nodes = self.new.body.nodes
        for old_index, new_index in pairs:
            before = old_names.get(self.new.first_output(new_index), old_index)
            if before not in old_taken and self.old.operator(before) == self.new.operator(
                new_index
            ):
                continue
            name = self.old.first_output(old_index)
            named = names.get(name, new_index)
            if named == new_index or named in taken:
                self._join(old_index, new_index)
            elif self.old.operator(old_index) != self.new.operator(named):
                is_copy = name in self._kept_uses and nodes[named].inputs == nodes[new_index].inputs
                self._join(
                    old_index, named if is_copy and self.new.partner[named] < 0 else new_index
                )

    @cached_property
    def _kept_uses(self) -> set[str]:
        """Return the names that are inputs of equal statements, or outputs of both graphs."""
        old, new = self.old, self.new
        equal = set(old.statements).intersection(new.statements)
        stated = zip(old.statements, old.body.nodes, strict=True)
        names = {name for statement, node in stated if statement in equal for name in node.inputs}
        results = [{value.name for value in side.body.outputs} for side in (old, new)]
        return names | (results[0] & results[1])

    # ---- By names ---------------------------------------------------------------------------

    def _match_names(self) -> None:
        """Match nodes of the same operator by label and output names, or by only one of them."""
        self._match_by(lambda s, i, n: (s.operator(i), n.name, n.outputs) if n.outputs else None)
        self._match_by(
            lambda s, i, n: (s.operator(i), n.outputs) if any(n.outputs) else None, same_count=True
        )
        self._match_by(lambda s, i, n: (s.operator(i), n.name) if n.name else None, same_count=True)

    def _match_outputs(self) -> None:
        """Match nodes with the same output names, whatever their operators."""
        self._match_by(lambda s, i, n: n.outputs if any(n.outputs) else None, same_count=True)

    def _names_were_reused(self) -> bool:
        """Whether the new graph gives more than `_MAX_ACCIDENTS` old names to other values."""
        old, new = self.old, self.new
        names = [
            (old.first_output(index), new.first_output(other))
            for index, other in enumerate(old.partner)
            if other >= 0 and old.statements[index] != new.statements[other]
        ]
        reused = [one for one, other in names if one != other and one in new.body.producers]
        return len(reused) > _MAX_ACCIDENTS

    # ---- By connection ----------------------------------------------------------------------

    def _propagate(self) -> None:
        """Match producers and consumers of matched nodes by operator and index, transitively."""
        old, used = self.old, (value_uses(self.old), value_uses(self.new))
        names = {name for index in old.left for name in old.body.nodes[index].outputs if name}
        adjacent = {user for name in names for user, _ in old.uses[name]}
        adjacent |= {old.body.producers[name][0] for name in used[0] if name in old.body.producers}
        queue = [(i, other) for i in sorted(adjacent) if (other := old.partner[i]) >= 0]
        for old_index, new_index in queue:  # `queue` grows during the loop
            for pair in (
                *self._producer_pairs(old_index, new_index),
                *self._consumer_pairs(old_index, new_index, *used),
            ):
                if old.partner[pair[0]] < 0 and self.new.partner[pair[1]] < 0:
                    self._join(*pair)
                    queue.append(pair)

    def _producer_pairs(self, old_index: int, new_index: int) -> list[tuple[int, int]]:
        """Return pairs of nodes with the same operator that compute an input of a matched pair."""
        old, new = self.old, self.new
        pairs = []
        names = zip(
            old.body.nodes[old_index].inputs, new.body.nodes[new_index].inputs, strict=False
        )
        for name, named in names:
            before, after = old.body.producers.get(name), new.body.producers.get(named)
            if (
                before is not None
                and after is not None
                and before[1] == after[1]
                and old.operator(before[0]) == new.operator(after[0])
            ):
                pairs.append((before[0], after[0]))
        return pairs

    def _consumer_pairs(
        self, old_index: int, new_index: int, old_uses: Uses, new_uses: Uses
    ) -> list[tuple[int, int]]:
        """Return pairs of unmatched nodes that use an output of a matched pair.

        Both have the same operator and use the output as the same input. Ambiguous pairs are left
        out.
        """
        pairs: list[tuple[int, int]] = []
        old, new = self.old.body, self.new.body
        names = zip(old.nodes[old_index].outputs, new.nodes[new_index].outputs, strict=False)
        for slot, (name, named) in enumerate(names):
            before, after = old_uses.get(name), new_uses.get(named)
            if not before or not after:
                continue
            # A name that is defined twice belongs to its first definition.
            places = old.producers[name], new.producers[named]
            if places == ((old_index, slot), (new_index, slot)):
                left, right = unique_uses(self.old, before), unique_uses(self.new, after)
                pairs += [
                    (index, right[key])
                    for key, index in left.items()
                    if index >= 0 and right.get(key, -1) >= 0
                ]
        return pairs

    def _match_by_inputs(self) -> None:
        """Match nodes of the same kind with matching inputs."""
        keys: list[Keys] = []
        for side, marks in self._with_marks():
            nodes = side.body.nodes
            found = producer_keys(side, marks)
            keys.append({i: (side.kinds.of(nodes[i]), key) for i, key in found.items()})
        self._match(*keys, same_count=True)

    def _match_by_consumers(self) -> None:
        """Match nodes by their matched consumers and inputs, then by their consumers alone."""
        below = [consumer_keys(side, marks) for side, marks in self._with_marks()]
        above = [producer_keys(side, marks) for side, marks in self._with_marks()]
        both: list[Keys] = [
            {i: (above[side][i], key) if key else None for i, key in below[side].items()}
            for side in (0, 1)
        ]
        self._match(*both, same_count=True)
        self._match(*below, same_count=True)

    def _with_marks(self) -> list[tuple[MatchSide, list[int]]]:
        """Return both graphs, each with a list of marks: one number for each node.

        The mark of a matched node is the index of the pair's new node. Unmatched nodes have the
        mark -1.
        """
        marks = [index if other >= 0 else -1 for index, other in enumerate(self.new.partner)]
        return [(self.old, self.old.partner), (self.new, marks)]

    # ---- By position ------------------------------------------------------------------------

    def _match_between_neighbors(self) -> None:
        """Match nodes that follow the same matched node: first by kind, then by operator."""
        sides = [(side, previous_matches(side, marks)) for side, marks in self._with_marks()]
        self._match(
            *[{i: (gap[i], h.kinds.of(n)) for i, n in unmatched_nodes(h)} for h, gap in sides]
        )
        self._match(
            *[{i: (gap[i], h.operator(i)) for i in h.left} for h, gap in sides], same_count=True
        )


def _unique(indices: Sequence[int], keys: Mapping[int, int]) -> dict[int, int]:
    """Return a map from key to index, for the keys that exactly one of the `indices` has."""
    indexes: dict[int, int] = {}
    for index in indices:
        key = keys[index]
        indexes[key] = -1 if key in indexes else index
    return {key: index for key, index in indexes.items() if index >= 0}
