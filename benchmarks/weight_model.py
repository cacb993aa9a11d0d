# SPDX-License-Identifier: Apache-2.0
"""Write the model of `benchmarks.weights` in a new process. The parent has to stay small, because
the peak memory of a process includes its parent's memory at the start.

    python -m benchmarks.weight_model PATH BYTES
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as nh

LAYERS = 24


def write_model(path: Path, size: int) -> None:
    """Write a model with about `size` bytes of weights, layer by layer."""
    random = np.random.default_rng(1)
    rows = max(size // LAYERS // 4096, 1)
    names = [f"layer.{index}.weight" for index in range(LAYERS)]
    nodes = [oh.make_node("Identity", [name], [f"y{at}"]) for at, name in enumerate(names)]
    shape = [rows, 1024]
    outputs = [
        oh.make_tensor_value_info(f"y{at}", onnx.TensorProto.FLOAT, shape) for at in range(LAYERS)
    ]
    tensors = [nh.from_array(random.standard_normal((rows, 1024), np.float32), n) for n in names]
    graph = oh.make_graph(nodes, "g", [], outputs, tensors)
    opsets = [oh.make_opsetid("", 20)]
    onnx.save(oh.make_model(graph, ir_version=10, opset_imports=opsets), path)


if __name__ == "__main__":
    write_model(Path(sys.argv[1]), int(sys.argv[2]))
