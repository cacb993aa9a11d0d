# SPDX-License-Identifier: Apache-2.0
"""Rules for `Upsample` and `Resize`; they raise `NotConvertible` if they cannot convert a node."""

from __future__ import annotations

from onnxtext.editing.opsets.converted_node import NodeConversion
from onnxtext.editing.opsets.make_tensors import pack_floats
from onnxtext.editing.opsets.model_facts import NotConvertible
from onnxtext.editing.opsets.rules.attributes_to_inputs import become_attribute, become_input


def scales_from_sizes(conversion: NodeConversion) -> None:
    """Convert `Upsample` to version 7: `scales` replaces `height_scale` and `width_scale`."""
    height, width = conversion.real("height_scale"), conversion.real("width_scale")
    conversion.drop("height_scale")
    conversion.drop("width_scale")
    if height is None or width is None:
        raise NotConvertible("it has no `height_scale` or `width_scale`")
    if conversion.string("mode") == "bilinear":
        conversion.set("mode", "linear")
    conversion.set("scales", pack_floats([1.0, 1.0, height, width]))
    conversion.add_note("`scales` replaces `height_scale` and `width_scale`")


def scales_to_input(conversion: NodeConversion) -> None:
    """Convert `Upsample` to version 9: `scales` becomes an input."""
    scales = conversion.floats("scales")
    if scales is None:
        raise NotConvertible("it has no `scales`")
    become_input(conversion, "scales", 1, scales, "float")


def scales_to_attribute(conversion: NodeConversion) -> None:
    """Reverse `scales_to_input`."""
    scales = conversion.needed_numbers(1, "input `scales`")
    become_attribute(conversion, "scales", 1, pack_floats(scales))


def resize_to_upsample(conversion: NodeConversion) -> None:
    """Rename `Resize` to `Upsample`; reject nodes that may shrink a dimension."""
    scales = conversion.numbers(conversion.input(1))
    if scales is None or min(scales, default=1) < 1:
        raise NotConvertible("it may shrink the image, which is allowed only since version 10")
    conversion.rename("Upsample")


def resize_up(conversion: NodeConversion) -> None:
    """Convert `Resize` to version 11: write the attributes and inputs that were implicit before.

    Reject nodes of mode `nearest` whose scales are unknown, or both shrink and enlarge: version 10
    does not define which element is the nearest.
    """
    scales = conversion.numbers(conversion.input(1))
    nearest = conversion.string("mode") != "linear"
    rounding = "floor"
    if nearest and (scales is None or min(scales, default=1) < 1):
        if scales is None or max(scales) > 1:
            raise NotConvertible(
                "it may shrink the image, and version 10 does not define the nearest element "
                "of a smaller image"
            )
        rounding = "ceil"
    name = conversion.input(1)
    conversion.set("coordinate_transformation_mode", "asymmetric")
    if nearest:
        conversion.set("nearest_mode", rounding)
    conversion.set_input(1, conversion.constant("roi", [], "float"))
    conversion.set_input(2, name)
    conversion.add_note(
        "`coordinate_transformation_mode = asymmetric` is added: version 10 implies it"
    )


def resize_down(conversion: NodeConversion) -> None:
    """Reverse `resize_up`; reject nodes that version 10 cannot express."""
    scales = conversion.numbers(conversion.input(2)) if conversion.input(2) else ()
    if conversion.input(3):
        raise NotConvertible("its input `sizes` exists only since version 11")
    if scales is None:
        raise NotConvertible(f"its scales `{conversion.input(2)}` are unknown")
    if not scales:
        raise NotConvertible("it has no scales")
    if conversion.string("coordinate_transformation_mode") != "asymmetric":
        raise NotConvertible(
            "before version 11, `coordinate_transformation_mode` can only be `asymmetric`"
        )
    if conversion.string("mode") == "nearest":
        if conversion.string("nearest_mode") != "floor" or min(scales) < 1:
            raise NotConvertible("version 10 may select other elements than this `nearest_mode`")
    elif conversion.string("mode") != "linear":
        raise NotConvertible(
            f"its attribute `mode` cannot be `{conversion.string('mode')}` before version 11"
        )
    name = conversion.input(2)
    for old in ("coordinate_transformation_mode", "nearest_mode"):
        conversion.drop(old)
    if conversion.input(1):
        conversion.facts.replaced.add(conversion.input(1))
    conversion.leave_out(2)
    conversion.set_input(1, name)


def resize_with_empty(conversion: NodeConversion) -> None:
    """Replace omitted `roi` and `scales` of `Resize` by empty tensors, for versions before 13."""
    if conversion.input(2) == "" or conversion.input(1) == "":
        empty = conversion.constant("roi", [], "float")
        for index in (1, 2):
            if not conversion.input(index):
                conversion.set_input(index, empty)
        conversion.add_note("empty tensors replace the omitted inputs")


def resize_without_empty(conversion: NodeConversion) -> None:
    """Omit the empty `scales` of a `Resize` with `sizes`: version 13 allows only one of the two."""
    if conversion.input(3) and conversion.input(2):
        numbers = conversion.numbers(conversion.input(2))
        if numbers is None and conversion.shape(conversion.input(2)) != (0,):
            raise NotConvertible("it may have both scales and sizes")
        if numbers is not None and numbers != ():
            raise NotConvertible("it has both scales and sizes")
        conversion.facts.replaced.add(conversion.input(2))
        conversion.leave_out(2)
        conversion.add_note("the empty `scales` is left out")
