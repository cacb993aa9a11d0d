# SPDX-License-Identifier: Apache-2.0
"""Makes the workspace that the tests in VS Code open: `python workspace.py DIRECTORY`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

EXAMPLES = Path(__file__).parents[3] / "examples"

BROKEN = """\
<
  onnxtext: 1,
  ir_version: 10,
  opset_import: [21],
>
broken (float[N, 4] x) => (float[N, 3] y) <
  float[4, 3] W = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0.5]],
> {
  h = MatMul (x, W)
  y = Sotfmax <axis = -1> (h)
}
"""


def classifier(elements: int) -> onnx.ModelProto:
    """A dense layer; exporters name values like this."""
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((elements // 10, 10), dtype=np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "fc/W:0"], ["fc/out:0"], name="fc"),
        helper.make_node("Softmax", ["fc/out:0"], ["y"], name="softmax", axis=-1),
    ]
    graph = helper.make_graph(
        nodes,
        "classifier",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", elements // 10])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(weights, "fc/W:0")],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 21)], producer_name="workspace", ir_version=10
    )


def blocks(count: int) -> str:
    """The text of a model with about `count` nodes in residual blocks."""
    lines = []
    hidden = "x"
    for number in range(count // 5):
        block = f"b{number}"
        lines += [
            f"  {block}_n = LayerNormalization ({hidden}, scale)",
            f"  {block}_u = MatMul ({block}_n, W)",
            f"  {block}_g = Gelu ({block}_u)",
            f"  {block}_d = MatMul ({block}_g, W)",
            f"  {block} = Add ({hidden}, {block}_d)",
        ]
        hidden = block
    body = "\n".join([*lines, f"  y = Identity ({hidden})"])
    return (
        "<\n  onnxtext: 1,\n  ir_version: 10,\n  opset_import: [21],\n>\n"
        "deep (float[N, 8] x) => (float[N, 8] y) <\n"
        "  float[8] scale = [1, ...],\n  float[8, 8] W = [[0.1, ...], ...],\n"
        f"> {{\n{body}\n}}\n"
    ).replace("[[0.1, ...], ...]", "[0.1, ...]")


def main(directory: Path) -> None:
    """Write the files."""
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("classifier", "collatz", "attention", "convnet"):
        shutil.copy(EXAMPLES / f"{name}.onnxtxt", directory)
    (directory / "broken.onnxtxt").write_text(BROKEN, encoding="utf-8")
    (directory / "messy.onnxtxt").write_text(
        "# kept\n<onnxtext:1,ir_version:10,opset_import:[21]>\ng (float[N]x)=>(float[N]y)"
        "{t=Neg(x) # why\ny=Abs(t)}\n",
        encoding="utf-8",
    )
    (directory / "deep.onnxtxt").write_text(blocks(5000), encoding="utf-8")
    (directory / "README.md").write_text(
        "# A fence\n\n```onnxtxt\ny = Relu <alpha = 1.0> (x)\n```\n", encoding="utf-8"
    )
    onnx.save(classifier(1000), directory / "model.onnx")
    onnx.save(classifier(400_000), directory / "large.onnx")
    (directory / "garbage.onnx").write_bytes(b"this is no model \xff\xfe")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
