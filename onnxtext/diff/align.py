# SPDX-License-Identifier: Apache-2.0
"""Which node of the old graph is which of the new one.

Evidence is used from the strongest to the weakest: the same statement beside the same statement;
the same computation, whatever its values are called; the same statement; the same name; being
connected to nodes that are known. Each step is linear in the size of the graphs, up to sorting.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from onnxtext.diff.half import (
    Half,
    Uses,
    consumers,
    gaps,
    nodes_left,
    sources,
    told_apart,
    uses,
)
from onnxtext.diff.signatures import Numbers, Signer

Keys = Mapping[int, Hashable]
"""What nodes are matched by, by their indices; None matches nothing."""

_FEW = 2
"""So many names may belong to another value by accident."""


class Aligner:
    """One run of matching the nodes of two graphs."""

    def __init__(self, old: Half, new: Half, numbers: Numbers) -> None:
        self.old = old
        self.new = new
        self._numbers = numbers

    def run(self) -> list[tuple[int, int]]:
        """The pairs of indices that belong together, in the order of the new graph."""
        self._match_supported()
        if self._unfinished():
            self._match_computations()
        if self._unfinished() and self._names_wander():
            self._spread()
            self._match_sources()
            self._spread()
        if self._unfinished():
            self._match(*[{i: h.statements[i] for i in h.left} for h in (self.old, self.new)])
            self._match_names()
        if self._unfinished():
            self._spread()
            self._match_outputs()
            self._spread()
            self._match_surrounded()
            self._spread()
            self._match_gaps()
            self._match_surrounded()
        return [(partner, index) for index, partner in enumerate(self.new.partner) if partner >= 0]

    def _unfinished(self) -> bool:
        """Whether both graphs have nodes left; updates which."""
        for half in (self.old, self.new):
            half.left = [index for index in half.left if half.partner[index] < 0]
        return bool(self.old.left and self.new.left)

    def _join(self, old: int, new: int) -> None:
        self.old.partner[old] = new
        self.new.partner[new] = old

    def _match(self, old: Keys, new: Keys, *, even: bool = False) -> None:
        """Match nodes with equal keys in order.

        Args:
            old: keys of the old nodes.
            new: keys of the new nodes.
            even: only where both graphs have the same number of them.
        """
        if not self._unfinished():
            return
        places: dict[Hashable, list[int]] = {}
        for index in self.old.left:
            if old[index] is not None:
                places.setdefault(old[index], []).append(index)
        found: dict[Hashable, list[int]] = {}
        for index in self.new.left:
            if new[index] in places:
                found.setdefault(new[index], []).append(index)
        for key, right in found.items():
            left = places[key]
            if not even or len(left) == len(right):
                for one, other in zip(left, right, strict=False):
                    self._join(one, other)

    # ---- By statements and computations -----------------------------------------------------

    def _match_supported(self) -> None:
        """Match equal statements that all come from equal statements, or go to such only.

        A statement alone is no proof: where names are numbers, and one node was added, another node
        may say the same by accident. Equal ones without names of their own go in order.
        """
        candidates = self._candidates()
        makers, made = self.old.body.producers, self.new.body.producers
        nodes = self.old.body.nodes
        above, bad_below = bytearray(len(nodes)), bytearray(len(nodes))
        used = bytearray(len(nodes))
        results = {value.name for value in self.new.body.outputs}
        for value in self.old.body.outputs:
            if value.name in makers and value.name in results:
                used[makers[value.name][0]] = 1
        for index, node in enumerate(nodes):
            other = candidates[index]
            fine = other >= 0
            for name in node.inputs:
                held = makers.get(name)
                makes = made.get(name)
                if held is None:
                    fine = fine and makes is None
                elif other >= 0 and makes is not None and candidates[held[0]] == makes[0]:
                    used[held[0]] = 1
                    fine = fine and above[held[0]] == 1
                else:
                    bad_below[held[0]] = 1
                    fine = False
            above[index] = fine
        for index, other in enumerate(candidates):
            if other >= 0 and (above[index] or (used[index] and not bad_below[index])):
                self._join(index, other)

    def _candidates(self) -> list[int]:
        """For each old node the first new one with the same statement that is not taken yet."""
        old, new = self.old.statements, self.new.statements
        if old == new:
            return list(range(len(old)))
        places: dict[Hashable, int] = {}
        following: list[int] = [-1] * len(new)  # the next one with the same statement
        for index in range(len(new) - 1, -1, -1):
            following[index] = places.get(new[index], -1)
            places[new[index]] = index
        candidates = [-1] * len(old)
        for index, statement in enumerate(old):
            found = places.get(statement, -1)
            if found >= 0:
                candidates[index] = found
                places[statement] = following[found]
        return candidates

    def _match_computations(self) -> None:
        """Match what computes the same from the same, and what the same is computed from."""
        old, new = (
            Signer(half.body, half.left, marks, half.kinds, half.given, self._numbers)
            for half, marks in self._marked()
        )
        stated = [
            {i: (half.statements[i], signer.above[i], signer.below[i]) for i in half.left}
            for half, signer in ((self.old, old), (self.new, new))
        ]
        self._match(*stated)
        both = [{i: (s.above[i], s.below[i]) for i in s.above} for s in (old, new)]
        self._match(*both, even=True)
        self._match_unique(old.above, new.above)
        self._match_unique(old.below, new.below)

    def _match_unique(self, old: Mapping[int, int], new: Mapping[int, int]) -> None:
        """Match nodes by signatures that both graphs have once.

        Where names speak against it, and the node that the name belongs to is no other's partner by
        such a signature, names win: a value that got another input keeps its name.
        """
        if not self._unfinished():
            return
        left, right = _once(self.old.left, old), _once(self.new.left, new)
        pairs = [(index, right[key]) for key, index in left.items() if key in right]
        taken = {other for _, other in pairs}
        names = {(self.new.operator(i), self.new.first_output(i)): i for i in self.new.left}
        for one, other in pairs:
            name = self.old.first_output(one)
            named = names.get((self.old.operator(one), name), other)
            if not name or named == other or named in taken:
                self._join(one, other)

    # ---- By names ---------------------------------------------------------------------------

    def _match_names(self) -> None:
        """Match by labels and outputs, together and alone, where the operator is the same."""
        halves = self.old, self.new
        self._match(*[
            {i: (h.operator(i), n.name, n.outputs) if n.outputs else None for i, n in nodes_left(h)}
            for h in halves
        ])  # fmt: skip
        self._match(*[
            {i: (h.operator(i), n.outputs) if any(n.outputs) else None for i, n in nodes_left(h)}
            for h in halves
        ], even=True)  # fmt: skip
        self._match(*[
            {i: (h.operator(i), n.name) if n.name else None for i, n in nodes_left(h)}
            for h in halves
        ], even=True)  # fmt: skip

    def _match_outputs(self) -> None:
        """Match what has the same outputs, whatever the operator is."""
        self._match(*[
            {i: n.outputs if any(n.outputs) else None for i, n in nodes_left(half)}
            for half in (self.old, self.new)
        ], even=True)  # fmt: skip

    def _names_wander(self) -> bool:
        """Whether names have gone from some values to others, as where they are numbers."""
        found = 0
        for one, other in enumerate(self.old.partner):
            if other >= 0:
                name = self.old.first_output(one)
                if name != self.new.first_output(other) and name in self.new.body.producers:
                    found += 1
        return found > _FEW

    # ---- By connection ----------------------------------------------------------------------

    def _spread(self) -> None:
        """Match the producers and consumers of what is matched, and theirs, and so on.

        They have the same operator, and stand in the same place.
        """
        if not self._unfinished():
            return
        used = uses(self.old), uses(self.new)
        queue = [(one, self.old.partner[one]) for one in sorted(self._border(used[0]))]
        for one, other in queue:  # grows meanwhile
            for pair in (*self._above(one, other), *self._below(one, other, *used)):
                if self.old.partner[pair[0]] < 0 and self.new.partner[pair[1]] < 0:
                    self._join(*pair)
                    queue.append(pair)

    def _border(self, used: Uses) -> set[int]:
        """The matched old nodes beside those that are left."""
        body, partner = self.old.body, self.old.partner
        found = {held[0] for name in used if (held := body.producers.get(name)) is not None}
        made = {name for index in self.old.left for name in body.nodes[index].outputs if name}
        for index, node in enumerate(body.nodes):
            if not made.isdisjoint(node.inputs):
                found.add(index)
        return {index for index in found if partner[index] >= 0}

    def _above(self, one: int, other: int) -> list[tuple[int, int]]:
        """The producers of the inputs of a pair, input by input."""
        old, new = self.old, self.new
        pairs = []
        names = zip(old.body.nodes[one].inputs, new.body.nodes[other].inputs, strict=False)
        for name, named in names:
            made = old.body.producers.get(name)
            makes = new.body.producers.get(named)
            if (
                made is not None
                and makes is not None
                and made[1] == makes[1]
                and old.operator(made[0]) == new.operator(makes[0])
            ):
                pairs.append((made[0], makes[0]))
        return pairs

    def _below(self, one: int, other: int, old_uses: Uses, new_uses: Uses) -> list[tuple[int, int]]:
        """The consumers of the outputs of a pair that can be told from all other consumers."""
        pairs: list[tuple[int, int]] = []
        old, new = self.old.body, self.new.body
        names = zip(old.nodes[one].outputs, new.nodes[other].outputs, strict=False)
        for slot, (name, named) in enumerate(names):
            before, after = old_uses.get(name), new_uses.get(named)
            if not before or not after:
                continue
            # A name that is defined again belongs to the first who defines it.
            if old.producers[name] == (one, slot) and new.producers[named] == (other, slot):
                left, right = told_apart(self.old, before), told_apart(self.new, after)
                pairs += [
                    (index, right[key])
                    for key, index in left.items()
                    if index >= 0 and right.get(key, -1) >= 0
                ]
        return pairs

    def _match_sources(self) -> None:
        """Match what is the same and has the same inputs."""
        if not self._unfinished():
            return
        keys: list[Keys] = []
        for half, marks in self._marked():
            nodes = half.body.nodes
            found = sources(half, marks)
            keys.append({i: (half.kinds.of(nodes[i]), key) for i, key in found.items()})
        self._match(*keys, even=True)

    def _match_surrounded(self) -> None:
        """Match what has the same consumers, whatever it is; best with the same inputs too."""
        if not self._unfinished():
            return
        below = [consumers(half, marks) for half, marks in self._marked()]
        above = [sources(half, marks) for half, marks in self._marked()]
        both: list[Keys] = [
            {i: (above[side][i], key) if key else None for i, key in below[side].items()}
            for side in (0, 1)
        ]
        self._match(*both, even=True)
        self._match(*below, even=True)

    def _marked(self) -> list[tuple[Half, list[int]]]:
        """Both graphs, and for each node a number that its counterpart has too; -1 without one."""
        marks = [index if other >= 0 else -1 for index, other in enumerate(self.new.partner)]
        return [(self.old, self.old.partner), (self.new, marks)]

    # ---- By position ------------------------------------------------------------------------

    def _match_gaps(self) -> None:
        """Match what is left between the same neighbours, in order, by kind, then by operator."""
        if not self._unfinished():
            return
        halves = [(half, gaps(marks)) for half, marks in self._marked()]
        self._match(*[{i: (gap[i], h.kinds.of(n)) for i, n in nodes_left(h)} for h, gap in halves])
        self._match(*[{i: (gap[i], h.operator(i)) for i in h.left} for h, gap in halves], even=True)


def _once(indices: Sequence[int], keys: Mapping[int, int]) -> dict[int, int]:
    """The indices of keys that are met once."""
    found: dict[int, int] = {}
    for index in indices:
        key = keys[index]
        found[key] = -1 if key in found else index
    return {key: index for key, index in found.items() if index >= 0}
