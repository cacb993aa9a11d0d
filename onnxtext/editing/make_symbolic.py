# SPDX-License-Identifier: Apache-2.0
"""Make dimensions of inputs symbolic, and update all shapes that depend on them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from onnxtext.ast.model import Model, Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import Attribute, RawData, Tensor, TypedData
from onnxtext.ast.types import TensorType
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.isolation.inference_client import Answers
from onnxtext.checker.rules import dimension_conflicts
from onnxtext.editing.errors import refused_edit_error, unknown_name_error
from onnxtext.editing.infer_from_inputs import InferredShapes, Shape, infer_shapes, with_value
from onnxtext.editing.set_shapes import follow_inference, put_shape
from onnxtext.editing.symbolic_obstacles import restrictions, size_obstacles, trial_failures
from onnxtext.plurals import count_noun

_MAX_FIXES = 500


def make_symbolic(
    model: Model, dims: Sequence[tuple[str, int]], symbol: str, *, fix: bool = False
) -> list[str]:
    """Make dimensions of inputs symbolic, and update all shapes that depend on them.

    Args:
        model: the syntax tree; changed in place.
        dims: pairs (name of an input of the main graph, index of the dimension). The index counts
            from 0, or from the end if it is negative. All these dimensions must have the same size.
        symbol: the name of the symbolic dimension, such as `batch`.
        fix: whether to change elements of constant shapes, such as the second input of `Reshape`,
            that allow only the old size.

    Returns:
        A sentence for each fix, then the obstacles to other sizes (see `size_obstacles`).

    Raises:
        OnnxTextError: no dimension is given; an input or dimension does not exist; an input has a
            default value, or is not a tensor of known rank; the dimensions have different sizes; or
            `symbol` is not a valid name.
    """
    if not symbol.strip() or symbol.lstrip("-").isdigit():
        raise refused_edit_error(
            f"`{symbol}` cannot be the name of a dimension", "choose a name such as `batch`"
        )
    if not dims:
        raise refused_edit_error("there is no dimension to make symbolic")
    shapes, old = _wanted(model, dims, symbol)
    answers: Answers = {}
    before = infer_shapes(model, answers=answers)
    for name, shape in shapes.items():
        put_shape(model, name, shape)
    names = set(shapes)
    notes: list[str] = []
    inferred = infer_shapes(model, answers=answers)
    follow_inference(model, before, inferred, names)
    for _ in range(_MAX_FIXES if fix and old is not None else 0):
        change = fix_one(model, inferred, symbol, old or 0, answers)
        if change is None:
            break
        title, undo = change
        with_old_size = infer_shapes(model, {symbol: old or 0}, answers)
        if any(with_old_size.shapes.get(key) != shape for key, shape in before.shapes.items()):
            undo()
            break
        notes.append(title)
        before_change, inferred = inferred, infer_shapes(model, answers=answers)
        follow_inference(model, before_change, inferred, names)
    if old is not None:
        notes += size_obstacles(model, inferred, symbol, old, names, answers)
    return notes


def _wanted(
    model: Model, dims: Sequence[tuple[str, int]], symbol: str
) -> tuple[dict[str, Shape], int | None]:
    """Return (new shapes by input name, old size); the size is None if symbolic or unknown.

    For the parameters and the errors, see `make_symbolic`.
    """
    inputs = {value.name: value for value in model.graph.inputs}
    shapes: dict[str, Shape] = {}
    sizes: dict[int | str | None, str] = {}
    for name, index in dims:
        if name not in inputs:
            raise unknown_name_error("input", name, inputs)
        value = inputs[name]
        shape = getattr(value.type, "shape", None)
        if not isinstance(value.type, TensorType) or shape is None:
            raise refused_edit_error(
                f"`{name}` is not a tensor of known rank, so it has no dimension to make symbolic"
            )
        if value.data is not None:
            raise refused_edit_error(
                f"`{name}` has a default value of fixed shape, so its dimensions cannot be symbolic"
            )
        if not -len(shape) <= index < len(shape):
            raise refused_edit_error(
                f"`{name}` has {count_noun(len(shape), 'dimension')}, so dimension {index} does "
                "not exist"
            )
        at = index % len(shape)
        sizes.setdefault(plain_dim(shape[at]), f"dimension {at} of `{name}`")
        new = shapes.get(name, shape)
        shapes[name] = (*new[:at], with_value(shape[at], symbol), *new[at + 1 :])
    if len(sizes) > 1:
        listed = " and ".join([f"{place} is {size or '?'}" for size, place in sizes.items()])
        raise refused_edit_error(f"the dimensions have different sizes: {listed}")
    (size,) = sizes
    return shapes, size if isinstance(size, int) else None


ShapeElementChange = tuple[str, Callable[[], None]]
"""A sentence for the user about the change of an element, and a function that reverts it."""


def fix_one(
    model: Model, inferred: InferredShapes, symbol: str, old: int, answers: Answers
) -> ShapeElementChange | None:
    """Change one element of a constant shape that allows only the old size of a dimension.

    `model` is changed in place; for the other parameters, see `size_obstacles`. Return the change;
    None if no change is needed, or if no element can be changed.
    """
    for finding in dimension_conflicts.check(inferred.subject):
        if finding.subject is None or finding.subject.name != symbol:
            continue
        repair = finding.repair
        place = finding.places[-1]
        if repair is not None and repair.kind == "respell" and place.part[-2:-1] == ("element",):
            user = finding.places[0].item
            fixed = _set(inferred, repair.item, int(place.part[-1]), int(repair.argument[1]), user)
            if fixed is not None:
                return fixed
    if any(restrictions(inferred, symbol)) or any(trial_failures(model, symbol, old, answers)):
        return _fix_reshape(inferred, symbol, old)
    return None


def _fix_reshape(inferred: InferredShapes, symbol: str, old: int) -> ShapeElementChange | None:
    """Replace the old size by 0 in the constant shape of a `Reshape`; 0 copies the input's size.

    Only the first suitable `Reshape` is changed: its constant shape has the old size at the index
    of the symbolic dimension in the input. Return None if no `Reshape` is changed.
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
                if node.inputs[1] not in main.position:
                    return None
                return _set(inferred, main.definition(node.inputs[1])[0], index, 0, node)
    return None


def _set(
    inferred: InferredShapes, item: Any, index: int, number: int, user: Any
) -> ShapeElementChange | None:
    """Set the element `index` of a constant shape to `number`.

    `item` is the initializer or the `Constant` node that stores the shape.

    Return the change; None if the shape is not stored as a list of int64 elements, or has other
    users than the node `user`.
    """
    original = inferred.original(item)
    name = original.name if isinstance(original, ValueInfo) else next(iter(original.outputs), "")
    if _has_other_users(inferred, name, user):
        return None
    title = f"element {index} of `{name}`, the shape given to `{user.op_type}`, is {number} now"
    if isinstance(original, ValueInfo):
        before = original.data
        data = _replace_size(original.type, before, index, number)
        if data is None:
            return None
        original.data = data
        return title, lambda: setattr(original, "data", before)
    attributes = original.attributes
    if original.op_type != "Constant" or len(attributes) != 1:
        return None
    attribute = _changed_attribute(attributes[0], index, number)
    if attribute is None:
        return None
    original.attributes = (attribute,)
    if item is not original:
        item.attributes = original.attributes
    return title, lambda: setattr(original, "attributes", attributes)


def _has_other_users(inferred: InferredShapes, name: str, user: Node) -> bool:
    """Whether a value is used except as one input of `user`; a graph output is a use, too."""
    return any(
        any(value.name == name for value in scope.outputs)
        or any(node.inputs.count(name) > (node is user) for node in scope.nodes)
        for scope in inferred.subject.scopes
    )


def _changed_attribute(attribute: Attribute, index: int, size: int) -> Attribute | None:
    """Replace an element in a copy of an int64 attribute; return None if this is not possible."""
    value = attribute.value
    if isinstance(value, Tensor):
        data = _replace_size(value.type, value.data, index, size)
        return None if data is None else replace(attribute, value=replace(value, data=data))
    if isinstance(value, tuple) and attribute.name == "value_ints" and index < len(value):
        items: Any = (*value[:index], size, *value[index + 1 :])
        return replace(attribute, value=items)
    return None


def _replace_size(type: Any, data: Any, index: int, size: int) -> RawData | TypedData | None:
    """Replace an element in a copy of an int64 tensor's data; return None for other data."""
    if not isinstance(type, TensorType) or type.element != "int64":
        return None
    if isinstance(data, RawData):
        return RawData(_with_element(bytes(data.data), index, size))
    if isinstance(data, TypedData):
        return TypedData(_with_element(data.entries, index, size))
    return None


def _with_element(stored: bytes, index: int, size: int) -> bytes:
    return stored[: 8 * index] + struct.pack("<q", size) + stored[8 * index + 8 :]
