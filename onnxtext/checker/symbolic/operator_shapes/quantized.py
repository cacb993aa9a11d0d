# SPDX-License-Identifier: Apache-2.0
"""Infer output shapes of quantizing operators; check the shapes of scales and zero points."""

from __future__ import annotations

from onnxtext.checker.symbolic.operator_call import OperatorCall, SymbolicShape
from onnxtext.checker.symbolic.operator_shapes import convolution_and_pooling
from onnxtext.checker.symbolic.sizes.polynomials import Extent, SymbolicSize
from onnxtext.tensor.element_count import count_elements

_ONE: SymbolicShape = (1,)


def quantize_linear(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `QuantizeLinear` or `DequantizeLinear`: the shape of the data.

    There must be one scale, or one scale for each index of the axis. If `block_size` is set, there
    must be separate scales for each block along the axis.
    """
    shape, scale, zero = call.shape(0), call.shape(1), call.shape(2)
    if call.integer("block_size", 0):
        _require_blocks(call, call.integer("block_size", 0))
        return shape
    if scale is None or not call.require_rank(1, 0, 1):
        return shape
    if zero is not None and call.require_rank(2, 0, 1):
        scale_size, zero_size = [dims[0] if dims else 1 for dims in (scale, zero)]
        call.equal(scale_size, zero_size, "the size of {1}", "the size of {2}")
    if shape and scale and scale != _ONE:
        axis = call.integer("axis", 1)
        # Check the axis only if there certainly are several scales: a single scale has no axis.
        if isinstance(scale[0], int) and call.axis("axis", 1) is None:
            return shape
        if -len(shape) <= axis < len(shape):
            axis %= len(shape)
            _require_each(call, 1, shape[axis], f"dimension {axis} of {{0}}")
    return shape


def _require_blocks(call: OperatorCall, block: int) -> None:
    """Require one scale for each block of `block` elements along the axis.

    The zero points must have the same shape as the scales.
    """
    shape, scale = call.shape(0), call.shape(1)
    if shape is None or scale is None or block < 0:
        return
    if scale in ((), _ONE):
        call.reject(
            f"{{1}} is a single scale for the whole tensor, but `block_size` is {block}",
            specified=False,
        )
        return
    # Scales of rank 1 cause only a warning: without `block_size`, they may be valid.
    specified = len(scale) > 1
    if not call.require_rank(1, len(shape), specified=specified):
        return
    axis = call.axis("axis", 1)
    if axis is None:
        return
    for index, (size, block_count) in enumerate(zip(shape, scale, strict=True)):
        name = f"dimension {index} of {{0}}"
        if index != axis:
            call.equal(size, block_count, name, f"dimension {index} of {{1}}")
        elif isinstance(size, int):
            name = f"the number of blocks of {block} along {name}"
            call.equal(-(-size // block), block_count, name, f"dimension {index} of {{1}}")
    call.require_same_shape(1, 2)


def qlinear_conv(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `QLinearConv`; check the shapes of scales and zero points.

    The weights must have one scale and one zero point, or one pair for each output channel.
    """
    for index in (1, 2, 6, 7):
        require_one(call, index)
    kernel = call.shape(3)
    if kernel:
        _require_each(call, 4, kernel[0], "dimension 0 of {3}")
        _require_each(call, 5, kernel[0], "dimension 0 of {3}")
    return convolution_and_pooling.quantized_conv(call)


def conv_integer(call: OperatorCall) -> SymbolicShape:
    """Infer the output shape of `ConvInteger`; check the shapes of zero points.

    The weights must have one zero point, or one for each output channel.
    """
    kernel = call.shape(1)
    require_one(call, 2)
    if kernel:
        _require_each(call, 3, kernel[0], "dimension 0 of {1}")
    return convolution_and_pooling.conv_integer(call)


def require_matmul_scales(
    call: OperatorCall, rows: tuple[int, ...], right: int, columns: tuple[int, ...]
) -> None:
    """Check the shapes of the scales and zero points of a matrix product.

    `rows`, `right` and `columns` are indices of inputs. The inputs at `rows` must have one element,
    or one for each row of the left matrix, input 0. The inputs at `columns` must have one element,
    or one for each column of the right matrix, the input at `right`.

    An input at `rows` of rank 2 or more must have the shape of the left matrix, with one column.
    Likewise, an input at `columns` must have the shape of the right matrix, with one row.
    """
    for matrix, at, indexes in ((0, -2, rows), (right, -1, columns)):
        shape = call.shape(matrix)
        if shape is None or len(shape) < 2:
            continue
        name = f"dimension {at} of {{{matrix}}}"
        for index in indexes:
            scales = call.shape(index)
            if scales is None or len(scales) < 2:
                _require_each(call, index, shape[at], name)
            elif call.require_rank(index, len(shape)):
                single = len(shape) - 3 - at  # the axis of size 1: -1 if `at` is -2, else -2
                for axis, size in enumerate(shape):
                    names = [f"dimension {axis} of {{{item}}}" for item in (index, matrix)]
                    if axis == single:
                        call.equal(scales[axis], 1, names[0], "the required size")
                    else:
                        call.equal(scales[axis], size, *names)


def gemm_scales(call: OperatorCall) -> None:
    """Check the shapes of the scales and zero points of `QGemm`."""
    for index in (1, 2, 7, 8):
        require_one(call, index)
    columns = call.dim(3, 0 if call.integer("transB", 0) else 1)
    for index in (4, 5):
        _require_each(call, index, columns, "the number of columns of the second matrix")
    call.require_same_shape(4, 5)


def require_block(call: OperatorCall, block: int, largest: int | None = None) -> bool:
    """Reject a block size that the kernels of onnxruntime do not support, and return False."""
    if 16 <= block <= (largest or block) and not block & (block - 1):
        return True
    limits = "at least 16" if largest is None else f"from 16 to {largest}"
    call.reject(f"`block_size` is {block}, but it must be a power of 2, {limits}")
    return False


def block_scales(call: OperatorCall) -> SymbolicShape:
    """Check the blocks and scales of `GatherBlockQuantized`; its output shape is unknown.

    If the data are 8-bit or 4-bit floats, the scales are broadcast. The element type of the data
    is unknown here, so the size 1 is always accepted.
    """
    require_block(call, call.integer("block_size", 128) or 16)  # 0 stands for a whole row
    shape = call.shape(0)
    if shape and call.require_rank(2, len(shape)):
        blocked = call.integer("quantize_axis", 1) % len(shape)
        for axis, size in enumerate(shape[:-1]):  # the last dimension may have packed elements
            if axis != blocked:
                names = [f"dimension {axis} of {{{index}}}" for index in (2, 0)]
                _require_one_or(call, call.dim(2, axis), size, *names)
    return None


def packed_blob(call: OperatorCall) -> None:
    """Check the sizes of the inputs of `MatMulBnb4` against its attributes."""
    rows, columns = call.integer("K", 0), call.integer("N", 0)
    block, count = call.integer("block_size", 0), rows * columns
    if min(rows, columns) < 1:
        call.reject("`K` and `N` must be positive")
    elif require_block(call, block, 256):
        call.require_last(0, *((rows, "`K`") if call.integer("transB", 1) else (columns, "`N`")))
        for index, needed in ((1, -(-count // 2)), (2, -(-count // block))):
            sizes = [size for size in call.shape(index) or (None,) if isinstance(size, int)]
            if len(sizes) == call.rank(index) and count_elements(sizes) < needed:
                call.reject(f"{{{index}}} has fewer elements than the {needed} that are needed")


def require_one(call: OperatorCall, index: int, *, specified: bool = True) -> bool:
    """Require an input to have one element, and rank 0 or 1; return False if it has not.

    `specified` is False if the specification allows other inputs, and only runtimes reject them.
    """
    shape = call.shape(index)
    if not shape or (len(shape) == 1 and not isinstance(shape[0], int)) or shape == _ONE:
        return True
    call.reject(f"{{{index}}} must be one number", specified=specified)
    return False


def require_scalars(call: OperatorCall, indices: tuple[int, ...]) -> None:
    """Require scales and zero points to be scalars, and no zero point to have an empty name.

    onnxruntime's schemas allow empty names, but its inference does not. Its kernels accept a size
    of 1, but its inference rejects rank 1 if it can determine the rank.
    """
    inputs = call.node.inputs
    if "" in inputs:
        index = inputs.index("")
        advice = "leave it out" if index == len(inputs) - 1 else "name a zero point"
        problem = f"{{{index}}} has an empty name, which onnxruntime rejects"
        call.reject(f"{problem}: {advice}", specified=False)
    for index in indices:
        if require_one(call, index):
            call.require_rank(index, 0, specified=False)


def _require_each(call: OperatorCall, index: int, size: Extent, name: str) -> None:
    """Require an input to have one element, or `size` elements; messages call the size `name`."""
    shape = call.shape(index)
    if shape and call.require_rank(index, 0, 1):
        _require_one_or(call, shape[0], size, f"the size of {{{index}}}", name)


def _require_one_or(call: OperatorCall, actual: Extent, size: Extent, *names: str) -> None:
    """Require a dimension to be 1 or `size`; messages call the two dimensions `names`."""
    if isinstance(actual, SymbolicSize) and isinstance(size, int):
        call.require_one_or(actual, size)
    elif isinstance(actual, int) and actual != 1:
        call.equal(actual, size, *names)
