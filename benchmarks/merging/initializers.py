# SPDX-License-Identifier: Apache-2.0
"""Generate random edits of initializers."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from benchmarks.merging.edits import (
    Draw,
    Edit,
    Gone,
    fresh,
    named,
    one,
    owners,
    remove,
    rename,
    reorder,
)


def initializer_edit(model: ModelProto, draw: Draw) -> Edit | None:
    """Return a random edit of an initializer of the main graph or a nested one.

    Return None if the chosen graph has no initializer, or the chosen edit is impossible.
    """
    where = draw.choice(owners(model))
    graph = where(model)
    if not getattr(graph, "initializer", ()):
        return None
    name = draw.choice(graph.initializer).name
    tensor = named(graph.initializer, name)
    kind = draw.choice(list(TENSOR_CHANGES))
    change = TENSOR_CHANGES[kind](tensor, draw)
    if change is None:
        return None

    def run(model: Any) -> None:
        graph = where(model)
        change(one(graph.initializer, name=name), graph)

    return Edit(f"initializer {kind} {name}", run)


def _raw(tensor: Any, draw: Draw) -> Any:
    if not tensor.raw_data:
        return None
    at, byte = draw.randrange(len(tensor.raw_data)), draw.randrange(256)

    def change(tensor: Any, graph: Any) -> None:
        data = bytearray(tensor.raw_data)
        if len(data) <= at:
            raise Gone
        data[at] = byte
        tensor.raw_data = bytes(data)

    return change


def _array(tensor: Any) -> Any:
    try:
        return numpy_helper.to_array(tensor)
    except Exception:
        raise Gone from None


def _retyped(tensor: Any, draw: Draw) -> Any:
    kind = draw.choice([np.float64, np.float32, np.int32])

    def change(tensor: Any, graph: Any) -> None:
        try:
            made = numpy_helper.from_array(_array(tensor).astype(kind), tensor.name)
        except (ValueError, TypeError):
            raise Gone from None
        if tensor.HasField("doc_string"):
            made.doc_string = tensor.doc_string
        tensor.CopyFrom(made)

    return change if not tensor.external_data else None


def _reshaped(tensor: Any, draw: Draw) -> Any:
    def change(tensor: Any, graph: Any) -> None:
        tensor.dims.insert(0, 1)

    return change


def _typed(tensor: Any, draw: Draw) -> Any:
    def change(tensor: Any, graph: Any) -> None:
        if not tensor.raw_data:
            raise Gone
        values = np.frombuffer(tensor.raw_data, "<f4")
        tensor.ClearField("raw_data")
        tensor.float_data.extend(values)

    float_bytes = tensor.data_type == TensorProto.FLOAT and 0 < len(tensor.raw_data) < 4000
    return change if float_bytes and len(tensor.raw_data) % 4 == 0 else None


def _external(tensor: Any, draw: Draw) -> Any:
    place = fresh(draw, "weights")

    def change(tensor: Any, graph: Any) -> None:
        tensor.ClearField("raw_data")
        tensor.ClearField("external_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=place)

    return change


def _tensor_doc(tensor: Any, draw: Draw) -> Any:
    text = fresh(draw, "doc")
    return lambda tensor, graph: setattr(tensor, "doc_string", text)


def _delete_tensor(tensor: Any, draw: Draw) -> Any:
    return lambda tensor, graph: remove(graph.initializer, tensor)


def _rename_tensor(tensor: Any, draw: Draw) -> Any:
    old, new = tensor.name, fresh(draw, "renamed")
    return lambda tensor, graph: rename(graph, old, new)


def _add_tensor(tensor: Any, draw: Draw) -> Any:
    count = draw.choice([1, 3, 100])
    values = np.array([draw.random() for _ in range(count)], np.float32)
    made = numpy_helper.from_array(values, fresh(draw, "weight"))
    return lambda tensor, graph: graph.initializer.append(made)


def _tensor_to_front(tensor: Any, draw: Draw) -> Any:
    def change(tensor: Any, graph: Any) -> None:
        rest = [other for other in graph.initializer if other is not tensor]
        reorder(graph.initializer, [tensor, *rest])

    return change


def _no_info(tensor: Any, draw: Draw) -> Any:
    """Delete the value info of an initializer."""
    name = tensor.name
    return lambda tensor, graph: remove(graph.value_info, one(graph.value_info, name=name))


def _sparse(tensor: Any, draw: Draw) -> Any:
    values = helper.make_tensor(fresh(draw, "sparse"), TensorProto.FLOAT, [1], [draw.random()])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [draw.randrange(9)])
    made = helper.make_sparse_tensor(values, indices, [9])
    return lambda tensor, graph: graph.sparse_initializer.append(made)


TENSOR_CHANGES: dict[str, Any] = {
    "values": _raw,
    "values again": _raw,
    "element": _retyped,
    "shape": _reshaped,
    "typed": _typed,
    "external": _external,
    "doc": _tensor_doc,
    "delete": _delete_tensor,
    "rename": _rename_tensor,
    "add": _add_tensor,
    "to the front": _tensor_to_front,
    "no value info": _no_info,
    "add sparse": _sparse,
}
