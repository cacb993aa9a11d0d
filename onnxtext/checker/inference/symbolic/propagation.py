# SPDX-License-Identifier: Apache-2.0
"""Propagate symbolic dimensions through graphs, bodies and calls.

Every node requires sizes to be equal (`operators`); declared shapes of its outputs must equal the
computed ones. A symbol is one size in the main graph and its branches. In the body of a `Loop` or
`Scan` it may differ for each iteration, and in a function for each call, so it is renamed there.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from math import prod
from typing import Any

from onnxtext.ast.model import Node
from onnxtext.ast.types import TensorType, Type
from onnxtext.ast.values import Blob, RawData, Reference, Tensor, TensorData, TypedBlob, TypedData
from onnxtext.checker.context.declarations import plain_dim
from onnxtext.checker.context.finding import Place
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.context.subject import Subject
from onnxtext.checker.context.targets import Target, targets
from onnxtext.checker.inference.environment import Environment
from onnxtext.checker.inference.objections import wrong_items
from onnxtext.checker.inference.scope_walk import visit_graphs
from onnxtext.checker.inference.symbolic.call import OperatorCall, SymbolicShape
from onnxtext.checker.inference.symbolic.operators import CONSTANT_INPUTS, OPERATORS, SHAPES_ALONE
from onnxtext.checker.inference.symbolic.sizes import Conflict, Extent, Size, Sizes

_MOST_CALLED = 10_000
"""How many nodes of called functions are visited, plus the nodes of the model."""
_DEEPEST = 50
_MOST_NUMBERS = 64
"""Lists of up to so many integers are read: axes, pads, shapes."""


@dataclass(slots=True)
class _Environment(Environment[SymbolicShape]):
    """The shapes and short integer lists of a scope."""

    sizes: Sizes = field(default_factory=Sizes)
    constants: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def constant(self, name: str) -> tuple[int, ...] | None:
        holder = self.holder(name)
        return holder.constants.get(name) if isinstance(holder, _Environment) else None


class SymbolicShapes:
    """Propagates symbolic shapes in one walk over a model.

    Attributes:
        learned: whether some symbol must be a number, or another symbol.
        sizes: the equations between the symbols of the main graph.
    """

    def __init__(self, subject: Subject) -> None:
        self.learned = False
        self.sizes = Sizes()
        self._scopes = subject.scopes
        self._targets = targets(subject)
        self._extents: dict[tuple[int, str], tuple[Type, SymbolicShape]] = {}
        self._memo: dict[object, dict[tuple[object, ...], tuple[Any, ...]]] = {}
        self._called: dict[tuple[object, ...], tuple[SymbolicShape, ...]] = {}
        self._kept: list[Sizes] = []
        self._instances = 0
        self._budget = _MOST_CALLED + sum(len(scope.nodes) for scope in subject.scopes)
        # Nodes with errors get no further findings.
        self._wrong = wrong_items(subject)
        self._depth = 0

    def run(self) -> list[Conflict]:
        """Visit all graphs, and the functions they call."""

        def visit(scope: Scope, outer: _Environment | None) -> _Environment:
            environment = _Environment({}, outer, self.sizes)
            self._scope(scope, (), environment, "")
            return environment

        visit_graphs(self._scopes, visit)
        self.learned = self.sizes.knows
        return self.sizes.conflicts

    def _shape(self, type: Type | None, instance: str) -> SymbolicShape:
        """Return the shape of a type, with its symbols renamed for a body or call."""
        if not isinstance(type, TensorType) or type.shape is None:
            return None
        key = id(type), instance
        known = self._extents.get(key)
        if known is None:
            extents = tuple([_extent(plain_dim(dim), instance) for dim in type.shape])
            known = self._extents[key] = type, extents
        return known[1]

    # ---- Scopes -----------------------------------------------------------------------------

    def _scope(
        self,
        scope: Scope,
        given: tuple[SymbolicShape, ...],
        environment: _Environment,
        instance: str,
    ) -> None:
        sizes, shapes = environment.sizes, environment.known
        declared: dict[str, SymbolicShape] = {}
        for value in (*scope.initializers, *scope.inputs, *scope.infos, *scope.outputs):
            shape = self._shape(value.type, instance)
            if shape is not None:
                first = declared.setdefault(value.name, shape)
                if first is not shape:
                    _equal(sizes, first, shape, Place(value, ("type",)))
        for value in (*scope.inputs, *scope.initializers):
            shapes[value.name] = declared.get(value.name)
        for value, shape in zip(scope.inputs, given, strict=False):
            own = shapes[value.name]
            shapes[value.name] = shape if own is None else own
            _equal(sizes, own, shape, Place(value, ("name",)))
        inputs = {value.name for value in scope.inputs}
        for value in scope.initializers:
            numbers = _integers(value.type, value.data)
            if numbers is not None and value.name not in inputs:
                environment.constants[value.name] = numbers
        self._nodes(scope, declared, environment, instance)

    def _nodes(
        self,
        scope: Scope,
        declared: dict[str, SymbolicShape],
        environment: _Environment,
        instance: str,
    ) -> None:
        sizes, shapes = environment.sizes, environment.known
        find, children, wrong = environment.find, scope.children, self._wrong
        results = self._results(sizes, instance)
        for index, (node, target) in enumerate(
            zip(scope.nodes, self._targets[id(scope)], strict=True)
        ):
            outputs = node.outputs
            if index in children:
                bodies = self._bodies(scope, index, node, environment, instance)
                wanted = self._declared(node, declared, environment, instance)
                found = self._unified(node, wanted, bodies, sizes)
                results = self._results(sizes, instance)
            else:
                # Most nodes repeat others, which learn nothing new unless sizes have changed.
                inputs = [shapes[n] if n in shapes else find(n) for n in node.inputs]
                typed = node.output_types
                types = (*typed, *map(declared.get, outputs)) if declared else typed
                attributes = node.attributes
                values: list[tuple[int, ...] | None] = []
                if target is not None and target.name in SHAPES_ALONE:
                    attributes = ()
                elif target is not None and target.name in CONSTANT_INPUTS:
                    values = [environment.constant(name) for name in node.inputs]
                key = (
                    id(target), len(inputs), len(outputs), *map(id, inputs), *map(id, types),
                    *map(id, attributes), *values,
                )  # fmt: skip
                known = results.get(key) if id(node) not in wrong else None
                if known is not None:
                    found = known[0]
                else:
                    before = sizes.learned
                    wanted = self._declared(node, declared, environment, instance)
                    found = self._node(node, target, environment, wanted, inputs, values)
                    if sizes.learned != before:
                        results = self._results(sizes, instance)
                    elif _is_plain(target) and id(node) not in wrong:
                        results[key] = found, inputs, types, attributes  # keeps ids unique
            for name, shape in zip(outputs, found, strict=True):
                if name and name not in shapes:
                    shapes[name] = shape

    def _results(self, sizes: Sizes, instance: str) -> dict[tuple[object, ...], tuple[Any, ...]]:
        """Return the cached output shapes of nodes for the current equations."""
        key = sizes.state, instance
        known = self._memo.get(key)
        if known is None:
            known = self._memo[key] = {}
            self._kept.append(sizes)
        return known

    def _unified(
        self, node: Node, wanted: list[SymbolicShape], made: tuple[SymbolicShape, ...], sizes: Sizes
    ) -> tuple[SymbolicShape, ...]:
        """Equate declared and computed shapes of a node's outputs, and merge them."""
        found = []
        for number, name in enumerate(node.outputs):
            own = wanted[number]
            shape = made[number] if number < len(made) else None
            if name and own is not None and shape is not None:
                _equal(sizes, own, shape, Place(node, ("outputs", number)))
            found.append(_merged(own, shape))
        return tuple(found)

    def _declared(
        self,
        node: Node,
        declared: dict[str, SymbolicShape],
        environment: _Environment,
        instance: str,
    ) -> list[SymbolicShape]:
        """Return the declared shapes of a node's outputs."""
        wanted = [declared.get(name) for name in node.outputs]
        for number, type in enumerate(node.output_types):
            if type is not None:
                before, own = wanted[number], self._shape(type, instance)
                if before is not None:
                    place = Place(node, ("output_types", number))
                    _equal(environment.sizes, before, own, place)
                wanted[number] = own
        return wanted

    # ---- Nodes ------------------------------------------------------------------------------

    def _node(
        self, node: Node, target: Target, environment: _Environment, wanted: list[SymbolicShape],
        inputs: list[SymbolicShape], values: list[tuple[int, ...] | None],
    ) -> tuple[SymbolicShape, ...]:  # fmt: skip
        """Return the shapes of the outputs of a node without bodies."""
        sizes = environment.sizes
        if type(target) is Scope:
            called = self._call(target, tuple(inputs), environment)
            return self._unified(node, wanted, called, sizes)
        if type(target) is not Signature or target.domain or id(node) in self._wrong:
            return tuple(wanted)
        operator = OPERATORS.get(target.name)
        if operator is None:
            if target.name == "Constant":
                self._remember(node, environment)
            return tuple(wanted)
        if any(isinstance(a.value, (Reference, Blob, TypedBlob)) for a in node.attributes):
            return tuple(wanted)  # unknown values are not the defaults
        made = operator(OperatorCall(node, inputs, values, sizes, target.since))
        return self._unified(node, wanted, made, sizes)

    def _call(
        self, function: Scope, inputs: tuple[SymbolicShape, ...], environment: _Environment
    ) -> tuple[SymbolicShape, ...]:
        sizes = environment.sizes
        key = id(function), inputs, sizes.state
        known = self._called.get(key)
        if known is not None:
            return known
        self._budget -= len(function.nodes)
        if self._budget < 0 or self._depth >= _DEEPEST:
            return ()
        before = sizes.learned
        inner = _Environment({}, None, sizes)
        self._depth += 1
        self._scope(function, inputs, inner, self._instance() if declares_types(function) else "")
        self._depth -= 1
        made = tuple([inner.find(value.name) for value in function.outputs])
        # Symbols of the body are renamed in the next call.
        own = [name for name in _symbols(made) - _symbols(inputs) if "\0" in name]
        if sizes.learned == before and not own:
            self._called[key] = made
        return made

    def _instance(self) -> str:
        self._instances += 1
        return f"\0{self._instances}"

    def _bodies(
        self, scope: Scope, index: int, node: Node, environment: _Environment, instance: str
    ) -> tuple[SymbolicShape, ...]:
        made: list[tuple[SymbolicShape, ...]] = []
        branches = node.op_type == "If"
        for body in scope.children[index]:
            own = self._instance()
            inner = _Environment({}, environment, Sizes(environment.sizes))
            self._scope(body, (), inner, instance if branches else own)
            made.append(tuple([inner.find(value.name) for value in body.outputs]))
        if not branches or len(made) != 2:
            return ()
        return tuple([_either(left, right) for left, right in zip(*made, strict=False)])

    def _remember(self, node: Node, environment: _Environment) -> None:
        for attribute in node.attributes:
            value = attribute.value
            numbers = None
            if isinstance(value, Tensor):
                numbers = _integers(value.type, value.data)
            elif attribute.name == "value_ints" and isinstance(value, tuple):
                numbers = tuple([item for item in value if isinstance(item, int)])
            if numbers is not None and node.outputs:
                environment.constants[node.outputs[0]] = numbers


def _is_plain(target: Target) -> bool:
    """Whether a node's effect only depends on its attributes, shapes and constants."""
    return target is None or (type(target) is Signature and target.name != "Constant")


def declares_types(function: Scope) -> bool:
    """Whether a function may declare types, and so its own symbols."""
    values = (*function.inputs, *function.outputs, *function.infos, *function.initializers)
    return (
        bool(function.children)
        or any(value.type is not None for value in values)
        or any(node.output_types for node in function.nodes)
    )


def _symbols(shapes: tuple[SymbolicShape, ...]) -> set[str]:
    return {dim.name for shape in shapes for dim in shape or () if isinstance(dim, Size)}


def _extent(dim: int | str | None, instance: str) -> Extent:
    if isinstance(dim, str):
        return Size(dim + instance) if dim else None
    return None if dim is None or dim < 0 else dim


def _equal(sizes: Sizes, left: SymbolicShape, right: SymbolicShape, place: Place) -> None:
    if left is not None and right is not None and left is not right and len(left) == len(right):
        for one, other in zip(left, right, strict=True):
            sizes.equal(one, other, place)


def _merged(declared: SymbolicShape, computed: SymbolicShape) -> SymbolicShape:
    """Return the declared shape, with unknown parts taken from the computed one."""
    if declared is None or computed is None or len(declared) != len(computed):
        return computed if declared is None else declared
    if None not in declared:
        return declared
    return tuple([b if a is None else a for a, b in zip(declared, computed, strict=True)])


def _either(left: SymbolicShape, right: SymbolicShape) -> SymbolicShape:
    """Return the dimensions on which two branches agree."""
    if left is None or right is None or len(left) != len(right):
        return None
    return tuple([a if a == b else None for a, b in zip(left, right, strict=True)])


def _integers(type: Type | None, data: TensorData | object) -> tuple[int, ...] | None:
    """Return the numbers of a short int64 list; None for other data."""
    if not isinstance(type, TensorType) or type.element != "int64" or type.shape is None:
        return None
    dims = [dim for dim in type.shape if isinstance(dim, int)]
    count = prod(dims)
    if len(dims) != len(type.shape) or len(dims) > 1 or not 0 <= count <= _MOST_NUMBERS:
        return None
    stored = data.data if isinstance(data, RawData) else None
    if isinstance(data, TypedData):
        stored = data.entries
    if stored is None or len(stored) != 8 * count:
        return None
    return struct.unpack(f"<{count}q", stored)
