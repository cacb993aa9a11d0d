# SPDX-License-Identifier: Apache-2.0
"""Store inferred facts about values by scope, and look them up through the outer scopes."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import field
from typing import Generic, TypeVar

from onnxtext.ast.tensors_and_attributes import Attribute, RawData, TensorData, TypedData
from onnxtext.ast.types import TensorType, Type
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.finding import Place
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.inference.type_merging import Types, is_defined, without_negative
from onnxtext.checker.symbolic.small_tensors import SmallTensor, SmallTensors, stored_value
from onnxtext.quick_dataclass import dataclass
from onnxtext.tensor.element_count import count_elements

V = TypeVar("V")
_MAX_ELEMENTS = 1024
"""Maximum number of elements of a constant that is passed to onnx, such as a shape or axes."""


Constant = tuple[TensorType, TensorData]
"""The type and the data of a tensor."""


@dataclass(slots=True)
class Environment(Generic[V]):
    """The known facts, such as types, about the values of a scope: a graph or function body.

    Attributes:
        facts: maps names of values of the scope to the facts about the values.
        outer: for a nested graph, the environment of the graph that contains it. For a training
            algorithm, the environment of the main graph. None for other scopes. The scope may use
            the values of its outer environment.
    """

    facts: dict[str, V]
    outer: Environment[V] | None

    def holder(self, name: str) -> Environment[V] | None:
        """Return the innermost environment with a fact about a value; None if there is none."""
        environment: Environment[V] | None = self
        while environment is not None and name not in environment.facts:
            environment = environment.outer
        return environment

    def find(self, name: str) -> V | None:
        """Return the fact about a value of this or an outer scope; None if unknown."""
        environment = self.holder(name)
        return None if environment is None else environment.facts[name]

    def find_outputs(self, scope: Scope) -> tuple[V | None, ...]:
        """Return the facts about the outputs of the scope; None where unknown."""
        return tuple([self.find(value.name) for value in scope.outputs])


@dataclass(slots=True)
class ValueEnvironment(Environment[V]):
    """The known facts about the values of a scope, and the elements of its small tensors.

    Attributes:
        values: maps the names of small tensors to their known elements.
    """

    values: dict[str, SmallTensor]

    def value(self, name: str) -> SmallTensor | None:
        """Return the elements of a small tensor; None if unknown."""
        holder = self.holder(name)
        return holder.values.get(name) if isinstance(holder, ValueEnvironment) else None

    def results(self, scope: Scope) -> tuple[tuple[V | None, ...], SmallTensors]:
        """Return (facts, elements) of the outputs of the scope; entries are None where unknown."""
        return self.find_outputs(scope), tuple([self.value(value.name) for value in scope.outputs])


@dataclass(slots=True)
class ShapeEnvironment(ValueEnvironment[Type]):
    """The inferred facts about the values of a scope: a graph or function body.

    Attributes:
        constants: maps the names of small constants to their types and data.
        places: maps the name of a value to the place in the model that determines its type: a
            declaration or the output of a node.
        parameters: in a function body, the attributes of the call, by name.
        computed_types: maps `id(node)` to the computed types of the node's outputs, before they
            are merged with declared types.
        calls: maps `id(node)` of function calls to the environments of the called bodies.
    """

    scope: Scope
    constants: dict[str, Constant] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    parameters: Mapping[str, Attribute] = field(default_factory=dict)
    computed_types: dict[int, Types] = field(default_factory=dict)
    calls: dict[int, ShapeEnvironment] = field(default_factory=dict)

    def constant(self, name: str) -> Constant | None:
        """Return the type and data of a small constant; None for other values."""
        holder = self.holder(name)
        return holder.constants.get(name) if isinstance(holder, ShapeEnvironment) else None

    def place(self, name: str) -> Place | None:
        """Return the place in the model that determines a value's type; None if unknown."""
        holder = self.holder(name)
        return holder.places.get(name) if isinstance(holder, ShapeEnvironment) else None


def declared_types(scope: Scope, untyped: Container[int]) -> dict[str, tuple[Type, Place]]:
    """Return the first declared type of each value of a scope and its place, by name.

    Types that nodes declare are not included. Negative dimensions, which the rules for declared
    types report, become None. `untyped` are the `id()` of the values whose types are ignored.
    """
    declared: dict[str, tuple[Type, Place]] = {}
    for value in (*scope.initializers, *scope.inputs, *scope.infos, *scope.outputs):
        if id(value) not in untyped and is_defined(value.type) and value.name not in declared:
            declared[value.name] = without_negative(value.type), Place(value, ("type",))
    return declared


def small_constant(type: Type | None, data: object) -> Constant | None:
    """Return the type and data of a small tensor whose shape is known; None for other values.

    Also return None if the data is sparse, contains strings or is not in memory.
    """
    if not isinstance(type, TensorType) or not isinstance(data, (RawData, TypedData)):
        return None
    dims = type.integer_dims
    if type.shape is None or len(dims) != len(type.shape):
        return None
    return (type, data) if count_elements(dims) <= _MAX_ELEMENTS else None


def known_values(scope: Scope, passed: SmallTensors, ir_version: int) -> dict[str, SmallTensor]:
    """Return the known elements of the small inputs and initializers of a scope, by name.

    `passed` are the elements that a call passes to the inputs of a function, in the order of the
    inputs. Initializers that callers of the model can replace are omitted.
    """
    variable = replaceable_inputs(scope, ir_version)
    constants = [value for value in scope.initializers if value.name not in variable]
    pairs = [(value.name, stored_value(value.type, value.data)) for value in constants]
    pairs += zip([value.name for value in scope.inputs], passed, strict=False)
    return {name: value for name, value in pairs if value is not None}


def replaceable_inputs(scope: Scope, ir_version: int) -> set[str]:
    """Return the names of a scope's inputs that a caller can set even if they have initializers.

    An initializer with one of these names is only a default value. From IR version 4 on, or if the
    IR version is unknown (0), the result contains all inputs; otherwise, it is empty.
    """
    return set() if 0 < ir_version < 4 else {value.name for value in scope.inputs}


def input_symbols(subject: CheckedModel) -> frozenset[str]:
    """Return the symbols in the shapes of the main graph's inputs."""
    types = [value.type for value in subject.main.inputs] if subject.main is not None else []
    shapes = [type.shape or () for type in types if isinstance(type, TensorType)]
    dims = [plain_dim(dim) for shape in shapes for dim in shape]
    return frozenset([dim for dim in dims if isinstance(dim, str) and dim])
