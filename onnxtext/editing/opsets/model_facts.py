# SPDX-License-Identifier: Apache-2.0
"""Look up facts about the model to convert: types, constants and names."""

from __future__ import annotations

from functools import cached_property

from onnxtext.ast.model import Function, Model, Node
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.tensors_and_attributes import Float32, Reference, Tensor
from onnxtext.ast.types import TensorType, Type
from onnxtext.checker.context.checked_model import (
    CheckedModel,
    FunctionKey,
    function_key,
    operator_key,
)
from onnxtext.checker.context.scopes import GIVEN, Scope
from onnxtext.checker.context.signatures import Schemas
from onnxtext.checker.inference.element_types import TypeInference
from onnxtext.checker.inference.inferred_types import inferred_types
from onnxtext.editing.opsets import make_tensors
from onnxtext.editing.opsets.make_tensors import Number
from onnxtext.schemas.type_strings import type_text


class NotConvertible(Exception):
    """Raised by rules if a node cannot be converted.

    Attributes:
        reason: the reason, a clause such as "it has no `shape`".
        help: tells the user what to do; None if there is no advice.
    """

    def __init__(self, reason: str, help: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.help = help


def unknown_fact(what: str, name: str, why: str = "") -> NotConvertible:
    """Create the error for a value whose type, shape or size is unknown.

    Args:
        what: what is unknown, such as "the rank of".
        name: the name of the value.
        why: the reason why the fact must be known: a clause that begins with a comma, or "".
    """
    return NotConvertible(f"{what} `{name}` is unknown{why}", f"declare the type of `{name}`")


class ModelFacts:
    """The types, constants and names of values that a conversion looks up and creates.

    Args:
        subject: the checked model.

    Attributes:
        replaced: names of constants that became attributes.
        dropped: pairs (`id()` of the graph, name of the output) of outputs that nodes no longer
            have.
    """

    def __init__(self, subject: CheckedModel) -> None:
        self.subject = subject
        self.schemas = Schemas()  # only the schemas of onnx: there are no rules for other operators
        model = subject.model
        assert model is not None
        self.model: Model = model
        self._numbers: dict[str, int] = {}
        self._new_types: dict[str, str | None] = {}
        self._declared: dict[int, dict[str, Type]] = {}
        self.replaced: set[str] = set()
        self.dropped: set[tuple[int, str]] = set()

    @cached_property
    def _types(self) -> dict[int, dict[str, Type]]:
        return inferred_types(self.subject)

    @cached_property
    def _taken(self) -> set[str]:
        result: set[str] = set()
        for scope in self.subject.scopes:
            for value in (*scope.inputs, *scope.initializers, *scope.infos, *scope.outputs):
                result.add(value.name)
            for node in scope.nodes:
                result.update(node.inputs, node.outputs)
        return result

    @cached_property
    def used(self) -> set[str]:
        """The names of all values that are inputs of nodes or outputs of graphs."""
        result = {value.name for scope in self.subject.scopes for value in scope.outputs}
        for _, node in self.subject.nodes():
            result.update(node.inputs)
        return result

    def fresh(self, base: str) -> str:
        """Return an unused name such as `base` or `base_2`, and reserve it for a new value."""
        suffix = self._numbers.get(base, 0)
        while True:
            suffix += 1
            name = base if suffix == 1 else f"{base}_{suffix}"
            if name not in self._taken:
                self._numbers[base] = suffix
                self._taken.add(name)
                self._new_types[name] = None
                return name

    def set_type(self, name: str, text: str | None) -> None:
        """Record the type of a new value, such as `tensor(float)`; None if unknown."""
        self._new_types[name] = text

    def type(self, scope: Scope, name: str) -> Type | None:
        """Return the inferred type of a value; None if unknown.

        In a function, the result is the declared type, because inferred types depend on the call.
        """
        for owner in (scope, *[outer for outer, _ in scope.outer()]):
            result = self._types_in(owner).get(name)
            if result is not None or name in owner.position:
                return result
        return None

    def _types_in(self, scope: Scope) -> dict[str, Type]:
        """Return the types of values by name: inferred in graphs, declared in functions."""
        if scope.function is None:
            return self._types.get(id(scope), {})
        cached = self._declared.get(id(scope))
        if cached is None:
            cached = self._declared[id(scope)] = {}
            for value in (*scope.outputs, *scope.infos, *scope.inputs, *scope.initializers):
                if value.type is not None:
                    cached[value.name] = value.type
            for node in scope.nodes:
                for name, type in zip(node.outputs, node.output_types, strict=False):
                    if type is not None:
                        cached[name] = type
        return cached

    def element_type(self, scope: Scope, name: str) -> str | None:
        """Return a value's type without its shape, such as `tensor(float)`; None if unknown.

        In a function, the result is the type that the value has in all calls. If the type differs
        between calls, the result is the declared type.
        """
        if name in self._new_types:
            return self._new_types[name]
        types = self.element_types(scope, name)
        only_type = next(iter(types)) if len(types) == 1 else None
        return only_type or type_text(self.type(scope, name))

    def element_types(self, scope: Scope, name: str) -> set[str | None]:
        """Return the types of a value in all calls, without shapes; None is an unknown type."""
        return TypeInference.of(self.subject).types_in_calls(scope, name)

    def is_new(self, name: str) -> bool:
        """Whether the conversion has created the value `name`."""
        return name in self._new_types

    @cached_property
    def _calls(self) -> dict[FunctionKey, list[tuple[Scope, Node]]]:
        result: dict[FunctionKey, list[tuple[Scope, Node]]] = {}
        for scope, node in self.subject.nodes():
            result.setdefault(operator_key(node), []).append((scope, node))
        return result

    def may_lack(self, function: Function | None, parameter: str) -> bool:
        """Whether an attribute parameter has no value in some call; True if `function` is None."""
        stack, seen = [(function, parameter)], set()
        while stack:
            owner, name = stack.pop()
            if owner is None:
                return True
            key = function_key(owner)
            with_default = [
                attribute.name for attribute in owner.attributes if not isinstance(attribute, str)
            ]
            if (key, name) in seen or name in with_default:
                continue
            seen.add((key, name))
            for scope, node in self._calls.get(key, ()):
                actual = next(
                    (attribute for attribute in node.attributes if attribute.name == name), None
                )
                if actual is None:
                    return True
                if isinstance(actual.value, Reference):
                    stack.append((scope.function, actual.value.name))
        return False

    def constant(self, scope: Scope, name: str) -> tuple[TensorType, tuple[Number, ...]] | None:
        """Return the type and the elements of a small constant; None for other values."""
        owners = (scope, *[outer for outer, _ in scope.outer()])
        owner = next((each for each in owners if name in each.position), None)
        if owner is None or (not owner.is_graph and owner.position[name] == GIVEN):
            return None
        position = owner.position[name]
        if position == GIVEN:
            if any(value.name == name for value in owner.inputs):
                return None
            value = owner.given[name]
            return self._read(value.type, value.data)
        node = owner.nodes[position]
        if node.op_type != "Constant" or plain_domain(node.domain):
            return None
        return self.constant_node(node)

    def constant_node(self, node: Node) -> tuple[TensorType, tuple[Number, ...]] | None:
        """Return the type and the elements of a `Constant`.

        Return None for large tensors, and for other attributes such as `value_floats`.
        """
        for attribute in node.attributes:
            match attribute.name, attribute.value:
                case "value", Tensor() as tensor:
                    return self._read(tensor.type, tensor.data)
                case "value_int", int() as number:
                    return TensorType("int64", ()), (number,)
                case "value_ints", tuple() as numbers:
                    return TensorType("int64", (len(numbers),)), numbers
                case "value_float", Float32() as number:
                    return TensorType("float", ()), (float(number),)
        return None

    def _read(
        self, type: Type | None, data: object
    ) -> tuple[TensorType, tuple[Number, ...]] | None:
        numbers = make_tensors.read_numbers(type, data, self.model.resources)
        if numbers is None or not isinstance(type, TensorType):
            return None
        return type, numbers
