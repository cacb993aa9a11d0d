# SPDX-License-Identifier: Apache-2.0
"""Propagate symbolic dimensions through graphs, bodies and function calls.

Each node adds equations between sizes (`operators`), and the declared shapes of its outputs must
equal the computed shapes. In the main graph and in branches of `If`, a symbol has one size. In the
body of a `Loop` or `Scan`, a symbol may have another size in each iteration; in a function, it may
have another size in each call. Therefore, symbols of these bodies and functions get a suffix
(`instance`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from onnxtext.ast.model import Node
from onnxtext.ast.qualified_names import qualified_name
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.checker.context.checked_model import CheckedModel, cache_by_id
from onnxtext.checker.context.finding import Place
from onnxtext.checker.context.operator_resolution import Target
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.inference.control_flow_types import never_runs
from onnxtext.checker.inference.environment import ValueEnvironment, known_values
from onnxtext.checker.inference.function_attributes import bound_node, call_attributes
from onnxtext.checker.inference.onnx_errors import (
    declares_other_output,
    errors_of_types,
    untyped_values,
    wrong_items,
)
from onnxtext.checker.inference.scope_walk import ScopeWalk
from onnxtext.checker.symbolic.operator_call import Shapes, SymbolicShape
from onnxtext.checker.symbolic.operator_shapes.arithmetic import uses_elements
from onnxtext.checker.symbolic.operators import READING_VALUES, SHAPES_ALONE
from onnxtext.checker.symbolic.shape_merging import (
    Results,
    declared_shape,
    equate_dims,
    infer_node,
    merge_branch_shapes,
    operator_step,
    require_body_inputs,
    shapes_contradict,
    unify_shapes,
)
from onnxtext.checker.symbolic.sizes.polynomials import SymbolicSize, symbols
from onnxtext.checker.symbolic.sizes.shape_mismatches import PassedShape
from onnxtext.checker.symbolic.sizes.size_equations import SizeEquations
from onnxtext.checker.symbolic.small_tensors import SmallTensor, SmallTensors, common_elements
from onnxtext.quick_dataclass import dataclass

F = TypeVar("F")


@dataclass(slots=True)
class SymbolicEnvironment(ValueEnvironment[SymbolicShape]):
    """The known shapes, small tensors and equations between sizes in a graph or function body.

    The symbols of the graph or body get the suffix `instance`, which may be empty. In a function,
    `parameters` are the attributes of the call, by name.
    """

    sizes: SizeEquations
    instance: str
    parameters: Mapping[str, Attribute]


_MAX_PASSES = 3
"""Maximum number of passes over the deferred broadcasts: each pass may determine more sizes."""


class SymbolicShapes(ScopeWalk[SymbolicEnvironment]):
    """Propagates symbolic shapes in one walk over a model.

    Attributes:
        sizes: the equations between the symbols of the main graph, and the conflicts and mismatches
            of the model.
    """

    def __init__(self, subject: CheckedModel) -> None:
        super().__init__(subject)
        self.sizes = SizeEquations()
        self._shape = cache_by_id(declared_shape)
        self._memo: dict[object, dict[tuple[object, ...], tuple[Any, ...]]] = {}
        self._equal: dict[Any, Any] = {}
        self._instances = 0
        # Nodes with errors get no further findings, except calls and nodes with bodies.
        self._wrong, self._untyped = wrong_items(subject), untyped_values(subject)
        errors = [item for item in errors_of_types(subject) if not declares_other_output(item)]
        self._misdeclared = self._wrong - {id(item.places[0].item) for item in errors}

    def run(self) -> None:
        """Visit all graphs; then apply the broadcasts of sizes that later nodes determine."""
        super().run()
        sizes = self.sizes
        for _ in range(_MAX_PASSES if sizes.learned else 0):
            before = sizes.learned
            for extents, place in sizes.broadcasts:
                numbers = [number for number in map(sizes.number, extents) if number != 1]
                size = next((number for number in numbers if number is not None), 1)
                for extent in extents if size != 1 else ():
                    if isinstance(extent, SymbolicSize):
                        sizes.one_or(extent, size, place)
            if sizes.learned == before:
                break

    # ---- Scopes -----------------------------------------------------------------------------

    def _scope(
        self,
        scope: Scope,
        input_shapes: Shapes,
        outer: SymbolicEnvironment | None,
        values: SmallTensors = (),
        sizes: SizeEquations | None = None,
        instance: str = "",
        parameters: Mapping[str, Attribute] | None = None,
    ) -> SymbolicEnvironment:
        """Visit a graph or function body; return its environment.

        `input_shapes` and `values` are the shapes and values of the inputs, and `outer` is the
        environment of the outer graph. If `sizes` is None, the equations of the main graph apply.
        Symbols get the suffix `instance`. `parameters` are as in `SymbolicEnvironment`.
        """
        sizes = self.sizes if sizes is None else sizes
        known = known_values(scope, values, self._ir_version)
        known = {name: self._intern(value) for name, value in known.items()}
        environment = SymbolicEnvironment({}, outer, known, sizes, instance, parameters or {})
        self.visits.setdefault(id(scope), []).append(environment)
        shapes = environment.facts
        declared: dict[str, SymbolicShape] = {}
        for value in (*scope.initializers, *scope.inputs, *scope.infos, *scope.outputs):
            shape = self._shape(value.type, instance)
            if shape is not None and id(value) not in self._untyped:
                earlier_shape = declared.setdefault(value.name, shape)
                if earlier_shape is not shape:
                    equate_dims(sizes, earlier_shape, shape, Place(value, ("type",)))
        for value in (*scope.inputs, *scope.initializers):
            shapes[value.name] = declared.get(value.name)
        for value, shape in zip(scope.inputs, input_shapes, strict=False):
            declared_shape = shapes[value.name]
            if shapes_contradict(declared_shape, shape):
                assert declared_shape is not None
                assert shape is not None
                sizes.mismatches.append(PassedShape(value, declared_shape, shape))
                declared_shape = None
            shapes[value.name] = shape if declared_shape is None else declared_shape
            equate_dims(sizes, declared_shape, shape, Place(value, ("name",)))
        # In a node, "" is an omitted input or output, not a value without a name.
        declared.pop("", None)
        shapes.pop("", None)
        environment.values.pop("", None)
        self._nodes(scope, declared, environment)
        return environment

    def _nodes(
        self, scope: Scope, declared: dict[str, SymbolicShape], environment: SymbolicEnvironment
    ) -> None:
        sizes, shapes = environment.sizes, environment.facts
        find, children, wrong = environment.find, scope.children, self._wrong
        # Without an outer scope, names are looked up directly, which is faster.
        value = environment.values.get if environment.outer is None else environment.value
        known: object = environment.values if environment.outer is None else True  # may be empty
        made_here = {name for node in scope.nodes for name in node.outputs}.intersection(declared)
        results, targets = self._results(environment), self._targets[id(scope)]
        for index, node in scope.nodes_to_visit():
            target, outputs = targets[index], node.outputs
            contents: SmallTensors = ()
            if index in children:
                if id(node) not in wrong:
                    require_body_inputs(node, target, list(map(find, node.inputs)), sizes)
                bodies, contents = self._bodies(scope, index, node, environment)
                declared_shapes = self._declared_output_shapes(node, declared, environment)
                found = unify_shapes(node, declared_shapes, bodies, sizes)
                results = self._results(environment)
            else:
                # Most nodes equal earlier nodes, whose results are valid until equations change.
                inputs = [shapes[n] if n in shapes else find(n) for n in node.inputs]
                typed = node.output_types
                types = (*typed, *map(declared.get, outputs)) if made_here else typed
                attributes = node.attributes
                if scope.function is not None:
                    attributes = bound_node(node, environment.parameters).attributes
                values: list[SmallTensor | None] = []
                name = target.name if target is not None else ""
                if known and (name in READING_VALUES or type(target) is Scope):
                    values = [value(name) for name in node.inputs]
                if name in SHAPES_ALONE and not uses_elements(name, values):
                    attributes, values = (), []  # they have no effect
                key = (
                    id(target), len(inputs), len(outputs), *map(id, inputs), *map(id, types),
                    *map(id, attributes), *map(id, values),
                )  # fmt: skip
                cached = results.get(key) if id(node) not in wrong else None
                if cached is not None:
                    found, contents = cached[:2]
                else:
                    before, rejected = sizes.learned, len(sizes.mismatches)
                    declared_shapes = self._declared_output_shapes(node, declared, environment)
                    found, contents = self._node(
                        node, target, environment, declared_shapes, inputs, values
                    )
                    found = tuple(map(self._intern, found))
                    contents = tuple(map(self._intern, contents))
                    if sizes.learned != before:
                        results = self._results(environment)
                    elif (
                        type(target) is not Scope  # `_call` caches
                        and id(node) not in wrong
                        and rejected == len(sizes.mismatches)  # each equal node gets a finding
                    ):
                        # Keep alive the objects in the last four items: the key contains their ids.
                        results[key] = found, contents, inputs, types, attributes, values
            for name, shape in zip(outputs, found, strict=True):
                if name and name not in shapes:
                    shapes[name] = shape
            for name, data in zip(outputs, contents, strict=False):
                if name and data is not None:
                    environment.values.setdefault(name, data)

    def _intern(self, fact: F) -> F:
        """Return the same object for equal shapes or values, because cache keys contain its id."""
        result: F = self._equal.setdefault(fact, fact)
        return result

    def _results(
        self, environment: SymbolicEnvironment
    ) -> dict[tuple[object, ...], tuple[Any, ...]]:
        """Return the cache of output shapes and values that are valid for the current equations."""
        key = environment.sizes.state, environment.instance
        if key not in self._memo:
            self._memo[key] = {}
            self._kept.append(environment.sizes)
        return self._memo[key]

    def _declared_output_shapes(
        self, node: Node, declared: dict[str, SymbolicShape], environment: SymbolicEnvironment
    ) -> list[SymbolicShape]:
        """Return the declared shapes of a node's outputs; equate two declarations of one output."""
        declared_shapes = [declared.get(name) for name in node.outputs]
        for slot, type in enumerate(node.output_types):
            if type is not None:
                shape = self._shape(type, environment.instance)
                place = Place(node, ("output_types", slot))
                equate_dims(environment.sizes, declared_shapes[slot], shape, place)
                declared_shapes[slot] = shape
        return declared_shapes

    # ---- Nodes ------------------------------------------------------------------------------

    def _node(
        self, node: Node, target: Target, environment: SymbolicEnvironment,
        declared_shapes: list[SymbolicShape], inputs: list[SymbolicShape],
        values: list[SmallTensor | None],
    ) -> Results:  # fmt: skip
        """Return the shapes and values of the outputs of a node without bodies.

        If an operator node has an error, its shapes are `declared_shapes`, or unknown if they are
        the error. `declared_shapes`, `inputs` and `values` are as in `shape_merging.operator_step`.
        """
        sizes = environment.sizes
        if type(target) is Scope:
            shapes, contents = self._call(node, target, inputs, values, environment)
            return unify_shapes(node, declared_shapes, shapes, sizes), contents
        if id(node) in self._wrong:
            if id(node) in self._misdeclared:  # inputs that do not fit may be the cause
                unknown: list[SymbolicShape] = [None] * len(declared_shapes)
                operator_step(node, target, unknown, inputs, values, sizes)
                return tuple(unknown), ()  # either type may be wrong
            return tuple(declared_shapes), ()
        bound = bound_node(node, environment.parameters) if node.op_type == "Constant" else node
        if bound is not node:
            shapes, contents = infer_node(bound, target, (), (), sizes)
            return unify_shapes(node, declared_shapes, shapes, sizes), contents
        return operator_step(node, target, declared_shapes, inputs, values, sizes)

    def _call(
        self, node: Node, function: Scope, inputs: list[SymbolicShape],
        elements: list[SmallTensor | None], environment: SymbolicEnvironment,
    ) -> Results:  # fmt: skip
        """Return the shapes and values of the outputs of a function call.

        `inputs` and `elements` are the shapes and values of the inputs. The function body adds
        equations to those of the caller, which has the `environment`. Return two empty tuples if
        the limits on calls are exceeded.
        """
        shapes, values, sizes = tuple(inputs), tuple(elements), environment.sizes
        attributes = bound_node(node, environment.parameters).attributes
        key = self._call_key(function, (shapes, values, sizes.state), attributes)
        body = self._called.get(key)
        if body is not None:
            return body.results(function)
        if not self._limits.enter(node, function):
            return (), ()
        before, rejected = sizes.learned, len(sizes.mismatches)
        instance = self._new_instance() if declares_types(function) else ""
        given = call_attributes(function.owner, node, environment.parameters)
        body = self._scope(function, shapes, None, values, sizes, instance, given)
        for index, wrong in enumerate(sizes.mismatches[rejected:], rejected):
            if not wrong.calls:  # not in an inner call
                sizes.mismatches[index] = wrong._replace(calls=self._limits.places())
        self._limits.leave()
        result = body.results(function)
        # Results with symbols of the body are not cached: the next call gives the symbols another
        # suffix.
        new_symbols = _symbols(result) - _symbols((shapes, values))
        if sizes.learned == before and not any("\0" in name for name in new_symbols):
            self._called[key] = body
        return result

    def _new_instance(self) -> str:
        """Return a new suffix for the symbols of a body or call."""
        self._instances += 1
        return f"\0{self._instances}"

    def _bodies(
        self, scope: Scope, index: int, node: Node, environment: SymbolicEnvironment
    ) -> Results:
        outputs: list[Results] = []
        branches, bodies = qualified_name(node.domain, node.op_type) == "If", scope.children[index]
        conditions = [environment.value(name) for name in node.inputs[:2]]
        for body in bodies:
            if never_runs(node, body, conditions):
                continue
            instance = environment.instance if branches else self._new_instance()
            sizes = SizeEquations(environment.sizes)
            inner = self._scope(body, (), environment, (), sizes, instance, environment.parameters)
            outputs.append(inner.results(body))
        if branches and len(outputs) == 1 < len(bodies):
            return outputs[0]
        if not branches or len(outputs) != 2:
            return (), ()
        (one, first), (other, second) = outputs
        return tuple(map(merge_branch_shapes, one, other)), tuple(
            map(common_elements, first, second)
        )


def declares_types(function: Scope) -> bool:
    """Whether a function body may declare types, whose symbols get another suffix in each call."""
    values = (*function.inputs, *function.outputs, *function.infos, *function.initializers)
    return (
        bool(function.children)
        or any(value.type is not None for value in values)
        or any(node.output_types for node in function.nodes)
    )


def _symbols(results: Results) -> set[str]:
    shapes, values = results
    extents = [extent for shape in shapes for extent in shape or ()]
    extents += [item for value in values if value is not None for item in value.items]
    return {name for extent in extents for name in symbols(extent)}
