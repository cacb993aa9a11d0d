# SPDX-License-Identifier: Apache-2.0
"""Rules for `Gemm`, `Mod`, and operators whose broadcasting changed, such as `Add` and `PRelu`.

The rules raise `NotConvertible` if they cannot convert a node.
"""

from __future__ import annotations

from onnxtext.editing.opsets.converted_node import NodeConversion
from onnxtext.editing.opsets.model_facts import NotConvertible

_DECLARE = "declare the types of its inputs"


def broadcast_up(conversion: NodeConversion) -> None:
    """Convert operators such as `Add` to version 7, which broadcasts like numpy."""
    axis = conversion.integer("axis")
    if conversion.integer("broadcast", 0) and axis is not None:
        left, right = [conversion.needed_rank(conversion.input(index)) for index in (0, 1)]
        last_dims = left - (axis % left if left else 0) - right
        if last_dims > 0 and right:
            _unsqueeze_second(conversion, "aligned", range(right, right + last_dims))
            conversion.add_note("`axis` is replaced by an `Unsqueeze` of the second input")
    conversion.drop("axis")
    conversion.drop("broadcast")


def _unsqueeze_second(conversion: NodeConversion, base: str, axes: range) -> None:
    name = conversion.insert("Unsqueeze", (conversion.input(1),), base, axes=axes)
    conversion.set_input(1, name)


def broadcast_down(conversion: NodeConversion) -> None:
    """Reverse `broadcast_up`; reject nodes unless the second shape is a suffix of the first."""
    left, right = conversion.shape(conversion.input(0)), conversion.shape(conversion.input(1))
    if left is None or right is None or None in left or None in right:
        raise NotConvertible("the shapes of its inputs are unknown", _DECLARE)
    if left != right:
        if len(right) > len(left) or left[len(left) - len(right) :] != right:
            raise NotConvertible("it broadcasts in a way that is allowed only since version 7")
        conversion.set("broadcast", 1)
        conversion.add_note("`broadcast = 1` is added, because version 6 needs it")


def equal_shapes(conversion: NodeConversion) -> None:
    """Reject `Max`, `Min`, `Mean` and `Sum` if the shapes of the inputs may differ.

    Versions before 8 do not broadcast.
    """
    shapes = {conversion.shape(name) for name in conversion.node.inputs}
    same = next(iter(shapes)) if len(shapes) == 1 else None
    if len(conversion.node.inputs) > 1 and (same is None or None in same):
        raise NotConvertible(
            "its inputs may differ in shape, which is allowed only since version 8"
        )


def prelu_up(conversion: NodeConversion) -> None:
    """Convert `PRelu` to version 7: if there is one slope per channel, unsqueeze the slopes."""
    slope, data = conversion.shape(conversion.input(1)), conversion.shape(conversion.input(0))
    if slope is None or slope not in {(1,), ()}:
        if slope is None or data is None:
            raise NotConvertible("the shapes of its inputs are unknown", _DECLARE)
        if len(slope) == 1 and len(data) > 2:
            _unsqueeze_second(conversion, "slope", range(1, len(data) - 1))
            conversion.add_note("an `Unsqueeze` aligns the slopes with the channels")


def prelu_down(conversion: NodeConversion) -> None:
    """Keep a `PRelu` with a slope of shape [1], which all versions allow; reject others."""
    slope = conversion.shape(conversion.input(1))
    if slope is None:
        raise NotConvertible(f"the shape of its slope `{conversion.input(1)}` is unknown", _DECLARE)
    if slope != (1,):
        raise NotConvertible("its slope is broadcast, which is allowed only since version 7")


def gemm_up(conversion: NodeConversion) -> None:
    """Convert `Gemm` to version 7, which always broadcasts."""
    conversion.drop("broadcast")


def gemm_down(conversion: NodeConversion) -> None:
    """Reverse `gemm_up`: set `broadcast`."""
    shape = conversion.shape(conversion.input(2))
    if shape is None or len(shape) != 2:
        conversion.set("broadcast", 1)
    elif None in shape:
        raise NotConvertible(f"the shape of `{conversion.input(2)}` is unknown", _DECLARE)
    else:
        conversion.set("broadcast", 1 if 1 in shape else 0)


def mod_down(conversion: NodeConversion) -> None:
    """Reject `Mod` of floats unless `fmod` is 1, which versions before 28 require for floats."""
    if not conversion.integer("fmod", 0):
        element = conversion.element(conversion.input(0))
        if "float" in element or element == "double":
            raise NotConvertible(
                f"it is a modulo of `{element}` without `fmod = 1`, allowed only since version 28"
            )
