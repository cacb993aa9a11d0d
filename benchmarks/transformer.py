# SPDX-License-Identifier: Apache-2.0
"""Generate graphs that look like exported transformers; they cannot be executed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HIDDEN = ("batch", "seq", 64)
HEADS = ("batch", 8, "seq", 8)
SCORES = ("batch", 8, "seq", "seq")


@dataclass(frozen=True, slots=True)
class Step:
    """A node of a layer.

    Attributes:
        path: its path in the layer, which ends with the operator and maybe a number.
        inputs: the paths of its inputs; `x` is the layer before, `#…` an initializer.
        shape: the shape of its output.
        attributes: as `onnx.helper.make_node` takes them.
    """

    path: str
    inputs: tuple[str, ...]
    shape: tuple[str | int, ...] = HIDDEN
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def operator(self) -> str:
        """The operator, `MatMul` of `self_attn/MatMul_1`."""
        return self.path.rpartition("/")[2].partition("_")[0]


def _head(name: str, perm: list[int]) -> tuple[Step, ...]:
    """Return the projection of an attention head."""
    return (
        Step(f"{name}/MatMul", ("norm1/LayerNormalization", f"#{name}.weight")),
        Step(f"{name}/Reshape", (f"{name}/MatMul", "#self_attn.shape"), HEADS, {"allowzero": 0}),
        Step(f"{name}/Transpose", (f"{name}/Reshape",), HEADS, {"perm": perm}),
    )


_NORM: dict[str, Any] = {"axis": -1, "epsilon": 1e-5}
LAYER = (
    Step("norm1/LayerNormalization", ("x", "#norm1.weight", "#norm1.bias"), attributes=_NORM),
    *_head("self_attn/q_proj", [0, 2, 1, 3]),
    *_head("self_attn/k_proj", [0, 2, 3, 1]),
    *_head("self_attn/v_proj", [0, 2, 1, 3]),
    Step("self_attn/MatMul", ("self_attn/q_proj/Transpose", "self_attn/k_proj/Transpose"), SCORES),
    Step("self_attn/Mul", ("self_attn/MatMul", "#self_attn.scale"), SCORES),
    Step("self_attn/Softmax", ("self_attn/Mul",), SCORES, {"axis": -1}),
    Step("self_attn/MatMul_1", ("self_attn/Softmax", "self_attn/v_proj/Transpose"), HEADS),
    Step("self_attn/Transpose", ("self_attn/MatMul_1",), HEADS, {"perm": [0, 2, 1, 3]}),
    Step("self_attn/Reshape", ("self_attn/Transpose", "#self_attn.shape"), HIDDEN),
    Step("Add", ("x", "self_attn/Reshape")),
    Step("norm2/LayerNormalization", ("Add", "#norm2.weight"), attributes=_NORM),
    Step("mlp/Gelu", ("norm2/LayerNormalization",), attributes={"approximate": "tanh"}),
    Step("mlp/Concat", ("mlp/Gelu", "norm2/LayerNormalization"), attributes={"axis": 2}),
    Step("mlp/Clip", ("mlp/Concat",)),
    Step("mlp/LeakyRelu", ("mlp/Clip",), attributes={"alpha": 0.01}),
    Step("mlp/Mul", ("mlp/Gelu", "mlp/LeakyRelu")),
    Step("Cast", ("mlp/Mul",), attributes={"to": TensorProto.FLOAT}),
    Step("Add_1", ("Add", "Cast")),
)
INITIALIZERS = tuple(
    dict.fromkeys(name for step in LAYER for name in step.inputs if name.startswith("#"))
)


class Names:
    """Spells names like PyTorch's exporter or, if `bare`, as identifiers."""

    def __init__(self, *, bare: bool) -> None:
        self._bare = bare

    def node(self, layer: int, path: str) -> str:
        return self._spell(f"/model/layers.{layer}/{path}")

    def value(self, layer: int, path: str) -> str:
        """Return the name of an input of a layer, or of the output of a step."""
        if path.startswith("#"):
            return self._spell(f"model.layers.{layer}.{path[1:].replace('/', '.')}")
        if path == "x":
            return "hidden_states" if layer == 0 else self.value(layer - 1, "Add_1")
        return self.node(layer, path) + "_output_0"

    def _spell(self, name: str) -> str:
        return re.sub(r"\W", "_", name).lstrip("_") if self._bare else name


def transformer(count: int, *, bare: bool = False) -> Iterator[bytes]:
    """Yield a model of `count` nodes, with as many value infos and a third as many initializers."""
    names = Names(bare=bare)
    random = np.random.default_rng(20_000)
    layers = -(-count // len(LAYER))
    steps = [(layer, step) for layer in range(layers) for step in LAYER][:count]
    last = names.value(*_place(steps[-1]))
    graph = helper.make_graph(
        [_node(layer, step, names) for layer, step in steps],
        "main_graph",
        [helper.make_tensor_value_info("hidden_states", TensorProto.FLOAT, HIDDEN)],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, steps[-1][1].shape)],
        [
            _initializer(names.value(layer, name), random)
            for layer in range(layers)
            for name in INITIALIZERS
        ],
        value_info=[
            helper.make_tensor_value_info(
                names.value(*_place(one)), TensorProto.FLOAT, one[1].shape
            )
            for one in steps
        ],
    )
    opsets = [helper.make_opsetid("", 20)]
    model = helper.make_model(
        graph,
        opset_imports=opsets,
        ir_version=10,
        producer_name="pytorch",
        producer_version="2.9.0",
    )
    yield model.SerializeToString(deterministic=True)


def _place(place: tuple[int, Step]) -> tuple[int, str]:
    return place[0], place[1].path


def _node(layer: int, step: Step, names: Names) -> onnx.NodeProto:
    return helper.make_node(
        step.operator,
        [names.value(layer, name) for name in step.inputs],
        [names.value(layer, step.path)],
        names.node(layer, step.path),
        **step.attributes,
    )


def _initializer(name: str, random: np.random.Generator) -> onnx.TensorProto:
    if name.endswith("shape"):
        return numpy_helper.from_array(np.array([0, -1, 8, 8]), name)
    if name.endswith("scale"):
        return numpy_helper.from_array(np.array(0.35355339, np.float32), name)
    return numpy_helper.from_array(random.standard_normal(4, np.float32), name)
