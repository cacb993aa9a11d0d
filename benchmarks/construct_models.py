# SPDX-License-Identifier: Apache-2.0
"""Generate models of many constructs of one kind, and edits that add items, for `constructs`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

IR_VERSION = 10
OPSET = 20
_RARE_SIZE = 10_000
"""The number of nodes of a model with one rare item."""


def _model(
    nodes: Iterable[NodeProto],
    *,
    initializers: Iterable[TensorProto] = (),
    infos: Iterable[ValueInfoProto] = (),
) -> ModelProto:
    kept = list(nodes)
    output = helper.make_tensor_value_info(kept[-1].output[0], TensorProto.FLOAT, ["N"])
    start = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])
    graph = helper.make_graph(
        kept, "main", [start], [output], list(initializers), value_info=list(infos)
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
    )


def _plain(_: int) -> dict[str, Any]:
    """Return no attributes."""
    return {}


def _nodes(
    count: int, operator: str = "Relu", domain: str = "", attributes: Callable[[int], Any] = _plain
) -> list[NodeProto]:
    """Return a chain of nodes; `attributes` maps the index of a node to its attributes."""
    return [
        helper.make_node(operator, [f"y{i - 1}" if i else "x"], [f"y{i}"], f"node_{i}",
                         domain=domain, **attributes(i))
        for i in range(count)
    ]  # fmt: skip


def _with(attributes: Callable[[int], Any], count: int) -> ModelProto:
    """Return a model of nodes with attributes."""
    return _model(_nodes(count, "Op", "com.example", attributes))


def _tensor(element_type: int, size: int, at: int, name: str = "") -> TensorProto:
    """Return a tensor of drawn values, stored in `raw_data`."""
    random = np.random.default_rng(at)
    dtype = helper.tensor_dtype_to_np_dtype(element_type)
    if element_type in (TensorProto.COMPLEX64, TensorProto.COMPLEX128):
        values = (random.standard_normal(size) + 1j * random.standard_normal(size)).astype(dtype)
    elif np.issubdtype(dtype, np.integer):
        values = random.integers(-100, 100, size).astype(dtype)
    else:
        values = random.standard_normal(size).astype(dtype)
    return helper.make_tensor(name, element_type, [size], values.tobytes(), raw=True)


def _initializers(element_type: int, size: int, count: int) -> ModelProto:
    tensors = [_tensor(element_type, size, at, f"weight_{at}") for at in range(count)]
    return _model(_nodes(1), initializers=tensors)


def _strings(count: int) -> ModelProto:
    tensors = []
    for i in range(count):
        values = [f"a{i}".encode(), b"word", b"c d"]
        tensors.append(
            TensorProto(name=f"t{i}", data_type=TensorProto.STRING, dims=[3], string_data=values)
        )
    return _model(_nodes(1), initializers=tensors)


def _external(count: int) -> ModelProto:
    tensors = []
    for i in range(count):
        tensor = TensorProto(name=f"weight_{i}", data_type=TensorProto.FLOAT, dims=[64, 4 + i])
        tensor.data_location = TensorProto.EXTERNAL
        entries = {"location": "model.data", "offset": i * 4096, "length": 256 * (4 + i)}
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=str(value))
        tensors.append(tensor)
    return _model(_nodes(1), initializers=tensors)


def _constants(size: int, count: int, *, empty_name: bool = False) -> ModelProto:
    nodes = []
    for i in range(count):
        tensor = _tensor(TensorProto.FLOAT if i % 2 else TensorProto.INT64, size, i)
        if not empty_name:
            tensor.ClearField("name")
        nodes.append(helper.make_node("Constant", [], [f"y{i}"], f"node_{i}", value=tensor))
    return _model(nodes)


def _branch(name: str) -> GraphProto:
    """Return a graph of one node, for an attribute."""
    node = helper.make_node("Relu", ["x"], [f"{name}_z"])
    output = helper.make_tensor_value_info(f"{name}_z", TensorProto.FLOAT, ["N"])
    return helper.make_graph([node], name, [], [output])


def _branches(count: int) -> ModelProto:
    def attributes(i: int) -> dict[str, Any]:
        return {"then_branch": _branch(f"then_{i}"), "else_branch": _branch(f"else_{i}")}

    return _model(_nodes(count, "If", attributes=attributes))


def _odd_types(count: int) -> ModelProto:
    """Return a model with types of sequences, maps and optionals, all of different sizes."""
    infos = []
    for i in range(count):
        tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N", i])
        kinds = (
            helper.make_sequence_type_proto(tensor),
            helper.make_map_type_proto(TensorProto.INT64, tensor),
            helper.make_optional_type_proto(tensor),
        )
        infos.append(helper.make_value_info(f"y{i}", kinds[i % 3]))
    return _model(_nodes(count, "Op", "com.example"), infos=infos)


def _typed_outputs(count: int) -> ModelProto:
    infos = [
        helper.make_tensor_value_info(f"y{i}", 1 + i % 7, ["N", i, f"d{i}"]) for i in range(count)
    ]
    return _model(_nodes(count), infos=infos)


def _functions(count: int) -> ModelProto:
    model = _model(
        helper.make_node(f"F{i}", [f"y{i - 1}" if i else "x"], [f"y{i}"], domain="local")
        for i in range(count)
    )
    opsets = [helper.make_opsetid("", OPSET)]
    model.opset_import.append(helper.make_opsetid("local", 1))
    for i in range(count):
        node = helper.make_node("Relu", ["a"], ["b"])
        model.functions.append(helper.make_function("local", f"F{i}", ["a"], ["b"], [node], opsets))
    return model


def _graph_lists(count: int) -> ModelProto:
    def attributes(i: int) -> dict[str, Any]:
        return {"bodies": [_branch(f"body_{i}_{part}") for part in range(3)]}

    return _with(attributes, count)


def _floats(i: int, size: int) -> list[float]:
    return [0.5 + (i * 7 + at * 13) % 1000 / 8 for at in range(size)]


CONSTRUCTS: dict[str, Callable[[int], ModelProto]] = {
    "two small graphs in each `If`": _branches,
    "tensors of strings": _strings,
    "initializers of four elements: float32": partial(_initializers, TensorProto.FLOAT, 4),
    "initializers of four elements: int64": partial(_initializers, TensorProto.INT64, 4),
    "initializers of four elements: float16": partial(_initializers, TensorProto.FLOAT16, 4),
    "initializers of four elements: int8": partial(_initializers, TensorProto.INT8, 4),
    "initializers of four elements: complex64": partial(_initializers, TensorProto.COMPLEX64, 4),
    "blobs of 33 elements of float32": partial(_initializers, TensorProto.FLOAT, 33),
    "blobs of 128 elements of float32": partial(_initializers, TensorProto.FLOAT, 128),
    "blobs of 64 elements of int8": partial(_initializers, TensorProto.INT8, 64),
    "blobs of 64 elements of int64": partial(_initializers, TensorProto.INT64, 64),
    "`Constant` nodes of four elements": partial(_constants, 4),
    "`Constant` nodes of 16 elements": partial(_constants, 16),
    "`Constant` nodes whose tensors store an empty name": partial(_constants, 4, empty_name=True),
    "sequences, maps and optionals": _odd_types,
    "a different type at each output of each node": _typed_outputs,
    "external data, all different": _external,
    "operators of another domain": partial(_with, _plain),
    "functions of one node, each called once": _functions,
    "three attributes a node, all different": partial(
        _with, lambda i: {"axis": i, "alpha": i / 8, "mode": f"mode {i}"}
    ),
    "lists of 20 ints in attributes": partial(
        _with, lambda i: {"ints": [(i * 7 + at) % 1000 for at in range(20)]}
    ),
    "lists of 20 floats in attributes": partial(_with, lambda i: {"floats": _floats(i, 20)}),
    "lists of 100 ints in attributes": partial(
        _with, lambda i: {"ints": [(i * 7 + at) % 1000 for at in range(100)]}
    ),
    "lists of 100 floats in attributes": partial(_with, lambda i: {"floats": _floats(i, 100)}),
    "lists of four strings in attributes": partial(
        _with, lambda i: {"words": [f"word {i} {at}" for at in range(4)]}
    ),
    "lists of three tensors in attributes": partial(
        _with, lambda i: {"tensors": [_tensor(TensorProto.FLOAT, 4, i + at) for at in range(3)]}
    ),
    "lists of three types in attributes": partial(
        _with,
        lambda i: {
            "types": [
                helper.make_tensor_type_proto(TensorProto.FLOAT, [i, at, "N"]) for at in range(3)
            ]
        },
    ),
    "lists of three graphs in attributes": _graph_lists,
}
"""Maps the name of each construct to a function that returns a model of a number of them."""


def _unknown(message: Any) -> None:
    """Add an unknown field of two bytes to a message."""
    message.MergeFromString(b"\xa2\x0f\x02hi")


def _value_info(name: str, model: ModelProto) -> None:
    model.graph.value_info.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N"]))


def _annotation(model: ModelProto) -> None:
    annotation = model.graph.quantization_annotation.add(tensor_name="y5")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="x")


def _doc_string(model: ModelProto) -> None:
    model.graph.node[5].doc_string = "What this node does."


RARE_ITEMS: dict[str, Callable[[ModelProto], None]] = {
    "a doc string of a node": _doc_string,
    "a quantization annotation": _annotation,
    "an unknown field of a node": lambda model: _unknown(model.graph.node[5]),
    "an unknown field of the graph": lambda model: _unknown(model.graph),
    "an unknown field of the model": _unknown,
    "a value info that repeats an input": partial(_value_info, "x"),
    "a value info that repeats an output": partial(_value_info, f"y{_RARE_SIZE - 1}"),
    "a value info that describes no value": partial(_value_info, "nothing"),
    "an unknown field of a value info": lambda model: _unknown(model.graph.value_info[5]),
}
"""Edits that add one rare item to a model of `plain_nodes`, by their names."""


def _node_metadata(model: ModelProto) -> None:
    for i, node in enumerate(model.graph.node):
        node.metadata_props.add(key="origin", value=f"layer {i}")


def _info_metadata(model: ModelProto) -> None:
    for i, info in enumerate(model.graph.value_info):
        info.metadata_props.add(key="origin", value=f"layer {i}")


def _doc_strings(model: ModelProto) -> None:
    for i, node in enumerate(model.graph.node):
        node.doc_string = f"What node {i} does."


def _denotations(model: ModelProto) -> None:
    for i, info in enumerate(model.graph.value_info):
        info.type.tensor_type.shape.dim[0].denotation = f"DIM_{i}"


def _sparse(model: ModelProto) -> None:
    for i in range(len(model.graph.node)):
        values = helper.make_tensor(f"sparse_{i}", TensorProto.FLOAT, [2], [1.0, float(i)])
        indices = helper.make_tensor("", TensorProto.INT64, [2], [1, 3])
        sparse = helper.make_sparse_tensor(values, indices, [8])
        model.graph.sparse_initializer.append(sparse)


def _annotations(model: ModelProto) -> None:
    for i in range(len(model.graph.node)):
        annotation = model.graph.quantization_annotation.add(tensor_name=f"y{i}")
        for key in ("SCALE_TENSOR", "ZERO_POINT_TENSOR"):
            annotation.quant_parameter_tensor_names.add(key=key, value=f"{key}_{i}")


ITEMS: dict[str, Callable[[ModelProto], None]] = {
    "metadata of a node": _node_metadata,
    "metadata of a value info": _info_metadata,
    "a doc string of a node": _doc_strings,
    "a dimension denotation that no other dimension has": _denotations,
    "a sparse initializer": _sparse,
    "a quantization annotation with two entries": _annotations,
}
"""Edits that add an item that the official text lacks to each node or value info."""


def plain_nodes(count: int = _RARE_SIZE, *, typed: bool = False) -> ModelProto:
    """Return a model of nodes without attributes; `typed`: with a value info for each output."""
    infos = [
        helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, ["N"])
        for i in range(count - 1 if typed else 0)
    ]
    return _model(_nodes(count), infos=infos)
