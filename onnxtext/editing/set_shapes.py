# SPDX-License-Identifier: Apache-2.0
"""Change a declared shape, and update all declared shapes that depend on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from onnxtext.ast.compact_form.output_types import place_type
from onnxtext.ast.model import Function, Graph, Model
from onnxtext.ast.types import TensorType, Type
from onnxtext.ast.visit import walk_graphs
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.isolation.inference_client import Answers
from onnxtext.editing.errors import (
    check_integer,
    check_name,
    refused_edit_error,
    unknown_name_error,
)
from onnxtext.editing.infer_from_inputs import InferredShapes, Shape, infer_shapes, with_value
from onnxtext.show_model.paths_between_values import DataFlow
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_fragment

Declaration = tuple[str, Type, Callable[[Type], None]]
"""The name of a value, its declared type, and a function that replaces this type."""


def read_shape(text: str) -> Shape | None:
    """Parse a shape in the syntax of texts, such as `[batch, 3, 224]`.

    Returns:
        The dimensions; None for `[]`, which stands for a shape of unknown rank.

    Raises:
        OnnxTextError: the text is not a shape.
    """
    if text.strip().startswith("["):
        type_ = parse_fragment(Source(f"float{text.strip()}", "<shape>"), "type").item
        if isinstance(type_, TensorType):
            return type_.shape
    raise refused_edit_error(f"`{text}` is not a shape", "write a shape like `[batch, 3, 224]`")


def set_shape(model: Model, name: str, shape: Shape | str | None) -> list[str]:
    """Set the shape of a value of the main graph, and update the declared shapes that depend on it.

    To find dependent shapes, infer all shapes before and after the edit from the declared shapes of
    the inputs alone. If the inferred value of a dimension changes, a declared dimension that is
    equal to the old value gets the new value. If the edit renames a symbolic dimension or gives it
    a size, the symbol is replaced in the types of all graphs.

    Args:
        model: the syntax tree; changed in place.
        name: the name of an input, or of another value with a declared type.
        shape: the dimensions, or their text such as `[batch, 3]`; None removes the shape.

    Returns:
        A sentence for each output that depends on the value and keeps a size that inference cannot
        confirm; none if the value already had this shape.

    Raises:
        OnnxTextError: the value has no declared type, or is not a tensor; the text is not a shape;
            or a size or name cannot be encoded.
    """
    return set_several_shapes(model, [(name, shape)])


def set_several_shapes(model: Model, shapes: Iterable[tuple[str, Shape | str | None]]) -> list[str]:
    """Set the shapes of several values as `set_shape` does, but infer all shapes only twice."""
    answers: Answers = {}
    before = infer_shapes(model, answers=answers)
    types = {name: type for name, type, _ in type_declarations(model.graph)}
    names = set()
    for name, shape in shapes:
        put_shape(model, name, read_shape(shape) if isinstance(shape, str) else shape)
        names.add(name)
    after = infer_shapes(model, answers=answers)
    follow_inference(model, before, after, names)
    declared = type_declarations(model.graph)
    changed = {name for name, type, _ in declared if name in names and type != types[name]}
    return _unconfirmed_outputs(model, after, changed, names)


def _unconfirmed_outputs(
    model: Model, inferred: InferredShapes, changed: set[str], names: set[str]
) -> list[str]:
    """Return a sentence for each output that may have changed, but keeps a size.

    Such an output depends on a value in `changed`, is not in `names`, and has a size that is not in
    `inferred`.
    """
    from onnxtext.printer import print_type

    nodes = model.graph.nodes
    users = DataFlow(model.graph).between(list(changed), ())
    dependent = changed.union(*[nodes[index].outputs for index in users])
    notes = []
    for value in model.graph.outputs:
        if value.name not in dependent - names or not isinstance(value.type, TensorType):
            continue
        declared = value.type.shape or ()
        known = inferred.shapes.get((0, value.name)) or (None,) * len(declared)
        if any(
            isinstance(plain_dim(dim), int) and size is None
            for dim, size in zip(declared, known, strict=False)
        ):
            notes.append(
                f"`{value.name}` keeps the type {print_type(value.type)}, but its shape cannot be "
                "inferred and may have changed"
            )
    return notes


def put_shape(model: Model, name: str, shape: Shape | None) -> None:
    """Set the declared shape of a value of the main graph, without inferring other shapes.

    If the new shape renames a symbolic dimension or gives it a size, replace the symbol in the
    types of all graphs.

    Raises:
        OnnxTextError: the value has no declared type, or is not a tensor; or a size or name of the
            shape cannot be encoded.
    """
    for dim in map(plain_dim, shape or ()):
        if isinstance(dim, str):
            check_name(dim)
        elif dim is not None:
            check_integer(dim)
    declared = list(type_declarations(model.graph))
    chosen = [declaration for declaration in declared if declaration[0] == name]
    if not chosen:
        raise unknown_name_error(
            "declared value", name, [declaration[0] for declaration in declared]
        )
    renamed: dict[str, int | str] = {}
    for _, type, put in chosen:
        if not isinstance(type, TensorType):
            raise refused_edit_error(f"`{name}` is not a tensor")
        renamed |= _renamed_dimensions(type.shape, shape)
        put(replace(type, shape=shape))
    for scope in walk_graphs(model):
        for _, type, put in (
            type_declarations(scope) if isinstance(scope, Graph) and renamed else ()
        ):
            if isinstance(type, TensorType) and type.shape:
                dims = [_map_dim(dim, renamed) for dim in type.shape]
                put(_with_shape(type, tuple(dims)))


def type_declarations(scope: Graph | Function) -> Iterator[Declaration]:
    """Yield a `Declaration` for each typed value of `scope` that has no data."""
    for value in (*scope.inputs, *scope.outputs, *scope.values):
        if value.type is not None and value.data is None:
            yield value.name, value.type, partial(setattr, value, "type")
    for node in scope.nodes:
        for at, (name, type) in enumerate(zip(node.outputs, node.output_types, strict=False)):
            if type is not None:
                yield name, type, partial(place_type, node, at)


def _renamed_dimensions(old: Shape | None, new: Shape | None) -> dict[str, int | str]:
    """Map the changed symbolic dimensions of `old` to their known new names or sizes."""
    result: dict[str, int | str] = {}
    for old_dim, new_dim in zip(old or (), new or (), strict=False):
        before, after = plain_dim(old_dim), plain_dim(new_dim)
        if isinstance(before, str) and before and after not in (before, None):
            result[before] = after
    return result


def _map_dim(dim: Any, renamed: Mapping[str, int | str]) -> Any:
    plain = plain_dim(dim)
    return with_value(dim, renamed[plain]) if isinstance(plain, str) and plain in renamed else dim


def _with_shape(type: TensorType, shape: Shape) -> TensorType:
    return type if type.shape == shape else replace(type, shape=shape)


def follow_inference(
    model: Model, before: InferredShapes, after: InferredShapes, names: set[str]
) -> None:
    """Update the declared shapes in all graphs where an edit changes the inferred shapes.

    Args:
        model: the edited model; changed in place.
        before: the inferred shapes before the edit.
        after: the inferred shapes after the edit.
        names: the names of values of the main graph to skip, because the edit set their shapes.
    """
    for index, scope in enumerate(walk_graphs(model)):
        if not isinstance(scope, Graph):
            continue
        for name, type, put in type_declarations(scope):
            if isinstance(type, TensorType) and not (scope is model.graph and name in names):
                key = index, name
                put(_following(type, before.shapes.get(key), after.shapes.get(key)))


def _following(type: TensorType, before: Shape | None, after: Shape | None) -> TensorType:
    """Return a declared type with updated dimensions; `before` and `after` are inferred shapes.

    A declared dimension that equals the inferred dimension in `before` gets the one in `after`. If
    the inferred rank changed, the new inferred shape replaces the declared shape. If `after` is
    None, all its dimensions count as unknown.
    """
    if type.shape is None or before is None or len(type.shape) != len(before):
        return type
    if after is None:
        after = (None,) * len(before)
    if len(after) != len(before):
        return _with_shape(type, after)
    changed = [
        with_value(dim, plain_dim(new_dim)) if plain_dim(dim) == old_dim != new_dim else dim
        for dim, old_dim, new_dim in zip(type.shape, before, after, strict=True)
    ]
    return _with_shape(type, tuple(changed))
