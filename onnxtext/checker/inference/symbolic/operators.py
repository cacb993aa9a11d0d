# SPDX-License-Identifier: Apache-2.0
"""Infer symbolic output shapes of operators, and which dimensions must be equal.

Each function takes a node's `OperatorCall` and returns the shapes of its outputs as far as they are
known. Shapes that depend on unknown values are unknown.
"""

from __future__ import annotations

from collections.abc import Callable

from onnxtext.checker.inference.symbolic import computed, layout
from onnxtext.checker.inference.symbolic.call import OperatorCall, SymbolicShape
from onnxtext.checker.inference.symbolic.computed import broadcast_pair
from onnxtext.checker.inference.symbolic.expressions import Extent, Size, minus, plus, times
from onnxtext.checker.inference.symbolic.following import FOLLOWING, SOURCES, followed
from onnxtext.checker.inference.symbolic.layout import axes_of
from onnxtext.checker.inference.symbolic.quotients import quotient, rounded_up
from onnxtext.checker.inference.symbolic.sizes import Extents
from onnxtext.checker.inference.symbolic.values import Value


def broadcast(call: OperatorCall, shapes: list[Extents]) -> Extents:
    """Broadcast shapes: from the right, sizes are equal or 1 (ONNX Broadcasting.md)."""
    made: list[Extent] = []
    for back in range(1, max(map(len, shapes), default=0) + 1):
        made.append(_broadcast(call, [shape[-back] for shape in shapes if len(shape) >= back]))
    return tuple(reversed(made))


def _broadcast(call: OperatorCall, extents: list[Extent]) -> Extent:
    number = call.sizes.number
    known = [extent for extent in extents if number(extent) not in (None, 1)]
    size = next((extent for extent in known if isinstance(extent, int)), None)
    if size is None and known:
        size = number(known[0])
    if size is not None:
        for extent in extents:
            if isinstance(extent, Size):
                call.one_or(extent, size)
        return size if any(isinstance(extent, int) for extent in known) else known[0]
    others = {call.sizes.root(extent): extent for extent in extents if number(extent) != 1}
    if not others:
        return 1
    found, *rest = others.values()
    for other in rest:
        found = None if found is None or other is None else broadcast_pair(found, other)
    return found


def _same(call: OperatorCall) -> SymbolicShape:
    return call.shape(0)


def _elementwise(call: OperatorCall) -> SymbolicShape:
    if call.since < 7 or any(shape is None for shape in call.shapes):
        return None
    return broadcast(call, [shape for shape in call.shapes if shape is not None])


def _matmul(call: OperatorCall) -> SymbolicShape:
    left, right = call.shape(0), call.shape(1)
    return None if left is None or right is None else _multiplied(call, left, right)


def _multiplied(call: OperatorCall, left: Extents, right: Extents) -> SymbolicShape:
    if not left or not right:
        return None
    call.equal(left[-1], right[-2] if len(right) > 1 else right[0])
    rows = left[-2:-1]
    columns = right[-1:] if len(right) > 1 else ()
    return (*broadcast(call, [left[:-2], right[:-2]]), *rows, *columns)


def _quantized_matmul(call: OperatorCall) -> SymbolicShape:
    left, right = call.shape(0), call.shape(3)
    return None if left is None or right is None else _multiplied(call, left, right)


def _gemm(call: OperatorCall) -> SymbolicShape:
    left, right = call.shape(0), call.shape(1)
    if left is None or right is None or len(left) != 2 or len(right) != 2:
        return None
    rows, inner = reversed(left) if call.integer("transA", 0) else left
    other, columns = reversed(right) if call.integer("transB", 0) else right
    call.equal(inner, other)
    added = call.shape(2)
    if call.since >= 7 and added is not None and len(added) <= 2:
        broadcast(call, [(rows, columns), added])
    return rows, columns


def _windowed(call: OperatorCall, spatial: Extents, kernel: Extents) -> Extents:
    """Return the spatial output dimensions of a convolution or pooling."""
    count = len(spatial)
    strides = call.listed("strides", (1,) * count)
    dilations = call.listed("dilations", (1,) * count)
    pads = call.listed("pads", (0,) * (2 * count))
    mode = call.attribute("auto_pad") or b"NOTSET"
    if len(strides) != count or len(dilations) != count or min(strides, default=1) < 1:
        return (None,) * count
    if mode in (b"SAME_UPPER", b"SAME_LOWER"):
        return tuple([rounded_up(e, by) for e, by in zip(spatial, strides, strict=True)])
    if len(kernel) != count or len(pads) != 2 * count or call.integer("ceil_mode", 0):
        return (None,) * count
    made: list[Extent] = []
    for axis, (extent, window) in enumerate(zip(spatial, kernel, strict=True)):
        more = pads[axis] + pads[axis + count] if mode == b"NOTSET" else 0
        span = times(plus(window, -1), dilations[axis])
        steps = minus(plus(extent, more - 1), span)
        made.append(plus(quotient(steps, strides[axis]), 1))
    return tuple(made)


def _conv(call: OperatorCall) -> SymbolicShape:
    shape, weights = call.shape(0), call.shape(1)
    if shape is None or weights is None or len(shape) != len(weights) or len(shape) < 3:
        return None
    groups = call.integer("group", 1)
    if isinstance(weights[1], int):
        call.equal(shape[1], weights[1] * groups)
    elif groups == 1:
        call.equal(shape[1], weights[1])
    bias = call.shape(2)
    if bias is not None and len(bias) == 1:
        call.equal(bias[0], weights[0])
    return _convolved(call, shape, weights)


def _conv_integer(call: OperatorCall) -> SymbolicShape:
    return _convolved(call, call.shape(0), call.shape(1))


def _quantized_conv(call: OperatorCall) -> SymbolicShape:
    return _convolved(call, call.shape(0), call.shape(3))


def _convolved(call: OperatorCall, shape: SymbolicShape, weights: SymbolicShape) -> SymbolicShape:
    if shape is None or weights is None or len(shape) != len(weights) or len(shape) < 3:
        return None
    return (shape[0], weights[0], *_windowed(call, shape[2:], weights[2:]))


def _pool(call: OperatorCall) -> SymbolicShape:
    shape = call.shape(0)
    if shape is None or len(shape) < 3:
        return None
    return (*shape[:2], *_windowed(call, shape[2:], call.listed("kernel_shape", ())))


def _global_pool(call: OperatorCall) -> SymbolicShape:
    shape = call.shape(0)
    return None if shape is None else (*shape[:2], *[1] * (len(shape) - 2))


def _reduce(call: OperatorCall) -> SymbolicShape:
    shape = call.shape(0)
    if shape is None:
        return None
    axes = call.integers("axes", 1)
    kept = call.integer("keepdims", 1)
    if axes is None and call.has_input(1):
        return (None,) * len(shape) if kept else None
    if not axes and call.integer("noop_with_empty_axes", 0):
        return shape
    return _reduced(shape, axes or tuple(range(len(shape))), kept)


def _reduced(shape: Extents, axes: tuple[int, ...], kept: int) -> SymbolicShape:
    reduced = axes_of(axes, len(shape)) if shape else set()
    if reduced is None:
        return None
    if kept:
        return tuple([1 if axis in reduced else e for axis, e in enumerate(shape)])
    return tuple([e for axis, e in enumerate(shape) if axis not in reduced])


def _arg_reduce(call: OperatorCall) -> SymbolicShape:
    shape = call.shape(0)
    if not shape:
        return None
    return _reduced(shape, (call.integer("axis", 0),), call.integer("keepdims", 1))


def _normalized(call: OperatorCall) -> SymbolicShape:
    """Infer normalizations: scale and bias have one entry for each channel."""
    shape = call.shape(0)
    if shape is not None and len(shape) > 1:
        for index in range(1, len(call.shapes)):
            other = call.shape(index)
            if other is not None and len(other) == 1:
                call.equal(shape[1], other[0])
    return shape


_SAME = """
    Abs Acos Acosh Asin Asinh Atan Atanh Bernoulli BitwiseNot Cast CastLike Ceil Celu Clip Cos Cosh
    CumSum DequantizeLinear Dropout Elu Erf Exp EyeLike Floor Gelu HardSigmoid HardSwish Hardmax
    Identity IsInf IsNaN LRN LayerNormalization LeakyRelu Log LogSoftmax LpNormalization
    MeanVarianceNormalization Mish Neg Not PRelu QuantizeLinear RandomNormalLike RandomUniformLike
    Reciprocal Relu ReverseSequence RMSNormalization Round ScatterElements ScatterND Selu Shrink
    Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu Trilu
"""
_BROADCAST = """
    Add And BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Max
    Mean Min Mod Mul Or Pow Sub Sum Where Xor
"""
_REDUCTIONS = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare"

_SINGLE: dict[str, Callable[[OperatorCall], SymbolicShape]] = {
    **dict.fromkeys(_SAME.split(), _same),
    **dict.fromkeys(_BROADCAST.split(), _elementwise),
    **dict.fromkeys([f"Reduce{name}" for name in _REDUCTIONS.split()], _reduce),
    "ArgMax": _arg_reduce,
    "ArgMin": _arg_reduce,
    "AveragePool": _pool,
    "BatchNormalization": _normalized,
    "Concat": layout.concat,
    "Constant": computed.constant_shape,
    "ConstantOfShape": computed.filled,
    "Conv": _conv,
    "ConvInteger": _conv_integer,
    "ConvTranspose": computed.transposed_conv,
    "DepthToSpace": computed.to_space,
    "Expand": computed.expanded,
    "Flatten": layout.flatten,
    "Gather": layout.gather,
    "GatherElements": computed.indices_shape,
    "GatherND": computed.gathered,
    "Gemm": _gemm,
    "GlobalAveragePool": _global_pool,
    "GlobalMaxPool": _global_pool,
    "InstanceNormalization": _normalized,
    "LpPool": _pool,
    "MatMul": _matmul,
    "MatMulInteger": _matmul,
    "MaxPool": _pool,
    "NonZero": computed.found_places,
    "OneHot": computed.one_hot,
    "Pad": layout.padded,
    "QLinearConv": _quantized_conv,
    "QLinearMatMul": _quantized_matmul,
    "Range": computed.ranged,
    "Reshape": layout.reshape,
    "Resize": computed.resized,
    "Shape": layout.shape_of,
    "Size": lambda call: (),
    "Slice": layout.sliced,
    "SpaceToDepth": computed.to_depth,
    "Squeeze": layout.squeeze,
    "Tile": computed.tiled,
    "Transpose": layout.transpose,
    "Unsqueeze": layout.unsqueeze,
    "Upsample": computed.resized,
}
"""The inference function for the shape of an operator's first output."""


def _first(
    shape: Callable[[OperatorCall], SymbolicShape],
) -> Callable[[OperatorCall], tuple[SymbolicShape, ...]]:
    return lambda call: (shape(call),)


OPERATORS: dict[str, Callable[[OperatorCall], tuple[SymbolicShape, ...]]] = {
    **{name: _first(shape) for name, shape in _SINGLE.items()},
    **dict.fromkeys(("GRU", "LSTM", "RNN"), computed.recurrent),
    "DynamicQuantizeLinear": lambda call: (call.shape(0), (), ()),
    "Split": layout.split,
    "TopK": computed.top,
}
"""The inference function of each supported standard operator."""
SHAPES_ALONE = frozenset((_SAME + _BROADCAST).split())
"""Operators whose attributes do not affect shapes."""
CONSTANT_INPUTS = frozenset(
    (
        "ConstantOfShape",
        "Expand",
        "OneHot",
        "Pad",
        "Range",
        "Reshape",
        "Resize",
        "Slice",
        "Split",
        "Squeeze",
        "Tile",
        "TopK",
        "Unsqueeze",
        "Upsample",
    )
) | {f"Reduce{name}" for name in _REDUCTIONS.split()}
"""Operators whose output shapes depend on the values of their inputs."""
FOLLOWING_VALUES = CONSTANT_INPUTS | FOLLOWING
"""Operators for which the values of inputs matter."""


def infer(
    name: str, call: OperatorCall
) -> tuple[tuple[SymbolicShape, ...], tuple[Value | None, ...]]:
    """Return the shapes and the small values of a node's outputs as far as they are known.

    Args:
        name: its operator, of the standard.
        call: the node and its inputs.
    """
    operator = OPERATORS.get(name)
    made = operator(call) if operator is not None else ()
    values = name in FOLLOWING and (name in SOURCES or any(v is not None for v in call.values))
    return made, followed(name, call, made) if values else ()


def depends_on_types_alone(name: str, inputs: int) -> bool:
    """Whether the output types of a node do not depend on the values of its inputs.

    Args:
        name: its operator, of the standard.
        inputs: the number of its inputs; axes and pads are never the first.
    """
    if name in ("Constant", "ConstantOfShape"):
        return False
    return name in OPERATORS and (inputs == 1 or name not in CONSTANT_INPUTS)
