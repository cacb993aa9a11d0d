# SPDX-License-Identifier: Apache-2.0
"""Change the shapes of inputs, and all declared shapes that depend on these shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from onnxtext.ast.model import Graph, Model
from onnxtext.ast.types import TensorType, Type
from onnxtext.ast.visit import walk_graphs
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.isolation.pool import Answers
from onnxtext.editing.errors import refused, unknown
from onnxtext.editing.infer_from_inputs import Bare, Shape, infer_bare, with_plain
from onnxtext.editing.make_symbolic import Obstacle, fix_one, obstacles
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_fragment

_MOST_FIXES = 500
Declaration = tuple[str, Type, Callable[[Type], None]]
"""A value, its type, and a function that changes it."""


def read_shape(text: str) -> Shape | None:
    """Parse a shape in the syntax of texts, such as `[batch, 3, 224]`.

    Raises:
        OnnxTextError: the text is no shape.
    """
    made = parse_fragment(Source(f"float{text.strip()}", "<shape>"), "type").item
    if not isinstance(made, TensorType) or not text.strip().startswith("["):
        raise refused(f"`{text}` is no shape", "write a shape like `[batch, 3, 224]`")
    return made.shape


def set_shape(model: Model, name: str, shape: Shape | str | None) -> None:
    """Set the shape of a value of the main graph, and update the declared shapes that depend on it.

    Shapes are inferred from the shapes of the inputs alone, before and after the edit. A declared
    dimension that equals the dimension inferred before is set to the one inferred after. If a
    symbolic dimension gets another name or a size, it is replaced everywhere.

    Args:
        model: the tree; changed in place.
        name: an input, or another value with a declared type.
        shape: the dimensions, or their text; None for no shape.

    Raises:
        OnnxTextError: the graph has no such value, or the value is no tensor.
    """
    if isinstance(shape, str):
        shape = read_shape(shape)
    answers: Answers = {}
    before = infer_bare(model, answers=answers)
    _put(model, name, shape)
    _follow(model, before, infer_bare(model, answers=answers), {name})


def make_symbolic(
    model: Model, dims: Sequence[tuple[str, int]], symbol: str, *, fix: bool = False
) -> list[str]:
    """Make dimensions of inputs symbolic through the whole model.

    Args:
        model: the tree; changed in place.
        dims: inputs of the main graph and indices of their dimensions, all of the same size.
        symbol: the name of the size.
        fix: whether to change numbers in constant shapes that allow only the old size.

    Returns:
        The fixes, as sentences; nodes or sizes that may not fit, each as an `Obstacle`.

    Raises:
        OnnxTextError: an input or dimension does not exist, or `symbol` is not a valid name.
    """
    if not symbol.strip() or symbol.lstrip("-").isdigit():
        raise refused(f"`{symbol}` is no name of a dimension", "choose a name such as `batch`")
    shapes, old = _wanted(model, dims, symbol)
    answers: Answers = {}
    before = infer_bare(model, answers=answers)
    for name, shape in shapes.items():
        _put(model, name, shape)
    names = set(shapes)
    notes: list[str] = []
    now = infer_bare(model, answers=answers)
    _follow(model, before, now, names)
    for _ in range(_MOST_FIXES if fix and old is not None else 0):
        done = fix_one(model, now, symbol, old or 0, answers)
        if done is None:
            break
        again = infer_bare(model, answers=answers)
        same = infer_bare(model, {symbol: old or 0}, answers)
        if any(same.shapes.get(key) != shape for key, shape in before.shapes.items()):
            done.undo()
            break
        notes.append(done.title)
        _follow(model, now, again, names)
        now = again
    if old is not None:
        notes += obstacles(model, now, symbol, old, names, answers)
    return notes


def _wanted(
    model: Model, dims: Sequence[tuple[str, int]], symbol: str
) -> tuple[dict[str, Shape], int | None]:
    """Return the new shapes of inputs, and the old size; None if the size was no number."""
    inputs = {value.name: value for value in model.graph.inputs}
    shapes: dict[str, Shape] = {}
    sizes: dict[int | str | None, str] = {}
    for name, index in dims:
        if name not in inputs:
            raise unknown("input", name, inputs)
        value = inputs[name]
        shape = shapes.get(name) or getattr(value.type, "shape", None)
        if not isinstance(value.type, TensorType) or shape is None:
            raise refused(f"`{name}` is no tensor with a shape")
        if value.data is not None:
            raise refused(f"`{name}` has a default, whose shape is fixed")
        if not -len(shape) <= index < len(shape):
            raise refused(
                f"`{name}` has {len(shape)} dimensions, so dimension {index} does not exist"
            )
        at = index % len(shape)
        sizes.setdefault(plain_dim(shape[at]), f"dimension {at} of `{name}`")
        shapes[name] = (*shape[:at], with_plain(shape[at], symbol), *shape[at + 1 :])
    if len(sizes) > 1:
        said = " and ".join([f"{where} is {size or '?'}" for size, where in sizes.items()])
        raise refused(f"the dimensions have different sizes: {said}")
    (size,) = sizes
    return shapes, size if isinstance(size, int) else None


# ---- Declarations -----------------------------------------------------------------------------


def _put(model: Model, name: str, shape: Shape | None) -> None:
    """Set a declared shape; replace symbolic dimensions that change everywhere."""
    declared = list(declarations(model.graph))
    chosen = [one for one in declared if one[0] == name]
    if not chosen:
        raise unknown("declared value", name, [one[0] for one in declared])
    renamed: dict[str, int | str] = {}
    for _, type, put in chosen:
        if not isinstance(type, TensorType):
            raise refused(f"`{name}` is no tensor")
        renamed |= _renamed(type.shape, shape)
        put(replace(type, shape=shape))
    for scope in walk_graphs(model):
        for _, type, put in declarations(scope) if isinstance(scope, Graph) and renamed else ():
            if isinstance(type, TensorType) and type.shape:
                dims = [_mapped(dim, renamed) for dim in type.shape]
                put(_with_shape(type, tuple(dims)))


def declarations(graph: Graph) -> Iterator[Declaration]:
    """Yield the declared types of a graph."""
    for value in (*graph.inputs, *graph.outputs, *graph.values):
        if value.type is not None and value.data is None:
            yield value.name, value.type, partial(setattr, value, "type")
    for node in graph.nodes:
        for at, (name, type) in enumerate(zip(node.outputs, node.output_types, strict=False)):
            if type is None:
                continue

            def put(type: Type, node: Any = node, at: int = at) -> None:
                types = list(node.output_types)
                types[at] = type
                node.output_types = tuple(types)

            yield name, type, put


def _renamed(old: Shape | None, new: Shape | None) -> dict[str, int | str]:
    """Map the symbolic dimensions of the old shape to the dimensions of the new one."""
    found: dict[str, int | str] = {}
    for one, other in zip(old or (), new or (), strict=False):
        before, after = plain_dim(one), plain_dim(other)
        if isinstance(before, str) and before and after not in (before, None):
            found[before] = after
    return found


def _mapped(dim: Any, renamed: Mapping[str, int | str]) -> Any:
    plain = plain_dim(dim)
    return with_plain(dim, renamed[plain]) if isinstance(plain, str) and plain in renamed else dim


def _with_shape(type: TensorType, shape: Shape) -> TensorType:
    return type if type.shape == shape else replace(type, shape=shape)


def _follow(model: Model, before: Bare, after: Bare, names: set[str]) -> None:
    """Change the declared dimensions that inference computes differently after the edit."""
    for number, scope in enumerate(walk_graphs(model)):
        if not isinstance(scope, Graph):
            continue
        for name, type, put in declarations(scope):
            if isinstance(type, TensorType) and not (scope is model.graph and name in names):
                key = number, name
                put(_following(type, before.shapes.get(key), after.shapes.get(key)))


def _following(type: TensorType, before: Shape | None, after: Shape | None) -> TensorType:
    """Return a declared type with the dimensions that inference changed."""
    if type.shape is None or before is None or len(type.shape) != len(before):
        return type
    if after is None:
        after = (None,) * len(before)
    if len(after) != len(before):
        return _with_shape(type, after)
    changed = [
        with_plain(dim, plain_dim(other)) if plain_dim(dim) == one != other else dim
        for dim, one, other in zip(type.shape, before, after, strict=True)
    ]
    return _with_shape(type, tuple(changed))


__all__ = ["Obstacle", "make_symbolic", "read_shape", "set_shape"]
