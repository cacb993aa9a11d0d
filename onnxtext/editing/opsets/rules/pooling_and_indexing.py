# SPDX-License-Identifier: Apache-2.0
"""Rules for pooling, `Gather`, `Scatter`, `GridSample`, and for axes that count from the end."""

from __future__ import annotations

from onnxtext.ast.tensors_and_attributes import Reference
from onnxtext.checker.inference.symbolic.operator_call import dimensions
from onnxtext.editing.opsets import make_tensors
from onnxtext.editing.opsets.converted_node import NodeConversion
from onnxtext.editing.opsets.make_tensors import int_attribute, ints_attribute
from onnxtext.editing.opsets.model_facts import NotConvertible
from onnxtext.editing.opsets.signature_changes import carry_over


def lp_pool_up(work: NodeConversion) -> None:
    """Convert `LpPool` and `GlobalLpPool` to version 2, where `p` is an integer."""
    p = work.real("p")
    if p is not None:
        if p != int(p):
            raise NotConvertible(f"its `p` is {p}, which is not an integer")
        work.drop("p")
        if p != 2:
            work.set(int_attribute("p", int(p)))
    carry_over(work)


def pool_windows(work: NodeConversion) -> None:
    """Reject a pooling node if a window starts in the end padding: version 22 ignores such windows.

    Such windows exist only with `ceil_mode`, and only if end padding and stride together are longer
    than the window.
    """
    if work.integer("ceil_mode", 0) and work.string("auto_pad") in (None, "NOTSET"):
        kernel = work.integers("kernel_shape") or ()
        ones = (1,) * len(kernel)
        strides, dilations = work.integers("strides") or ones, work.integers("dilations") or ones
        pads = work.integers("pads") or (0,) * (2 * len(kernel))
        shape = work.shape(work.input(0))
        sizes = shape[2:] if shape is not None else (None,) * len(kernel)
        if not len(kernel) == len(strides) == len(dilations) == len(pads) // 2 == len(sizes):
            raise NotConvertible(
                "the lengths of its attributes do not fit each other and the rank of its input"
            )
        for index, size in enumerate(sizes):
            window = (kernel[index] - 1) * dilations[index] + 1
            start, end = pads[index], pads[index + len(kernel)]
            if end + strides[index] <= window or strides[index] < 1:
                continue
            if not isinstance(size, int):
                raise NotConvertible(
                    "version 22 ignores a last window that starts in the padding; whether there is "
                    f"one depends on the size of `{work.input(0)}`, which is not known"
                )
            if -(-(size + start + end - window) // strides[index]) * strides[index] >= size + start:
                raise NotConvertible(
                    "its last window starts in the padding; version 22 ignores such windows"
                )
    carry_over(work)


def gather_down(work: NodeConversion) -> None:
    """Reject `Gather` and `OneHot` if indices may be negative: versions before 11 forbid this."""
    index = 0 if work.old.name == "OneHot" else 1
    numbers = work.numbers(work.input(index))
    if numbers is None:
        raise NotConvertible(
            f"its indices `{work.input(index)}` are computed and may be negative, which is allowed "
            "only since version 11"
        )
    if any(number < 0 for number in numbers):
        raise NotConvertible("it has negative indices, which are allowed only since version 11")
    carry_over(work)


def scatter_up(work: NodeConversion) -> None:
    """Rename `Scatter` to `ScatterElements` (version 11)."""
    work.node.op_type = "ScatterElements"
    work.say("`ScatterElements` replaces `Scatter`")


def scatter_down(work: NodeConversion) -> None:
    """Reverse `scatter_up`."""
    work.node.op_type = "Scatter"
    work.say("`Scatter` replaces `ScatterElements`")


def grid_sample_down(work: NodeConversion) -> None:
    """Convert `GridSample` to versions before 20: rename the mode; reject ranks other than 4."""
    rank = work.needed_rank(work.input(0))
    if rank != 4:
        raise NotConvertible(
            f"`{work.input(0)}` has {dimensions(rank)}, but must have 4 before version 20"
        )
    names = {b"linear": "bilinear", b"cubic": "bicubic", b"nearest": "nearest"}
    value = work.value("mode")
    work.set(
        make_tensors.string_attribute(
            "mode", names[value if isinstance(value, bytes) else b"linear"]
        )
    )
    work.say("`mode` gets its older name")
    carry_over(work)


def axes_from_start(work: NodeConversion) -> None:
    """Replace negative axes, which versions before 11 do not allow."""
    for name in ("axis", "axes"):
        attribute = work.attribute(name)
        if attribute is None or isinstance(attribute.value, Reference):
            continue
        value = work.value(name)
        axes = (value,) if isinstance(value, int) else value
        if isinstance(axes, tuple) and any(isinstance(axis, int) and axis < 0 for axis in axes):
            rank = work.needed_rank(work.input(0))
            if work.old.name == "Unsqueeze":
                rank += len(axes)
            resolved = [axis + rank if axis < 0 else axis for axis in axes]
            work.set(
                int_attribute(name, resolved[0])
                if isinstance(value, int)
                else ints_attribute(name, resolved)
            )
            work.say(
                f"negative `{name}` is replaced, because it is allowed only since version "
                f"{work.old.since}"
            )
    carry_over(work)
