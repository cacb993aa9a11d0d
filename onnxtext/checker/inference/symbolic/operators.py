# SPDX-License-Identifier: Apache-2.0
"""Infer symbolic output shapes of operators, and which dimensions must be equal.

Each function takes a node's `OperatorCall` and returns the shapes of its outputs as far as they are
known. Shapes that depend on unknown values are unknown.
"""

from __future__ import annotations

from collections.abc import Callable

from onnxtext.checker.inference.symbolic import layout
from onnxtext.checker.inference.symbolic.call import OperatorCall, SymbolicShape
from onnxtext.checker.inference.symbolic.layout import axes_of, sum_of
from onnxtext.checker.inference.symbolic.sizes import Extent, Extents, Size


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
    return next(iter(others.values())) if len(others) == 1 else None


def _same(call: OperatorCall) -> SymbolicShape:
    return call.shape(0)


def _elementwise(call: OperatorCall) -> SymbolicShape:
    if call.since < 7 or any(shape is None for shape in call.shapes):
        return None
    return broadcast(call, [shape for shape in call.shapes if shape is not None])


def _matmul(call: OperatorCall) -> SymbolicShape:
    left, right = call.shape(0), call.shape(1)
    if not left or not right:
        return None
    call.equal(left[-1], right[-2] if len(right) > 1 else right[0])
    rows = left[-2:-1]
    columns = right[-1:] if len(right) > 1 else ()
    return (*broadcast(call, [left[:-2], right[:-2]]), *rows, *columns)


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
    if mode not in (b"NOTSET", b"VALID") or len(pads) != 2 * count:
        return (None,) * count
    if len(strides) != count or len(dilations) != count or len(kernel) != count:
        return (None,) * count
    made: list[Extent] = []
    for axis, (extent, window) in enumerate(zip(spatial, kernel, strict=True)):
        more = pads[axis] + pads[axis + count] if mode == b"NOTSET" else 0
        if not isinstance(window, int) or strides[axis] != 1:
            made.append(None)
            continue
        more -= dilations[axis] * (window - 1)
        made.append(sum_of([extent, more]) if extent is not None else None)
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
    Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Cast CastLike Ceil Celu Clip Cos Cosh CumSum
    DequantizeLinear Dropout Elu Erf Exp Floor Gelu HardSigmoid HardSwish Hardmax Identity IsInf
    IsNaN LRN LayerNormalization LeakyRelu Log LogSoftmax LpNormalization MeanVarianceNormalization
    Mish Neg Not QuantizeLinear Reciprocal Relu RMSNormalization Round Selu Shrink Sigmoid Sign Sin
    Sinh Softmax Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu Trilu
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
    "Conv": _conv,
    "Flatten": layout.flatten,
    "Gather": layout.gather,
    "Gemm": _gemm,
    "GlobalAveragePool": _global_pool,
    "GlobalMaxPool": _global_pool,
    "InstanceNormalization": _normalized,
    "LpPool": _pool,
    "MatMul": _matmul,
    "MatMulInteger": _matmul,
    "MaxPool": _pool,
    "Pad": layout.padded,
    "Reshape": layout.reshape,
    "Shape": layout.shape_of,
    "Slice": layout.sliced,
    "Squeeze": layout.squeeze,
    "Transpose": layout.transpose,
    "Unsqueeze": layout.unsqueeze,
}
"""The inference function for the shape of an operator's first output."""


def _first(
    shape: Callable[[OperatorCall], SymbolicShape],
) -> Callable[[OperatorCall], tuple[SymbolicShape, ...]]:
    return lambda call: (shape(call),)


OPERATORS: dict[str, Callable[[OperatorCall], tuple[SymbolicShape, ...]]] = {
    **{name: _first(shape) for name, shape in _SINGLE.items()},
    "Split": layout.split,
}
"""The inference function of each supported standard operator."""
SHAPES_ALONE = frozenset((_SAME + _BROADCAST).split())
"""Operators whose attributes do not affect shapes."""
CONSTANT_INPUTS = frozenset({"Pad", "Reshape", "Slice", "Split", "Squeeze", "Unsqueeze"}) | {
    f"Reduce{name}" for name in _REDUCTIONS.split()
}
"""Operators whose output shapes depend on the values of their inputs."""


def depends_on_types_alone(name: str, inputs: int) -> bool:
    """Whether the output types of a node do not depend on the values of its inputs.

    Args:
        name: its operator, of the standard.
        inputs: the number of its inputs; shapes, axes and pads are never the first.
    """
    return name in OPERATORS and (inputs == 1 or name not in CONSTANT_INPUTS)
