# SPDX-License-Identifier: Apache-2.0
"""Infer the output types of `If`, `Loop` and `Scan` from the output types of their bodies.

A body is a graph in an attribute of the node.

A loop-carried value may change its shape between iterations, so its type is found by a fixpoint
iteration. The first visit of the body assumes the types of the initial values. If the body returns
another type for a carried value, the sizes that differ become unknown, and the body is visited
again. These visits report the errors of nodes outside of nested graphs; the last visit, with the
final types, reports all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from onnxtext.ast.model import Node
from onnxtext.ast.qualified_names import qualified_name
from onnxtext.ast.tensors_and_attributes import attribute_value
from onnxtext.ast.types import Dim, SequenceType, TensorType, Type
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.inference.environment import Environment
from onnxtext.checker.inference.symbolic_types import size_to_dim
from onnxtext.checker.inference.type_merging import Types, merge_types, without_shape
from onnxtext.checker.symbolic.sizes.quotients import maximum_of
from onnxtext.checker.symbolic.small_tensors import SmallTensor, SmallTensors, common_elements

_MAX_VISITS = 6
"""How often to infer a body. If a carried type still changes then, all lose their shapes."""


class Outputs(NamedTuple):
    """The types and known elements of the outputs of a body, or of the node that contains the body.

    An unknown type is None. An entry of `values` is None if the elements are unknown, or if the
    output is not a small tensor. Both tuples may be shorter than the list of outputs: nothing is
    known about the remaining outputs.
    """

    types: Types
    values: SmallTensors


Visit = Callable[[Types], Outputs]
"""Visits a body and returns its outputs, given the types of its inputs in some iterations."""


def common_type(left: Type | None, right: Type | None) -> Type | None:
    """Return the most specific type that includes both types.

    Dimensions that differ become unknown; the shape becomes unknown if the ranks differ. Return
    None if a type is unknown. Also return None for two different types, unless both are tensor
    types with the same element type, or types of sequences of such tensors.
    """
    if left == right:
        return left
    if isinstance(left, SequenceType) and isinstance(right, SequenceType):
        element = common_type(left.element, right.element)
        return None if element is None else replace(left, element=element)
    if not isinstance(left, TensorType) or not isinstance(right, TensorType):
        return None
    if left.element != right.element:
        return None
    if left.shape is None or right.shape is None or len(left.shape) != len(right.shape):
        return replace(left, shape=None)
    dims = [a if plain_dim(a) == plain_dim(b) else None
            for a, b in zip(left.shape, right.shape, strict=True)]  # fmt: skip
    return replace(left, shape=tuple(dims))


def complete_output_type(inferred: Type | None, from_bodies: Type | None) -> Type | None:
    """Return an output type of a node with bodies: what onnx inferred, completed from the bodies.

    Each type is None if unknown; if one is unknown, return the other.
    """
    if inferred is None or from_bodies is None:
        return inferred or from_bodies
    return merge_types(inferred, from_bodies)


def has_untyped_output(body: Scope, visits: Mapping[int, Sequence[Environment[Type]]]) -> bool:
    """Whether an output of a body has an unknown type in a visit (see `ScopeWalk.visits`)."""
    return any(None in visit.find_outputs(body) for visit in visits.get(id(body), ()))


def live_branch(node: Node, condition: SmallTensor | None) -> str | None:
    """Return the branch of an `If` that always runs: `then_branch` or `else_branch`.

    `condition` is the value of the node's first input; None if unknown. Return None if the branch
    is unknown, or if the node is not an `If` of the standard domain.
    """
    if qualified_name(node.domain, node.op_type) != "If":
        return None
    if condition is None or len(condition.items) != 1:
        return None
    truth = condition.items[0]
    return {1: "then_branch", 0: "else_branch"}.get(truth) if isinstance(truth, int) else None


def never_runs(node: Node, body: Scope, values: Sequence[SmallTensor | None]) -> bool:
    """Whether a body is a branch of an `If`, or the body of a `Loop`, that certainly never runs.

    `values` are the values of the inputs of `node`, which contains the body; None where unknown.
    """
    if qualified_name(node.domain, node.op_type) == "Loop":
        # the maximum number of iterations and the condition
        items = [item for value in values[:2] if value is not None for item in value.items[:1]]
        return any(isinstance(item, int) and item <= 0 for item in items)
    live = live_branch(node, values[0]) if values else None
    return live not in (None, body.attribute)


def join_branch_outputs(branches: Sequence[Outputs]) -> Outputs:
    """Merge the outputs of the branches of an `If`.

    Types, shapes, dimensions and elements that differ between branches become unknown.
    """
    first, *rest = branches
    types, values = list(first.types), list(first.values)
    for other in rest:
        types = list(map(common_type, types, other.types))
        values = list(map(common_elements, values, other.values))
    return Outputs(tuple(types), tuple(values))


def _carried_types(visit: Visit, input_types: Types, carried: slice, passed: slice) -> Types:
    """Return the types that a body's inputs have in all iterations; `visit` visits the body.

    `input_types` are the types in the first iteration. `carried` selects the loop-carried inputs of
    the body. `passed` selects the outputs that become the carried inputs of the next iteration.

    If the number of outputs is wrong, or if the types still change after `_MAX_VISITS` visits, the
    carried types have no shapes.
    """
    for _ in range(_MAX_VISITS):
        before = input_types[carried]
        after = visit(input_types).types[passed]
        if len(after) != len(before):
            break
        common = tuple(map(common_type, before, after))
        if common == before:
            return input_types
        input_types = (*input_types[: carried.start], *common, *input_types[carried.stop :])
    unknown = tuple([without_shape(type) for type in input_types[carried]])
    return (*input_types[: carried.start], *unknown, *input_types[carried.stop :])


def loop_inputs(inputs: Sequence[Type | None], visit: Visit) -> Types:
    """Return the types that the inputs of a `Loop`'s body have in all iterations.

    `inputs` are the types of the inputs of the `Loop`, and `visit` infers types in the body.
    """
    count = len(inputs)
    passed = (TensorType("int64", ()), TensorType("bool", ()), *inputs[2:])
    return _carried_types(visit, passed, slice(2, count), slice(1, count - 1))


def loop_outputs(
    inputs: Sequence[Type | None],
    body_inputs: Types,
    body_outputs: Types,
    trips: SmallTensor | None,
) -> Types:
    """Return the types of the outputs of a `Loop`.

    `inputs` are the types of the inputs of the `Loop`. `body_inputs` is the result of
    `loop_inputs`, and `body_outputs` are the types of the body's outputs. `trips` is the number of
    iterations; None if it is unknown, or if a condition may end the loop.
    """
    end = len(inputs) - 1
    # After zero iterations, the outputs are the initial values.
    states = map(common_type, body_inputs[2:], body_outputs[1:end])
    size = None
    if trips is not None and len(trips.items) == 1:
        size = size_to_dim(maximum_of(trips.items[0], 0))
    return (*states, *[_stacked_type(type, 0, size) for type in body_outputs[end:]])


def runs_all_trips(
    node: Node, body: Scope, body_outputs: Outputs, condition: SmallTensor | None
) -> bool:
    """Whether a `Loop` certainly runs its maximum number of iterations.

    `condition` is the value of the node's second input, the initial condition; None if unknown.
    `body_outputs` are the outputs that the last visit of `body` returned.
    """
    if len(node.inputs) > 1 and node.inputs[1] and (condition is None or condition.items != (1,)):
        return False
    passed = body_outputs.values[0] if body_outputs.values else None
    if passed is not None and passed.items == (1,):
        return True
    inputs, outputs = body.inputs, body.outputs
    if len(inputs) < 2 or not outputs:
        return False
    name = outputs[0].name
    sources = {n.outputs[0]: n.inputs[0] for n in body.nodes
               if n.op_type == "Identity" and n.inputs and n.outputs}  # fmt: skip
    return sources.get(name, name) == inputs[1].name


def _stacked_type(type: Type | None, axis: int, *sizes: Dim) -> Type | None:
    """Return a tensor type with a further dimension at `axis`, or without the dimension at `axis`.

    If one size is given (the number of iterations), add a dimension: the result is the type of an
    output that stacks the results of all iterations. If no size is given, remove a dimension: the
    result is the type of one slice.

    Return other types and tensor types without shape unchanged. If the axis is out of range, the
    shape of the result is unknown.
    """
    if not isinstance(type, TensorType) or type.shape is None:
        return type
    rank = len(type.shape) + len(sizes)
    if not -rank <= axis < rank:
        return without_shape(type)
    axis %= rank
    rest = type.shape[axis:] if sizes else type.shape[axis + 1 :]
    return replace(type, shape=(*type.shape[:axis], *sizes, *rest))


def _numbers(node: Node, name: str, count: int) -> tuple[int, ...]:
    """Return `count` integers from the list attribute `name`; zeros if it is missing or invalid."""
    value = attribute_value(node.attributes, name)
    if isinstance(value, tuple) and len(value) == count:
        return tuple([item if isinstance(item, int) else 0 for item in value])
    return (0,) * count


def scan_input_count(node: Node) -> int | None:
    """Return `num_scan_inputs` of a `Scan` node; None if the attribute is missing or invalid."""
    value = attribute_value(node.attributes, "num_scan_inputs")
    return value if isinstance(value, int) and 0 < value <= len(node.inputs) else None


def scan_inputs(node: Node, count: int, inputs: Sequence[Type | None], visit: Visit) -> Types:
    """Return the types that the inputs of a `Scan`'s body have in all iterations.

    `count` is the number of scanned inputs, `inputs` are the types of the inputs of the `Scan`, and
    `visit` infers types in the body. The operator version is 9 or later.
    """
    states = len(inputs) - count
    axes = _numbers(node, "scan_input_axes", count)
    passed = (*inputs[:states], *map(_stacked_type, inputs[states:], axes))
    return _carried_types(visit, passed, slice(0, states), slice(0, states))


def scan_outputs(
    node: Node, count: int, inputs: Sequence[Type | None], body_inputs: Types, body_outputs: Types
) -> Types:
    """Return the types of the outputs of a `Scan` of operator version 9 or later.

    `count` is the number of scanned inputs, and `inputs` are the types of the inputs of the `Scan`.
    `body_inputs` is the result of `scan_inputs`, and `body_outputs` are the types of the body's
    outputs.
    """
    states = len(inputs) - count
    size: Dim = None
    axes = _numbers(node, "scan_input_axes", count)
    for type, axis in zip(inputs[states:], axes, strict=True):
        shape = type.shape if isinstance(type, TensorType) else None
        if shape is not None and -len(shape) <= axis < len(shape) and size is None:
            size = plain_dim(shape[axis])
    results = body_outputs[states:]
    where = _numbers(node, "scan_output_axes", len(results))
    carried = map(common_type, body_inputs[:states], body_outputs)
    return (
        *carried,
        *[_stacked_type(t, axis, size) for t, axis in zip(results, where, strict=True)],
    )
