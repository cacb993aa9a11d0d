# SPDX-License-Identifier: Apache-2.0
"""Trace how a symbolic size reaches a node that restricts it."""

from __future__ import annotations

from collections import deque

from onnxtext.ast.model import Node
from onnxtext.checker.context.finding import Place
from onnxtext.checker.context.scopes import GIVEN, Scope
from onnxtext.checker.inference.symbolic_shapes import SymbolicShapes
from onnxtext.checker.symbolic.operator_call import SymbolicShape
from onnxtext.checker.symbolic.sizes.polynomials import product_of, symbol_plus, symbols
from onnxtext.checker.symbolic.sizes.quotients import exact_quotient, substitute

_MAX_VISITED = 100_000
"""Maximum number of values that all searches of one `SymbolTrace` visit together."""


class SymbolTrace:
    """Finds the values that carry a symbol from an input of the main graph to a node.

    Attributes:
        shapes: the symbolic shapes of the values of the main graph.
    """

    def __init__(self, main: Scope, shapes: SymbolicShapes) -> None:
        self.shapes = shapes
        self._main = main
        self._inputs = {value.name for value in main.inputs}
        self._environment = shapes.visits[id(main)][0]
        self._indexes: dict[int, int] | None = None
        self._budget = _MAX_VISITED

    def shape(self, name: str) -> SymbolicShape:
        """Return the shape of a value of the main graph; None if unknown."""
        return self._environment.find(name)

    def holds(self, name: str, symbol: str) -> bool:
        """Whether a value's shape has `symbol`, or a symbol that equations relate to `symbol`."""
        root = symbols(self.shapes.sizes.root(symbol_plus(symbol)))
        return any(
            not root.isdisjoint(symbols(self.shapes.sizes.root(extent)))
            for extent in self.shape(name) or ()
        )

    def is_in_main(self, node: Node) -> bool:
        """Whether a node is in the main graph, outside of nested graphs and function bodies."""
        if self._indexes is None:
            self._indexes = {id(each): index for index, each in enumerate(self._main.nodes)}
        return id(node) in self._indexes

    def chain(self, place: Place, symbol: str) -> list[str]:
        """Return the names of the values that carry a symbol into a node of the main graph.

        `place` is a place in the node. The first value is an input or initializer of the graph, the
        last value is an input of the node. The list is empty if no chain is found.
        """
        node, main = place.item, self._main
        if not isinstance(node, Node) or not self.is_in_main(node) or self._budget <= 0:
            return []
        before: dict[str, str] = {name: "" for name in node.inputs if name}
        queue = deque(before)
        while queue and self._budget > 0:
            self._budget -= 1
            name = queue.popleft()
            if not self.holds(name, symbol):
                continue
            position = main.position.get(name)
            if position == GIVEN:
                result = [name]
                while before[result[-1]]:
                    result.append(before[result[-1]])
                return result
            for source in main.nodes[position].inputs if position is not None else ():
                if source and source not in before:
                    before[source] = name
                    queue.append(source)
        return []

    def follows_from_inputs(self, place: Place, symbol: str) -> bool:
        """Whether the node at `place` equates a symbol with sizes that depend on no constant.

        Such an equation follows from the types of the main graph's inputs alone. Return False if
        this is unknown.
        """
        node = place.item
        if not isinstance(node, Node) or place.part != ("op_type",) or not self.is_in_main(node):
            return False
        self._budget -= len(node.inputs)
        if self._budget <= 0:
            return False
        others = [name for name in node.inputs if name and not self.holds(name, symbol)]
        others = others or [name for name in node.inputs if name]
        return len(node.inputs) > 1 and not any(map(self._uses_constants, others))

    def _uses_constants(self, name: str) -> bool:
        """Whether a value may depend on an initializer, or on a node without inputs.

        An initializer that is also an input does not count.
        """
        main = self._main
        seen, queue = {name}, deque([name])
        while queue:
            self._budget -= 1
            position = main.position.get(queue[0])
            if self._budget < 0 or position is None:
                return True
            sources = main.nodes[position].inputs if position != GIVEN else ()
            # A constant is an output of a node without inputs, or an initializer that is not also
            # an input of the graph.
            if not sources and (position != GIVEN or queue[0] not in self._inputs):
                return True
            queue.popleft()
            for source in sources:
                if source and source not in seen:
                    seen.add(source)
                    queue.append(source)
        return False

    def literal(self, place: Place, symbol: str, number: int) -> tuple[int, int, str] | None:
        """Find the entry of a `Reshape`'s constant shape that restricts a symbol.

        `place` is the place in the model that restricts the symbol to the size `number`.

        Return (0-based index, entry, replacement); None if no entry is found. The replacement, `0`
        or `-1`, allows other sizes of the symbol.
        """
        node = place.item
        if not isinstance(node, Node) or node.op_type != "Reshape":
            return None
        if len(node.inputs) != 2 or not self.is_in_main(node):
            return None
        shape, value = self.shape(node.inputs[0]), self._environment.value(node.inputs[1])
        numbers = None if value is None else value.numbers()
        if shape is None or numbers is None or min(numbers, default=0) < 1:
            return None
        literals: list[tuple[int, int, str]] = []
        copies = not any(a.name == "allowzero" and a.value for a in node.attributes)
        for index, size in enumerate(numbers):
            others = (*numbers[:index], *numbers[index + 1 :])
            needed = exact_quotient(product_of(shape), product_of(others))
            if symbols(needed) == {symbol} and substitute(needed, lambda _: number) == size:
                if copies and index < len(shape) and shape[index] == needed:
                    return index, size, "0"
                # Prefer a number in place of the symbol itself.
                position = 0 if needed == symbol_plus(symbol) else len(literals)
                literals.insert(position, (index, size, "-1"))
        return literals[0] if literals else None

    def stored(self, name: str) -> Place | None:
        """Return the place in the model that stores the value `name` of the main graph.

        The place is an initializer, an input, or the only attribute of a `Constant`. Return None
        for other values.
        """
        position = self._main.position.get(name)
        if position == GIVEN:
            return Place(self._main.given[name])
        node = self._main.nodes[position] if position is not None else None
        if node is None or node.op_type != "Constant" or len(node.attributes) != 1:
            return None
        return Place(node, ("attributes", 0))
