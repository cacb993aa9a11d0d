# SPDX-License-Identifier: Apache-2.0
"""Compute signatures of nodes: numbers that describe computations and uses, but not names.

The signature from above combines a node's kind with the signatures of its inputs. The signature
from below combines the kind with the signatures of the consumers. Signatures are interned as small
numbers that both models share: equal numbers mean equal computations, without hash collisions. Only
unmatched nodes need signatures: a matched node is identified by its index in the new model.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from onnxtext.ast.model import Graph, Node
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.differ.graph_lists import GraphLists
from onnxtext.differ.statement_encoding import StatementEncoder
from onnxtext.proto.encode.lower_error import LowerError

if TYPE_CHECKING:
    from onnxtext.differ.unmatched_nodes import MatchSide, Uses


class Interner:
    """Assigns a number to each distinct key."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def of(self, key: Hashable) -> int:
        """Return the number of a key; a new key gets the next number."""
        return self._known.setdefault(key, len(self._known))


class NodeKinds:
    """Computes keys of nodes, which are numbers, to match nodes with equal keys.

    The keys from `statements` include the node name and the names of inputs and outputs. The keys
    from `of` ignore these names and the contents of graphs.
    """

    def __init__(self, encoder: StatementEncoder, numbers: Interner) -> None:
        self._encoder = encoder
        self._numbers = numbers
        self._known: dict[tuple[str, int, str | None, str | None], int] = {}

    def statements(self, nodes: Sequence[Node]) -> list[int]:
        """Return a number for each node. Nodes with equal numbers are equal, including all names.

        Raises:
            LowerError: a node cannot be encoded.
        """
        number_of = self._numbers.of
        encoder = self._encoder
        tails: dict[tuple[str, int, str | None, str | None], int] = {}
        default = encoder.defaults.node_name
        plain = "NodeProto" not in encoder.defaults.others
        result = []
        for node in nodes:
            try:
                if node.decorators or node.metadata or not plain:
                    result.append(number_of(encoder.node(node)))
                    continue
                key = (node.op_type, id(node.attributes), node.domain, node.overload)
                tail = tails.get(key)
                if tail is None:
                    tail = tails[key] = number_of(("tail", b"".join(encoder.tail(node))))
            except LowerError as error:  # errors in attributes have no offset; use the node's
                raise error.placed(node.at) from None
            name = default if node.name is None else node.name
            result.append(number_of((tail, name, node.inputs, node.outputs)))
        return result

    def of(self, node: Node) -> int:
        """Return a number that identifies the operator, domain, overload and attributes of a node.

        Graphs in attributes are compared only by how many inputs, outputs and nodes they have.
        """
        key = (node.op_type, id(node.attributes), node.domain, node.overload)
        kind = self._known.get(key)
        if kind is None:
            attributes = tuple(map(self._attribute, node.attributes))
            what = ("kind", node.op_type, node.domain or "", node.overload or "", attributes)
            kind = self._known[key] = self._numbers.of(what)
        return kind

    def _attribute(self, attribute: Attribute) -> Hashable:
        """Return a key of an attribute; graphs are compared by their numbers of items."""
        value = attribute.value
        items = value if isinstance(value, tuple) else (value,)
        if any(isinstance(item, Graph) for item in items):
            sizes = [
                (len(item.inputs), len(item.outputs), len(item.nodes))
                for item in items
                if isinstance(item, Graph)
            ]
            return (attribute.name, tuple(sizes))
        return bytes(self._encoder.attribute_field(attribute))


LeafKey = Callable[[str], Hashable]
"""Returns the key of a value without a producer."""


class Signatures:
    """Computes the signatures of the unmatched nodes of a graph or function.

    Attributes:
        kinds: the result of `NodeKinds.of` for each unmatched node, by node index.
        above: for each unmatched node, by index, a number that describes how it is computed.
        below: for each unmatched node, by index, a number that describes how its outputs are used.
        unused: the indices of the unmatched nodes whose outputs have no uses.
    """

    def __init__(self, side: MatchSide, marks: Sequence[int], numbers: Interner) -> None:
        """Compute the signatures.

        `marks` has a number for each node, equal for matching nodes of both graphs; -1 for
        unmatched nodes. Both models share `numbers`.
        """
        self._body = side.body
        self._marks = marks
        self._numbers = numbers
        self.kinds = {index: side.kinds.of(side.body.nodes[index]) for index in side.left}
        order = in_order(side.body, side.left)
        self.unused: set[int] = set()
        self.above = self._from_above(order, side.leaf_key)
        self.below = self._from_below(order, side.matched_uses(marks))

    def _from_above(self, order: Sequence[int], leaf_key: LeafKey) -> dict[int, int]:
        values: dict[str, int] = {"": -1}
        result: dict[int, int] = {}
        nodes, producers, marks = self._body.nodes, self._body.producers, self._marks
        number_of = self._numbers.of
        for index in order:
            node = nodes[index]
            inputs = []
            for name in node.inputs:
                value = values.get(name)
                if value is None:
                    producer = producers.get(name)
                    if producer is None:
                        value = number_of(leaf_key(name))
                    elif marks[producer[0]] >= 0:
                        value = number_of(("matched", marks[producer[0]], producer[1]))
                    else:  # the producer comes later in `order`: there is a cycle
                        value = number_of(("free", name))
                    values[name] = value
                inputs.append(value)
            node_number = result[index] = number_of(
                (self.kinds[index], tuple(inputs), len(node.outputs))
            )
            for slot, name in enumerate(node.outputs):
                if name:
                    values[name] = (
                        node_number if not slot else number_of(("output", node_number, slot))
                    )
        return result

    def _from_below(self, order: Sequence[int], matched: Uses) -> dict[int, int]:
        result: dict[int, int] = {}
        nodes, producers = self._body.nodes, self._body.producers
        number_of = self._numbers.of
        uses = {
            name: [number_of(("matched", *use)) for use in found] for name, found in matched.items()
        }
        for index in reversed(order):
            node = nodes[index]
            below = []
            for slot, name in enumerate(node.outputs):
                # A name that is defined twice belongs to its first definition.
                used = uses.get(name, ()) if producers.get(name) == (index, slot) else ()
                below.append(tuple(sorted(used)) if len(used) > 1 else tuple(used))
            if not any(below):
                self.unused.add(index)
            node_number = result[index] = number_of((self.kinds[index], tuple(below)))
            for slot, name in enumerate(node.inputs):
                if name in uses:
                    uses[name].append(
                        node_number if not slot else number_of(("use", node_number, slot))
                    )
        return result


def in_order(body: GraphLists, left: Sequence[int]) -> list[int]:
    """Sort the node indices in `left` topologically; nodes in or after a cycle come last."""
    expected = set(left)
    waits = dict.fromkeys(left, 0)
    consumers: dict[int, list[int]] = {}
    for index in left:
        for name in body.nodes[index].inputs:
            producer = body.producers.get(name)
            if producer is not None and producer[0] in expected:
                waits[index] += 1
                consumers.setdefault(producer[0], []).append(index)
    order = [index for index, count in waits.items() if not count]
    for index in order:  # `order` grows during the loop
        for consumer in consumers.get(index, ()):
            waits[consumer] -= 1
            if not waits[consumer]:
                order.append(consumer)
    return order + [index for index, count in waits.items() if count]
