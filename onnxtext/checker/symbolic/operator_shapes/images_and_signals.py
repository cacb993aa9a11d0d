# SPDX-License-Identifier: Apache-2.0
"""Check relations between inputs and attributes of operators for images and signals.

Each function checks what the ONNX operator specification requires of its operator. `_resize` checks
what onnxruntime requires.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from onnxtext.checker.symbolic.operator_call import OperatorCall
from onnxtext.checker.symbolic.sizes.polynomials import Extents
from onnxtext.tensor.element_count import count_elements

_MATRICES = {4: (2, 3), 5: (3, 4)}
"""Maps the number of entries of `AffineGrid`'s input `size` to the shape of an affine matrix."""


def _affine_grid(call: OperatorCall) -> None:
    """Require that `theta` of `AffineGrid` is (N, 2, 3) or (N, 3, 4), depending on `size`."""
    theta, sizes = call.shape(0), call.symbolic("size", 1)
    if not call.require_rank(1, 1):
        return
    if theta is None or len(theta) != 3 or (sizes is not None and len(sizes) not in _MATRICES):
        return  # onnx reports this error
    if sizes is not None:
        call.equal(theta[0], sizes[0], "dimension 0 of {0}", "entry 0 of {1}")
        for axis, size in enumerate(_MATRICES[len(sizes)], 1):
            expected = f"the required size for {len(sizes)} entries of {{1}}"
            call.equal(theta[axis], size, f"dimension {axis} of {{0}}", expected)
    elif not any(_may_be(theta[1:], matrix) for matrix in _MATRICES.values()):
        call.reject("the last two dimensions of {0} must be 2 and 3, or 3 and 4")


def _may_be(dims: Extents, expected: tuple[int, ...]) -> bool:
    pairs = zip(dims, expected, strict=True)
    return all(not isinstance(size, int) or size == number for size, number in pairs)


def _max_roi_pool(call: OperatorCall) -> None:
    """Require that `MaxRoiPool` gets five numbers for each region: batch index and corners."""
    if call.require_rank(1, 2):
        call.equal(call.dim(1, 1), 5, "dimension 1 of {1}", "the number of entries of a region")


def _roi_align(call: OperatorCall) -> None:
    """Require that `RoiAlign` gets the four coordinates of the corners of each region."""
    if call.rank(1) == 2:  # onnx checks the rank
        call.equal(call.dim(1, 1), 4, "dimension 1 of {1}", "the number of coordinates of a region")


def _col2im(call: OperatorCall) -> None:
    """Require that `Col2Im` gets whole blocks, and exactly as many as fit into the image."""
    shape = call.shape(0)
    image, block = call.integers("image_shape", 1), call.integers("block_shape", 2)
    if shape is None or len(shape) != 3 or not block or min(block) < 1:
        return
    size, block_size = shape[1], count_elements(block)
    if isinstance(size, int) and size % block_size:
        wrong = f"dimension 1 of {{0}} is {size}, which is not a multiple of the block size"
        call.reject(f"{wrong} ({block_size} elements)")
    count = len(block)
    steps, gaps = call.listed("strides", (1,) * count), call.listed("dilations", (1,) * count)
    pads = call.listed("pads", (0,) * 2 * count)
    if image is None or len(image) != count or (len(steps), len(gaps)) != (count, count):
        return
    if len(pads) != 2 * count or min((*steps, *gaps, *image)) < 1:
        return
    spans = [gap * (size - 1) + 1 for gap, size in zip(gaps, block, strict=True)]
    padded = [size + sum(pads[axis::count]) for axis, size in enumerate(image)]
    fitting = count_elements(
        [max((padded_size - span) // step + 1, 0)
         for padded_size, span, step in zip(padded, spans, steps, strict=True)]
    )  # fmt: skip
    call.equal(shape[2], fitting, "dimension 2 of {0}", "the number of blocks that fit")


def _grid_sample(call: OperatorCall) -> None:
    """Require the grid of `GridSample` to fit the batch size and number of spatial dimensions."""
    grid = call.shape(1)
    if grid and len(grid) == call.rank(0):  # onnx checks the rank, and sizes that are numbers
        call.equal(grid[0], call.dim(0, 0))
        call.equal(grid[-1], len(grid) - 2)


def _resize(call: OperatorCall) -> None:
    """Check the attributes of `Resize` that onnxruntime accepts only for some modes."""
    mode, antialias = call.attribute("mode") or b"nearest", call.integer("antialias", 0)
    if antialias and mode == b"nearest":
        call.reject("onnxruntime needs `linear` or `cubic` mode for `antialias`", specified=False)
    elif call.integer("exclude_outside", 0) and mode != b"cubic" and not antialias:
        call.reject("onnxruntime needs `cubic` mode for `exclude_outside`", specified=False)


def _require_real_or_complex(call: OperatorCall) -> None:
    """Require the last dimension of the first input to be 1 (real) or 2 (complex)."""
    size = call.dim(0, -1)
    if isinstance(size, int) and size not in (1, 2):
        call.reject(f"the last dimension of {{0}} is {size}, but it must be 1 or 2")


def _dft(call: OperatorCall) -> None:
    _require_real_or_complex(call)
    length = call.scalar(1)
    if isinstance(length, int) and length < 1:
        call.reject(f"{{1}} is {length}, but the length must be positive")


def _stft(call: OperatorCall) -> None:
    """Check the signal and step of `STFT`; require a window of `frame_length` numbers."""
    if call.rank(0) == 3:
        _require_real_or_complex(call)
    step = call.scalar(1)
    if isinstance(step, int) and step < 1:
        call.reject(f"{{1}} is {step}, but the step must be positive")
    call.require_vector(2, call.scalar(3), "the value of {3}")
    length, name = call.scalar(3), "{3}"
    if length is None:
        length, name = call.dim(2, 0), "the size of {2}"
    size = call.dim(0, 1)
    if isinstance(length, int) and isinstance(size, int) and length > size:
        call.reject(f"{name} is {length}, but dimension 1 of {{0}} is only {size}")


def _max_unpool(call: OperatorCall) -> None:
    """Require the shape of the indices of `MaxUnpool` to be that of its input.

    The output must have the batch size and the channels of the input.
    """
    call.require_same_shape(0, 1)
    shape, output = call.shape(0), call.symbolic("output_shape", 2)
    if shape is not None and output is not None and len(output) == len(shape):
        for axis in range(min(2, len(shape))):
            name = f"dimension {axis} of the output"
            call.equal(output[axis], shape[axis], name, f"dimension {axis} of {{0}}")


IMAGES_AND_SIGNALS: Mapping[str, Callable[[OperatorCall], None]] = {
    "AffineGrid": _affine_grid,
    "Col2Im": _col2im,
    "DFT": _dft,
    "GridSample": _grid_sample,
    "MaxRoiPool": _max_roi_pool,
    "MaxUnpool": _max_unpool,
    "Resize": _resize,
    "RoiAlign": _roi_align,
    "STFT": _stft,
}
"""Maps operators of the standard domain to the functions that check their nodes."""
