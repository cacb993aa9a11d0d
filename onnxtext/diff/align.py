# SPDX-License-Identifier: Apache-2.0
"""Which node of the old graph is which of the new one.

Evidence is used from the strongest to the weakest: the same statement beside the same statement;
the same computation, whatever its values are called; the same statement; the same name; being
connected to nodes that are known. Each step is linear in the size of the graphs, up to sorting.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from onnxtext.ast.model import Node
from onnxtext.diff.body import Body
from onnxtext.diff.signatures import Given, Kinds, Numbers, Signer

Uses = dict[str, list[tuple[int, int]]]
"""Values to the nodes that use them, and as which input."""

Keys = Mapping[int, Hashable]
"""What nodes are matched by, by their indices; None matches nothing."""


@dataclass(slots=True)
class Half:
    """The nodes of one model.

    Attributes:
        body: holds them.
        statements: what each says.
        kinds: tells what each is without names.
        given: what a value is that no node makes.
        partner: its counterpart; -1 if it has none yet.
        left: the nodes without counterpart, ascending.
    """

    body: Body
    statements: Sequence[Hashable]
    kinds: Kinds
    given: Given
    partner: list[int] = field(init=False)
    left: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        self.partner = [-1] * len(self.body.nodes)
        self.left = range(len(self.partner))

    def operator(self, index: int) -> tuple[str, str]:
        """Operator and domain of a node."""
        node = self.body.nodes[index]
        return node.op_type, node.domain or ""

    def first_output(self, index: int) -> str:
        """The first output of a node that has a name."""
        return next(filter(None, self.body.nodes[index].outputs), "")


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
        """Match equal statements that are connected to other equal statements.

        A statement alone is no proof: where names are numbers, and one node was added, another node
        may say the same by accident. Equal ones without names of their own go in order.
        """
        old, new = self.old, self.new
        candidates = self._candidates()
        if candidates is None:
            return
        supported = bytearray(len(candidates))
        makers, made = old.body.producers, new.body.producers
        nodes = old.body.nodes
        for index, other in enumerate(candidates):
            if other < 0:
                continue
            for name in nodes[index].inputs:
                held = makers.get(name)
                if held is not None:
                    makes = made.get(name)
                    if makes is not None and candidates[held[0]] == makes[0]:
                        supported[index] = supported[held[0]] = 1
        for index, other in enumerate(candidates):
            if other >= 0 and supported[index]:
                self._join(index, other)

    def _candidates(self) -> list[int] | None:
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
        marks = (
            self.old.partner,
            [index if other >= 0 else -1 for index, other in enumerate(self.new.partner)],
        )
        old, new = (
            Signer(half.body, half.left, mark, half.kinds, half.given, self._numbers)
            for half, mark in zip((self.old, self.new), marks, strict=True)
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
            {i: (h.operator(i), n.name, n.outputs) if n.outputs else None for i, n in _left(h)}
            for h in halves
        ])  # fmt: skip
        self._match(*[
            {i: (h.operator(i), n.outputs) if any(n.outputs) else None for i, n in _left(h)}
            for h in halves
        ], even=True)  # fmt: skip
        self._match(*[
            {i: (h.operator(i), n.name) if n.name else None for i, n in _left(h)} for h in halves
        ], even=True)  # fmt: skip

    def _match_outputs(self) -> None:
        """Match what has the same outputs, whatever the operator is."""
        self._match(*[
            {i: n.outputs if any(n.outputs) else None for i, n in _left(half)}
            for half in (self.old, self.new)
        ], even=True)  # fmt: skip

    # ---- By connection ----------------------------------------------------------------------

    def _spread(self) -> None:
        """Match the producers and consumers of what is matched, and theirs, and so on.

        They have the same operator, and stand in the same place.
        """
        if not self._unfinished():
            return
        uses = [_uses(half) for half in (self.old, self.new)]
        queue = [(one, self.old.partner[one]) for one in sorted(self._border(uses[0]))]
        for one, other in queue:  # grows meanwhile
            for pair in (*self._above(one, other), *self._below(one, other, *uses)):
                if self.old.partner[pair[0]] < 0 and self.new.partner[pair[1]] < 0:
                    self._join(*pair)
                    queue.append(pair)

    def _border(self, uses: Uses) -> set[int]:
        """The matched old nodes beside those that are left."""
        body, partner = self.old.body, self.old.partner
        found = {held[0] for name in uses if (held := body.producers.get(name)) is not None}
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
            uses, used = old_uses.get(name), new_uses.get(named)
            if not uses or not used:
                continue
            # A name that is defined again belongs to the first who defines it.
            if old.producers[name] == (one, slot) and new.producers[named] == (other, slot):
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
        marks = (
            self.old.partner,
            [index if other >= 0 else -1 for index, other in enumerate(self.new.partner)],
        )
        halves = list(zip((self.old, self.new), marks, strict=True))
        below = [_consumers(half, mark) for half, mark in halves]
        above = [_sources(half, mark) for half, mark in halves]
        both: list[Keys] = [
            {i: (above[side][i], key) if key else None for i, key in below[side].items()}
            for side in (0, 1)
        ]
        self._match(*both, even=True)
        self._match(*below, even=True)

    # ---- By position ------------------------------------------------------------------------

    def _match_gaps(self) -> None:
        """Match what is left between the same neighbours, in order, by kind, then by operator."""
        if not self._unfinished():
            return
        gaps = (
            _gaps(self.old.partner),
            _gaps([index if other >= 0 else -1 for index, other in enumerate(self.new.partner)]),
        )
        halves = list(zip((self.old, self.new), gaps, strict=True))
        self._match(*[{i: (gap[i], h.kinds.of(n)) for i, n in _left(h)} for h, gap in halves])
        self._match(*[{i: (gap[i], h.operator(i)) for i in h.left} for h, gap in halves], even=True)


def _left(half: Half) -> Iterable[tuple[int, Node]]:
    nodes = half.body.nodes
    return [(index, nodes[index]) for index in half.left]


def _once(indices: Sequence[int], keys: Mapping[int, int]) -> dict[int, int]:
    """The indices of keys that are met once."""
    found: dict[int, int] = {}
    for index in indices:
        key = keys[index]
        found[key] = -1 if key in found else index
    return {key: index for key, index in found.items() if index >= 0}


def _uses(half: Half) -> Uses:
    """For each value the nodes without a counterpart that use it, and as which input."""
    found: Uses = {}
    for index, node in _left(half):
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


def _consumers(half: Half, marks: Sequence[int]) -> dict[int, Hashable]:
    """For each node that is left, what is matched of its consumers; None if nothing is."""
    nodes = half.body.nodes
    found: dict[str, list[tuple[int, int]]] = {
        name: [] for _, node in _left(half) for name in node.outputs if name
    }
    for place, value in enumerate(half.body.outputs):
        if value.name in found:
            found[value.name].append((-1, place))
    for index, node in enumerate(nodes):
        if marks[index] >= 0 and not found.keys().isdisjoint(node.inputs):
            for slot, name in enumerate(node.inputs):
                if name in found:
                    found[name].append((marks[index], slot))
    made: dict[int, Hashable] = {}
    for index, node in _left(half):
        below = tuple(
            [
                tuple(sorted(found.get(name, ())))
                for slot, name in enumerate(node.outputs)
                if half.body.producers.get(name) == (index, slot)
            ]
        )
        made[index] = below if any(below) else None
    return made


def _sources(half: Half, marks: Sequence[int]) -> dict[int, Hashable]:
    """For each node that is left, where its inputs come from."""
    made: dict[int, Hashable] = {}
    for index, node in _left(half):
        sources: list[Hashable] = []
        for name in node.inputs:
            held = half.body.producers.get(name)
            sources.append(half.given(name) if held is None else (marks[held[0]], held[1]))
        made[index] = tuple(sources)
    return made


def _gaps(marks: Sequence[int]) -> list[int]:
    """For each node the mark of the last matched one at or before it; -1 for none."""
    made = []
    reached = -1
    for mark in marks:
        reached = mark if mark >= 0 else reached
        made.append(reached)
    return made
