# SPDX-License-Identifier: Apache-2.0
"""Which node of the old graph is which of the new one.

Evidence is used from the strongest to the weakest: the same statement in the same surroundings; the
same computation, whatever its values are called; the same statement; the same name; being
connected to nodes that are known. Each step is linear in the size of the graphs, up to sorting.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from onnxtext.diff.body import Body
from onnxtext.diff.signatures import Numbers, from_above, from_below, in_order

Uses = dict[str, list[tuple[int, int]]]
"""Values to the nodes that use them, and as which input."""


@dataclass(slots=True)
class Half:
    """The nodes of one model.

    Attributes:
        body: holds them.
        statements: what each says, as bytes.
        kinds: what each is without names.
        above: its signature from above.
        below: its signature from below.
        partner: its counterpart; -1 if it has none yet.
    """

    body: Body
    statements: Sequence[bytes]
    kinds: Sequence[int]
    above: Sequence[int]
    below: Sequence[int]
    partner: list[int]

    @classmethod
    def of(
        cls,
        body: Body,
        statements: Sequence[bytes],
        kinds: Sequence[int],
        given: Mapping[str, int],
        numbers: Numbers,
    ) -> Half:
        """The nodes of a body and their signatures."""
        order = in_order(body)
        above = from_above(body, order, kinds, given, numbers)
        below = from_below(body, order, kinds, numbers)
        return cls(body, statements, kinds, above, below, [-1] * len(body.nodes))

    def identity(self, index: int) -> tuple[str, str]:
        """Operator and first output of a node."""
        node = self.body.nodes[index]
        return node.op_type, next(filter(None, node.outputs), "")

    def operator(self, index: int) -> tuple[str, str]:
        """Operator and domain of a node."""
        node = self.body.nodes[index]
        return node.op_type, node.domain or ""


class Aligner:
    """One run of matching the nodes of two graphs."""

    def __init__(self, old: Half, new: Half) -> None:
        self.old = old
        self.new = new
        self._left: Sequence[int] = range(len(old.partner))
        self._right: Sequence[int] = range(len(new.partner))

    def run(self) -> list[tuple[int, int]]:
        """The pairs of indices that belong together, in the order of the new graph."""
        old, new = self.old, self.new
        self._match(*[list(zip(h.statements, h.above, h.below, strict=True)) for h in (old, new)])
        self._match(*[list(zip(h.statements, h.above, strict=True)) for h in (old, new)])
        self._match(*[list(zip(h.statements, h.below, strict=True)) for h in (old, new)])
        if self._unfinished():
            both = [list(zip(h.above, h.below, strict=True)) for h in (old, new)]
            self._match(*both, even=True)
            self._match_unique(old.above, new.above)
            self._match_unique(old.below, new.below)
        if self._unfinished():
            self._match(old.statements, new.statements)
            self._match_names()
        if self._unfinished():
            self._spread()
            self._match_outputs()
            self._spread()
            self._match_surrounded()
            self._spread()
            self._match_gaps()
        return [(partner, index) for index, partner in enumerate(new.partner) if partner >= 0]

    def _unfinished(self) -> bool:
        """Whether both graphs have nodes left; remembers which."""
        self._left = [i for i in self._left if self.old.partner[i] < 0]
        self._right = [i for i in self._right if self.new.partner[i] < 0]
        return bool(self._left and self._right)

    def _join(self, old: int, new: int) -> None:
        self.old.partner[old] = new
        self.new.partner[new] = old

    def _match(
        self, old: Sequence[Hashable], new: Sequence[Hashable], *, even: bool = False
    ) -> None:
        """Match nodes with equal keys in order; None matches nothing.

        Args:
            old: keys of all old nodes.
            new: keys of all new nodes.
            even: only where both graphs have the same number of them.
        """
        if not self._unfinished():
            return
        places: dict[Hashable, list[int]] = {}
        for index in self._left:
            if old[index] is not None:
                places.setdefault(old[index], []).append(index)
        found: dict[Hashable, list[int]] = {}
        for index in self._right:
            if new[index] in places:
                found.setdefault(new[index], []).append(index)
        for key, right in found.items():
            left = places[key]
            if not even or len(left) == len(right):
                for one, other in zip(left, right, strict=False):
                    self._join(one, other)

    def _match_unique(self, old: Sequence[int], new: Sequence[int]) -> None:
        """Match nodes by signatures that both graphs have once.

        Where names speak against it, and the node that the name belongs to is no other's partner by
        such a signature, names win: a value that got another input keeps its name.
        """
        if not self._unfinished():
            return
        left, right = _once(self._left, old), _once(self._right, new)
        pairs = [(index, right[key]) for key, index in left.items() if key in right]
        taken = {other for _, other in pairs}
        names = {self.new.identity(index): index for index in self._right}
        for one, other in pairs:
            identity = self.old.identity(one)
            named = names.get(identity, other)
            if not identity[1] or named == other or named in taken:
                self._join(one, other)

    def _match_names(self) -> None:
        """Match by labels and outputs, together and alone, where the operator is the same."""
        nodes = [half.body.nodes for half in (self.old, self.new)]
        self._match(*[[(n.op_type, n.name, n.outputs) if n.outputs else None for n in part]
                      for part in nodes])  # fmt: skip
        self._match(*[[(n.op_type, n.outputs) if any(n.outputs) else None for n in part]
                      for part in nodes], even=True)  # fmt: skip
        self._match(*[[(n.op_type, n.name) if n.name else None for n in part]
                      for part in nodes], even=True)  # fmt: skip

    def _match_outputs(self) -> None:
        """Match what has the same outputs, whatever the operator is."""
        nodes = [half.body.nodes for half in (self.old, self.new)]
        self._match(*[[n.outputs if any(n.outputs) else None for n in part]
                      for part in nodes], even=True)  # fmt: skip

    # ---- By connection ----------------------------------------------------------------------

    def _spread(self) -> None:
        """Match the producers and consumers of what is matched, and theirs, and so on.

        They have the same operator, and stand in the same place.
        """
        if not self._unfinished():
            return
        uses = [_uses(half.body, half.partner) for half in (self.old, self.new)]
        queue = [(one, other) for one, other in enumerate(self.old.partner) if other >= 0]
        for one, other in queue:  # grows meanwhile
            for pair in (*self._above(one, other), *self._below(one, other, *uses)):
                if self.old.partner[pair[0]] < 0 and self.new.partner[pair[1]] < 0:
                    self._join(*pair)
                    queue.append(pair)

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
        outputs = self.old.body.nodes[one].outputs, self.new.body.nodes[other].outputs
        for name, named in zip(*outputs, strict=False):
            uses, used = old_uses.get(name), new_uses.get(named)
            if uses and used:
                left, right = _told_apart(self.old, uses), _told_apart(self.new, used)
                pairs += [
                    (index, right[key])
                    for key, index in left.items()
                    if index >= 0 and right.get(key, -1) >= 0
                ]
        return pairs

    def _match_surrounded(self) -> None:
        """Match what has the same consumers, whatever it is; best with the same inputs too."""
        if not self._unfinished():
            return
        refer = self.old.partner, list(self._right_numbers())
        below = [
            _consumers(half, left, numbers)
            for half, left, numbers in zip(
                (self.old, self.new), (self._left, self._right), refer, strict=True
            )
        ]
        above = [
            _sources(half, left, numbers)
            for half, left, numbers in zip(
                (self.old, self.new), (self._left, self._right), refer, strict=True
            )
        ]
        both = [
            [None if b is None or a is None else (a, b) for a, b in zip(*part, strict=True)]
            for part in zip(above, below, strict=True)
        ]
        self._match(*both, even=True)
        self._match(*below, even=True)

    def _right_numbers(self) -> list[int]:
        """For each new node what its counterpart refers to it by: its index, -1 without one."""
        return [index if other >= 0 else -1 for index, other in enumerate(self.new.partner)]

    # ---- By position ------------------------------------------------------------------------

    def _match_gaps(self) -> None:
        """Match what is left between the same neighbours, in order, by kind, then by operator."""
        if not self._unfinished():
            return
        anchors = _before(self.old.partner)
        own = list(range(len(self.new.partner)))
        reached = -1
        for index, partner in enumerate(self.new.partner):
            reached = index if partner >= 0 else reached
            own[index] = reached
        kinds = [
            [(anchors[i], k) for i, k in enumerate(self.old.kinds)],
            [(own[i], k) for i, k in enumerate(self.new.kinds)],
        ]
        self._match(*kinds)
        operators = [
            [(anchors[i], self.old.operator(i)) for i in range(len(anchors))],
            [(own[i], self.new.operator(i)) for i in range(len(own))],
        ]
        self._match(*operators, even=True)


def _once(indices: Sequence[int], keys: Sequence[int]) -> dict[int, int]:
    """The indices of keys that are met once."""
    found: dict[int, int] = {}
    for index in indices:
        key = keys[index]
        found[key] = -1 if key in found else index
    return {key: index for key, index in found.items() if index >= 0}


def _uses(body: Body, partner: Sequence[int]) -> Uses:
    """For each value the nodes without a counterpart that use it, and as which input."""
    found: Uses = {}
    for index, node in enumerate(body.nodes):
        if partner[index] < 0:
            for slot, name in enumerate(node.inputs):
                if name:
                    found.setdefault(name, []).append((index, slot))
    return found


def _told_apart(half: Half, uses: Sequence[tuple[int, int]]) -> dict[Hashable, int]:
    """Uses by place and operator: the node; -1 where there are several."""
    found: dict[Hashable, int] = {}
    for index, slot in uses:
        if half.partner[index] < 0:
            key = (slot, half.operator(index))
            found[key] = -1 if key in found else index
    return found


def _consumers(half: Half, left: Sequence[int], numbers: Sequence[int]) -> list[Hashable]:
    """For each node that is left, what is matched of its consumers; None for all others."""
    nodes = half.body.nodes
    wanted = {name for index in left for name in nodes[index].outputs if name}
    found: dict[str, list[tuple[int, int]]] = {}
    for place, value in enumerate(half.body.outputs):
        if value.name in wanted:
            found.setdefault(value.name, []).append((-1, place))
    for index, node in enumerate(nodes):
        if numbers[index] >= 0:
            for slot, name in enumerate(node.inputs):
                if name in wanted:
                    found.setdefault(name, []).append((numbers[index], slot))
    made: list[Hashable] = [None] * len(nodes)
    for index in left:
        below = tuple([tuple(sorted(found.get(name, ()))) for name in nodes[index].outputs])
        made[index] = below if any(below) else None
    return made


def _sources(half: Half, left: Sequence[int], numbers: Sequence[int]) -> list[Hashable]:
    """For each node that is left, where its inputs come from; None for all others."""
    made: list[Hashable] = [None] * len(half.body.nodes)
    for index in left:
        sources: list[Hashable] = []
        for name in half.body.nodes[index].inputs:
            held = half.body.producers.get(name)
            sources.append(name if held is None else (numbers[held[0]], held[1]))
        made[index] = tuple(sources) or None
    return made


def _before(partner: Sequence[int]) -> list[int]:
    """For each old node the counterpart of the last matched one at or before it; -1 for none."""
    made = []
    reached = -1
    for other in partner:
        reached = other if other >= 0 else reached
        made.append(reached)
    return made
