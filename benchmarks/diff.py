# SPDX-License-Identifier: Apache-2.0
"""Compare the time of comparing two models with that of reading them.

    python -m benchmarks.diff [NODES…]      default: 20000

Two models that differ in ten nodes are read and compared; a figure is the minimum of all rounds.
`reading` is the time for both models: for binaries, decoding them and verifying that nothing is
lost; for texts, parsing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import onnx
from onnx import helper

import onnxtext
from benchmarks.transformer import transformer
from onnxtext.differ import ModelSide, compare
from onnxtext.io.memory import paused_collector

ROUNDS = 5

EDITS = [
    ("changed", "/model/layers.4/norm1/LayerNormalization"),
    ("changed", "/model/layers.80/norm1/LayerNormalization"),
    ("added", "added_between"),
    ("removed", "/model/layers.200/norm1/LayerNormalization"),
    ("changed", "/model/layers.240/norm1/LayerNormalization"),
    ("changed", "/model/layers.280/norm1/LayerNormalization"),
    ("moved", "/model/layers.320/self_attn/q_proj/MatMul"),
    ("changed", "/model/layers.360/norm1/LayerNormalization"),
    ("changed", "/model/layers.400/norm1/LayerNormalization"),
    ("added", "added_at_the_end"),
]
"""The edits: (kind, name of the node), in the order of the nodes."""


def edited_models(count: int) -> tuple[bytes, bytes]:
    """Return a model, and the model after the edits."""
    old = b"".join(transformer(count))
    model = onnx.ModelProto.FromString(old)
    return old, _edit(model).SerializeToString()


def _edit(model: onnx.ModelProto) -> onnx.ModelProto:
    nodes = model.graph.node
    by_name = {node.name: node for node in nodes}
    by_name[EDITS[0][1]].op_type = "RMSNormalization"
    by_name[EDITS[1][1]].attribute[0].i = 1
    by_name[EDITS[4][1]].input[0] = nodes[3].output[0]
    by_name[EDITS[5][1]].doc_string = "Looked at."
    by_name[EDITS[7][1]].domain = "com.example"
    by_name[EDITS[8][1]].attribute.append(helper.make_attribute("stash_type", 1))
    # Move a node, remove one, and add two.
    moved = onnx.NodeProto()
    moved.CopyFrom(by_name[EDITS[6][1]])
    nodes.remove(moved)
    place = list(nodes).index(by_name["/model/layers.320/self_attn/v_proj/MatMul"])
    nodes.insert(place + 1, moved)
    nodes.remove(by_name[EDITS[3][1]])
    value = by_name["/model/layers.120/norm1/LayerNormalization"]
    added = helper.make_node("Identity", [value.output[0]], ["added"], "added_between")
    nodes.insert(list(nodes).index(value) + 1, added)
    nodes.append(helper.make_node("Identity", ["added"], ["added_too"], "added_at_the_end"))
    return model


def measure(count: int) -> None:
    """Print the figures for models of `count` nodes."""
    binaries = edited_models(count)
    texts = [onnxtext.from_binary(data) for data in binaries]
    readers: dict[str, Callable[[], list[ModelSide]]] = {
        "binary": lambda: [ModelSide.of_binary(data) for data in binaries],
        "text": lambda: [ModelSide.of_text(text) for text in texts],
    }
    for name, read in readers.items():
        reading = comparing = float("inf")
        for _ in range(ROUNDS):
            with paused_collector():
                start = time.perf_counter()
                sides = read()
                middle = time.perf_counter()
                made = compare(*sides)
                end = time.perf_counter()
            reading = min(reading, middle - start)
            comparing = min(comparing, end - middle)
            found = len(made.items)
            del sides, made
        print(
            f"{count} nodes, {name}: reading both {1000 * reading:.0f} ms, comparing "
            f"{1000 * comparing:.0f} ms, together {(reading + comparing) / reading:.2f} times "
            f"reading; {found} differences"
        )


if __name__ == "__main__":
    for argument in sys.argv[1:] or ["20000"]:
        measure(int(argument))
