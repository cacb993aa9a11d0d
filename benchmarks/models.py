# SPDX-License-Identifier: Apache-2.0
"""Generate the models of the workloads: the same bytes every time, for the same numpy and onnx.

python -m benchmarks.models WORKLOAD
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.child import write
from benchmarks.real import mixed, small
from benchmarks.transformer import transformer
from benchmarks.workloads import SAMPLE, named

IR_VERSION = 10
OPSET = 20
WIDTH = 16
"""The last dimension of the input and the output of most models."""


def main(name: str) -> None:
    """Generate the files of a workload, all or none; remove those of older versions."""
    workload = named(name)
    workload.forget_older()
    making = workload.directory.with_name(f"making-{os.getpid()}")
    write(making, MAKERS[name](), ".onnx")
    try:
        making.rename(workload.directory)
    except OSError:  # another run was faster
        shutil.rmtree(making)


def small_initializers() -> Iterator[bytes]:
    """Yield a model with many small initializers, ten per node."""
    random = np.random.default_rng(1)
    tensors = []
    for index in range(20_000):
        size = int(random.integers(4, 17))
        values: np.ndarray = random.standard_normal(size, np.float32)
        if index % 3 == 0:
            values = random.integers(-1000, 1000, size)
        tensors.append(numpy_helper.from_array(values, f"onnx::Constant_{index}"))
    names = [tensor.name for tensor in tensors]
    nodes = [
        helper.make_node(
            "Sum", names[index : index + 10], [f"/Sum_{index}_output_0"], f"/Sum_{index}"
        )
        for index in range(0, len(names), 10)
    ]
    yield _model(nodes, tensors)


def layers(count: int) -> Iterator[bytes]:
    """Yield a model of layers: ten nodes with value infos, and three small initializers each."""
    random = np.random.default_rng(5)
    shape: list[str | int | None] = ["batch", 8, "seq"]
    nodes, tensors, infos = [], [], []
    value = "x"
    for index in range(count):
        layer, step = divmod(index, 10)
        inputs = [value]
        if step < 3:
            name = f"layers.{layer}.{('weight', 'shape', 'bias')[step]}"
            floats = random.standard_normal((2, 3) if step == 0 else 8, np.float32)
            array = random.integers(-5, 500, 4) if step == 1 else floats
            tensors.append(numpy_helper.from_array(array, name))
            inputs.append(name)
        attributes: dict[str, Any] = {"axis": -1} if index % 3 == 0 else {}
        if index % 7 == 0:
            attributes |= {"perm": [0, 2, 1, 3], "alpha": 0.5}
        path = f"/model/layers.{layer}/op_{step}"
        value = f"{path}_output_0"
        operator = ("Add", "Softmax", "Transpose")[index % 3]
        nodes.append(helper.make_node(operator, inputs, [value], path, **attributes))
        infos.append(helper.make_tensor_value_info(value, TensorProto.FLOAT, shape))
    ends = [helper.make_tensor_value_info(value, TensorProto.FLOAT, shape)]
    yield _whole(helper.make_graph(nodes, "main_graph", [], ends, tensors, value_info=infos))


def deep_subgraphs(levels: int, count: int) -> Iterator[bytes]:
    """Yield a model of nested `If`s; each takes three of the 100 levels that protobuf reads."""
    branch = _chain(f"level_{levels}", count, [])
    for level in reversed(range(levels)):
        other = _chain(f"level_{level}_else", 5, [])
        node = helper.make_node(
            "If",
            ["condition"],
            [f"/level_{level}/If_output_0"],
            f"/level_{level}/If",
            then_branch=branch,
            else_branch=other,
        )
        branch = _chain(f"level_{level}", count, [node])
    yield _whole(branch)


def functions(count: int) -> Iterator[bytes]:
    """Yield a model of functions with an attribute, which some of their nodes refer to."""
    opsets = [helper.make_opsetid("", OPSET)]
    made = [_function(index, opsets) for index in range(count)]
    values = [f"/call_{index}_output_0" for index in range(4 * len(made) + 1)]
    nodes = [
        helper.make_node(
            made[index % len(made)].name,
            [one],
            [other],
            f"/call_{index}",
            domain="local",
            alpha=0.5,
        )
        for index, (one, other) in enumerate(pairwise(values))
    ]
    yield _model(nodes, [], made)


def _function(at: int, opsets: list[onnx.OperatorSetIdProto]) -> onnx.FunctionProto:
    values = ["x", *(f"/block_{at}/step_{step}" for step in range(11)), "y"]
    nodes = [
        helper.make_node("LeakyRelu" if step % 3 else "Relu", [one], [other], f"node_{step}")
        for step, (one, other) in enumerate(pairwise(values))
    ]
    for node in nodes[1::3]:
        node.attribute.add(name="alpha", ref_attr_name="alpha", type=onnx.AttributeProto.FLOAT)
    for node in nodes[2::3]:
        node.attribute.append(helper.make_attribute("alpha", 0.125))
    return helper.make_function("local", f"Block{at}", ["x"], ["y"], nodes, opsets, ["alpha"])


def long_metadata(count: int) -> Iterator[bytes]:
    """Yield a model with the metadata that torch's exporter adds to every node."""
    nodes = []
    for index in range(count):
        layer = index // 20
        node = helper.make_node(
            "Add", [f"val_{index}", f"val_{index}"], [f"val_{index + 1}"], f"node_{index}"
        )
        scopes = ["", "model", f"model.layers.{layer}", f"model.layers.{layer}.mlp", f"add_{index}"]
        kinds = ["transformers.Model", "torch.nn.ModuleList", "transformers.MLP", "aten.add.Tensor"]
        entries = {
            "namespace": "/".join(f"{one}: {two}" for one, two in zip(scopes, kinds, strict=False)),
            "pkg.torch.onnx.class_hierarchy": repr(kinds),
            "pkg.torch.onnx.fx_node": f"%add_{index} : [num_users=1] = "
            "call_function[target=torch.ops.aten.add.Tensor]"
            f"(args = (%val_{index}, %val_{index}), kwargs = {{}})",
            "pkg.torch.onnx.name_scopes": repr(scopes),
            "pkg.torch.onnx.stack_trace": _stack_trace(index),
        }
        for key, value in entries.items():
            node.metadata_props.add(key=key, value=value)
        nodes.append(node)
    yield _model(nodes, [])


def _stack_trace(at: int) -> str:
    frames = (
        ("modeling.py", 800 + at % 7, "forward", "outputs = self.model(input_ids, **kwargs)"),
        ("modeling.py", 500 + at % 20, "forward", "hidden_states = layer(hidden_states)[0]"),
        ("mlp.py", 20 + at % 50, "forward", 'return self.down(x) + x  # é, "quoted", \\ and \t'),
    )
    return "".join(
        f'File "/usr/lib/python3/site-packages/transformers/{file}", line {line}, in {name}\n'
        f"    {code}\n"
        for file, line, name, code in frames
    )


def weights(tensors: int, rows: int) -> Iterator[bytes]:
    """Yield a model of a few initializers with rows of 4 KiB."""
    random = np.random.default_rng(2)
    made = []
    for index in range(tensors):
        values = random.standard_normal((rows, 1024), np.float32) * np.float32(0.02)
        made.append(numpy_helper.from_array(values, f"model.layers.{index}.weight"))
    nodes = [
        helper.make_node("MatMul", ["x", tensor.name], [f"/MatMul_{index}"])
        for index, tensor in enumerate(made)
    ]
    yield _model(nodes, made)


def small_files() -> Iterator[bytes]:
    """Yield many distinct tiny models."""
    random = np.random.default_rng(3)
    for index in range(1_000):
        tensor = numpy_helper.from_array(random.standard_normal(3, np.float32), f"weight.{index}")
        graph = _chain(f"model_{index}", 1 + index % 5, [], width=3)
        first = graph.node[0]
        first.input.append(tensor.name)
        first.op_type = "Add"
        del first.attribute[:]
        graph.initializer.append(tensor)
        yield _whole(graph, width=3)


def sample() -> Iterator[bytes]:
    """Yield small models that together have a bit of everything."""
    yield from transformer(50)
    yield from deep_subgraphs(1, 2)
    yield from functions(2)
    yield from long_metadata(5)
    yield from weights(2, 1)


def _chain(
    name: str, count: int, after: list[onnx.NodeProto], width: int = WIDTH
) -> onnx.GraphProto:
    """Return a graph with a chain of nodes, and more nodes after it."""
    values = ["x", *(f"/{name}/Softmax_{index}_output_0" for index in range(count))]
    nodes = [
        helper.make_node("Softmax", [one], [other], f"/{name}/Softmax_{index}", axis=-1)
        for index, (one, other) in enumerate(pairwise(values))
    ]
    last = after[-1].output[0] if after else values[-1]
    output = helper.make_tensor_value_info(last, TensorProto.FLOAT, ["N", width])
    return helper.make_graph([*nodes, *after], name, [], [output])


def _model(
    nodes: list[onnx.NodeProto],
    tensors: list[onnx.TensorProto],
    made: list[onnx.FunctionProto] | None = None,
) -> bytes:
    output = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, ["N", WIDTH])
    return _whole(helper.make_graph(nodes, "main_graph", [], [output], tensors), made)


def _whole(
    graph: onnx.GraphProto, made: list[onnx.FunctionProto] | None = None, width: int = WIDTH
) -> bytes:
    graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", width]))
    opsets = [helper.make_opsetid("", OPSET)]
    if made:
        opsets.append(helper.make_opsetid("local", 1))
    model = helper.make_model(
        graph, opset_imports=opsets, ir_version=IR_VERSION, functions=made or []
    )
    data: bytes = model.SerializeToString(deterministic=True)
    return data


MAKERS: dict[str, Callable[[], Iterator[bytes]]] = {
    "transformer-2k": partial(transformer, 2_000),
    "transformer-20k": partial(transformer, 20_000),
    "transformer-20k-bare": partial(transformer, 20_000, bare=True),
    "transformer-200k": partial(transformer, 200_000),
    "layers-2k": partial(layers, 2_000),
    "layers-20k": partial(layers, 20_000),
    "small-initializers": small_initializers,
    "deep-subgraphs": partial(deep_subgraphs, 20, 500),
    "functions-500": partial(functions, 500),
    "long-metadata": partial(long_metadata, 5_000),
    "decimals-32MiB": partial(weights, 8, 1024),
    "blobs-256MiB": partial(weights, 16, 4096),
    "small-files-1000": small_files,
    "mixed": mixed,
    "small-real": small,
    SAMPLE.name: sample,
}
"""The generator of each workload."""


if __name__ == "__main__":
    main(sys.argv[1])
