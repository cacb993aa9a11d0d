# SPDX-License-Identifier: Apache-2.0
"""How long checking takes beside `onnx.checker.check_model(full_check=True)`, in one run.

    python -m benchmarks.check [NODES…]      default: 20000 200000

Both check the same valid model, in turns; a figure is the least of all rounds, in seconds of the
processor's time (others may use the machine). `tree` is checking the syntax tree, `bytes` is with
lifting the binary to it, which proves that nothing is lost; `text` with parsing, and with encoding
it, which proves that it can be. The official checker gets the bytes, and reads no text.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import onnx.checker
from onnx import TensorProto, helper

import onnxtext
from onnxtext.ast import Model
from onnxtext.checker.run import check_tree
from onnxtext.proto.lift import lift_model

OPERATORS = (
    "MatMul", "Add", "Relu", "Transpose", "Mul", "Softmax", "LayerNormalization", "Div", "Concat",
    "Identity",
)  # fmt: skip
ROUNDS = 9
LARGE = 50_000
SHAPE: list[str | int | None] = ["batch", 64, 64]


def valid_model(count: int) -> bytes:
    """A model that breaks no rule, with as many nodes, each with a value info."""
    nodes, infos, initializers = [], [], []
    before = "input_ids"
    for index in range(count):
        operator = OPERATORS[index % len(OPERATORS)]
        name = f"/model/layers.{index // 40}/attn/{operator}_{index}"
        inputs = [before]
        attributes: dict[str, Any] = {}
        match operator:
            case "MatMul":
                inputs.append("model.layers.0.attn.weight")
            case "Add" | "Mul" | "LayerNormalization" | "Div":
                weight = f"model.layers.{index // 40}.attn.weight_{index}"
                inputs.append(weight)
                data = np.full(64, index, np.float32).tobytes()
                initializers.append(
                    helper.make_tensor(weight, TensorProto.FLOAT, [64], data, raw=True)
                )
            case "Transpose":
                attributes = {"perm": [0, 1, 2]}
            case "Concat":
                attributes = {"axis": 0}
        if operator in ("Softmax", "LayerNormalization"):
            attributes["axis"] = -1
        before = f"{name}_output_0"
        nodes.append(helper.make_node(operator, inputs, [before], name=name, **attributes))
        infos.append(helper.make_tensor_value_info(before, TensorProto.FLOAT, SHAPE))
    data = np.zeros((64, 64), np.float32).tobytes()
    initializers.append(
        helper.make_tensor(
            "model.layers.0.attn.weight", TensorProto.FLOAT, [64, 64], data, raw=True
        )
    )
    graph = helper.make_graph(
        nodes,
        "main_graph",
        [helper.make_tensor_value_info("input_ids", TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info(before, TensorProto.FLOAT, SHAPE)],
        initializers,
        value_info=infos[:-1],
    )
    opsets = [helper.make_opsetid("", 17)]
    made: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    return made


def tasks(data: bytes) -> dict[str, Callable[[], object]]:
    """What is timed, by its name; each checks the same model."""
    tree = lift_model(data)
    text = onnxtext.from_binary(data)
    return {
        "official": partial(onnx.checker.check_model, data, full_check=True),
        "tree": partial(check, tree, data),
        "bytes": partial(onnxtext.check, data),
        "text": partial(onnxtext.check, text),
    }


def check(tree: Model, data: bytes) -> object:
    """Check a syntax tree."""
    return check_tree(tree, encoded=lambda: data)


def measure(count: int) -> dict[str, float]:
    """Seconds of processor time of each task on a model of so many nodes."""
    timed = tasks(valid_model(count))
    best = dict.fromkeys(timed, float("inf"))
    for _ in range(ROUNDS if count < LARGE else 3):
        for name, task in timed.items():
            start = time.process_time()
            found = task()
            best[name] = min(best[name], time.process_time() - start)
            assert not found, found
    return best


def main(counts: list[int]) -> None:
    """Measure, and print a table."""
    before: dict[str, float] = {}
    for count in counts:
        best = measure(count)
        print(f"{count:,} nodes")
        for name, seconds in best.items():
            ratio = seconds / best["official"]
            growth = f"  {seconds / before[name]:5.1f} × before" if before else ""
            print(f"  {name:8} {seconds * 1000:9,.0f} ms  × {ratio:4.2f}{growth}")
        before = best


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [20_000, 200_000])
