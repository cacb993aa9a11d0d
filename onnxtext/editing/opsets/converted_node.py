# SPDX-License-Identifier: Apache-2.0
"""Rewrite a node in one conversion step, and collect the nodes and constants that are added."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from onnxtext.ast.model import Node
from onnxtext.ast.records import Record
from onnxtext.ast.tensors_and_attributes import (
    Attribute,
    AttributeType,
    Float32,
    Floats,
    Reference,
    Tensor,
)
from onnxtext.ast.types import TensorType, Type
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.editing.nodes import put_attribute
from onnxtext.editing.opsets import make_tensors
from onnxtext.editing.opsets.make_tensors import Number
from onnxtext.editing.opsets.model_facts import ModelFacts, NotConvertible, unknown_fact
from onnxtext.editing.opsets.schema_versions import NONE, default_of

Dims = tuple[int | str | None, ...]


@dataclass(slots=True)
class ConvertedGraph:
    """A graph or function whose nodes are converted, and its new constants.

    Attributes:
        constants: maps the tensor of each new constant to the constant's name.
        new_tensors: maps the name of each new constant to its tensor.
    """

    scope: Scope
    constants: dict[Tensor, str] = field(default_factory=dict)
    new_tensors: dict[str, Tensor] = field(default_factory=dict)

    def roll_back_to(self, count: int) -> None:
        """Keep the first `count` constants; remove those that a failed conversion has added."""
        for tensor in list(self.constants)[count:]:
            self.new_tensors.pop(self.constants.pop(tensor))


class NodeConversion:
    """A node that a rule rewrites in one conversion step.

    The methods that return attributes, types and constants raise `NotConvertible` for a node that
    has no readable value, or no known type.

    Args:
        node: the original node, which is not changed.
        old: the schema of the node before the step.
        new: the schema after the step; None if the operator does not exist in that version.

    Attributes:
        node: the rewritten node, a copy of the original node.
        before: new nodes to insert before the rewritten node.
        after: new nodes to insert after the rewritten node.
        removed: whether the node is removed, so that only `before` and `after` replace it.
        notes: sentences on the changes, for the user.
        dropped: the names of attributes that the step removed.
    """

    def __init__(
        self,
        facts: ModelFacts,
        graph: ConvertedGraph,
        node: Node,
        old: Signature,
        new: Signature | None,
    ) -> None:
        self.facts = facts
        self.graph = graph
        self.node = replace(node)
        self.old = old
        self._new = new
        self.before: list[Node] = []
        self.after: list[Node] = []
        self.removed = False
        self.notes: list[str] = []
        self.dropped: set[str] = set()
        self._moved: dict[str, Type | None] = {}

    @property
    def new(self) -> Signature:
        """The schema of the node after the step."""
        assert self._new is not None
        return self._new

    @property
    def is_up(self) -> bool:
        """Whether the step converts to a newer version."""
        return self._new is not None and self._new.since > self.old.since

    def nodes(self) -> list[Node]:
        """Return the nodes that replace the original node, in order."""
        return [*self.before, *(() if self.removed else (self.node,)), *self.after]

    def rename(self, operator: str) -> None:
        """Replace only the operator of the node, and add a note."""
        self.add_note(f"`{operator}` replaces `{self.node.op_type}`")
        self.node.op_type = operator

    # ---- Attributes -------------------------------------------------------------------------

    def attribute(self, name: str) -> Attribute | None:
        """Return an attribute of the node; None if the node lacks it."""
        return next((item for item in self.node.attributes if item.name == name), None)

    def value(self, name: str) -> object:
        """Return the value of an attribute, or its default in `old`; None if it has neither."""
        attribute = self.attribute(name)
        if attribute is None:
            if name not in self.old.attributes:
                return None
            default = default_of(self.old, name)
            return None if default is NONE else default
        value = attribute.read()
        if isinstance(value, Reference):
            raise NotConvertible(f"its attribute `{name}` refers to a parameter of the function")
        if value is None or isinstance(value, Record):
            raise NotConvertible(f"its attribute `{name}` has no readable value")
        return value

    def integer(self, name: str, default: int | None = None) -> int | None:
        """Return `value(name)`, the value of an attribute; `default` if it is not an integer."""
        value = self.value(name)
        return value if isinstance(value, int) else default

    def integers(self, name: str) -> tuple[int, ...] | None:
        """Return `value(name)`: a list of integers or None; reject the node for other values."""
        value = self.value(name)
        if value is None:
            return None
        if isinstance(value, tuple) and all(isinstance(item, int) for item in value):
            return value
        raise NotConvertible(f"its attribute `{name}` is not a list of integers")

    def string(self, name: str) -> str | None:
        """Return `value(name)`, the value of an attribute; None if it is not a string."""
        value = self.value(name)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else None

    def floats(self, name: str) -> tuple[float, ...] | None:
        """Return `value(name)`, the value of an attribute; None if it is not a list of floats."""
        value = self.value(name)
        return struct.unpack(f"<{len(value)}f", value.data) if isinstance(value, Floats) else None

    def real(self, name: str) -> float | None:
        """Return `value(name)`, the value of an attribute; None if it is not a float."""
        value = self.value(name)
        return float(value) if isinstance(value, Float32) else None

    def drop(self, name: str) -> None:
        """Remove an attribute."""
        self.node.attributes = tuple([a for a in self.node.attributes if a.name != name])

    def set(self, name: str, value: object) -> None:
        """Add an attribute, or replace the attribute of the same name; see `make_attribute`."""
        put_attribute(self.node, make_tensors.make_attribute(name, value))

    # ---- Values -----------------------------------------------------------------------------

    def input(self, index: int) -> str:
        """Return the name of an input; "" for an omitted input."""
        return self.node.inputs[index] if index < len(self.node.inputs) else ""

    def set_input(self, index: int, name: str) -> None:
        """Set an input by its index; if the list is too short, fill it with omitted inputs."""
        names = list(self.node.inputs)
        names += [""] * (index + 1 - len(names))
        names[index] = name
        self.node.inputs = tuple(names)

    def leave_out(self, index: int) -> None:
        """Omit an input; omitted inputs at the end of the list are removed."""
        self.set_input(index, "")
        names = list(self.node.inputs)
        while names and not names[-1]:
            names.pop()
        self.node.inputs = tuple(names)

    def shape(self, name: str) -> Dims | None:
        """Return the shape of a value; None if its rank is unknown."""
        type = self.facts.type(self.graph.scope, name)
        if not isinstance(type, TensorType) or type.shape is None:
            return None
        return tuple(map(plain_dim, type.shape))

    def rank(self, name: str) -> int | None:
        """Return the rank of a value; None if it is unknown."""
        shape = self.shape(name)
        return None if shape is None else len(shape)

    def needed_rank(self, name: str) -> int:
        """Return the rank of a value; reject the node if the rank is unknown."""
        rank = self.rank(name)
        if rank is None:
            raise unknown_fact("the rank of", name)
        return rank

    def element(self, name: str) -> str:
        """Return the element type of a tensor; reject the node if the type is unknown."""
        text = self.facts.element_type(self.graph.scope, name)
        if text is None or not text.startswith("tensor("):
            raise unknown_fact("the type of", name)
        return text[7:-1]

    def numbers(self, name: str) -> tuple[Number, ...] | None:
        """Return the elements of a small constant; None for other values."""
        tensor = self.graph.new_tensors.get(name)
        if tensor is not None:
            return make_tensors.read_numbers(tensor.type, tensor.data, {})
        constant = self.facts.constant(self.graph.scope, name)
        return None if constant is None else constant[1]

    def needed_numbers(self, index: int, kind: str) -> tuple[Number, ...]:
        """Return the elements of a constant input that the step turns into an attribute.

        The name of the constant is added to `facts.replaced`.

        Reject the node if the input is not a constant of at most `MAX_NUMBERS` elements; `kind`
        describes the input in the message.
        """
        name = self.input(index)
        numbers = self.numbers(name)
        if numbers is None:
            limit = make_tensors.MAX_NUMBERS
            raise NotConvertible(
                f"its {kind} `{name}` must be a constant of at most {limit:,} elements",
                "make it an initializer or a `Constant`, with its data in the model",
            )
        self.facts.replaced.add(name)
        return numbers

    # ---- New nodes --------------------------------------------------------------------------

    def constant(
        self, base: str, numbers: Sequence[Number], element: str = "int64",
        dims: Sequence[int] | None = None,
    ) -> str:  # fmt: skip
        """Return the name of a constant with these elements; create the constant if needed.

        Args:
            base: the name of a new constant; if the name is taken, a number is added to it.
            numbers: the elements.
            element: the element type.
            dims: the shape; None for a vector.

        Raises:
            NotConvertible: the element type cannot hold the numbers exactly.
        """
        tensor = make_tensors.make_tensor(
            element, numbers, (len(numbers),) if dims is None else dims
        )
        if tensor is None:
            raise NotConvertible(
                f"its `{base}` {list(numbers)} cannot be stored exactly as `{element}`"
            )
        cached = self.graph.constants.get(tensor)
        if cached is not None:
            return cached
        name = self.facts.fresh(base)
        self.facts.set_type(name, f"tensor({element})")
        self.graph.constants[tensor] = name
        self.graph.new_tensors[name] = tensor
        self.before.append(make_tensors.make_node("Constant", (), (name,), {"value": tensor}))
        return name

    def parameter(self, base: str, attribute: Attribute) -> str:
        """Insert a `Constant` with the parameter that `attribute` refers to; return its output."""
        self.check_given(attribute)
        name = self.facts.fresh(base)
        self.facts.set_type(name, "tensor(int64)")
        constant = Attribute("value_ints", AttributeType.INTS, attribute.value)
        self.before.append(Node("Constant", (), (name,), (constant,)))
        return name

    def check_given(self, attribute: Attribute) -> None:
        """Reject an attribute that refers to a parameter to which a call gives no value."""
        if isinstance(attribute.value, Reference):
            parameter = attribute.value.name
            if self.facts.may_lack(self.graph.scope.function, parameter):
                raise NotConvertible(
                    f"its attribute `{attribute.name}` refers to the parameter `{parameter}` of "
                    "the function, which has no value in some calls",
                    f"give `{parameter}` a default, or set it in all calls",
                )

    def insert(
        self, op_type: str, inputs: Sequence[str], base: str, *, element: str | None = None,
        **attributes: object,
    ) -> str:  # fmt: skip
        """Insert a node before the rewritten node; return its output, named after `base`."""
        name = self.facts.fresh(base)
        self.facts.set_type(name, None if element is None else f"tensor({element})")
        self.before.append(make_tensors.make_node(op_type, inputs, (name,), attributes))
        return name

    def append(
        self, op_type: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: object
    ) -> None:
        """Insert a node after the rewritten node."""
        types = tuple([self._moved.get(name) for name in outputs])
        node = make_tensors.make_node(op_type, inputs, outputs, attributes)
        node.output_types = types if any(types) else ()
        self.after.append(node)

    def divert(self, base: str) -> str:
        """Give the first output a new name, and return its old name.

        The caller must then call `append` to add a node that computes a value with the old name
        from the renamed output. The declared type of the output moves to the added node. `base` is
        the beginning of the new name.
        """
        old = self.node.outputs[0]
        name = self.facts.fresh(base)
        self.node.outputs = (name, *self.node.outputs[1:])
        types = self.node.output_types
        if types:
            self._moved[old] = types[0]
            self.node.output_types = (None, *types[1:]) if any(types[1:]) else ()
        return old

    def add_note(self, text: str) -> None:
        """Add a sentence for the user about a change in this step."""
        self.notes.append(text)
