# SPDX-License-Identifier: Apache-2.0
"""Make dimensions of inputs symbolic, and update all shapes that depend on them."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.ast.model import Model
from onnxtext.ast.types import TensorType
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.isolation.inference_client import Answers
from onnxtext.editing.errors import refused_edit_error, unknown_name_error
from onnxtext.editing.fix_constant_shapes import fix_one
from onnxtext.editing.infer_from_inputs import Shape, infer_shapes, with_value
from onnxtext.editing.set_shapes import follow_inference, put_shape
from onnxtext.editing.symbolic_obstacles import size_obstacles
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
        with_old_size = infer_shapes(model, {symbol: old or 0}, answers)
        if any(with_old_size.shapes.get(key) != shape for key, shape in before.shapes.items()):
            change.undo()
            break
        notes.append(change.title)
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
