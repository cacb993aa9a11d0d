# SPDX-License-Identifier: Apache-2.0
"""What nodes compute and what is computed from them, whatever anything is called.

The signature of a node from above is its operator and the signatures of its inputs; from below, its
operator and those of its consumers. They are small numbers, the same for both models: equal numbers
are equal computations, without hashes that could collide.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from onnxtext.ast.model import Graph, Node
from onnxtext.ast.values import Attribute
from onnxtext.diff.body import Body
from onnxtext.diff.facts import Facts


class Numbers:
    """Gives equal things equal numbers."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def of(self, key: Hashable) -> int:
        """The number of a key."""
        return self._known.setdefault(key, len(self._known))


class Kinds:
    """What nodes are without the names of their inputs and outputs."""

    def __init__(self, facts: Facts, numbers: Numbers) -> None:
        self._facts = facts
        self._numbers = numbers
        self._known: dict[tuple[str, int, str | None, str | None], int] = {}

    def of(self, nodes: Sequence[Node]) -> list[int]:
        """The kind of each node: operator, domain, overload and attributes."""
        known = self._known
        kinds = []
        for node in nodes:
            key = (node.op_type, id(node.attributes), node.domain, node.overload)
            kind = known.get(key)
            if kind is None:
                kind = known[key] = self._numbers.of(self._kind(node))
            kinds.append(kind)
        return kinds

    def _kind(self, node: Node) -> Hashable:
        attributes = tuple(map(self._attribute, node.attributes))
        return ("kind", node.op_type, node.domain or "", node.overload or "", attributes)

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


def in_order(body: Body) -> list[int]:
    """The nodes of a body so that definitions come before uses; the rest of a cycle comes last."""
    producers = body.producers
    nodes = body.nodes
    for index, node in enumerate(nodes):
        for name in node.inputs:
            held = producers.get(name)
            if held is not None and held[0] >= index:
                break
        else:
            continue
        break
    else:
        return list(range(len(nodes)))
    waits = [0] * len(nodes)
    consumers: dict[int, list[int]] = {}
    for index, node in enumerate(nodes):
        for name in node.inputs:
            held = producers.get(name)
            if held is not None:
                waits[index] += 1
                consumers.setdefault(held[0], []).append(index)
    order = [index for index, count in enumerate(waits) if not count]
    for index in order:  # grows meanwhile
        for consumer in consumers.get(index, ()):
            waits[consumer] -= 1
            if not waits[consumer]:
                order.append(consumer)
    if len(order) < len(nodes):
        order += [index for index, count in enumerate(waits) if count]
    return order


def from_above(
    body: Body,
    order: Sequence[int],
    kinds: Sequence[int],
    given: Mapping[str, int],
    numbers: Numbers,
) -> list[int]:
    """The signature of each node from above.

    Args:
        body: holds the nodes.
        order: as `in_order` gives it.
        kinds: of the nodes.
        given: numbers of the values that are not made by nodes.
        numbers: shared by both models.
    """
    values = dict(given)
    made = [0] * len(body.nodes)
    nodes = body.nodes
    number = numbers.of
    for index in order:
        node = nodes[index]
        inputs = []
        for name in node.inputs:
            value = values.get(name)
            if value is None:
                value = values[name] = number(("free", name))
            inputs.append(value)
        own = made[index] = number((kinds[index], tuple(inputs), len(node.outputs)))
        for slot, name in enumerate(node.outputs):
            if name:
                values[name] = own if not slot else number(("output", own, slot))
    return made


def from_below(
    body: Body, order: Sequence[int], kinds: Sequence[int], numbers: Numbers
) -> list[int]:
    """The signature of each node from below."""
    uses: dict[str, list[int]] = {}
    number = numbers.of
    for place, value in enumerate(body.outputs):
        uses.setdefault(value.name, []).append(number(("result", place)))
    made = [0] * len(body.nodes)
    nodes = body.nodes
    for index in reversed(order):
        node = nodes[index]
        below = []
        for name in node.outputs:
            used = uses.get(name, ())
            below.append(tuple(sorted(used)) if len(used) > 1 else tuple(used))
        own = made[index] = number((kinds[index], tuple(below)))
        for slot, name in enumerate(node.inputs):
            use = own if not slot else number(("use", own, slot))
            if name in uses:
                uses[name].append(use)
            else:
                uses[name] = [use]
    return made
