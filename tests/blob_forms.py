# SPDX-License-Identifier: Apache-2.0
"""Create a model whose text has a blob in every possible position and form (SPEC 6.6)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import count

import onnx
from onnx import AttributeProto, GraphProto, TensorProto

SIZE = 40
"""The number of entries of every list: enough for a blob, because all of them differ."""

_ATTRIBUTES = {"floats": AttributeProto.FLOATS, "ints": AttributeProto.INTS}


def every_form() -> onnx.ModelProto:
    """Create the model."""
    model = onnx.ModelProto(ir_version=10)
    model.opset_import.add(version=21)
    numbers = count(0, SIZE)
    graph = model.graph
    graph.name = "g"
    _fill_graph(graph, numbers)
    default = graph.input.add(name="x")
    default.type.tensor_type.elem_type = TensorProto.INT64
    default.type.tensor_type.shape.dim.add(dim_value=SIZE)
    _typed(graph.initializer.add(name="x"), "int64_data", TensorProto.INT64, numbers)
    function = model.functions.add(name="f", domain="d")
    function.opset_import.add(version=21)
    _fill_lists(function.attribute_proto, numbers)
    inner = graph.node.add(op_type="Op", output=["z"]).attribute.add(name="body")
    inner.type = AttributeProto.GRAPH
    inner.g.name = "inner"
    _fill_graph(inner.g, numbers)
    return model


def _fill_graph(graph: GraphProto, numbers: Iterator[int]) -> None:
    for name, field, kind in (
        ("f", "float_data", TensorProto.FLOAT),
        ("d", "double_data", TensorProto.DOUBLE),
        ("i", "int32_data", TensorProto.INT32),
        ("l", "int64_data", TensorProto.INT64),
        ("u", "uint64_data", TensorProto.UINT64),
        ("s", "string_data", TensorProto.STRING),
    ):
        _typed(graph.initializer.add(name=name), field, kind, numbers)
    raw = graph.initializer.add(name="r", dims=[SIZE], data_type=TensorProto.INT32)
    raw.raw_data = struct.pack(f"<{SIZE}i", *_values(numbers))
    sparse = graph.sparse_initializer.add(dims=[10**6])
    _typed(sparse.values, "float_data", TensorProto.FLOAT, numbers)
    sparse.values.name = "sparse"
    _typed(sparse.indices, "int64_data", TensorProto.INT64, numbers)
    node = graph.node.add(op_type="Op", output=["y"])
    _fill_lists(node.attribute, numbers)
    held = node.attribute.add(name="t", type=AttributeProto.TENSOR)
    _typed(held.t, "int64_data", TensorProto.INT64, numbers)
    many = node.attribute.add(name="ts", type=AttributeProto.TENSORS)
    for _ in range(2):
        _typed(many.tensors.add(), "string_data", TensorProto.STRING, numbers)


def _fill_lists(attributes: object, numbers: Iterator[int]) -> None:
    for name, kind in _ATTRIBUTES.items():
        result = attributes.add(name=name, type=kind)  # type: ignore[attr-defined]
        getattr(result, name).extend(_values(numbers))
    strings = attributes.add(name="strings", type=AttributeProto.STRINGS)  # type: ignore[attr-defined]
    strings.strings.extend([b"s%d" % number for number in _values(numbers)])
    long = attributes.add(name="long", type=AttributeProto.STRING)  # type: ignore[attr-defined]
    long.s = b"%d" % next(numbers) * 2000


def _typed(tensor: TensorProto, field: str, kind: int, numbers: Iterator[int]) -> None:
    tensor.dims.append(SIZE)
    tensor.data_type = kind
    values = _values(numbers)
    getattr(tensor, field).extend(
        [b"%d" % number for number in values] if field == "string_data" else values
    )


def _values(numbers: Iterator[int]) -> list[int]:
    start = next(numbers)
    return list(range(start, start + SIZE))
