# SPDX-License-Identifier: Apache-2.0
"""Infer symbolic output shapes of convolutions and pooling, and check their inputs."""

from __future__ import annotations

from collections.abc import Callable
from operator import ge

from onnxtext.checker.symbolic.operator_call import OperatorCall, Shapes, SymbolicShape
from onnxtext.checker.symbolic.sizes.polynomials import Extent, Extents, minus, plus, times
from onnxtext.checker.symbolic.sizes.quotients import quotient, quotient_rounded_up


def windowed(call: OperatorCall, spatial: Extents, kernel: Extents) -> Extents:
    """Return the spatial output dimensions of a convolution or pooling; None where unknown.

    `spatial` are the spatial dimensions of the input, and `kernel` the dimensions of the kernel.
    Reject the node if a list attribute has a wrong length, or if the kernel is too large for the
    padded input.
    """
    count = len(spatial)
    strides = call.listed("strides", (1,) * count)
    dilations = call.listed("dilations", (1,) * count)
    pads = call.listed("pads", (0,) * (2 * count))
    mode = call.attribute("auto_pad") or b"NOTSET"
    require_counts(call, count)
    if len(strides) != count or len(dilations) != count or min(strides, default=1) < 1:
        return (None,) * count
    if mode in (b"SAME_UPPER", b"SAME_LOWER"):
        return tuple([quotient_rounded_up(e, by) for e, by in zip(spatial, strides, strict=True)])
    if len(kernel) != count or len(pads) != 2 * count:
        return (None,) * count
    dims: list[Extent] = []
    for axis, (extent, window) in enumerate(zip(spatial, kernel, strict=True)):
        first, last = (pads[axis], pads[axis + count]) if mode == b"NOTSET" else (0, 0)
        span = times(plus(window, -1), dilations[axis])
        steps = minus(plus(extent, first + last - 1), span)
        by = strides[axis]
        min_steps = 0 if call.node.op_type in _NEVER_EMPTY else 1 - 2 * by
        if isinstance(steps, int) and steps < min_steps:
            call.reject(f"the window is larger than the padded dimension {axis + 2} of {{0}}")
        if call.integer("ceil_mode", 0):
            dims.append(_ceil_window_count(steps, by, plus(extent, first)))
        else:
            # onnx and onnxruntime round the quotient toward 0.
            rounded = quotient_rounded_up if isinstance(steps, int) and steps < 0 else quotient
            dims.append(plus(rounded(steps, by), 1))
    return tuple(dims)


def require_counts(call: OperatorCall, count: int) -> None:
    """Require the lists of a convolution or pooling to fit `count` spatial dimensions."""
    axes = "the number of spatial dimensions"
    for name, size, expected in (
        ("strides", count, axes),
        ("dilations", count, axes),
        ("pads", 2 * count, f"twice {axes}"),
    ):
        given = len(call.listed(name, (0,) * size))
        call.equal(given, size, f"the number of `{name}`", expected)


_NEVER_EMPTY = ("Conv", "ConvInteger", "FusedConv", "QLinearConv")
"""Operators whose output must not be empty in onnxruntime; a pooling may have an empty output."""


def _ceil_window_count(steps: Extent, by: int, end: Extent) -> Extent:
    """Return the number of windows for `ceil_mode`; no window starts in the pads at the end.

    `steps` is the last offset at which a window fits, `by` is the stride, and `end` is the offset
    of the pads at the end.
    """
    count = plus(quotient_rounded_up(steps, by), 1)
    if not isinstance(count, int) or not isinstance(end, int):
        return None
    return count - 1 if (count - 1) * by >= end else count


_BOTH_PADS = "`auto_pad` and `pads` are both given, but only one of them is allowed"


def _of_weights(weights: int, bias: int | None = None) -> Callable[[OperatorCall], SymbolicShape]:
    """Return a function that infers the output shape of a convolution and checks its inputs.

    `weights` and `bias` are the indices of inputs; `bias` is None if the operator has no bias.
    """

    def infer(call: OperatorCall) -> SymbolicShape:
        automatic = call.attribute("auto_pad") not in (None, b"", b"NOTSET")
        if automatic and call.attribute("pads") is not None:
            call.reject(_BOTH_PADS)
        shape, kernel = call.shape(0), call.shape(weights)
        if shape is None or kernel is None or not call.require_rank(0, len(kernel)):
            return None
        if len(kernel) < 3:
            return None
        groups = call.integer("group", 1)
        channels = "dimension 1 of {0}", f"dimension 1 of {{{weights}}} times `group`"
        if isinstance(kernel[1], int):
            call.equal(shape[1], kernel[1] * groups, *channels)
        elif groups == 1:
            call.equal(shape[1], kernel[1])
        if bias is not None:
            call.require_vector(bias, kernel[0], f"dimension 0 of {{{weights}}}")
        if groups > 0:
            call.require_multiple(weights, 0, groups, "`group`")
        require_kernel(call, kernel[2:], weights)
        return (shape[0], kernel[0], *windowed(call, shape[2:], kernel[2:]))

    return infer


def require_kernel(call: OperatorCall, kernel: Extents, weights: int) -> None:
    """Require `kernel_shape` to be `kernel`, the spatial dimensions of the input `weights`."""
    declared = call.listed("kernel_shape", ())
    entries = "the number of entries of `kernel_shape`"
    if declared or call.attribute("kernel_shape") == ():
        call.equal(len(declared), len(kernel), entries, "the number of spatial dimensions")
    if len(declared) == len(kernel):
        for axis, (expected, size) in enumerate(zip(declared, kernel, strict=True)):
            names = f"entry {axis} of `kernel_shape`", f"dimension {axis + 2} of {{{weights}}}"
            call.equal(size, expected, names[1], names[0])


conv = _of_weights(1, 2)
conv_integer = _of_weights(1)
quantized_conv = _of_weights(3, 8)


def pool(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `MaxPool`, `AveragePool` or `LpPool`; check the kernel and pads."""
    shape = call.shape(0)
    if shape is None or len(shape) < 3:
        return None
    kernel, pads = call.listed("kernel_shape", ()), call.listed("pads", ())
    if any(pads) and call.attribute("auto_pad") not in (None, b"", b"NOTSET"):
        call.reject(_BOTH_PADS, specified=False)
        return (*shape[:2], *(None,) * (len(shape) - 2))  # onnx adds the pads, runtimes do not
    if len(pads) == 2 * len(kernel) and any(map(ge, pads, kernel * 2)):
        wrong = f"`pads` is {list(pads)}, and `kernel_shape` is {list(kernel)}"
        call.reject(f"{wrong}; onnxruntime needs pads smaller than the kernel", specified=False)
    return (*shape[:2], *windowed(call, shape[2:], kernel))


def causal_conv(call: OperatorCall) -> Shapes:
    """Infer the output shapes of `CausalConvWithState`; require symbolic sizes to fit.

    onnx checks sizes that are numbers. The state has an entry less than the kernel.
    """
    shape, kernel = call.shape(0), call.shape(1)
    if shape is None or kernel is None or len(shape) != 3 or len(kernel) != 3:
        return (shape,)
    state = (*shape[:2], plus(kernel[2], -1))
    call.equal(kernel[0], shape[1])
    for left, right in zip(call.shape(3) or (), state, strict=False):
        call.equal(left, right)
    return shape, state


def global_pool(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of global pooling: each spatial dimension becomes 1.

    Warn if the input has no spatial dimension.
    """
    shape = call.shape(0)
    call.require_min_rank(3, specified=False)
    return None if shape is None else (*shape[:2], *[1] * (len(shape) - 2))


def conv_transpose(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `ConvTranspose`; check its inputs and attributes."""
    shape, weights = call.shape(0), call.shape(1)
    if shape is None or weights is None or not call.require_rank(0, len(weights)):
        return None
    if len(weights) < 3:
        return None
    count = len(shape) - 2
    strides = call.listed("strides", (1,) * count)
    dilations = call.listed("dilations", (1,) * count)
    pads = call.listed("pads", (0,) * (2 * count))
    output_padding = call.listed("output_padding", (0,) * count)
    call.equal(shape[1], weights[0], "dimension 1 of {0}", "dimension 0 of {1}")
    channels = times(weights[1], call.integer("group", 1))
    call.require_vector(2, channels, "dimension 1 of {1} times `group`")
    require_kernel(call, weights[2:], 1)
    if len(strides) != count or len(dilations) != count or len(output_padding) != count:
        return None
    spans = [plus(times(plus(weights[a + 2], -1), dilations[a]), 1) for a in range(count)]
    for axis, (step, by, added) in enumerate(zip(strides, dilations, output_padding, strict=True)):
        if added >= step > 0:
            wrong = f"entry {axis} of `output_padding` is {added}, not less than the stride {step}"
            call.reject(wrong, specified=added >= by)
    expected = call.listed("output_shape", ())
    if len(expected) == count:
        for axis, output in enumerate(expected):
            _require_output(call, axis, output, strides[axis], spans[axis], output_padding[axis])
        return (shape[0], channels, *expected)
    automatic = call.attribute("auto_pad") not in (None, b"NOTSET", b"VALID")
    if automatic or call.attribute("output_shape") is not None or len(pads) != 2 * count:
        return (shape[0], channels, *(None,) * count)
    dims: list[Extent] = []
    for axis in range(count):
        full_size = plus(times(plus(shape[axis + 2], -1), strides[axis]), spans[axis])
        size = plus(full_size, output_padding[axis] - pads[axis] - pads[axis + count])
        if isinstance(size, int) and size < 1 and shape[axis + 2] != 0:
            removed = f"all elements of dimension {axis + 2} of the output"
            call.reject(f"the pads remove {removed}", specified=size < 0)
        dims.append(size)
    return (shape[0], channels, *dims)


def _require_output(
    call: OperatorCall, axis: int, expected: int, stride: int, span: Extent, added: int
) -> None:
    """Warn if the size of `ConvTranspose`'s output in a spatial dimension does not fit the input.

    onnxruntime rejects an output size that does not fit. `axis` is the index of the spatial
    dimension, `expected` is the output size, `stride` is the stride, `span` is the size of the
    dilated kernel, and `added` is the output padding.
    """
    shape = call.shape(0)
    size = shape[axis + 2] if shape is not None else None
    if not isinstance(size, int) or not isinstance(span, int) or stride < 1:
        return
    if added >= stride:
        return  # the output padding itself is wrong, and already reported
    covered = stride * (size - 1) + span
    if (max(covered + added, expected) - span) // stride + 1 != size:
        # onnxruntime rejects this output size, because the pads would be negative. The
        # specification does not define negative pads.
        call.reject(
            f"entry {axis} of `output_shape` is {expected}, but dimension {axis + 2} of {{0}} "
            f"gives at most {covered + stride - 1}",
            specified=False,
        )


def space_to_depth(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `SpaceToDepth`: blocks of height and width become channels."""
    shape, block = call.shape(0), call.integer("blocksize", 0)
    if shape is None or not call.require_rank(0, 4) or block < 1:
        return None
    for axis in (2, 3):
        call.require_multiple(0, axis, block, "`blocksize`")
    area = block * block
    height, width = quotient(shape[2], block), quotient(shape[3], block)
    return shape[0], times(shape[1], area), height, width


def depth_to_space(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `DepthToSpace`: channels become blocks of height and width."""
    shape, block = call.shape(0), call.integer("blocksize", 0)
    if shape is None or not call.require_rank(0, 4) or block < 1:
        return None
    area = block * block
    call.require_multiple(0, 1, area, "the square of `blocksize`")
    height, width = times(shape[2], block), times(shape[3], block)
    return shape[0], quotient(shape[1], area), height, width
