# SPDX-License-Identifier: Apache-2.0
"""A node as the functions that know its operator see it."""

from __future__ import annotations

from dataclasses import dataclass

from onnxtext.ast.model import Node
from onnxtext.checker.context.finding import Place
from onnxtext.checker.inference.symbolic.sizes import Extent, Extents, Size, Sizes

SymbolicShape = Extents | None


@dataclass(slots=True)
class OperatorCall:
    """A node and what is known of its inputs.

    Attributes:
        node: the node.
        shapes: of its inputs.
        constants: the values of its inputs that are lists of integers and known.
        sizes: what is known of symbols.
        since: the version of the operator.
    """

    node: Node
    shapes: list[SymbolicShape]
    constants: list[tuple[int, ...] | None]
    sizes: Sizes
    since: int

    def attribute(self, name: str) -> object:
        """The value of an attribute; None if it is not given."""
        return next((a.value for a in self.node.attributes if a.name == name), None)

    def integer(self, name: str, default: int) -> int:
        """The value of an attribute that is an integer."""
        found = self.attribute(name)
        return found if isinstance(found, int) else default

    def listed(self, name: str, default: tuple[int, ...]) -> tuple[int, ...]:
        """The value of an attribute that is a list of integers."""
        found = self.attribute(name)
        if isinstance(found, tuple) and all(isinstance(item, int) for item in found):
            return found
        return default

    def integers(self, name: str, index: int) -> tuple[int, ...] | None:
        """A list of integers that is an attribute in older versions, and an input in newer ones."""
        if self.attribute(name) is not None:
            return self.listed(name, ())
        return self.constants[index] if index < len(self.constants) else None

    def has_input(self, index: int) -> bool:
        """Whether an optional input is given."""
        return index < len(self.node.inputs) and bool(self.node.inputs[index])

    def shape(self, index: int) -> SymbolicShape:
        """The shape of an input; None if it is not known or not given."""
        return self.shapes[index] if index < len(self.shapes) else None

    def equal(self, left: Extent, right: Extent) -> None:
        """The node needs two dimensions to be one size."""
        self.sizes.equal(left, right, Place(self.node, ("op_type",)))

    def one_or(self, extent: Size, size: int) -> None:
        """The node broadcasts a dimension."""
        self.sizes.one_or(extent, size, Place(self.node, ("op_type",)))
