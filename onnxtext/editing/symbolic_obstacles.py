# SPDX-License-Identifier: Apache-2.0
"""Find nodes that accept only the old size of a dimension; fix shapes that require it.

The dimension was made symbolic, and should accept other sizes. A fix changes an element of a
constant shape, such as the second input of a `Reshape`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from onnxtext.ast.model import Model, Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import Attribute, RawData, Tensor, TypedData
from onnxtext.ast.types import TensorType
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.finding import Finding, quote
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.inference.function_attributes import has_references
from onnxtext.checker.inference.shape_environment import ShapeEnvironment
from onnxtext.checker.isolation.inference_client import Answers
from onnxtext.checker.rules import dimension_conflicts
from onnxtext.editing.infer_from_inputs import InferredShapes, infer_shapes
from onnxtext.editing.rejected_sizes import accepts_sizes, is_checked

_MAX_SHOWN = 8
_OTHERS = 6
"""When sizes of one symbolic dimension are tried, all other symbolic dimensions have this size."""


class Obstacle(str):
    """A message: a node may reject all sizes of a symbolic dimension except its old size."""

    __slots__ = ()


# ---- Fixes ------------------------------------------------------------------------------------


@dataclass
class ShapeElementChange:
    """A change of one element of a constant shape.

    Attributes:
        title: a sentence for the user about the change.
        undo: a function that reverts the change.
    """

    title: str
    undo: Callable[[], None]


def fix_one(
    model: Model, inferred: InferredShapes, symbol: str, old: int, answers: Answers
) -> ShapeElementChange | None:
    """Change one element of a constant shape that allows only the old size of a dimension.

    Args:
        model: the edited model; changed in place.
        inferred: the shapes inferred for the model.
        symbol: the name of the dimension that was made symbolic.
        old: the old size of the dimension.
        answers: a cache of results of onnx's inference; new results are added.

    Returns:
        The change. None if no change is needed, or if no element can be changed.
    """
    for finding in dimension_conflicts.check(inferred.subject):
        if finding.dimension != symbol:
            continue
        repair = finding.repair
        place = finding.places[-1]
        if repair is not None and repair.kind == "respell" and place.part[-2:-1] == ("element",):
            fixed = _set(
                inferred, repair.item, int(place.part[-1]), int(repair.argument[1]), finding
            )
            if fixed is not None:
                return fixed
    if any(_restrictions(inferred, symbol)) or any(_trial_failures(model, symbol, old, answers)):
        return _fix_reshape(inferred, symbol, old)
    return None


def _fix_reshape(inferred: InferredShapes, symbol: str, old: int) -> ShapeElementChange | None:
    """Replace the old size by 0 in the constant shape of a `Reshape`; 0 copies the input's size.

    Only one `Reshape` is changed: the first one whose input has the symbolic dimension at the same
    index.
    """
    main = inferred.subject.main
    views = inferred.inference.visits.get(id(main), ())
    if main is None or not views:
        return None
    for node in main.nodes:
        if node.op_type != "Reshape" or node.domain or len(node.inputs) != 2:
            continue
        if any(attribute.name == "allowzero" and attribute.value for attribute in node.attributes):
            continue  # with `allowzero`, 0 does not copy the size
        shape = inferred.shapes.get((0, node.inputs[0]))
        value = views[0].value(node.inputs[1])
        target = value.numbers() if value is not None else None
        for index, size in enumerate(target or ()):
            if size == old and shape is not None and shape[index : index + 1] == (symbol,):
                stored = _constant_definition(main, node.inputs[1])
                return None if stored is None else _set(inferred, stored, index, 0, node)
    return None


def _constant_definition(main: Scope, name: str) -> ValueInfo | Node | None:
    position = main.position.get(name)
    if position is None:
        return None
    return main.given[name] if position < 0 else main.nodes[position]


def _set(
    inferred: InferredShapes, item: Any, index: int, number: int, finding_or_node: Finding | Node
) -> ShapeElementChange | None:
    """Set an element of a constant shape.

    Args:
        inferred: the shapes inferred for the model.
        item: the initializer or `Constant` node with the shape, in the model of `inferred`.
        index: the index of the element.
        number: the new element.
        finding_or_node: the node that uses the shape, or a finding about this node.

    Returns:
        The change. None if the shape is not stored as a list of int64 elements, or if it has other
        uses.
    """
    original = inferred.original(item)
    user = (
        finding_or_node.places[0].item if isinstance(finding_or_node, Finding) else finding_or_node
    )
    name = original.name if isinstance(original, ValueInfo) else next(iter(original.outputs), "")
    if _has_other_users(inferred, name, user):
        return None
    title = f"element {index} of `{name}`, the shape of `{user.op_type}`, is {number} now"
    if isinstance(original, ValueInfo):
        before = original.data
        type = _changed(original.type, before, index, number)
        if type is None:
            return None
        original.data = type
        return ShapeElementChange(title, lambda: setattr(original, "data", before))
    attributes = original.attributes
    if original.op_type != "Constant" or len(attributes) != 1:
        return None
    attribute = _changed_attribute(attributes[0], index, number)
    if attribute is None:
        return None
    original.attributes = (attribute,)
    if item is not original:
        item.attributes = original.attributes
    return ShapeElementChange(title, lambda: setattr(original, "attributes", attributes))


def _has_other_users(inferred: InferredShapes, name: str, user: Node) -> bool:
    """Whether a value has other uses than one input of `user`: a graph output counts as a use."""
    for scope in inferred.subject.scopes:
        if any(value.name == name for value in scope.outputs):
            return True
        for node in scope.nodes:
            if node.inputs.count(name) > (node is user):
                return True
    return False


def _changed_attribute(attribute: Attribute, index: int, size: int) -> Attribute | None:
    """Return an attribute of a `Constant` with one element replaced; None for other types."""
    value = attribute.value
    if isinstance(value, Tensor):
        data = _changed(value.type, value.data, index, size)
        return None if data is None else replace(attribute, value=replace(value, data=data))
    if isinstance(value, tuple) and attribute.name == "value_ints" and index < len(value):
        items: Any = (*value[:index], size, *value[index + 1 :])
        return replace(attribute, value=items)
    return None


def _changed(type: Any, data: Any, index: int, size: int) -> RawData | TypedData | None:
    """Return the data of an int64 tensor with one element replaced; None for other data."""
    if not isinstance(type, TensorType) or type.element != "int64":
        return None
    if isinstance(data, RawData):
        return RawData(_with_element(bytes(data.data), index, size))
    if isinstance(data, TypedData):
        return TypedData(_with_element(data.entries, index, size))
    return None


def _with_element(stored: bytes, index: int, size: int) -> bytes:
    return stored[: 8 * index] + struct.pack("<q", size) + stored[8 * index + 8 :]


# ---- Obstacles --------------------------------------------------------------------------------


def size_obstacles(
    model: Model, inferred: InferredShapes, symbol: str, old: int, names: set[str], answers: Answers
) -> list[str]:
    """Return an `Obstacle` for each node that accepts only the old size of a dimension.

    If there is no such node, return an `Obstacle` for each node whose operator or output sizes are
    unknown, because it may need the old size. After `_MAX_SHOWN` obstacles, the list ends with the
    number of further obstacles.

    Args:
        model: the edited model.
        inferred: the shapes inferred for the model.
        symbol: the name of the dimension that was made symbolic.
        old: the old size of the dimension.
        names: the names of the inputs that have the dimension.
        answers: a cache of results of onnx's inference; new results are added.
    """
    obstacles = list(_restrictions(inferred, symbol))
    failing: dict[str, str] = {}
    for node, message in _trial_failures(model, symbol, old, answers):
        failing.setdefault(node, message)
    for node, message in failing.items():
        if not any(f"({node})" in other for other in obstacles):
            obstacles.append(message)
    if not obstacles:
        obstacles = list(_unverified(inferred, names))
    hidden = len(obstacles) - _MAX_SHOWN
    shown: list[str] = [Obstacle(item) for item in obstacles[:_MAX_SHOWN]]
    return [*shown, Obstacle(f"and {hidden} more")] if hidden > 0 else shown


def _restrictions(inferred: InferredShapes, symbol: str) -> Iterator[str]:
    """Yield a message for each finding of the checker that restricts a symbolic dimension."""
    for finding in dimension_conflicts.check(inferred.subject):
        if quote(symbol) in finding.message:
            item = finding.places[0].item
            location = f" ({_node_text(item)})" if isinstance(item, Node) else ""
            yield f"{finding.message}{location}; {finding.help}"


def _trial_failures(
    model: Model, symbol: str, old: int, answers: Answers
) -> Iterator[tuple[str, str]]:
    """Try other sizes of a dimension; yield (node, message) for each node that rejects one."""
    others = {name: _OTHERS for name in _symbols(model) if name != symbol}
    already_rejected = set(_rejected(infer_shapes(model, {**others, symbol: old}, answers)))
    for size in (2 * old, 3 * old, 2 * old + 3):
        inferred = infer_shapes(model, {**others, symbol: size}, answers)
        for node, why in _rejected(inferred):
            if (node, why) not in already_rejected and node not in {
                other for other, _ in already_rejected
            }:
                message = f"{node} accepts the size {old} of `{symbol}`, but not {size}"
                yield node, message + (why and f": {why}")


def _symbols(model: Model) -> set[str]:
    """Return the names of the symbolic dimensions of the inputs."""
    shapes = [getattr(value.type, "shape", None) or () for value in model.graph.inputs]
    return {dim for shape in shapes for dim in map(plain_dim, shape) if isinstance(dim, str)}


def _rejected(inferred: InferredShapes) -> Iterator[tuple[str, str]]:
    """Yield (node, reason) for each node that rejects the sizes of its inputs, both as text.

    The reason is "" if a rule of `size_rules` rejects the sizes.
    """
    for finding in inferred.inference.findings:
        if finding.code != "onnx-inference-failed":
            item = finding.places[0].item
            yield _node_text(item) if isinstance(item, Node) else "the model", finding.message
    for scope in inferred.subject.scopes:
        for view in inferred.inference.visits.get(id(scope), ()):
            for node in scope.nodes:
                if not _accepted(node, view):
                    yield _node_text(node), ""


def _node_text(node: Node) -> str:
    name = next(filter(None, node.outputs), node.name or "")
    return f"`{node.op_type}` of `{name}`"


def _accepted(node: Node, view: ShapeEnvironment) -> bool:
    shapes = [_numbers(view, name) for name in node.inputs]
    values = [view.value(name) if name else None for name in node.inputs]
    return has_references(node) or accepts_sizes(node, shapes, values)


def _numbers(view: ShapeEnvironment, name: str) -> tuple[int, ...] | None:
    shape = getattr(view.find(name), "shape", None) if name else None
    if shape is None or not all(isinstance(dim, int) for dim in shape):
        return None
    return tuple(shape)


def _unverified(inferred: InferredShapes, names: set[str]) -> Iterator[str]:
    """Yield messages on nodes that depend on the edited inputs and may reject other sizes.

    On each path of nodes, the first node with outputs of unknown sizes gets a message. A node whose
    operator has unknown requirements also gets one.
    """
    for scope in inferred.subject.scopes:
        reached = set(names) if scope is inferred.subject.main else None
        unknown: set[str] = set()
        for index, node in enumerate(scope.nodes):
            used = set(node.inputs)
            for child in scope.children.get(index, ()):
                used.update(_used_names(child))
            if reached is not None:
                if reached.isdisjoint(used):
                    continue
                reached.update(filter(None, node.outputs))
            new = [name for name in node.outputs if name and not inferred.is_known(scope, name)]
            if new and unknown.isdisjoint(used):
                problem = f"the sizes after {_node_text(node)} are unknown"
                yield f"{problem}, so later nodes may need the old size"
            elif not is_checked(node):
                yield f"the operator of {_node_text(node)} is unknown, so it may need the old size"
            unknown.update(new)


def _used_names(scope: Scope) -> Iterator[str]:
    for node in scope.nodes:
        yield from node.inputs
    for children in scope.children.values():
        for child in children:
            yield from _used_names(child)
