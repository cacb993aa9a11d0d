# SPDX-License-Identifier: Apache-2.0
"""Rules for `Softmax`, `LogSoftmax`, `Hardmax`, `BatchNormalization`, `GroupNormalization`.

The rules raise `NotConvertible` if they cannot convert a node.
"""

from __future__ import annotations

from onnxtext.editing.opsets.converted_node import Dims, NodeConversion
from onnxtext.editing.opsets.model_facts import NotConvertible, unknown_fact


def softmax_up(conversion: NodeConversion) -> None:
    """Convert `Softmax`, `LogSoftmax` or `Hardmax` to version 13.

    Version 13 normalizes over `axis` only, older versions over `axis` and all later axes together.
    """
    shape = conversion.shape(conversion.input(0))
    axis = conversion.integer("axis", 1)
    assert axis is not None
    if shape is not None:
        at = axis % len(shape) if -len(shape) <= axis < len(shape) else axis
        real = _only_axis(shape, at)
        if real is not None:
            explicit = conversion.attribute("axis") is not None
            if real != at or (not explicit and real != len(shape) - 1):
                conversion.set("axis", real)
                conversion.add_note("`axis` is set to the only axis that is normalized")
            return
    name = conversion.input(0)
    size = conversion.insert("Shape", (name,), "shape", element="int64")
    flat = conversion.insert("Flatten", (name,), "flat", axis=axis)
    conversion.set_input(0, flat)
    conversion.set("axis", -1)
    old = conversion.divert("normalized")
    conversion.append("Reshape", (conversion.node.outputs[0], size), (old,))
    conversion.add_note(
        "it normalizes over all axes from `axis` on, so `Flatten` and `Reshape` are added around it"
    )


def _only_axis(shape: Dims, axis: int) -> int | None:
    """Return the only axis with a size other than 1, from `axis` on.

    Return None if there are several, counting unknown sizes, or if `axis` does not exist. If all
    sizes from `axis` on are 1, or the tensor has no elements, any axis gives the same result:
    return `axis`.
    """
    if axis == len(shape) - 1 or (0 in shape and axis < len(shape)):
        return axis
    longer = [index for index in range(axis, len(shape)) if shape[index] != 1]
    if len(longer) > 1 or axis >= len(shape):
        return None
    return longer[0] if longer else axis


def softmax_down(conversion: NodeConversion) -> None:
    """Reverse `softmax_up`: if needed, transpose so that the normalized axis is the last axis."""
    name = conversion.input(0)
    axis = conversion.integer("axis", -1)
    assert axis is not None
    if axis == -1:
        conversion.set("axis", -1)
    else:
        rank = conversion.needed_rank(name)
        if not -rank <= axis < rank:
            raise NotConvertible(f"its `axis` {axis} does not exist")
        axis %= rank
        if all(size == 1 for size in (conversion.shape(name) or ())[axis + 1 :]):
            conversion.set("axis", axis)
        else:
            order = [*range(axis), *range(axis + 1, rank), axis]
            back = [order.index(index) for index in range(rank)]
            conversion.set_input(0, conversion.insert("Transpose", (name,), "moved", perm=order))
            conversion.set("axis", rank - 1)
            old = conversion.divert("normalized")
            conversion.append("Transpose", (conversion.node.outputs[0],), (old,), perm=back)
            conversion.add_note(
                "it normalizes along one axis, so `Transpose` moves this axis to the end and back"
            )


def group_normalization_up(conversion: NodeConversion) -> None:
    """Convert `GroupNormalization` to version 21: expand scale and bias from groups to channels."""
    shape = conversion.shape(conversion.input(0))
    groups = conversion.integer("num_groups") or 0
    channels = shape[1] if shape is not None and len(shape) > 1 else None
    if not isinstance(channels, int):
        raise unknown_fact("the number of channels of", conversion.input(0))
    if groups < 1 or channels % groups:
        raise NotConvertible(
            f"`num_groups` is {groups}, which does not divide its number of channels, {channels}"
        )
    if channels != groups:
        for index, base in ((1, "scale"), (2, "bias")):
            column = conversion.constant("column", [-1, 1])
            wide = conversion.constant("groups", [groups, channels // groups])
            flat = conversion.constant("flat", [-1])
            reshaped = conversion.insert("Reshape", (conversion.input(index), column), base)
            reshaped = conversion.insert("Expand", (reshaped, wide), base)
            conversion.set_input(index, conversion.insert("Reshape", (reshaped, flat), base))
        conversion.add_note("scale and bias are expanded from groups to channels")


def batch_normalization_up(conversion: NodeConversion) -> None:
    """Convert `BatchNormalization` to version 14; reject nodes with outputs for training."""
    if any(conversion.node.outputs[1:]):
        raise NotConvertible("its outputs for training changed in version 14")


def batch_normalization_down(conversion: NodeConversion) -> None:
    """Reverse `batch_normalization_up`; reject nodes in training mode."""
    if conversion.integer("training_mode", 0):
        raise NotConvertible("`training_mode` exists only since version 14")
