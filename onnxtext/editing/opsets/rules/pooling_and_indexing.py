# SPDX-License-Identifier: Apache-2.0
"""Rules for pooling, `Gather`, `GridSample`, and for axes that count from the end.

The rules raise `NotConvertible` if they cannot convert a node.
"""

from __future__ import annotations

from onnxtext.ast.tensors_and_attributes import Reference
from onnxtext.checker.symbolic.operator_call import dimensions
from onnxtext.editing.opsets.converted_node import NodeConversion
from onnxtext.editing.opsets.model_facts import NotConvertible


def lp_pool_up(conversion: NodeConversion) -> None:
    """Convert `LpPool` and `GlobalLpPool` to version 2, where `p` is an integer."""
    p = conversion.real("p")
    if p is not None:
        if p != int(p):
            raise NotConvertible(f"its `p` is {p}, which is not an integer")
        conversion.drop("p")
        if p != 2:
            conversion.set("p", int(p))


def pool_windows(conversion: NodeConversion) -> None:
    """Reject a pooling node if a window may start in the end padding.

    Such a window is ignored since version 22. It occurs only with `ceil_mode`, if end padding plus
    stride is larger than the window.
    """
    if conversion.integer("ceil_mode", 0) and conversion.string("auto_pad") in (None, "NOTSET"):
        kernel = conversion.integers("kernel_shape") or ()
        ones = (1,) * len(kernel)
        strides, dilations = [conversion.integers(n) or ones for n in ("strides", "dilations")]
        pads = conversion.integers("pads") or (0,) * (2 * len(kernel))
        shape = conversion.shape(conversion.input(0))
        sizes = shape[2:] if shape is not None else (None,) * len(kernel)
        if not len(kernel) == len(strides) == len(dilations) == len(pads) // 2 == len(sizes):
            raise NotConvertible(
                "the lengths of its attributes contradict each other or the rank of its input"
            )
        for index, size in enumerate(sizes):
            window = (kernel[index] - 1) * dilations[index] + 1
            start, end = pads[index], pads[index + len(kernel)]
            if end + strides[index] <= window or strides[index] < 1:
                continue
            if not isinstance(size, int):
                raise NotConvertible(
                    "version 22 ignores a last window that starts in the padding; whether there is "
                    f"one depends on the size of `{conversion.input(0)}`, which is unknown"
                )
            if -(-(size + start + end - window) // strides[index]) * strides[index] >= size + start:
                raise NotConvertible(
                    "its last window starts in the padding; version 22 ignores such windows"
                )


def gather_down(conversion: NodeConversion) -> None:
    """Reject `Gather` and `OneHot` if indices may be negative, which versions before 11 forbid."""
    index = 0 if conversion.old.name == "OneHot" else 1
    numbers = conversion.numbers(conversion.input(index))
    if numbers is None:
        raise NotConvertible(
            f"its indices `{conversion.input(index)}` may be negative, which is allowed only since "
            "version 11"
        )
    if any(number < 0 for number in numbers):
        raise NotConvertible("it has negative indices, which are allowed only since version 11")


def grid_sample_up(conversion: NodeConversion) -> None:
    """Convert `GridSample` to version 20: rename the mode."""
    mode = conversion.string("mode")
    new = {"bilinear": "linear", "bicubic": "cubic"}.get(mode or "")
    if new is not None:
        conversion.set("mode", new)
        conversion.add_note(f"`mode = {new}` replaces `{mode}`")


def grid_sample_down(conversion: NodeConversion) -> None:
    """Convert `GridSample` to versions before 20: rename the mode; reject ranks other than 4."""
    rank = conversion.needed_rank(conversion.input(0))
    if rank != 4:
        raise NotConvertible(
            f"`{conversion.input(0)}` has {dimensions(rank)}, but must have 4 before version 20"
        )
    names = {b"linear": "bilinear", b"cubic": "bicubic", b"nearest": "nearest"}
    value = conversion.value("mode")
    conversion.set("mode", names[value if isinstance(value, bytes) else b"linear"])
    conversion.add_note("`mode` gets its older name")


def axes_from_start(conversion: NodeConversion) -> None:
    """Replace negative axes, which versions before 11 do not allow."""
    for name in ("axis", "axes"):
        attribute = conversion.attribute(name)
        if attribute is None or isinstance(attribute.value, Reference):
            continue
        value = conversion.value(name)
        axes = (value,) if isinstance(value, int) else value
        if isinstance(axes, tuple) and any(isinstance(axis, int) and axis < 0 for axis in axes):
            rank = conversion.needed_rank(conversion.input(0))
            if conversion.old.name == "Unsqueeze":
                rank += len(axes)
            resolved = [axis + rank if axis < 0 else axis for axis in axes]
            conversion.set(name, resolved[0] if isinstance(value, int) else resolved)
            conversion.add_note(
                f"negative `{name}` is replaced, because it is allowed only since version "
                f"{conversion.old.since}"
            )
