# SPDX-License-Identifier: Apache-2.0
"""The nodes of one of two graphs that are matched, and what is beside them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from onnxtext.ast.model import Node
from onnxtext.diff.body import Body
from onnxtext.diff.signatures import Given, Kinds

Uses = dict[str, list[tuple[int, int]]]
"""Values to the nodes that use them, and as which input."""


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


def nodes_left(half: Half) -> Iterable[tuple[int, Node]]:
    """The nodes without a counterpart, and their indices."""
    nodes = half.body.nodes
    return [(index, nodes[index]) for index in half.left]


def uses(half: Half) -> Uses:
    """For each value the nodes without a counterpart that use it, and as which input."""
    found: Uses = {}
    for index, node in nodes_left(half):
        for slot, name in enumerate(node.inputs):
            if name:
                found.setdefault(name, []).append((index, slot))
    return found


def told_apart(half: Half, uses: Sequence[tuple[int, int]]) -> dict[Hashable, int]:
    """Uses by place and operator: the node; -1 where there are several."""
    found: dict[Hashable, int] = {}
    for index, slot in uses:
        if half.partner[index] < 0:
            key = (slot, half.operator(index))
            found[key] = -1 if key in found else index
    return found


def consumers(half: Half, marks: Sequence[int]) -> dict[int, Hashable]:
    """For each node that is left, what is matched of its consumers; None if nothing is."""
    nodes = half.body.nodes
    found: dict[str, list[tuple[int, int]]] = {
        name: [] for _, node in nodes_left(half) for name in node.outputs if name
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
    for index, node in nodes_left(half):
        below = tuple(
            [
                tuple(sorted(found.get(name, ())))
                for slot, name in enumerate(node.outputs)
                if half.body.producers.get(name) == (index, slot)
            ]
        )
        made[index] = below if any(below) else None
    return made


def sources(half: Half, marks: Sequence[int]) -> dict[int, Hashable]:
    """For each node that is left, where its inputs come from."""
    made: dict[int, Hashable] = {}
    for index, node in nodes_left(half):
        sources: list[Hashable] = []
        for name in node.inputs:
            held = half.body.producers.get(name)
            sources.append(half.given(name) if held is None else (marks[held[0]], held[1]))
        made[index] = tuple(sources)
    return made


def gaps(marks: Sequence[int]) -> list[int]:
    """For each node the mark of the last matched one at or before it; -1 for none."""
    made = []
    reached = -1
    for mark in marks:
        reached = mark if mark >= 0 else reached
        made.append(reached)
    return made
