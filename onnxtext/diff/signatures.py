# SPDX-License-Identifier: Apache-2.0
"""What nodes compute and what is computed from them, whatever anything is called.

The signature of a node from above is its operator and the signatures of its inputs; from below, its
operator and those of its consumers. They are small numbers, the same for both models: equal numbers
are equal computations, without hashes that could collide. Where nodes that are known to belong
together are met, signatures end: so they cost no more than the part that is not known yet.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from onnxtext.ast.model import Graph, Node
from onnxtext.ast.values import Attribute
from onnxtext.diff.body import Body
from onnxtext.diff.facts import Facts
from onnxtext.proto.value_lowering import LowerError


class Numbers:
    """Gives equal things equal numbers."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def of(self, key: Hashable) -> int:
        """The number of a key."""
        return self._known.setdefault(key, len(self._known))


class Kinds:
    """What nodes say, with and without the names of their values."""

    def __init__(self, facts: Facts, numbers: Numbers) -> None:
        self._facts = facts
        self._numbers = numbers
        self._known: dict[tuple[str, int, str | None, str | None], int] = {}

    def statements(self, nodes: Sequence[Node]) -> list[Hashable]:
        """All that each node says: equal keys are equal nodes.

        Raises:
            LowerError: a node says what no model can hold.
        """
        number = self._numbers.of
        facts = self._facts
        known: dict[tuple[str, int, str | None, str | None], int] = {}
        default = facts.habits.node_name
        plain = "NodeProto" not in facts.habits.others
        made: list[Hashable] = []
        for node in nodes:
            try:
                if node.decorators or node.metadata or not plain:
                    made.append(facts.node(node))
                    continue
                key = (node.op_type, id(node.attributes), node.domain, node.overload)
                tail = known.get(key)
                if tail is None:
                    tail = known[key] = number(("tail", facts.tail(node)))
            except LowerError as error:  # attributes have no place of their own
                at = node.at if error.at < 0 else error.at
                raise LowerError(error.message, at, error.code) from None
            name = default if node.name is None else node.name
            made.append((tail, name, node.inputs, node.outputs))
        return made

    def of(self, node: Node) -> int:
        """The kind of a node: operator, domain, overload and attributes."""
        key = (node.op_type, id(node.attributes), node.domain, node.overload)
        kind = self._known.get(key)
        if kind is None:
            attributes = tuple(map(self._attribute, node.attributes))
            what = ("kind", node.op_type, node.domain or "", node.overload or "", attributes)
            kind = self._known[key] = self._numbers.of(what)
        return kind

    def _attribute(self, attribute: Attribute) -> Hashable:
        """An attribute; of graphs only what does not depend on names."""
        value = attribute.value
        items = value if isinstance(value, tuple) else (value,)
        if any(isinstance(item, Graph) for item in items):
            sizes = [
                (len(item.inputs), len(item.outputs), len(item.nodes))
                for item in items
                if isinstance(item, Graph)
            ]
            return (attribute.name, tuple(sizes))
        return bytes(self._facts.attribute_field(attribute))


Given = Callable[[str], Hashable]
"""What a value is that no node makes."""


class Signer:
    """Gives signatures to the nodes of a body that have no counterpart yet.

    Attributes:
        kinds: of these nodes, by index.
        above: their signatures from above.
        below: those from below.
    """

    def __init__(
        self,
        body: Body,
        left: Sequence[int],
        marks: Sequence[int],
        kinds: Kinds,
        given: Given,
        numbers: Numbers,
    ) -> None:
        """Give signatures.

        Args:
            body: holds the nodes.
            left: those that have no counterpart yet, ascending.
            marks: of each node a number that its counterpart has too; -1 without one.
            kinds: tells what nodes are.
            given: what a value is that no node makes.
            numbers: shared by both models.
        """
        self._body = body
        self._marks = marks
        self._numbers = numbers
        self.kinds = {index: kinds.of(body.nodes[index]) for index in left}
        order = in_order(body, left)
        self.above = self._from_above(order, given)
        self.below = self._from_below(order)

    def _from_above(self, order: Sequence[int], given: Given) -> dict[int, int]:
        values: dict[str, int] = {"": -1}
        made: dict[int, int] = {}
        nodes, producers, marks = self._body.nodes, self._body.producers, self._marks
        number = self._numbers.of
        for index in order:
            node = nodes[index]
            inputs = []
            for name in node.inputs:
                value = values.get(name)
                if value is None:
                    held = producers.get(name)
                    if held is None:
                        value = number(given(name))
                    elif marks[held[0]] >= 0:
                        value = number(("matched", marks[held[0]], held[1]))
                    else:  # in a cycle
                        value = number(("free", name))
                    values[name] = value
                inputs.append(value)
            own = made[index] = number((self.kinds[index], tuple(inputs), len(node.outputs)))
            for slot, name in enumerate(node.outputs):
                if name:
                    values[name] = own if not slot else number(("output", own, slot))
        return made

    def _from_below(self, order: Sequence[int]) -> dict[int, int]:
        uses = self._known_uses(order)
        made: dict[int, int] = {}
        nodes, producers = self._body.nodes, self._body.producers
        number = self._numbers.of
        for index in reversed(order):
            node = nodes[index]
            below = []
            for slot, name in enumerate(node.outputs):
                # A name that is defined again belongs to the first who defines it.
                used = uses.get(name, ()) if producers.get(name) == (index, slot) else ()
                below.append(tuple(sorted(used)) if len(used) > 1 else tuple(used))
            own = made[index] = number((self.kinds[index], tuple(below)))
            for slot, name in enumerate(node.inputs):
                if name in uses:
                    uses[name].append(own if not slot else number(("use", own, slot)))
        return made

    def _known_uses(self, order: Sequence[int]) -> dict[str, list[int]]:
        """The values of these nodes, with their uses by matched nodes and as results."""
        nodes, marks = self._body.nodes, self._marks
        number = self._numbers.of
        uses: dict[str, list[int]] = {
            name: [] for index in order for name in nodes[index].outputs if name
        }
        for place, value in enumerate(self._body.outputs):
            if value.name in uses:
                uses[value.name].append(number(("result", place)))
        for index, node in enumerate(nodes):
            if marks[index] >= 0 and not uses.keys().isdisjoint(node.inputs):
                for slot, name in enumerate(node.inputs):
                    if name in uses:
                        uses[name].append(number(("matched", marks[index], slot)))
        return uses


def in_order(body: Body, left: Sequence[int]) -> list[int]:
    """Some nodes of a body so that definitions come before uses; the rest of a cycle comes last."""
    wanted = set(left)
    waits = dict.fromkeys(left, 0)
    consumers: dict[int, list[int]] = {}
    for index in left:
        for name in body.nodes[index].inputs:
            held = body.producers.get(name)
            if held is not None and held[0] in wanted:
                waits[index] += 1
                consumers.setdefault(held[0], []).append(index)
    order = [index for index, count in waits.items() if not count]
    for index in order:  # grows meanwhile
        for consumer in consumers.get(index, ()):
            waits[consumer] -= 1
            if not waits[consumer]:
                order.append(consumer)
    if len(order) < len(left):
        order += [index for index, count in waits.items() if count]
    return order
