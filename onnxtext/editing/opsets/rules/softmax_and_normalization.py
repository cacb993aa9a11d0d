# SPDX-License-Identifier: Apache-2.0
"""Rules for `Softmax`, `LogSoftmax`, `Hardmax`, `BatchNormalization`, `GroupNormalization`."""

from __future__ import annotations

from onnxtext.editing.opsets.converted_node import Dims, NodeConversion
from onnxtext.editing.opsets.make_tensors import int_attribute, ints_attribute
from onnxtext.editing.opsets.model_facts import NotConvertible
from onnxtext.editing.opsets.signature_changes import carry_over


def softmax_up(work: NodeConversion) -> None:
    """Convert `Softmax` to version 13, which normalizes over `axis`, but not over later axes."""
    shape = work.shape(work.input(0))
    axis = work.integer("axis", 1)
    assert axis is not None
    if shape is not None:
        at = axis % len(shape) if -len(shape) <= axis < len(shape) else axis
        real = _only_axis(shape, at)
        if real is not None:
            explicit = work.attribute("axis") is not None
            if real != at or (not explicit and real != len(shape) - 1):
                work.set(int_attribute("axis", real))
                work.say("`axis` is set to the only axis that is normalized")
            carry_over_axis(work)
            return
    name = work.input(0)
    size = work.insert("Shape", (name,), "shape", element="int64")
    flat = work.insert("Flatten", (name,), "flat", int_attribute("axis", axis))
    work.set_input(0, flat)
    work.set(int_attribute("axis", -1))
    old = work.divert("normalized")
    work.append("Reshape", (work.node.outputs[0], size), (old,))
    work.say("it normalizes over all axes from `axis` on, so `Flatten` and `Reshape` are "
             "added around it")  # fmt: skip
    carry_over_axis(work)


def _only_axis(shape: Dims, axis: int) -> int | None:
    """Return the only axis from `axis` on with a size other than 1; None if there are several."""
    if axis == len(shape) - 1:
        return axis
    longer = [index for index in range(axis, len(shape)) if shape[index] != 1]
    if len(longer) > 1 or axis >= len(shape):
        return None
    return longer[0] if longer else axis


def softmax_down(work: NodeConversion) -> None:
    """Reverse `softmax_up`: transpose to make the normalized axis the last one, if needed."""
    name = work.input(0)
    axis = work.integer("axis", -1)
    assert axis is not None
    if axis == -1:
        work.set(int_attribute("axis", -1))
    else:
        rank = work.needed_rank(name)
        if not -rank <= axis < rank:
            raise NotConvertible(f"its `axis` {axis} does not exist")
        axis %= rank
        if all(size == 1 for size in (work.shape(name) or ())[axis + 1 :]):
            work.set(int_attribute("axis", axis))
        else:
            order = [*range(axis), *range(axis + 1, rank), axis]
            back = [order.index(index) for index in range(rank)]
            work.set_input(
                0, work.insert("Transpose", (name,), "moved", ints_attribute("perm", order))
            )
            work.set(int_attribute("axis", rank - 1))
            old = work.divert("normalized")
            work.append("Transpose", (work.node.outputs[0],), (old,), ints_attribute("perm", back))
            work.say(
                "it normalizes along one axis, so `Transpose` moves this axis to the end and back"
            )
    carry_over_axis(work)


def carry_over_axis(work: NodeConversion) -> None:
    """Call `carry_over`, but keep an omitted `axis` omitted: the caller handles its new default."""
    attribute = work.attribute("axis")
    if attribute is not None:
        carry_over(work)
        return
    work.set(int_attribute("axis", 0))
    carry_over(work)
    work.drop("axis")


def group_normalization_up(work: NodeConversion) -> None:
    """Convert `GroupNormalization` to version 21: expand scale and bias from groups to channels."""
    shape = work.shape(work.input(0))
    groups = work.integer("num_groups") or 0
    channels = shape[1] if shape is not None and len(shape) > 1 else None
    if not isinstance(channels, int):
        raise NotConvertible(
            f"the number of channels of `{work.input(0)}` is not known",
            f"declare the type of `{work.input(0)}`",
        )
    if groups < 1 or channels % groups:
        raise NotConvertible(f"its {channels} channels cannot be divided into {groups} groups")
    if channels != groups:
        for index, base in ((1, "scale"), (2, "bias")):
            column = work.constant("column", [-1, 1])
            wide = work.constant("groups", [groups, channels // groups])
            flat = work.constant("flat", [-1])
            reshaped = work.insert("Reshape", (work.input(index), column), base)
            reshaped = work.insert("Expand", (reshaped, wide), base)
            work.set_input(index, work.insert("Reshape", (reshaped, flat), base))
        work.say("scale and bias are expanded from groups to channels")
    carry_over(work)


def batch_normalization_up(work: NodeConversion) -> None:
    """Convert `BatchNormalization` to version 14; reject nodes with outputs for training."""
    if any(work.node.outputs[1:]):
        raise NotConvertible("its outputs for training changed in version 14")
    carry_over(work)


def batch_normalization_down(work: NodeConversion) -> None:
    """Reverse `batch_normalization_up`; reject nodes in training mode."""
    if work.integer("training_mode", 0):
        raise NotConvertible("`training_mode` exists only since version 14")
    carry_over(work)
