# SPDX-License-Identifier: Apache-2.0
"""Rules for `Upsample` and `Resize`."""

from __future__ import annotations

from onnxtext.editing.opsets import make_tensors
from onnxtext.editing.opsets.converted_node import NodeConversion
from onnxtext.editing.opsets.model_facts import NotConvertible
from onnxtext.editing.opsets.signature_changes import carry_over


def scales_from_sizes(work: NodeConversion) -> None:
    """Convert `Upsample` to version 7: `scales` replaces `height_scale` and `width_scale`."""
    height, width = work.real("height_scale"), work.real("width_scale")
    work.drop("height_scale")
    work.drop("width_scale")
    if height is None or width is None:
        raise NotConvertible("it has no `height_scale` or `width_scale`")
    if work.string("mode") == "bilinear":
        work.set(make_tensors.string_attribute("mode", "linear"))
    work.set(make_tensors.floats_attribute("scales", [1.0, 1.0, height, width]))
    work.say("`scales` replaces `height_scale` and `width_scale`")
    carry_over(work)


def scales_to_input(work: NodeConversion) -> None:
    """Convert `Upsample` to version 9: `scales` becomes an input."""
    scales = work.floats("scales")
    if scales is None:
        raise NotConvertible("it has no `scales`")
    work.drop("scales")
    work.set_input(1, work.constant("scales", scales, "float"))
    work.say("`scales` becomes an input")
    carry_over(work)


def scales_to_attribute(work: NodeConversion) -> None:
    """Reverse `scales_to_input`."""
    scales = work.needed_numbers(1, "input `scales`")
    work.leave_out(1)
    work.set(make_tensors.floats_attribute("scales", scales))
    work.say("`scales` becomes an attribute")
    carry_over(work)


def upsample_to_resize(work: NodeConversion) -> None:
    """Rename `Upsample` to `Resize` (version 10)."""
    work.node.op_type = "Resize"
    work.say("`Resize` replaces `Upsample`")


def resize_to_upsample(work: NodeConversion) -> None:
    """Reverse `upsample_to_resize`; reject nodes that may shrink a dimension."""
    scales = work.numbers(work.input(1))
    if scales is None or min(scales, default=1) < 1:
        raise NotConvertible("it may shrink the image, which is allowed only since version 10")
    work.node.op_type = "Upsample"
    work.say("`Upsample` replaces `Resize`")


def resize_up(work: NodeConversion) -> None:
    """Convert `Resize` to version 11: write the attributes that version 10 implies."""
    scales = work.numbers(work.input(1))
    nearest = work.string("mode") != "linear"
    rounding = "floor"
    if nearest and (scales is None or min(scales, default=1) < 1):
        if scales is None or max(scales) > 1:
            raise NotConvertible(
                "it may shrink the image, and version 10 does not define the nearest element "
                "of a smaller image"
            )
        rounding = "ceil"
    name = work.input(1)
    work.set(make_tensors.string_attribute("coordinate_transformation_mode", "asymmetric"))
    if nearest:
        work.set(make_tensors.string_attribute("nearest_mode", rounding))
    work.set_input(1, work.constant("roi", [], "float"))
    work.set_input(2, name)
    work.say("`coordinate_transformation_mode = asymmetric` is added: version 10 implies it")
    carry_over(work)


def resize_down(work: NodeConversion) -> None:
    """Reverse `resize_up`."""
    scales = work.numbers(work.input(2)) if work.input(2) else ()
    if work.input(3):
        raise NotConvertible("its input `sizes` exists only since version 11")
    if scales is None:
        raise NotConvertible(f"its scales `{work.input(2)}` are computed")
    if not scales:
        raise NotConvertible("it has no scales")
    if work.string("coordinate_transformation_mode") != "asymmetric":
        raise NotConvertible(
            "before version 11, `coordinate_transformation_mode` can only be `asymmetric`"
        )
    if work.string("mode") == "nearest":
        if work.string("nearest_mode") != "floor" or min(scales) < 1:
            raise NotConvertible("version 10 rounds to another nearest element (`nearest_mode`)")
    elif work.string("mode") != "linear":
        raise NotConvertible(
            f"its attribute `mode` cannot be `{work.string('mode')}` before version 11"
        )
    name = work.input(2)
    for old in ("coordinate_transformation_mode", "nearest_mode"):
        work.drop(old)
    if work.input(1):
        work.facts.replaced.add(work.input(1))
    work.leave_out(2)
    work.set_input(1, name)
    carry_over(work)


def resize_with_empty(work: NodeConversion) -> None:
    """Replace omitted inputs of `Resize` by empty tensors: versions before 13 require them."""
    if work.input(2) == "" or work.input(1) == "":
        empty = work.constant("roi", [], "float")
        for index in (1, 2):
            if not work.input(index):
                work.set_input(index, empty)
        work.say("empty tensors replace the omitted inputs")
    carry_over(work)


def resize_without_empty(work: NodeConversion) -> None:
    """Omit the empty `scales` of a `Resize` with `sizes`: version 13 allows only one of them."""
    if work.input(3) and work.input(2):
        numbers = work.numbers(work.input(2))
        if numbers is None and work.shape(work.input(2)) != (0,):
            raise NotConvertible("it may have both scales and sizes")
        if numbers is not None and numbers != ():
            raise NotConvertible("it has both scales and sizes")
        work.facts.replaced.add(work.input(2))
        work.leave_out(2)
        work.say("the empty `scales` is left out")
    carry_over(work)
