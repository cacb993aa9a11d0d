# SPDX-License-Identifier: Apache-2.0
"""Define kinds of nodes, and the facts about values that decide the kind of a node.

Nodes of one kind have equal operators, attributes, input types and declared output types. The
values of their float attributes may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar, cast

from onnxtext.ast.model import Graph, Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import (
    Attribute,
    AttributeType,
    Float32,
    NoData,
    RawData,
    Reference,
    Tensor,
    TypedData,
)
from onnxtext.ast.types import TensorType, Type
from onnxtext.checker.context.operator_resolution import Target
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.inference.type_merging import Types
from onnxtext.checker.symbolic.operator_call import SymbolicShape
from onnxtext.checker.symbolic.operators import (
    CONSTANT_INPUTS,
    OPERATORS,
    READING_VALUES,
    SHAPES_ALONE,
)
from onnxtext.checker.symbolic.shape_merging import declared_shape
from onnxtext.checker.symbolic.small_tensors import SmallTensor
from onnxtext.quick_dataclass import dataclass
from onnxtext.select_core import core, core_module
from onnxtext.tensor.element_count import count_elements

_MAX_INTEGERS, _MAX_OTHER_ELEMENTS = 1024, 16
"""Constants with more elements are not read; the first limit is for int64 and int32."""
MAX_COMPARED_INTEGERS = 16
"""Maximum length of an integer list attribute that is compared by value, not by identity."""
LARGE = Tensor(TensorType("undefined"), NoData())
"""Stands for every constant whose elements are not read, usually because it is too large."""


F = TypeVar("F")


@dataclass(frozen=True, slots=True, eq=False)
class ValueFact:
    """The known type and shape of a value, which determine the kinds of nodes that use the value.

    The type is the declared type, the type that onnx inferred, or the result of merging them.
    Dimensions of the shape may be symbolic, such as `2*seq`. `is_small` tells whether inference may
    read the elements of a constant of this type.
    """

    type: Type
    shape: SymbolicShape
    is_small: bool


Facts = tuple[ValueFact | None, ...]
KeyMaker = Callable[
    [Node, Target, Mapping[str, ValueFact | None], Facts, Mapping[str, Attribute], int],
    tuple[Any, ...],
]


class InputUse(NamedTuple):
    """Whether the elements of an operator's inputs affect its output types or values.

    Attributes:
        values: whether the elements of small inputs (`SmallTensor`) have an effect.
        shapes_alone: whether they have this effect only if `uses_elements`.
        constants: onnx gets the elements of constant inputs from this 0-based index on; None if
            onnx gets no elements.
    """

    values: bool
    shapes_alone: bool = False
    constants: int | None = None


NOTHING = InputUse(values=False)
TENSOR = InputUse(values=False)
"""The `InputUse` of the operator `Constant`, whose output elements are in an attribute.

Compare with `is`, because `TENSOR == NOTHING`.
"""
_EVERYTHING = InputUse(values=True, constants=0)


def data_dependence(target: Target) -> InputUse:
    """Return how the elements of inputs affect the outputs of an operator or function."""
    if type(target) is Scope:
        return _EVERYTHING
    if type(target) is not Signature or not target.is_standard:
        return NOTHING
    name = target.name
    if name == "Constant":
        return TENSOR
    if name not in OPERATORS:
        return InputUse(values=name in READING_VALUES, constants=0)
    if name in CONSTANT_INPUTS:
        # `ConstantOfShape` and `Range` read the elements of their first input. The other operators
        # read only those of later inputs: shapes, axes, pads and the like.
        return InputUse(values=True, constants=0 if name in ("ConstantOfShape", "Range") else 1)
    if name not in READING_VALUES:
        return NOTHING
    return InputUse(values=True, shapes_alone=name in SHAPES_ALONE)


def shapes_of(facts: Facts) -> tuple[SymbolicShape, ...]:
    """Return the symbolic shape of each fact; None where unknown."""
    return tuple([None if fact is None else fact.shape for fact in facts])


def types_of(facts: Facts) -> Types:
    """Return the type of each fact; None where unknown."""
    return tuple([None if fact is None else fact.type for fact in facts])


def facts_by_name(names: list[str], facts: tuple[F | None, ...]) -> dict[str, F]:
    """Return the known facts by name; `facts` are in the order of `names`, and may be fewer."""
    pairs = zip(names, facts, strict=False)
    return {name: fact for name, fact in pairs if fact is not None}


def add_kind(graph: Graph, node: Node, given: Types, constants: Mapping[str, Tensor]) -> None:
    """Add a node to a graph. It must not share a value with the other nodes of the graph.

    `given` are the types of the node's inputs; None for omitted inputs. The inputs in `constants`
    become outputs of further nodes, of the operator `Constant`; others become inputs of the graph.
    """
    for name, type in zip(node.inputs, given, strict=True):
        if name in constants:
            value = Attribute("value", AttributeType.TENSOR, constants[name])
            graph.nodes.append(Node("Constant", (), (name,), (value,)))
        elif name:
            graph.inputs.append(ValueInfo(name, type))
    graph.nodes.append(node)


class FactTable:
    """Interns facts: equal facts become one object, so that keys can use ids.

    Attributes:
        facts: maps the `id()` of each declared type to the fact that it implies.
    """

    def __init__(self) -> None:
        self._types: dict[Type, Type] = {}
        self.facts: dict[int, ValueFact] = {}
        self._facts: dict[tuple[int, SymbolicShape], ValueFact] = {}
        self._values: dict[SmallTensor, SmallTensor] = {}
        self._tensors: dict[tuple[object, ...], Tensor] = {}
        self._kept: list[object] = []  # keeps alive the objects whose ids are in keys

    def declared(self, type: Type) -> ValueFact:
        """Return the interned fact about values with this declared type."""
        cached = self.facts.get(id(type))
        if cached is None:
            cached = self.facts[id(type)] = self.fact(type, declared_shape(type))
            self._kept.append(type)
        return cached

    def fact(self, type: Type, shape: SymbolicShape) -> ValueFact:
        """Return the interned fact for a type and a symbolic shape."""
        type = self._types.setdefault(type, type)
        key = id(type), shape
        cached = self._facts.get(key)
        if cached is None:
            cached = self._facts[key] = ValueFact(type, shape, _is_small(type))
        return cached

    def value(self, value: SmallTensor | None) -> SmallTensor | None:
        """Return the interned object that equals a small value; None if `value` is None."""
        return None if value is None else self._values.setdefault(value, value)

    def constant(self, fact: ValueFact, data: object) -> Tensor:
        """Return the interned tensor of a constant; `LARGE` if its elements are not read."""
        type = fact.type
        if not fact.is_small or not isinstance(type, TensorType):
            return LARGE
        if not isinstance(data, (RawData, TypedData)):
            return LARGE
        stored = data.data if isinstance(data, RawData) else data.entries
        # `bytes` hash all elements; `RawData` hashes only the first ones.
        key = id(type), data.__class__, bytes(stored)
        cached = self._tensors.get(key)
        if cached is None:
            cached = self._tensors[key] = Tensor(type, data)
        return cached


def _is_small(type: Type) -> bool:
    if not isinstance(type, TensorType) or type.shape is None:
        return False
    dims = type.integer_dims
    max_elements = _MAX_INTEGERS if type.element in ("int64", "int32") else _MAX_OTHER_ELEMENTS
    return (
        len(dims) == len(type.shape)
        and 0 <= count_elements(dims) <= max_elements
        and min(dims, default=0) >= 0
    )


def key_maker() -> KeyMaker:
    """Return the function `kind_key` of the core in use: Python or compiled."""
    if core() == "native":
        return cast("KeyMaker", core_module("ast.visit").kind_key)
    return kind_key


def kind_key(
    node: Node, target: Target, types: Mapping[str, ValueFact | None], typed: Facts,
    parameters: Mapping[str, Attribute], longest: int,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the cache key of a node, without the elements of inputs that affect output types.

    The caller appends these elements. Nodes with equal complete keys have equal output types.

    `types` are the facts about values, by name. `typed` are the facts that the declared types of
    the outputs imply; may be empty. In a function body, attribute references refer to the
    attributes of a call, `parameters`. Integer list attributes of at most `longest` elements are
    compared by value.

    Raises:
        KeyError: `types` has no entry for an input.
    """
    input_types = tuple(map(types.__getitem__, node.inputs))
    # Facts are hashed by their identity, which is fast.
    key: list[object] = [id(target), len(node.outputs), input_types, typed]
    for attribute in node.attributes:
        value: object = attribute.value
        if type(value) is Reference:
            passed = parameters.get(value.name)
            if passed is None or type(passed.value) is not Float32:
                key.append(None if passed is None else (attribute.name, id(passed)))
                continue
            value = passed.value
        if type(value) is int or (
            type(value) is tuple and 0 < len(value) <= longest and type(value[0]) is int
        ):
            key.append((attribute.name, value))
        else:
            key.append(attribute.name if type(value) is Float32 else id(attribute))
    return tuple(key)
