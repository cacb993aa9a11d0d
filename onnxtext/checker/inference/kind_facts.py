# SPDX-License-Identifier: Apache-2.0
"""Store the known facts about values while types are propagated by kind (`node_kinds`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, TypeVar, cast

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import (
    Attribute,
    Float32,
    NoData,
    RawData,
    Reference,
    Tensor,
    TypedData,
)
from onnxtext.ast.types import Dim, TensorType, Type
from onnxtext.checker.context.finding import Place
from onnxtext.checker.context.operator_resolution import Target
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.inference.symbolic.operator_call import SymbolicShape
from onnxtext.checker.inference.symbolic.operators import (
    CONSTANT_INPUTS,
    FOLLOWING_VALUES,
    OPERATORS,
    SHAPES_ALONE,
)
from onnxtext.checker.inference.symbolic.shape_merging import (
    Results,
    declared_shape,
    equate,
    operator_step,
    unified,
)
from onnxtext.checker.inference.symbolic.sizes import Sizes
from onnxtext.checker.inference.symbolic.small_tensors import Value, stored_value
from onnxtext.core import core, core_module

_MOST_WHOLE, _MOST_OTHERS = 1024, 16
"""The most elements that are read of integer constants (indices, sizes), and of others."""
LONGEST = 16
"""The longest list attribute that is compared by value; longer ones are compared by identity."""
LARGE = Tensor(TensorType("undefined"), NoData())
"""Stands for any constant whose elements are not read because it is too large."""


F = TypeVar("F")


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """The known facts about an input or output of a node that determine the node's kind.

    Attributes:
        type: the declared type, or the type that onnx inferred.
        shape: the symbolic shape.
        is_small: whether inference may read the elements of a constant of this type.
    """

    type: Type
    shape: SymbolicShape
    is_small: bool


Types = tuple[Type | None, ...]
Facts = tuple[Fact | None, ...]
Values = tuple[Value | None, ...]
KeyMaker = Callable[
    [Node, Target, Mapping[str, Fact | None], Facts, Mapping[str, Attribute], int], tuple[Any, ...]
]


@dataclass(slots=True)
class Kind:
    """The first node of a kind.

    Attributes:
        node: the node, with normalized names of inputs and outputs: `i0`, `o0`.
        given: the types of its inputs; None for omitted ones.
        constants: the constant inputs whose elements affect the output types, by name.
        declared: the declared types of its outputs; empty if there are none.
    """

    node: Node
    given: Types
    constants: dict[str, Tensor]
    declared: Types


class Reads(NamedTuple):
    """Which input elements of an operator affect its output types or values.

    Attributes:
        values: whether the elements of small integer inputs have an effect.
        all_values: whether these have an effect only if they are known for all inputs.
        constants: the index of the first input whose constant elements are passed to onnx; None if
            no elements are passed.
    """

    values: bool
    all_values: bool = False
    constants: int | None = None


NOTHING = Reads(values=False)
TENSOR = Reads(values=False)
"""The entry of `Constant`, whose elements are in an attribute; compared with `is`."""
_EVERYTHING = Reads(values=True, constants=0)


def reads(target: Target) -> Reads:
    """Return which input elements of an operator or function affect its output types or values."""
    if type(target) is Scope:
        return _EVERYTHING
    if type(target) is not Signature or target.domain or target.origin:
        return NOTHING
    name = target.name
    if name == "Constant":
        return TENSOR
    if name not in OPERATORS:
        return Reads(values=False, constants=0)
    if name in CONSTANT_INPUTS:
        # Shapes, axes and pads are never the first input.
        return Reads(values=True, constants=0 if name in ("ConstantOfShape", "Range") else 1)
    if name not in FOLLOWING_VALUES:
        return NOTHING
    return Reads(values=True, all_values=name in SHAPES_ALONE)


_KEEPING_TYPE = """
    Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu
    HardSigmoid HardSwish Hardmax Identity LeakyRelu Log LogSoftmax LpNormalization Mish Neg Not
    Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Swish
    Tan Tanh ThresholdedRelu
"""
KEEPING_TYPE = frozenset(_KEEPING_TYPE.split())
"""Operators of one input whose output has the input's type in every node that onnx accepts."""
FIRST_KEEPING = 6
"""The first schema version for which onnx can infer all operators of `KEEPING_TYPE`."""


def keeps_type(signature: Signature, node: Node, given: Types) -> bool:
    """Whether onnx would infer that a node's only output has the type of its only input."""
    if signature.name not in KEEPING_TYPE or signature.since < FIRST_KEEPING:
        return False
    type = given[0] if len(given) == 1 and len(node.outputs) == 1 else None
    if not isinstance(type, TensorType) or type.decorators or type.element == "undefined":
        return False
    return all(dim is None or is_plain_dim(dim) for dim in type.shape or ())


def is_plain_dim(dim: Dim) -> bool:
    """Whether a dimension is a number or a name, without decorators."""
    return bool(dim) if isinstance(dim, str) else isinstance(dim, int) and dim >= 0


class Symbols:
    """Infers symbolic shapes for one node of each kind; `SymbolicShapes` does it for all nodes.

    Attributes:
        fits: True until a node has a finding or an equation restricts a symbol. Once it is False,
            all symbolic shapes are unknown.
    """

    def __init__(self) -> None:
        self.fits = True
        self._sizes = Sizes()

    def _update_fits(self) -> None:
        sizes = self._sizes
        self.fits = not (sizes.learned or sizes.mismatches or sizes.conflicts)

    def equate(self, one: SymbolicShape, other: SymbolicShape, place: Place) -> None:
        """Require two shapes of one value to be equal."""
        if self.fits:
            equate(self._sizes, one, other, place)
            self._update_fits()

    def step(
        self, node: Node, target: Target, typed: Facts, given: Facts, values: Values
    ) -> Results:
        """Return the shapes and values of the outputs of an operator without bodies.

        Args:
            node: the node.
            target: its operator.
            typed: the declared types of its outputs; empty if there are none.
            given: the types of its inputs.
            values: the small values of its inputs; may be empty.
        """
        if not self.fits:
            return (), ()
        wanted = shapes_of(typed) or (None,) * len(node.outputs)
        inputs = list(shapes_of(given))
        made = operator_step(node, target, wanted, inputs, list(values), self._sizes)
        self._update_fits()
        return made

    def unified(
        self, node: Node, typed: Facts, made: tuple[SymbolicShape, ...]
    ) -> tuple[SymbolicShape, ...]:
        """Merge the declared shapes of a node's outputs with the computed ones.

        Args:
            node: the node.
            typed: the facts from the declared types of the outputs.
            made: the computed shapes.
        """
        if not self.fits:
            return ()
        wanted = shapes_of(typed) or (None,) * len(node.outputs)
        found = unified(node, wanted, made, self._sizes)
        self._update_fits()
        return found


def shapes_of(facts: Facts) -> tuple[SymbolicShape, ...]:
    """Return the symbolic shape of each fact; None where unknown."""
    return tuple([None if fact is None else fact.shape for fact in facts])


def types_of(facts: Facts) -> Types:
    """Return the type of each fact; None where unknown."""
    return tuple([None if fact is None else fact.type for fact in facts])


def named(names: list[str], facts: tuple[F | None, ...]) -> dict[str, F]:
    """Pair names with facts; leave out unknown facts (None)."""
    pairs = zip(names, facts, strict=False)
    return {name: fact for name, fact in pairs if fact is not None}


class FactTable:
    """Interns facts: equal facts become one object, so that keys can use ids.

    Attributes:
        known: the fact for each declared type, by the id of the type.
    """

    def __init__(self) -> None:
        self._types: dict[Type, Type] = {}
        self.known: dict[int, Fact] = {}
        self._facts: dict[tuple[int, SymbolicShape], Fact] = {}
        self._values: dict[Value, Value] = {}
        self._tensors: dict[tuple[object, ...], Tensor] = {}
        self._kept: list[object] = []  # keeps alive the objects whose ids are in keys

    def declared(self, type: Type) -> Fact:
        """Return the `Fact` of a value with this declared type."""
        known = self.known.get(id(type))
        if known is None:
            known = self.known[id(type)] = self.fact(type, declared_shape(type))
            self._kept.append(type)
        return known

    def fact(self, type: Type, shape: SymbolicShape) -> Fact:
        """Return the fact for a type and a symbolic shape."""
        type = self._types.setdefault(type, type)
        key = id(type), shape
        known = self._facts.get(key)
        if known is None:
            known = self._facts[key] = Fact(type, shape, _is_small(type))
        return known

    def value(self, value: Value | None) -> Value | None:
        """Return the interned object for a small value."""
        return None if value is None else self._values.setdefault(value, value)

    def constant(self, fact: Fact, data: object) -> Tensor:
        """Return the interned tensor of a constant; `LARGE` if its elements are not read."""
        type = fact.type
        if not fact.is_small or not isinstance(type, TensorType):
            return LARGE
        if not isinstance(data, (RawData, TypedData)):
            return LARGE
        stored = data.data if isinstance(data, RawData) else data.entries
        # `bytes` hash all elements; `RawData` hashes only the first ones.
        key = id(type), data.__class__, bytes(stored)
        known = self._tensors.get(key)
        if known is None:
            known = self._tensors[key] = Tensor(type, data)
        return known


def _is_small(type: Type) -> bool:
    if not isinstance(type, TensorType) or type.shape is None:
        return False
    dims = [dim for dim in type.shape if isinstance(dim, int)]
    most = _MOST_WHOLE if type.element in ("int64", "int32") else _MOST_OTHERS
    return len(dims) == len(type.shape) and 0 <= prod(dims) <= most and min(dims, default=0) >= 0


def value_of(tensor: Tensor) -> Value | None:
    """Return the elements of a small constant as a `Value`; None if they are not tracked."""
    return stored_value(tensor.type, tensor.data)


def key_maker() -> KeyMaker:
    """Return `kind_key`, or its equivalent in the compiled core."""
    if core() == "native":
        return cast("KeyMaker", core_module("walk").kind_key)
    return kind_key


def kind_key(
    node: Node, target: Target, types: Mapping[str, Fact | None], typed: Facts,
    parameters: Mapping[str, Attribute], longest: int,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the cache key of a node's kind, without its small values and constants.

    Args:
        node: the node.
        target: its operator or function.
        types: the facts about values, by name.
        typed: the declared types of its outputs; empty if there are none.
        parameters: the attribute values of the enclosing call, by name, for attribute references.
        longest: the longest list in an attribute that is compared by value.

    Returns:
        The identity of the target, the number of outputs, the types of the inputs and the declared
        types of the outputs; and a key for each attribute's effect on types and shapes.

    Raises:
        KeyError: the type of an input is missing.
    """
    given = tuple(map(types.__getitem__, node.inputs))
    # Facts are hashed by their identity, which is fast.
    key: list[object] = [id(target), len(node.outputs), given, typed]
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
