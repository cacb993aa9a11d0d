# SPDX-License-Identifier: Apache-2.0
"""Generate random edits of inputs, outputs and value infos."""

from __future__ import annotations

from typing import Any

from onnx import ModelProto, TensorProto, helper

from benchmarks.merging.edits import (
    Draw,
    Edit,
    Gone,
    fresh,
    metadata_change,
    named,
    one,
    owners,
    remove,
    rename,
    reorder,
)


def value_edit(model: ModelProto, draw: Draw) -> Edit | None:
    """Return a random edit of an input, output or value info; None if it is impossible."""
    where = draw.choice(owners(model))
    graph = where(model)
    field = draw.choice(["input", "output", "value_info", "value_info"])
    items = getattr(graph, field, ())
    items = [item for item in items if not isinstance(item, str)]
    if not items:
        return None
    name = draw.choice(items).name
    kind = draw.choice(list(VALUE_CHANGES))
    change = VALUE_CHANGES[kind](named(items, name), draw)
    if change is None:
        return None

    def run(model: Any) -> None:
        graph = where(model)
        items = getattr(graph, field)
        change(one(items, name=name), items, graph)

    return Edit(f"{field} {kind} {name}", run)


def _dim(value: Any, draw: Draw) -> Any:
    dims = value.type.tensor_type.shape.dim
    if not dims:
        return None
    at, size = draw.randrange(len(dims)), draw.choice([draw.randrange(1, 99), "N", "batch"])

    def change(value: Any, items: Any, graph: Any) -> None:
        dims = value.type.tensor_type.shape.dim
        if len(dims) <= at:
            raise Gone
        dims[at].Clear()
        if isinstance(size, int):
            dims[at].dim_value = size
        else:
            dims[at].dim_param = size

    return change


def _rank(value: Any, draw: Draw) -> Any:
    def change(value: Any, items: Any, graph: Any) -> None:
        value.type.tensor_type.shape.dim.add(dim_value=7)

    return change if value.type.HasField("tensor_type") else None


def _no_shape(value: Any, draw: Draw) -> Any:
    def change(value: Any, items: Any, graph: Any) -> None:
        value.type.tensor_type.ClearField("shape")

    return change if value.type.tensor_type.HasField("shape") else None


def _element(value: Any, draw: Draw) -> Any:
    element = draw.choice([TensorProto.DOUBLE, TensorProto.INT64, TensorProto.FLOAT16])

    def change(value: Any, items: Any, graph: Any) -> None:
        value.type.tensor_type.elem_type = element

    return change if value.type.HasField("tensor_type") else None


def _value_doc(value: Any, draw: Draw) -> Any:
    text = draw.choice(["", fresh(draw, "doc")])
    return lambda value, items, graph: setattr(value, "doc_string", text)


def _denotation(value: Any, draw: Draw) -> Any:
    text = fresh(draw, "D")
    return lambda value, items, graph: setattr(value.type, "denotation", text)


def _value_metadata(value: Any, draw: Draw) -> Any:
    change = metadata_change(value, draw)
    return lambda value, items, graph: change(value)


def _delete_value(value: Any, draw: Draw) -> Any:
    return lambda value, items, graph: remove(items, value)


def _add_value(value: Any, draw: Draw) -> Any:
    name = fresh(draw, "value")
    made = helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, "N"])
    at_end = draw.random() < 0.5

    def change(value: Any, items: Any, graph: Any) -> None:
        order = [*items, made] if at_end else [made, *items]
        reorder(items, order)

    return change


def _rename_value(value: Any, draw: Draw) -> Any:
    old, new = value.name, fresh(draw, "renamed")
    return lambda value, items, graph: rename(graph, old, new)


def _swap_values(value: Any, draw: Draw) -> Any:
    def change(value: Any, items: Any, graph: Any) -> None:
        rest = [item for item in items if item is not value]
        reorder(items, [value, *rest])

    return change


VALUE_CHANGES: dict[str, Any] = {
    "dim": _dim,
    "dim again": _dim,
    "rank": _rank,
    "no shape": _no_shape,
    "element": _element,
    "doc": _value_doc,
    "denotation": _denotation,
    "metadata": _value_metadata,
    "delete": _delete_value,
    "delete again": _delete_value,
    "add": _add_value,
    "rename": _rename_value,
    "to the front": _swap_values,
}
