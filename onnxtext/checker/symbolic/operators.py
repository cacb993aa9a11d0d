# SPDX-License-Identifier: Apache-2.0
"""Infer symbolic output shapes of operators, and find which dimensions must be equal.

Each inference function takes the `OperatorCall` of a node. It returns the shape of the node's first
output, or the shapes of all its outputs. Unknown shapes and dimensions are None. The function may
also add equations between sizes, and mismatches of the node, to `OperatorCall.sizes`.
"""

from __future__ import annotations

from collections.abc import Callable

from onnxtext.checker.symbolic.operator_call import OperatorCall, Shapes, SymbolicShape
from onnxtext.checker.symbolic.operator_shapes import (
    convolution_and_pooling,
    data_dependent_shapes,
    ml_operators,
    normalization,
    quantized,
    reshape_and_slice,
)
from onnxtext.checker.symbolic.operator_shapes.attention import standard_attention
from onnxtext.checker.symbolic.operator_shapes.data_dependent_shapes import broadcast_pair
from onnxtext.checker.symbolic.operator_shapes.einsum import output_sizes
from onnxtext.checker.symbolic.operator_shapes.input_relations import REDUCTIONS, require_relations
from onnxtext.checker.symbolic.operator_shapes.recurrent import recurrent
from onnxtext.checker.symbolic.sizes.polynomials import Extent, Extents, SymbolicSize, minus
from onnxtext.checker.symbolic.small_tensors import SmallTensors
from onnxtext.checker.symbolic.value_propagation import COMPUTABLE, SOURCES, output_values


def broadcast(call: OperatorCall, shapes: list[Extents]) -> Extents:
    """Return the result of broadcasting shapes; reject the node if they cannot be broadcast.

    The shapes are aligned at the right. In each dimension, the sizes must be equal or 1 (ONNX
    Broadcasting.md).
    """
    dims: list[Extent] = []
    for back in range(1, max(map(len, shapes), default=0) + 1):
        extents = [shape[-back] for shape in shapes if len(shape) >= back]
        sizes = {extent for extent in extents if isinstance(extent, int) and extent != 1}
        if len(sizes) > 1:
            left, right, *_ = sorted(sizes)
            problem = f"dimension -{back} is {left} in one input and {right} in another"
            call.reject(f"{problem}, and neither is 1")
        dims.append(_broadcast_dim(call, extents))
    return tuple(reversed(dims))


def _require_broadcast_to(call: OperatorCall, index: int, target: Extents) -> None:
    """Require that an input can be broadcast to `target` (unidirectional broadcasting)."""
    shape = call.shape(index)
    if shape is None:
        return
    if len(shape) > len(target):
        wrong = f"{{{index}}} has rank {len(shape)} and cannot be broadcast to rank {len(target)}"
        call.reject(wrong)
        return
    for back in range(1, len(shape) + 1):
        size, expected = shape[-back], target[-back]
        if isinstance(size, int) and size != 1:
            names = f"dimension -{back} of {{{index}}}", "the same dimension of the result"
            call.equal(expected, size, names[1], names[0])
        elif isinstance(size, SymbolicSize) and isinstance(expected, int):
            call.require_one_or(size, expected)


def _broadcast_dim(call: OperatorCall, extents: list[Extent]) -> Extent:
    """Broadcast aligned dimensions, whose sizes are `extents`; return the resulting size.

    If the result must be a number, restrict each symbolic dimension to 1 or this number. If two
    symbolic dimensions differ by a number, the smaller one must be 1 (or 0, see below).
    """
    number = call.sizes.number
    not_one = [extent for extent in extents if number(extent) not in (None, 1)]
    size = next((extent for extent in not_one if isinstance(extent, int)), None)
    if size is None and not_one:
        size = number(not_one[0])
    if size is not None:
        for extent in extents:
            if isinstance(extent, SymbolicSize):
                call.require_one_or(extent, size)
        return size if any(isinstance(extent, int) for extent in not_one) else not_one[0]
    others = {call.sizes.root(extent): extent for extent in extents if number(extent) != 1}
    if not others:  # keep a symbol: it may be 1 only because of other nodes
        return next((extent for extent in extents if isinstance(extent, SymbolicSize)), 1)
    result, *rest = others.values()
    if rest:
        call.defer_broadcast(extents)
    for other in rest:
        difference = minus(call.sizes.root(result), call.sizes.root(other))
        smaller = other if isinstance(difference, int) and difference > 0 else result
        if isinstance(difference, int) and isinstance(smaller, SymbolicSize):
            # `H` and `H + 2` fit only if `H` is 1; `H` and `H + 1` also fit if `H` is 0.
            call.require_one_or(smaller, 0 if abs(difference) == 1 else 1)
        result = None if result is None or other is None else broadcast_pair(result, other)
    return result


def _elementwise(call: OperatorCall) -> SymbolicShape:
    shapes = [shape for shape in call.shapes if shape is not None]
    return broadcast(call, shapes) if call.since >= 7 and len(shapes) == len(call.shapes) else None


def _variadic(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of variadic operators such as `Max`.

    Before version 8, all inputs must have the same shape, which is the shape of the output.
    """
    if call.since >= 8:
        return _elementwise(call)
    for index in range(1, len(call.shapes)):
        call.require_same_shape(0, index)
    return call.shape(0)


def _prelu(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `PRelu`.

    In the ONNX specification, only the slope is broadcast. onnxruntime also broadcasts the data,
    so the result is the shape after broadcasting both. Warn about a node that needs this.
    """
    shape, slope, result = call.shape(0), call.shape(1), _elementwise(call)
    if result is None or shape is None or slope is None:
        return shape
    pairs = zip(reversed(shape), reversed(slope), strict=False)
    if len(slope) > len(shape) or any(
        size == 1 and isinstance(other, int) and other != 1 for size, other in pairs
    ):
        call.reject("the slope {1} cannot be broadcast to the shape of {0}", specified=False)
    return result


def _matmul(call: OperatorCall) -> SymbolicShape:
    return matmul_shape(call, call.shape(0), call.shape(1))


def matmul_shape(call: OperatorCall, left: SymbolicShape, right: SymbolicShape) -> SymbolicShape:
    """Return the shape of a matrix product (`MatMul`); None if an input has rank 0 or is unknown.

    The node is rejected if the shapes cannot be multiplied.
    """
    if left is None or right is None:
        return None
    if not left or not right:
        call.reject("an input of the matrix product has rank 0, but needs 1 or more dimensions")
        return None
    call.equal(
        left[-1], right[-2] if len(right) > 1 else right[0],
        "the last dimension of the left matrix", "the number of rows of the right matrix",
    )  # fmt: skip
    rows = left[-2:-1]
    columns = right[-1:] if len(right) > 1 else ()
    return (*broadcast(call, [left[:-2], right[:-2]]), *rows, *columns)


def _einsum(call: OperatorCall) -> SymbolicShape:
    sizes = output_sizes(call)
    return None if sizes is None else tuple([_broadcast_dim(call, extents) for extents in sizes])


def _integer_matmul(call: OperatorCall) -> SymbolicShape:
    quantized.require_matmul_scales(call, (2,), 1, (3,))
    return _matmul(call)


def _quantized_matmul(call: OperatorCall) -> SymbolicShape:
    quantized.require_matmul_scales(call, (1, 2, 6, 7), 3, (4, 5))
    return matmul_shape(call, call.shape(0), call.shape(3))


def _gemm(call: OperatorCall) -> SymbolicShape:
    left, right = call.shape(0), call.shape(1)
    if left is None or right is None or not (call.require_rank(0, 2) and call.require_rank(1, 2)):
        return None
    rows, inner = reversed(left) if call.integer("transA", 0) else left
    other, columns = reversed(right) if call.integer("transB", 0) else right
    call.equal(inner, other, "the number of columns of {0}", "the number of rows of {1}")
    if call.since >= 7:
        _require_broadcast_to(call, 2, (rows, columns))
    return rows, columns


def _reduce(call: OperatorCall) -> SymbolicShape:
    shape = call.shape(0)
    if shape is None:
        return None
    axes = call.integers("axes", 1)
    kept = call.keeps_dims()
    if axes is None and call.has_input(1):
        single = call.shape(1) == (1,)  # else, the axes may be equal
        return (None,) * (len(shape) - (not kept)) if kept or single else None
    if not axes and call.integer("noop_with_empty_axes", 0):
        return shape
    return _reduced(call, shape, axes or tuple(range(len(shape))), kept)


def _reduced(
    call: OperatorCall, shape: Extents, axes: tuple[int, ...], kept: bool
) -> SymbolicShape:
    resolved_axes = call.axes(axes, len(shape)) if shape else []
    if resolved_axes is None:
        return None
    reduced = set(resolved_axes)
    if kept:
        return tuple([1 if axis in reduced else e for axis, e in enumerate(shape)])
    return tuple([e for axis, e in enumerate(shape) if axis not in reduced])


def _arg_reduce(call: OperatorCall) -> SymbolicShape:
    shape = call.shape(0)
    if call.since > 1:
        call.require_min_rank(1, specified=False)
    if not shape:
        return None
    return _reduced(call, shape, (call.integer("axis", 0),), call.keeps_dims())


def _layer_normalized(call: OperatorCall) -> Shapes:
    """Infer the output shapes; reject a scale or bias that cannot be broadcast to the input.

    The mean and the inverse standard deviation, which operators may output after the result, have
    size 1 in the normalized dimensions. These are those from the axis on.
    """
    shape = call.shape(0)
    axis = None if shape is None else call.axis("axis", -1)
    if shape is None or axis is None:
        return (shape,)
    for index in (1, 2):
        _require_broadcast_to(call, index, shape)
    statistics = (*shape[:axis], *(1,) * (len(shape) - axis))
    return shape, statistics, statistics


def _reverse_sequence(call: OperatorCall) -> SymbolicShape:
    """Return the input's shape; check the sequence lengths and the axes of `ReverseSequence`."""
    batch, time = call.integer("batch_axis", 1), call.integer("time_axis", 0)
    shape, lengths, elements = call.shape(0), call.shape(1), call.value(1)
    size = shape[time] if shape is not None and 0 <= time < len(shape) else None
    for length in elements.items if elements is not None else ():
        if isinstance(length, int) and isinstance(size, int) and not 0 <= length <= size:
            problem = f"the length {length} is out of range"
            call.reject(f"{problem}: dimension {time} of {{0}} is {size}")
            break
    if {batch, time} != {0, 1}:
        wrong = f"`batch_axis` is {batch} and `time_axis` is {time}, but one must be 0, the other 1"
        call.reject(wrong, specified=batch == time or max(batch, time) > 1)
    if shape and lengths and 0 <= batch < len(shape):
        call.equal(shape[batch], lengths[0], f"dimension {batch} of {{0}}", "the size of {1}")
    return shape


_SAME = """
    Abs Acos Acosh Asin Asinh Atan Atanh Bernoulli BitwiseNot Cast CastLike Ceil Celu Clip Cos Cosh
    CumSum Dropout Elu Erf Exp EyeLike Floor Gelu HardSigmoid HardSwish Identity IsInf IsNaN LRN
    LeakyRelu Log MeanVarianceNormalization Mish Neg Not RandomNormalLike RandomUniformLike
    Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh
    ThresholdedRelu Trilu
"""
_BROADCAST = """
    Add And BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Max
    Mean Min Mod Mul Or Pow Sub Sum Where Xor
"""
_WITH_CONSTANTS = """
    ConstantOfShape Expand OneHot Pad Range Reshape Resize Slice Split Squeeze Tile TopK Unsqueeze
    Upsample
"""

_SINGLE: dict[str, Callable[[OperatorCall], SymbolicShape]] = {
    **dict.fromkeys(_SAME.split(), lambda call: call.shape(0)),
    **dict.fromkeys(_BROADCAST.split(), _elementwise),
    **dict.fromkeys(("Max", "Mean", "Min", "Sum"), _variadic),
    **dict.fromkeys(REDUCTIONS.split(), _reduce),
    **dict.fromkeys(("ArgMax", "ArgMin"), _arg_reduce),
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool"), convolution_and_pooling.pool),
    **dict.fromkeys(
        ("GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"), convolution_and_pooling.global_pool
    ),
    **dict.fromkeys(("Hardmax", "LogSoftmax", "Softmax"), normalization.along_axis),
    **dict.fromkeys(("QuantizeLinear", "DequantizeLinear"), quantized.quantize_linear),
    **dict.fromkeys(("Resize", "Upsample"), data_dependent_shapes.resize),
    **dict.fromkeys(("Scatter", "ScatterElements"), data_dependent_shapes.scatter_elements),
    "BatchNormalization": normalization.normalization,
    "Concat": reshape_and_slice.concat,
    "Constant": data_dependent_shapes.constant,
    "ConstantOfShape": data_dependent_shapes.constant_of_shape,
    "Conv": convolution_and_pooling.conv,
    "ConvInteger": quantized.conv_integer,
    "ConvTranspose": convolution_and_pooling.conv_transpose,
    "DepthToSpace": convolution_and_pooling.depth_to_space,
    "Einsum": _einsum,
    "Expand": data_dependent_shapes.expand,
    "Flatten": reshape_and_slice.flatten,
    "Gather": reshape_and_slice.gather,
    "GatherElements": data_dependent_shapes.gather_elements,
    "GatherND": data_dependent_shapes.gather_nd,
    "Gemm": _gemm,
    "InstanceNormalization": normalization.instance_normalized,
    "LpNormalization": normalization.along_last_axis,
    "MatMul": _matmul,
    "MatMulInteger": _integer_matmul,
    "NonZero": data_dependent_shapes.non_zero,
    "OneHot": data_dependent_shapes.one_hot,
    "Pad": reshape_and_slice.pad,
    "PRelu": _prelu,
    "QLinearConv": quantized.qlinear_conv,
    "QLinearMatMul": _quantized_matmul,
    "Range": data_dependent_shapes.range_,
    "Reshape": reshape_and_slice.reshape,
    "ReverseSequence": _reverse_sequence,
    "ScatterND": data_dependent_shapes.scatter_nd,
    "Shape": reshape_and_slice.shape_of,
    "Size": lambda call: (),
    "Slice": reshape_and_slice.slice_,
    "SpaceToDepth": convolution_and_pooling.space_to_depth,
    "Squeeze": reshape_and_slice.squeeze,
    "Tile": data_dependent_shapes.tile,
    "Transpose": reshape_and_slice.transpose,
    "Unsqueeze": reshape_and_slice.unsqueeze,
}
"""Maps each operator to the inference function for the shape of its first output."""


def first_output(
    shape: Callable[[OperatorCall], SymbolicShape],
) -> Callable[[OperatorCall], Shapes]:
    """Return an inference function: `shape` infers the first output, the others are unknown."""
    return lambda call: (shape(call),)


DOMAINS = frozenset(("", ml_operators.DOMAIN))
"""The domains of `OPERATORS`: the standard domain and `ai.onnx.ml`."""

OPERATORS: dict[str, Callable[[OperatorCall], Shapes]] = {
    **{name: first_output(shape) for name, shape in _SINGLE.items()},
    **dict.fromkeys(("GRU", "LSTM", "RNN"), recurrent),
    **dict.fromkeys(("LayerNormalization", "RMSNormalization"), _layer_normalized),
    **dict.fromkeys(
        ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"), normalization.cross_entropy
    ),
    "Attention": standard_attention,
    "CausalConvWithState": convolution_and_pooling.causal_conv,
    "DynamicQuantizeLinear": lambda call: (call.shape(0), (), ()),
    "Split": reshape_and_slice.split,
    "TopK": data_dependent_shapes.top_k,
    **ml_operators.LEARNING,
}
"""Maps operators of the domains in `DOMAINS` to the inference functions for all outputs."""
_WITH_AXES = frozenset(("CumSum", "MeanVarianceNormalization"))
SHAPES_ALONE = frozenset((_SAME + _BROADCAST).split()) - _WITH_AXES
"""Operators whose output shapes depend only on input shapes, not on attributes."""
CONSTANT_INPUTS = frozenset((_WITH_CONSTANTS + REDUCTIONS).split())
"""Operators whose output shapes depend on the values of their inputs."""
_WITH_INDICES_OR_LENGTHS = """
    AffineGrid ArrayFeatureExtractor CenterCropPad Col2Im CumProd CumSum DFT Dropout GatherElements
    GatherND MaxUnpool NegativeLogLikelihoodLoss RelativePositionBias ReverseSequence
    RotaryEmbedding STFT ScatterElements ScatterND SoftmaxCrossEntropyLoss TensorScatter
"""
READING_VALUES = CONSTANT_INPUTS | COMPUTABLE | frozenset(_WITH_INDICES_OR_LENGTHS.split())
"""Operators whose output shapes, values or errors depend on the values of their inputs."""


def infer(name: str, call: OperatorCall) -> tuple[Shapes, SmallTensors]:
    """Return the shapes of a node's outputs, and the elements of small outputs.

    Reject the node if its inputs or attributes do not fit. An entry of a tuple is None if it is
    unknown; unknown entries at the end may be left out. `name` is the node's operator, whose domain
    is in `DOMAINS`.
    """
    require_relations(name, call)
    operator = OPERATORS.get(name)
    shapes = tuple(map(_without_negative, operator(call))) if operator is not None else ()
    values = name in COMPUTABLE and (name in SOURCES or any(v is not None for v in call.values))
    return shapes, output_values(name, call, shapes) if values else ()


def _without_negative(shape: SymbolicShape) -> SymbolicShape:
    """Replace negative sizes of a shape, which occur in invalid models, by None."""
    if shape is None or all(not isinstance(size, int) or size >= 0 for size in shape):
        return shape
    return tuple([None if isinstance(size, int) and size < 0 else size for size in shape])


def depends_on_types_alone(name: str, inputs: int) -> bool:
    """Whether the output types of a node depend on the types of its inputs, not on their elements.

    `name` is an operator of the standard domain, and `inputs` the number of the node's inputs. A
    single input is data, not axes or pads. Return False for operators that are not in `OPERATORS`.
    """
    if name in ("Constant", "ConstantOfShape"):
        return False
    return name in OPERATORS and (inputs == 1 or name not in CONSTANT_INPUTS)
