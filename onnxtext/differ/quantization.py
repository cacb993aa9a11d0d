# SPDX-License-Identifier: Apache-2.0
"""Find the scale and the zero point of quantized weights.

For `DequantizeLinear`, `QLinearMatMul` and `QLinearConv`, scale and zero point are inputs of the
node that uses the weight. Other operators, such as `MatMulInteger`, have no input for the scale.
Their weights are recognized by the names that onnxruntime's quantizer generates: `W_quantized`,
`W_scale` and `W_zero_point`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onnxtext.ast.model import Model, Node, ValueInfo
from onnxtext.ast.visit import walk_graphs

QUANTIZED = "_quantized"


@dataclass(frozen=True, slots=True)
class Quantization:
    """How a weight was quantized.

    Attributes:
        zero_point: the initializer with the zero point; None means that the zero point is 0.
        axis: the axis of the weight along which the scales differ; None if unknown.
    """

    scale: ValueInfo
    zero_point: ValueInfo | None
    axis: int | None


def find_quantizations(model: Model) -> dict[str, Quantization]:
    """Map the name of each quantized weight to its `Quantization`."""
    initializers: dict[str, ValueInfo] = {}
    nodes: list[Node] = []
    for graph in walk_graphs(model):
        for value in (*graph.inputs, *graph.values):
            if value.data is not None:
                initializers.setdefault(value.name, value)
        nodes += graph.nodes
    gathered = {
        node.outputs[0]: node.inputs[0]
        for node in nodes
        if node.op_type == "Gather" and node.inputs and node.outputs
    }
    result: dict[str, Quantization] = {}
    for node in nodes:
        for used, scale, zero_point, axis in _uses(node):
            weight, weight_axis = used, axis
            if used not in initializers and used in gathered:
                weight = gathered[used]
                weight_axis = None  # not `axis`, which counts the axes of Gather's output
            if (
                weight in initializers
                and scale in initializers
                and (not zero_point or zero_point in initializers)
            ):
                zero = initializers.get(zero_point)
                result.setdefault(weight, Quantization(initializers[scale], zero, weight_axis))
    for name in initializers:
        if name.endswith(QUANTIZED) and name not in result:
            base = name.removesuffix(QUANTIZED)
            scale_value = initializers.get(f"{base}_scale")
            if scale_value is not None:
                zero = initializers.get(f"{base}_zero_point")
                result[name] = Quantization(scale_value, zero, None)
    return result


def _uses(node: Node) -> Iterator[tuple[str, str, str, int | None]]:
    """Yield (weight, scale, zero point, axis) of inputs that may be quantized weights.

    An omitted name is "". The axis is None if it is unknown.
    """
    names = (*node.inputs, "", "", "", "", "", "")
    match node.op_type:
        case "DequantizeLinear" if not _attribute(node, "block_size", 0):
            yield names[0], names[1], names[2], _attribute(node, "axis", 1)
        case "QLinearMatMul":
            yield names[0], names[1], names[2], None
            yield names[3], names[4], names[5], None
        case "QLinearConv":
            yield names[3], names[4], names[5], 0


def _attribute(node: Node, name: str, default: int) -> int:
    for attribute in node.attributes:
        if attribute.name == name and isinstance(attribute.value, int):
            return attribute.value
    return default
