# SPDX-License-Identifier: Apache-2.0
"""Rules for `Gemm`, `Mod`, and arithmetic whose broadcasting changed: `Add`, `Max`, `PRelu`."""

from __future__ import annotations

from onnxtext.editing.opsets.converted_node import NodeConversion
from onnxtext.editing.opsets.make_tensors import int_attribute, ints_attribute
from onnxtext.editing.opsets.model_facts import NotConvertible
from onnxtext.editing.opsets.signature_changes import carry_over

_DECLARE = "declare the types of its inputs"


def broadcast_up(work: NodeConversion) -> None:
    """Convert operators such as `Add` to version 7, which broadcasts like numpy."""
    axis = work.integer("axis")
    if work.integer("broadcast", 0) and axis is not None:
        left, right = work.needed_rank(work.input(0)), work.needed_rank(work.input(1))
        behind = left - (axis % left if left else 0) - right
        if behind > 0 and right:
            axes = ints_attribute("axes", range(right, right + behind))
            work.set_input(1, work.insert("Unsqueeze", (work.input(1),), "aligned", axes))
            work.say("`axis` is replaced by an `Unsqueeze` of the second input")
    work.drop("axis")
    work.drop("broadcast")
    carry_over(work)


def broadcast_down(work: NodeConversion) -> None:
    """Reverse `broadcast_up`; reject the node unless the second shape is a suffix of the first."""
    left, right = work.shape(work.input(0)), work.shape(work.input(1))
    if left is None or right is None or None in left or None in right:
        raise NotConvertible("the shapes of its inputs are not known", _DECLARE)
    if left != right:
        if len(right) > len(left) or left[len(left) - len(right) :] != right:
            raise NotConvertible("it broadcasts in a way that is allowed only since version 7")
        work.set(int_attribute("broadcast", 1))
        work.say("`broadcast = 1` is added, because version 6 needs it")
    carry_over(work)


def equal_shapes(work: NodeConversion) -> None:
    """Reject `Max`, `Min`, `Mean` and `Sum` if the shapes of the inputs may differ.

    Versions before 8 do not broadcast.
    """
    shapes = {work.shape(name) for name in work.node.inputs}
    same = next(iter(shapes)) if len(shapes) == 1 else None
    if len(work.node.inputs) > 1 and (same is None or None in same):
        raise NotConvertible(
            "its inputs may differ in shape, which is allowed only since version 8"
        )
    carry_over(work)


def prelu_up(work: NodeConversion) -> None:
    """Convert `PRelu` to version 7, which broadcasts like numpy: unsqueeze slopes per channel."""
    slope, data = work.shape(work.input(1)), work.shape(work.input(0))
    if slope is None or slope not in {(1,), ()}:
        if slope is None or data is None:
            raise NotConvertible("the shapes of its inputs are not known", _DECLARE)
        if len(slope) == 1 and len(data) > 2:
            axes = ints_attribute("axes", range(1, len(data) - 1))
            work.set_input(1, work.insert("Unsqueeze", (work.input(1),), "slope", axes))
            work.say("an `Unsqueeze` aligns the slopes with the channels")
    carry_over(work)


def prelu_down(work: NodeConversion) -> None:
    """Reverse `prelu_up` for a single slope; reject other shapes."""
    slope = work.shape(work.input(1))
    if slope is None:
        raise NotConvertible(f"the shape of its slope `{work.input(1)}` is not known", _DECLARE)
    if slope != (1,):
        raise NotConvertible("its slope is broadcast, which is allowed only since version 7")
    carry_over(work)


def gemm_up(work: NodeConversion) -> None:
    """Convert `Gemm` to version 7, which always broadcasts."""
    work.drop("broadcast")
    carry_over(work)


def gemm_down(work: NodeConversion) -> None:
    """Reverse `gemm_up`: set `broadcast`."""
    shape = work.shape(work.input(2))
    if shape is None or len(shape) != 2:
        work.set(int_attribute("broadcast", 1))
    elif None in shape:
        raise NotConvertible(f"the shape of `{work.input(2)}` is not known", _DECLARE)
    else:
        work.set(int_attribute("broadcast", 1 if 1 in shape else 0))
    carry_over(work)


def mod_down(work: NodeConversion) -> None:
    """Reject `Mod` of floats without `fmod = 1`: versions before 28 forbid this."""
    if not work.integer("fmod", 0):
        element = work.element(work.input(0))
        if "float" in element or element == "double":
            raise NotConvertible(
                f"it is a modulo of `{element}`, which is allowed only since version 28"
            )
    carry_over(work)
