# SPDX-License-Identifier: Apache-2.0
"""Create models to compare from lists of nodes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import onnx

from benchmarks.mutants import graphs
from onnxtext.ast import (
    Attribute,
    AttributeType,
    Graph,
    Model,
    Node,
    OpsetImport,
    Presence,
    TensorType,
    ValueInfo,
)
from onnxtext.differ import ModelDiff, ModelSide, compare

FLOATS = TensorType("float", ("N",))


def model(
    nodes: Sequence[Node], inputs: Sequence[str] = ("x",), outputs: Sequence[str] = ("y",)
) -> Model:
    """Return a model of some nodes."""
    graph = Graph(
        "g",
        [ValueInfo(name, FLOATS) for name in inputs],
        [ValueInfo(name, FLOATS) for name in outputs],
        [],
        list(nodes),
    )
    return Model(graph, presence=Presence(version=1), opset_imports=[OpsetImport(None, 20)])


def diff(old: Model, new: Model) -> ModelDiff:
    return compare(ModelSide(old, "old"), ModelSide(new, "new"))


def diff_of(old: bytes, new: bytes) -> ModelDiff:
    return compare(ModelSide.of_binary(old), ModelSide.of_binary(new))


def axis(value: int) -> tuple[Attribute, ...]:
    return (Attribute("axis", AttributeType.INT, value),)


def chain(count: int, prefix: str = "v", operator: str = "Relu") -> list[Node]:
    """Return a chain of equal nodes."""
    names = ["x", *[f"{prefix}{index}" for index in range(1, count)], "y"]
    return [Node(operator, (names[i],), (names[i + 1],)) for i in range(count)]


OPERATORS = ("Add", "Mul", "Relu", "Tanh", "Concat", "Neg")


def mesh(count: int, seed: int) -> list[Node]:
    """Return the nodes of a random graph without cycles; `Concat` nodes have a random axis."""
    source = random.Random(seed)
    values = ["x"]
    nodes = []
    for index in range(count):
        operator = source.choice(OPERATORS)
        inputs = source.choices(values[-8:], k=2 if operator in ("Add", "Mul", "Concat") else 1)
        output = "y" if index == count - 1 else f"v{index}"
        attributes = axis(source.randrange(20)) if operator == "Concat" else ()
        name = f"node_{index}" if source.random() < 0.5 else None
        nodes.append(Node(operator, tuple(inputs), (output,), attributes, name))
        values.append(output)
    return nodes


def renamed(nodes: Sequence[Node], rename: Callable[[str], str]) -> list[Node]:
    """Return the nodes with renamed values; the graph's input `x` and output `y` are kept."""

    def get(name: str) -> str:
        return name if name in ("", "x", "y") else rename(name)

    return [
        replace(node, inputs=tuple(map(get, node.inputs)), outputs=tuple(map(get, node.outputs)))
        for node in nodes
    ]


def rename_inside(proto: onnx.ModelProto) -> bool:
    """Rename all internal values of a model; return whether there are any."""
    graph = proto.graph
    kept = {value.name for value in (*graph.input, *graph.output)} | {""}
    names: dict[str, str] = {}

    for inner in graphs(graph):
        for name in [name for node in inner.node for name in node.output if name not in kept]:
            names.setdefault(name, f"value::{len(names)}")
    for inner in graphs(graph):
        for node in inner.node:
            node.input[:] = [names.get(name, name) for name in node.input]
            node.output[:] = [names.get(name, name) for name in node.output]
        formals = () if inner is graph else (*inner.input, *inner.output)
        for value in (*inner.value_info, *formals):
            value.name = names.get(value.name, value.name)
        for annotation in inner.quantization_annotation:
            annotation.tensor_name = names.get(annotation.tensor_name, annotation.tensor_name)
            for entry in annotation.quant_parameter_tensor_names:
                entry.value = names.get(entry.value, entry.value)
    return bool(names)
