# SPDX-License-Identifier: Apache-2.0
"""Find input sizes that operators reject, although onnx's shape inference accepts them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import attribute_value
from onnxtext.checker.context.checked_model import plain_domain
from onnxtext.checker.inference.symbolic.small_tensors import SmallTensor
from onnxtext.tensor.element_count import count_elements

Sizes = tuple[int, ...]
Shapes = Sequence[Sizes | None]
_MOST_INPUTS = 9
"""The largest number of inputs that a rule reads; a missing input gets the shape None."""
_CHECKED_DOMAINS = frozenset(("", "ai.onnx.ml", "ai.onnx.preview.training"))
"""Domains in which onnx's inference or a rule below checks all sizes."""
_CHECKED_OPERATORS = frozenset(
    (
        "BiasGelu", "FastGelu", "FusedMatMul", "Gelu", "QLinearAveragePool",
        "QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax",
        "QuickGelu",
    )
)  # fmt: skip
"""Operators of onnxruntime whose inference checks all sizes."""
_BROADCASTING_OPERATORS = frozenset(("QLinearAdd", "QLinearMul"))
"""Operators of onnxruntime that broadcast their inputs 0 and 3 to each other."""


def is_checked(node: Node) -> bool:
    """Whether onnx's inference and `accepts_sizes` together check all input sizes of a node."""
    domain = plain_domain(node.domain)
    return domain in _CHECKED_DOMAINS or (
        domain == "com.microsoft" and node.op_type in _CHECKED_OPERATORS | _BROADCASTING_OPERATORS
    )


def accepts_sizes(node: Node, shapes: Shapes, values: Sequence[SmallTensor | None]) -> bool:
    """Whether a node accepts the known sizes of its inputs; True for operators without a rule.

    Args:
        node: the node; none of its attributes may refer to a parameter of a function.
        shapes: the sizes of each input; None for an input with an unknown size.
        values: the elements of each input; None for an input with unknown or many elements.
    """
    shapes = [*shapes, *[None] * (_MOST_INPUTS - len(shapes))]
    domain = plain_domain(node.domain)
    if domain == "com.microsoft" and node.op_type in _BROADCASTING_OPERATORS:
        return _broadcast(node, [shapes[0], shapes[3]], values)
    rule = _RULES.get(node.op_type) if not domain else None
    return rule is None or rule(node, shapes, values)


def _integer(node: Node, name: str, default: int) -> int:
    value = attribute_value(node.attributes, name)
    return value if isinstance(value, int) else default


def _into(one: Sizes | None, target: Sizes) -> bool:
    """Whether the shape `one` can be broadcast to the shape `target`; True if `one` is None."""
    if one is None:
        return True
    if len(one) > len(target):
        return False
    return all(a in (1, b) for a, b in zip(reversed(one), reversed(target), strict=False))


def _reshape(node: Node, shapes: Shapes, values: Sequence[SmallTensor | None]) -> bool:
    """Whether the input of a `Reshape` has as many elements as the constant shape requires."""
    shape = shapes[0]
    target = values[1].numbers() if len(values) > 1 and values[1] is not None else None
    if shape is None or target is None:
        return True
    copies = not _integer(node, "allowzero", 0)
    sizes = [
        shape[index] if size == 0 and copies and index < len(shape) else size
        for index, size in enumerate(target)
    ]
    rest = count_elements([size for size in sizes if size != -1])
    total = count_elements(shape)
    return total % rest == 0 if -1 in sizes and rest else total == rest


def _gemm(node: Node, shapes: Shapes, values: Sequence[SmallTensor | None]) -> bool:
    left, right = shapes[0], shapes[1]
    if left is None or right is None or len(left) != 2 or len(right) != 2:
        return True
    rows = left[1 if _integer(node, "transA", 0) else 0]
    columns = right[0 if _integer(node, "transB", 0) else 1]
    return _into(shapes[2], (rows, columns))


def _conv(node: Node, shapes: Shapes, values: Sequence[SmallTensor | None]) -> bool:
    """Whether kernel, weights and bias fit the number of channels and each other."""
    transposed = node.op_type == "ConvTranspose"
    quantized = node.op_type == "QLinearConv"
    shape, weights = shapes[0], shapes[3 if quantized else 1]
    if shape is None or weights is None or len(shape) < 3 or len(weights) != len(shape):
        return True
    groups = _integer(node, "group", 1)
    expected = weights[0] if transposed else weights[1] * groups
    channels = weights[1] * groups if transposed else weights[0]
    bias = shapes[8 if quantized else 2] if node.op_type != "ConvInteger" else None
    kernel = attribute_value(node.attributes, "kernel_shape")
    return (
        groups > 0
        and kernel in (None, weights[2:])
        and shape[1] == expected
        and channels % groups == 0
        and bias in (None, (channels,))
    )


def _recurrent(node: Node, shapes: Shapes, values: Sequence[SmallTensor | None]) -> bool:
    """Whether weights, biases and states have the sizes that the operator defines."""
    first = _integer(node, "layout", 0)
    direction = attribute_value(node.attributes, "direction")
    count = 2 if direction == b"bidirectional" else 1
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[node.op_type]
    shape, weights, recurrence = [shapes[index] for index in range(3)]
    hidden = (
        recurrence[2] if recurrence and len(recurrence) == 3 else _integer(node, "hidden_size", 0)
    )
    if shape is None or len(shape) != 3 or not hidden:
        return True
    batch = shape[0 if first else 1]
    state = (batch, count, hidden) if first else (count, batch, hidden)
    expected = [
        (weights, (count, gates * hidden, shape[2])),
        (recurrence, (count, gates * hidden, hidden)),
        (shapes[3], (count, 2 * gates * hidden)),
        (shapes[4], (batch,)),
        (shapes[5], state),
        (shapes[6], state),
        (shapes[7], (count, 3 * hidden)),
    ]
    return all(one is None or one == right for one, right in expected)


def _channels(node: Node, shapes: Shapes, values: Sequence[SmallTensor | None]) -> bool:
    """Whether each parameter of a normalization has one element per channel."""
    shape = shapes[0]
    if shape is None or len(shape) < 2:
        return True
    return all(other is None or other == (shape[1],) for other in shapes[1:])


def _into_first(node: Node, shapes: Shapes, values: Sequence[SmallTensor | None]) -> bool:
    """Whether all inputs can be broadcast to the shape of the first input."""
    shape = shapes[0]
    return shape is None or all(_into(other, shape) for other in shapes[1:])


def _along_axis(node: Node, shapes: Shapes, values: Sequence[SmallTensor | None]) -> bool:
    """Whether scales and zero points have one element, or one for each index along the axis."""
    shape = shapes[0]
    if shape is None or not shape or _integer(node, "block_size", 0):
        return True
    size = shape[_integer(node, "axis", 1) % len(shape)]
    return all(
        other is None or count_elements(other) == 1 or other == (size,) for other in shapes[1:]
    )


def _split(node: Node, shapes: Shapes, values: Sequence[SmallTensor | None]) -> bool:
    """Whether the sizes in `split` add up to the size of the split dimension."""
    shape = shapes[0]
    listed = attribute_value(node.attributes, "split")
    if len(values) > 1 and values[1] is not None:
        listed = values[1].numbers()
    if not shape or not isinstance(listed, tuple):
        return True
    size = shape[_integer(node, "axis", 0) % len(shape)]
    return sum([item for item in listed if isinstance(item, int)]) == size


def _blocks(node: Node, shapes: Shapes, values: Sequence[SmallTensor | None]) -> bool:
    shape, size = shapes[0], _integer(node, "blocksize", 1)
    if shape is None or len(shape) != 4:
        return True
    if size < 1:
        return False
    if node.op_type == "DepthToSpace":
        return shape[1] % (size * size) == 0
    return shape[2] % size == 0 and shape[3] % size == 0


def _same_batch(node: Node, shapes: Shapes, values: Sequence[SmallTensor | None]) -> bool:
    left, right = shapes[0], shapes[1]
    return not left or not right or left[0] == right[0]


def _scatter(node: Node, shapes: Shapes, values: Sequence[SmallTensor | None]) -> bool:
    data, indices, updates = [shapes[index] for index in range(3)]
    if data is None or not indices or updates is None:
        return True
    if node.op_type == "ScatterND":
        return updates == (*indices[:-1], *data[indices[-1] :])
    return updates == indices


def _broadcast(node: Node, shapes: Shapes, values: Sequence[SmallTensor | None]) -> bool:
    """Whether all inputs of known shape can be broadcast to each other."""
    reversed_shapes = [reversed(shape) for shape in shapes if shape is not None]
    return all(len({*sizes} - {1}) <= 1 for sizes in zip_longest(*reversed_shapes, fillvalue=1))


Rule = Callable[[Node, Shapes, Sequence[SmallTensor | None]], bool]
_RULES: dict[str, Rule] = {
    **dict.fromkeys(("Conv", "ConvInteger", "ConvTranspose", "QLinearConv"), _conv),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), _recurrent),
    **dict.fromkeys(("BatchNormalization", "InstanceNormalization"), _channels),
    **dict.fromkeys(("DequantizeLinear", "QuantizeLinear"), _along_axis),
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth"), _blocks),
    **dict.fromkeys(("GridSample", "NonMaxSuppression"), _same_batch),
    **dict.fromkeys(("Max", "Mean", "Min", "Sum", "Where"), _broadcast),
    **dict.fromkeys(("LayerNormalization", "PRelu"), _into_first),
    "Gemm": _gemm,
    **dict.fromkeys(("Scatter", "ScatterElements", "ScatterND"), _scatter),
    "Reshape": _reshape,
    "Split": _split,
}
