# SPDX-License-Identifier: Apache-2.0
"""Find which inputs and attributes function bodies require, and the types of these attributes.

If a body calls another function, the requirements of the called function propagate to the caller.
An attribute parameter is an attribute that a function declares. This module also repairs integers
in attributes that must hold floats (`float_for_int`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Mapping
from functools import partial
from typing import Literal, NamedTuple, TypeVar

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import Attribute, AttributeType, Floats, Reference
from onnxtext.checker.context.checked_model import CheckedModel, cache_by_id
from onnxtext.checker.context.finding import Place, Repair
from onnxtext.checker.context.operator_resolution import Target, resolve_targets
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.symbolic.small_tensors import EXACT

T = TypeVar("T")
Parameter = tuple[int, Literal["input", "attribute"], str]
"""An input or attribute parameter of a function: `(id(function), kind, name)`."""


class TypedUse(NamedTuple):
    """A reference to an attribute parameter in a function body, and the required type.

    Attributes:
        type: the type that the attribute must have at this reference.
        place: the place of the reference in the model.
    """

    type: AttributeType
    place: Place


class FunctionInterface(NamedTuple):
    """The attributes that calls of a function may set, and the inputs and attributes they must set.

    Attributes:
        parameters: maps the name of each attribute parameter to its declaration; None if the
            function declares only the name.
        inputs: the index and name of each input that a call must not omit: the body passes it to a
            required input of an operator, or to a called function that needs the input.
        attributes: the names of the attribute parameters that a call must set: they have no
            default, and a node in the body needs them. A node needs the attributes that its
            operator or the called function requires, and some optional attributes
            (`_is_only_choice`).
    """

    parameters: dict[str, Attribute | None]
    inputs: list[tuple[int, str]]
    attributes: list[str]


class FunctionNeeds:
    """Finds the inputs, attributes and attribute types that each function body requires.

    Attributes:
        conflicts: maps each attribute parameter with contradictory uses to two uses that require
            different types.
        interface: returns the inputs and attributes that calls of a function may or must set.
    """

    def __init__(self, subject: CheckedModel) -> None:
        self._parameters = cache_by_id(_parameters)
        self._needed: dict[Parameter, None] = {}
        self.conflicts: dict[Parameter, tuple[TypedUse, TypedUse]] = {}
        self._types: dict[Parameter, TypedUse] = {}
        # Maps each input, and each attribute parameter without a default, to the values or
        # attribute parameters that calling functions pass to it.
        self._callers: dict[Parameter, list[Parameter]] = {}
        # Maps each attribute parameter to the attribute parameters that calling functions pass to
        # it by references without a type.
        self._untyped: dict[Parameter, list[Parameter]] = {}
        resolved = resolve_targets(subject)
        names = {
            id(scope.function): {value.name for value in scope.inputs}
            for scope in subject.functions.values()
        }
        for scope in subject.scopes:
            if scope.function is not None:
                function = id(scope.function)
                inputs = names.get(function, set())
                for node, target in zip(scope.nodes, resolved[id(scope)], strict=True):
                    if not inputs.isdisjoint(node.inputs):
                        read = {
                            name
                            for name in inputs.intersection(node.inputs)
                            if not _is_hidden(name, scope)
                        }
                        self._inputs(function, node, target, read)
                    if node.attributes:
                        self._attributes(function, node, target)
        # Propagate requirements from called functions to their callers.
        _propagate(self._needed, self._callers)
        _propagate(self._types, self._untyped)
        self.interface = cache_by_id(partial(_interface, self._needed, self._parameters))

    def type(self, function: Scope, name: str) -> TypedUse | None:
        """Return a use of an attribute parameter, with the type that the use requires.

        The use is in the body, or in a function that the body calls. Return None if no use requires
        a known type, or if uses in the body require different types.
        """
        parameter: Parameter = id(function.function), "attribute", name
        return None if parameter in self.conflicts else self._types.get(parameter)

    def _inputs(self, function: int, node: Node, target: Target, read: set[str]) -> None:
        """Record the function inputs that a node requires, or passes to a called function.

        `function` is the `id()` of the function whose body contains the node. `read` are the names
        of its inputs that the node reads.
        """
        if type(target) is Signature:
            for index, name in enumerate(node.inputs):
                formal = target.input(index)
                if (
                    name in read
                    and formal is not None
                    # As in `rules.operators`: standard operators need all variadic inputs.
                    and (
                        formal.option == "single"
                        or (formal.option == "variadic" and not target.origin)
                    )
                ):
                    self._needed[function, "input", name] = None
        elif type(target) is Scope:
            for value, name in zip(target.inputs, node.inputs, strict=False):
                if name in read:
                    inner: Parameter = id(target.function), "input", value.name
                    self._callers.setdefault(inner, []).append((function, "input", name))

    def _attributes(self, function: int, node: Node, target: Target) -> None:
        for index, attribute in enumerate(node.attributes):
            if isinstance(attribute.value, Reference):
                outer: Parameter = function, "attribute", attribute.value.name
                self._reference(outer, node, index, target)

    def _reference(self, outer: Parameter, node: Node, index: int, target: Target) -> None:
        """Record what a reference to the attribute parameter `outer` requires of the parameter.

        The reference is attribute `index` of a node in the body of the function.
        """
        attribute = node.attributes[index]
        required = attribute.type
        if type(target) is Signature:
            formal = target.attributes.get(attribute.name)
            if formal is not None:
                if formal.required or _is_only_choice(target, node, attribute.name):
                    self._needed[outer] = None
                if required is not None and required != formal.type:
                    return  # the reference itself is wrong
                required = AttributeType(formal.type)
        elif type(target) is Scope:
            inner: Parameter = id(target.function), "attribute", attribute.name
            default = self._parameters(target).get(attribute.name)
            if default is None or default.value is None:
                self._callers.setdefault(inner, []).append(outer)
            if required is None:
                self._untyped.setdefault(inner, []).append(outer)
        if required is not None:
            use = TypedUse(required, Place(node, ("attributes", index, "value")))
            first = self._types.setdefault(outer, use)
            if first.type != required:
                self.conflicts.setdefault(outer, (first, use))


def _propagate(known: dict[Parameter, T], users: Mapping[Parameter, list[Parameter]]) -> None:
    """Copy each fact to the `users` of its parameter that have none, then to their users."""
    waiting = deque(known)
    while waiting:
        inner = waiting.popleft()
        for outer in users.get(inner, ()):
            if outer not in known:
                known[outer] = known[inner]
                waiting.append(outer)


def _is_hidden(name: str, scope: Scope) -> bool:
    """Whether a nested graph around the nodes of `scope` has an input or initializer `name`.

    It hides the input of the function that has this name.
    """
    while scope.holder is not None and scope.parent is not None:
        if name in scope.given:
            return True
        scope = scope.parent
    return False


def _parameters(function: Scope) -> dict[str, Attribute | None]:
    """Map each attribute parameter to its declaration; None if only the name is declared."""
    attributes = function.function.attributes if function.function is not None else ()
    return {
        **dict.fromkeys([item for item in attributes if isinstance(item, str)]),
        **{item.name: item for item in attributes if isinstance(item, Attribute)},
    }


def _interface(
    needed: Container[Parameter],
    parameters_of: Callable[[Scope], dict[str, Attribute | None]],
    function: Scope,
) -> FunctionInterface:
    """Return the interface of a function; `needed` has the parameters that calls must set."""
    parameters, key = parameters_of(function), id(function.function)
    inputs = [
        (i, v.name) for i, v in enumerate(function.inputs) if (key, "input", v.name) in needed
    ]
    without_default = [
        name for name, item in parameters.items() if item is None or item.value is None
    ]
    attributes = [name for name in without_default if (key, "attribute", name) in needed]
    return FunctionInterface(parameters, inputs, attributes)


def _is_only_choice(signature: Signature, node: Node, name: str) -> bool:
    """Whether a node needs an optional attribute, because the node lacks all alternatives.

    Example: `Split` without the input `split` needs `num_outputs`.
    """
    if not signature.is_standard:
        return False
    if node.op_type == "Constant":
        return len(node.attributes) == 1
    return (node.op_type, name) == ("Split", "num_outputs") and not any(node.inputs[1:])


def float_for_int(node: Node, attribute: Attribute, required: AttributeType) -> Repair | None:
    """Return the repair that writes `3.0` for `3` if an attribute must hold floats.

    Return None if `required` is neither FLOAT nor FLOATS. Also return None if the attribute does
    not hold an integer (for FLOAT) or a list of integers (for FLOATS), or if the absolute value of
    an integer exceeds `EXACT`.
    """
    value = attribute.value
    if required is AttributeType.FLOAT and type(value) is int and abs(value) <= EXACT:
        return Repair("respell", node, (str(value), f"{value}.0"))
    if required is AttributeType.FLOATS and attribute.type is AttributeType.INTS:
        numbers = value if isinstance(value, tuple) and not isinstance(value, Floats) else ()
        if numbers and all(isinstance(item, int) and abs(item) <= EXACT for item in numbers):
            old = ", ".join(map(str, numbers))
            return Repair("respell", node, (f"[{old}]", f"[{old.replace(',', '.0,')}.0]"))
    return None
