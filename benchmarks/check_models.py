# SPDX-License-Identifier: Apache-2.0
"""Generate valid models of any size, of several kinds, for `benchmarks.check`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from onnx import AttributeProto, FunctionProto, NodeProto, TensorProto, ValueInfoProto, helper

OPERATORS = (
    "MatMul", "Add", "Relu", "Transpose", "Mul", "Softmax", "LayerNormalization", "Div", "Concat",
    "Identity",
)  # fmt: skip
Shape = list[str | int | None]
SHAPE: Shape = ["batch", 64, 64]
_UNKNOWN: tuple[Shape, ...] = (
    ["batch", None, 64], [None, None, 64], ["batch", "rows", 64], [None, 64, 64],
)  # fmt: skip
_OPSETS = [helper.make_opsetid("", 17)]
_LAYER = 40


def layered(count: int, *, infos: tuple[Shape, ...] = (SHAPE,), quoted: bool = True) -> bytes:
    """Return a model of a chain of layers, with names like those of exporters.

    Args:
        count: the number of nodes.
        infos: the shapes of value infos, in rotation; without shapes there are no value infos.
        quoted: whether names have characters that require quotes.
    """
    separator, dot = ("/", ".") if quoted else ("_", "_")
    nodes: list[NodeProto] = []
    declared: list[ValueInfoProto] = []
    initializers = [_weight(f"model{dot}layers{dot}0{dot}attn{dot}weight", (64, 64), 0)]
    before = "input_ids"
    for index in range(count):
        operator = OPERATORS[index % len(OPERATORS)]
        layer = f"layers{dot}{index // _LAYER}"
        name = f"{separator if quoted else ''}model{separator}{layer}{separator}attn{separator}"
        name += f"{operator}_{index}"
        inputs = [before]
        attributes: dict[str, Any] = {}
        match operator:
            case "MatMul":
                inputs.append(initializers[0].name)
            case "Add" | "Mul" | "LayerNormalization" | "Div":
                weight = f"model{dot}{layer}{dot}attn{dot}weight_{index}"
                inputs.append(weight)
                initializers.append(_weight(weight, (64,), index))
            case "Transpose":
                attributes = {"perm": [0, 1, 2]}
            case "Concat":
                attributes = {"axis": 0}
        if operator in ("Softmax", "LayerNormalization"):
            attributes["axis"] = -1
        before = f"{name}_output_0"
        nodes.append(helper.make_node(operator, inputs, [before], name=name, **attributes))
        if infos:
            declared.append(_value(before, infos[index % len(infos)]))
    shape = infos[0] if infos else SHAPE
    return _model(nodes, ("input_ids", shape), (before, shape), initializers, declared[:-1])


def nested(count: int) -> bytes:
    """Return a model of `If` nodes with branches of ten nodes, which use outer values."""
    nodes = []
    before = "x"
    for index in range(count // 21):
        branches: dict[str, Any] = {}
        for kind in ("then", "else"):
            inner = before
            body = []
            for step in range(10):
                operator = ("Add", "Relu", "Mul", "Identity", "Sigmoid")[step % 5]
                inputs = [inner, "scale"] if operator in ("Add", "Mul") else [inner]
                inner = f"/{kind}_{index}/{operator}_{step}_output_0"
                body.append(helper.make_node(operator, inputs, [inner], f"/{kind}_{index}/{step}"))
            output = helper.make_tensor_value_info(inner, TensorProto.FLOAT, SHAPE)
            branches[f"{kind}_branch"] = helper.make_graph(body, f"{kind}_{index}", [], [output])
        before = f"/If_{index}_output_0"
        nodes.append(helper.make_node("If", ["which"], [before], f"/If_{index}", **branches))
    scale = [_weight("scale", (64,), 2), _weight("which", (), 1, TensorProto.BOOL)]
    return _model(nodes, ("x", SHAPE), (before, SHAPE), scale)


def functions(count: int) -> bytes:
    """Return a model with functions of 36 nodes, each called four times."""
    made = [_function(index) for index in range(max(1, count // 40))]
    nodes = []
    before = "x"
    for index in range(4 * len(made)):
        name = f"/call_{index}"
        nodes.append(
            helper.make_node(
                made[index % len(made)].name, [before], [f"{name}_output_0"], name, domain="local",
                alpha=0.5,
            )
        )  # fmt: skip
        before = f"{name}_output_0"
    return _model(nodes, ("x", SHAPE), (before, SHAPE), functions=made)


def _function(at: int) -> FunctionProto:
    values = ["x", *(f"/block_{at}/step_{step}" for step in range(35)), "y"]
    nodes = []
    for step, (before, name) in enumerate(pairwise(values)):
        operator = "LeakyRelu" if step % 3 else "Relu"
        nodes.append(helper.make_node(operator, [before], [name], f"node_{step}"))
        if step % 3 == 1:
            nodes[-1].attribute.add(name="alpha", ref_attr_name="alpha", type=AttributeProto.FLOAT)
        elif step % 3:
            nodes[-1].attribute.append(helper.make_attribute("alpha", 0.125))
    return helper.make_function("local", f"Block{at}", ["x"], ["y"], nodes, _OPSETS, ["alpha"])


def mixed(count: int) -> bytes:
    """Return a model whose nodes differ in operator, attributes or types."""
    nodes, declared, initializers = [], [], []
    before, width = "x", 64
    for index in range(count):
        number = 1 + index / (2 * count)
        name = f"/mixed/node_{index}"
        operator = _MIXED[index % len(_MIXED)]
        inputs = [before]
        attributes: dict[str, Any] = {"alpha": number}
        match operator:
            case "Gemm":
                attributes |= {"beta": number, "transB": 1}
                inputs.append(f"weight_{index}")
                following = 8 + index % 19
                initializers.append(_weight(inputs[-1], (following, width), index))
                width = following
            case "HardSigmoid":
                attributes |= {"beta": number / 2}
            case "Selu":
                attributes |= {"gamma": number}
            case "Softmax" | "Concat":
                attributes = {"axis": index // len(_MIXED) % 2}
            case "ReduceMean":
                attributes = {"axes": [-1], "keepdims": 1}
                width = 1
            case "Add":
                attributes = {}
                inputs.append(f"bias_{index}")
                width = 8 + index % 19
                initializers.append(_weight(inputs[-1], (width,), index))
        before = f"{name}_output_0"
        nodes.append(helper.make_node(operator, inputs, [before], name, **attributes))
        declared.append(_value(before, ["batch", width]))
    shape: Shape = ["batch", width]
    return _model(nodes, ("x", ["batch", 64]), (before, shape), initializers, declared[:-1])


_MIXED = (
    "LeakyRelu", "Gemm", "Elu", "HardSigmoid", "Selu", "Softmax", "Concat", "ReduceMean", "Add",
    "Celu", "ThresholdedRelu",
)  # fmt: skip


def reshaped(count: int) -> bytes:
    """Return a chain of layers that reshape to computed shapes, as exporters write them."""
    nodes: list[NodeProto] = []
    kind = TensorProto.INT64
    numbers = {"zero": (), "one": (), "axes": (1,), "heads": (1,), "width": (1,)}
    values = {"one": 1, "heads": 4, "width": 16}
    initializers = [_weight(n, dims, values.get(n, 0), kind) for n, dims in numbers.items()]
    before = "x"
    for layer in range(-(-count // len(_RESHAPED))):
        at = f"/layer_{layer}/"
        local = {name: f"{at}{name}" for names in _RESHAPED for name in names[1:]} | {
            name: name for name in numbers
        }
        local["in"] = before
        for operator, *inputs, output in _RESHAPED:
            attributes: dict[str, Any] = {"axis": 0} if operator in ("Gather", "Concat") else {}
            if operator == "Transpose":
                attributes = {"perm": [0, 2, 1, 3]}
            nodes.append(
                helper.make_node(
                    operator, [local[name] for name in inputs], [local[output]], **attributes
                )
            )
        before = local["out"]
    shape: Shape = ["batch", "seq", 64]
    return _model(nodes, ("x", shape), (before, shape), initializers)


_RESHAPED = (
    ("Shape", "in", "s"), ("Gather", "s", "zero", "b"), ("Gather", "s", "one", "l"),
    ("Unsqueeze", "b", "axes", "b1"), ("Unsqueeze", "l", "axes", "l1"),
    ("Concat", "b1", "l1", "heads", "width", "wide"), ("Reshape", "in", "wide", "split"),
    ("Transpose", "split", "turned"), ("Relu", "turned", "same"), ("Transpose", "same", "back"),
    ("Mul", "heads", "width", "all"), ("Concat", "b1", "l1", "all", "flat"),
    ("Reshape", "back", "flat", "out"),
)  # fmt: skip
"""The nodes of a layer: operator, inputs, output."""


def _weight(name: str, dims: tuple[int, ...], value: int, kind: int = TensorProto.FLOAT) -> Any:
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    return helper.make_tensor(name, kind, dims, np.full(dims, value, dtype).tobytes(), raw=True)


def _value(name: str, shape: Shape) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def _model(
    nodes: list[NodeProto],
    given: tuple[str, Shape],
    result: tuple[str, Shape],
    initializers: Any = (),
    infos: Any = (),
    functions: Any = (),
) -> bytes:
    graph = helper.make_graph(
        nodes, "main_graph", [_value(*given)], [_value(*result)], initializers, value_info=infos
    )
    opsets = [*_OPSETS, *([helper.make_opsetid("local", 1)] if functions else [])]
    made: bytes = helper.make_model(
        graph, opset_imports=opsets, ir_version=8, functions=functions
    ).SerializeToString()
    return made


VARIANTS: dict[str, Callable[[int], bytes]] = {
    "layers": layered,
    "no value infos": partial(layered, infos=()),
    "unknown sizes": partial(layered, infos=_UNKNOWN),
    "bare names": partial(layered, quoted=False),
    "functions": functions,
    "nested": nested,
    "mixed": mixed,
    "reshaped": reshaped,
}
"""Generators of models by name."""
