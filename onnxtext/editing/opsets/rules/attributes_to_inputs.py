# SPDX-License-Identifier: Apache-2.0
"""Rules for operators whose attributes became inputs, such as `Squeeze`, `Clip` and `TopK`."""

from __future__ import annotations

from onnxtext.ast.tensors_and_attributes import Attribute, Reference
from onnxtext.editing.opsets import make_tensors
from onnxtext.editing.opsets.converted_node import NodeConversion
from onnxtext.editing.opsets.make_tensors import Number
from onnxtext.editing.opsets.model_facts import NotConvertible
from onnxtext.editing.opsets.signature_changes import Change, carry_over


def _to_input(work: NodeConversion, name: str, index: int) -> bool:
    """Convert an attribute with integers to an input; return False if it is missing or empty."""
    attribute = work.attribute(name)
    if attribute is None:
        return False
    if isinstance(attribute.value, Reference):
        value = work.parameter(name, attribute)
    else:
        numbers = work.integers(name) or ()
        if not numbers:  # an empty list means the same as no attribute
            work.drop(name)
            return False
        value = work.constant(name, numbers)
    work.drop(name)
    work.set_input(index, value)
    work.say(f"`{name}` becomes an input")
    return True


def _to_attribute(work: NodeConversion, name: str, index: int) -> bool:
    """Convert an input with integers to an attribute; return False if the input is omitted."""
    if not work.input(index):
        return False
    numbers = work.needed_numbers(index, f"input `{name}`")
    work.leave_out(index)
    work.set(make_tensors.ints_attribute(name, _whole(numbers)))
    work.say(f"`{name}` becomes an attribute")
    return True


def to_input(name: str) -> Change:
    """Return a rule that converts an attribute with integers to the second input."""

    def rule(work: NodeConversion) -> None:
        _to_input(work, name, 1)
        carry_over(work)

    return rule


def to_attribute(name: str) -> Change:
    """Return a rule that converts the second input to an attribute with integers."""

    def rule(work: NodeConversion) -> None:
        _to_attribute(work, name, 1)
        carry_over(work)

    return rule


def _whole(numbers: tuple[Number, ...]) -> tuple[int, ...]:
    return tuple([int(number) for number in numbers])


# ---- Axes -----------------------------------------------------------------------------------


def axes_to_attribute(work: NodeConversion) -> None:
    """Convert the input `axes` of `Squeeze`, `Unsqueeze` or a reduction to an attribute.

    Reject a reduction over no axes (`noop_with_empty_axes`).
    """
    noop = work.integer("noop_with_empty_axes", 0)
    numbers = work.numbers(work.input(1)) if work.input(1) else ()
    if numbers == () and "noop_with_empty_axes" in work.old.attributes:
        if noop:
            raise NotConvertible("it reduces nothing (`noop_with_empty_axes`)", "remove the node")
        if work.input(1):
            work.facts.replaced.add(work.input(1))
        work.leave_out(1)
    _to_attribute(work, "axes", 1)
    work.drop("noop_with_empty_axes")
    carry_over(work)


def split_count(work: NodeConversion) -> None:
    """Add `num_outputs` to a `Split` without the input `split`: version 18 requires one of them."""
    if not work.input(1):
        work.set(make_tensors.int_attribute("num_outputs", len(work.node.outputs)))
        work.say("`num_outputs` is added, because version 18 needs it")
    carry_over(work)


def split_without_count(work: NodeConversion) -> None:
    """Reverse `split_count`; if the parts are unequal, add the input `split` with their sizes."""
    if work.attribute("num_outputs") is not None:
        count = len(work.node.outputs)
        if work.integer("num_outputs") != count:
            raise NotConvertible("the number of its outputs differs from `num_outputs`")
        shape = work.shape(work.input(0))
        axis = work.integer("axis", 0) or 0
        size = shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None
        if not isinstance(size, int):
            raise NotConvertible(
                f"the size of the split dimension of `{work.input(0)}` is not known, and older "
                "versions split into equal parts only",
                f"declare the type of `{work.input(0)}`",
            )
        if size % count:
            part = -(-size // count)
            last = size - part * (count - 1)
            if last < 0:
                raise NotConvertible(
                    f"a dimension of size {size} is too small to be split into {count} parts of "
                    f"size {part}, of which only the last may be smaller"
                )
            work.set_input(1, work.constant("split", [*[part] * (count - 1), last]))
        work.drop("num_outputs")
        work.say("`num_outputs` is dropped: older versions do not have it")
    carry_over(work)


# ---- Slices, pads, shapes -------------------------------------------------------------------


def slice_to_inputs(work: NodeConversion) -> None:
    """Convert `Slice` to version 10: `starts`, `ends` and `axes` become inputs."""
    for index, name in enumerate(("starts", "ends", "axes"), start=1):
        _to_input(work, name, index)
    if not (work.input(1) and work.input(2)):
        raise NotConvertible("it has no `starts` or `ends`")
    carry_over(work)


def slice_to_attributes(work: NodeConversion) -> None:
    """Reverse `slice_to_inputs`; reject steps other than 1."""
    if work.input(4):
        if any(step != 1 for step in work.needed_numbers(4, "input `steps`")):
            raise NotConvertible(
                "it has steps other than 1, which are allowed only since version 10"
            )
        work.leave_out(4)
    for index, name in enumerate(("starts", "ends", "axes"), start=1):
        _to_attribute(work, name, index)
    carry_over(work)


def pad_to_inputs(work: NodeConversion) -> None:
    """Convert `Pad` to version 11: `pads` and `value` become inputs."""
    value = work.real("value") or 0.0
    if not _to_input(work, "pads", 1):
        raise NotConvertible("its `pads` is missing or empty")
    if value:
        element = work.element(work.input(0))
        work.set_input(2, work.constant("constant_value", [value], element, ()))
    work.drop("value")
    carry_over(work)


def pad_to_attributes(work: NodeConversion) -> None:
    """Reverse `pad_to_inputs`."""
    _to_attribute(work, "pads", 1)
    if work.input(2):
        value = work.needed_numbers(2, "input `constant_value`")
        work.leave_out(2)
        if value[:1] != (0,):
            work.set(_real("value", value))
    carry_over(work)


def pad_without_axes(work: NodeConversion) -> None:
    """Merge the input `axes` of `Pad` (new in version 18) into `pads`."""
    if work.input(3):
        axes = _whole(work.needed_numbers(3, "input `axes`"))
        pads = _whole(work.needed_numbers(1, "input `pads`"))
        rank = work.needed_rank(work.input(0))
        everywhere = [0] * (2 * rank)
        if len(pads) != 2 * len(axes) or any(not -rank <= axis < rank for axis in axes):
            raise NotConvertible("its `pads` do not fit its `axes`")
        for index, axis in enumerate(axes):
            everywhere[axis % rank] = pads[index]
            everywhere[rank + axis % rank] = pads[len(axes) + index]
        work.set_input(1, work.constant("pads", everywhere))
        work.leave_out(3)
        work.say("`axes` is merged into `pads`")
    carry_over(work)


def pads_renamed(work: NodeConversion) -> None:
    """Rename the attribute `paddings` of `Pad` (version 1) to `pads` (version 2), or back."""
    old, new = ("paddings", "pads") if work.is_up else ("pads", "paddings")
    numbers = work.integers(old)
    if numbers is None:
        raise NotConvertible(f"it has no `{old}`")
    work.drop(old)
    work.set(make_tensors.ints_attribute(new, numbers))
    work.say(f"`{old}` is renamed to `{new}`")
    carry_over(work)


def reshape_to_input(work: NodeConversion) -> None:
    """Convert `Reshape` to version 5: `shape` becomes an input."""
    if not _to_input(work, "shape", 1):
        raise NotConvertible("it has no `shape`")
    carry_over(work)


def reshape_zero(work: NodeConversion) -> None:
    """Drop `allowzero = 1` of `Reshape` (new in version 14); reject shapes that may contain 0."""
    if work.integer("allowzero", 0):
        numbers = work.numbers(work.input(1))
        if numbers is None or 0 in numbers:
            raise NotConvertible(
                "`allowzero = 1` exists only since version 14, and its shape may contain 0"
            )
        work.drop("allowzero")
        work.say("`allowzero` is dropped: no size is 0")
    carry_over(work)


def shape_whole(work: NodeConversion) -> None:
    """Replace the attributes `start` and `end` of `Shape` (new in version 15) by a `Slice`."""
    start, end = work.integer("start", 0) or 0, work.integer("end")
    work.drop("start")
    work.drop("end")
    if start != 0 or end is not None:
        old = work.divert("shape")
        starts = work.constant("starts", [start])
        ends = work.constant("ends", [(1 << 31) - 1 if end is None else end])
        work.append("Slice", (work.node.outputs[0], starts, ends), (old,))
        work.say("a `Slice` after it replaces `start` and `end`")
    carry_over(work)


# ---- Limits, counts, ratios -----------------------------------------------------------------


def _real(name: str, numbers: tuple[Number, ...]) -> Attribute:
    tensor = make_tensors.make_tensor("float", [float(number) for number in numbers[:1]], ())
    if tensor is None or len(numbers) != 1:
        raise NotConvertible(f"its `{name}` is not a single float32 number")
    return make_tensors.float_attribute(name, float(numbers[0]))


def clip_to_inputs(work: NodeConversion) -> None:
    """Convert `Clip` to version 11: `min` and `max` become inputs."""
    for index, name in ((1, "min"), (2, "max")):
        if work.attribute(name) is not None:
            value = work.real(name) or 0.0
            work.drop(name)
            bound = work.constant(name, [value], work.element(work.input(0)), ())
            work.set_input(index, bound)
            work.say("`min` and `max` become inputs")
    carry_over(work)


def clip_to_attributes(work: NodeConversion) -> None:
    """Reverse `clip_to_inputs`."""
    for index, name in ((1, "min"), (2, "max")):
        if work.input(index):
            work.set(_real(name, work.needed_numbers(index, f"input `{name}`")))
            work.leave_out(index)
            work.say("`min` and `max` become attributes")
    carry_over(work)


def top_k_to_input(work: NodeConversion) -> None:
    """Convert `TopK` to version 10: `k` becomes an input."""
    count = work.integer("k")
    if count is None:
        raise NotConvertible("it has no `k`")
    work.drop("k")
    work.set_input(1, work.constant("k", [count]))
    work.say("`k` becomes an input")
    carry_over(work)


def top_k_to_attribute(work: NodeConversion) -> None:
    """Reverse `top_k_to_input`."""
    numbers = _whole(work.needed_numbers(1, "input `K`"))
    if len(numbers) != 1:
        raise NotConvertible("its `K` is not a single number")
    work.leave_out(1)
    work.set(make_tensors.int_attribute("k", numbers[0]))
    work.say("`k` becomes an attribute")
    carry_over(work)


def _refuse_used_mask(work: NodeConversion, reason: str) -> None:
    if any(name in work.facts.used for name in work.node.outputs[1:2] if name):
        raise NotConvertible(f"its output `mask` is used, and {reason}")


_MASK = "only version 12 defines what it contains in inference"


def dropout_to_inputs(work: NodeConversion) -> None:
    """Convert `Dropout` to version 12: `ratio` becomes an input."""
    _refuse_used_mask(work, _MASK)
    if work.attribute("ratio") is not None:
        ratio = work.real("ratio") or 0.0
        work.drop("ratio")
        work.set_input(1, work.constant("ratio", [ratio], "float", ()))
        work.say("`ratio` becomes an input")
    carry_over(work)


def dropout_to_attributes(work: NodeConversion) -> None:
    """Reverse `dropout_to_inputs`; reject nodes in training mode."""
    if work.input(2):
        training = work.numbers(work.input(2))
        if training is None or any(training):
            raise NotConvertible("its input `training_mode` exists only since version 12")
        work.facts.replaced.add(work.input(2))
        work.leave_out(2)
    if work.input(1):
        numbers = work.numbers(work.input(1))
        if numbers is not None and len(numbers) == 1:
            work.facts.replaced.add(work.input(1))
            work.set(
                make_tensors.float_attribute("ratio", float(numbers[0]))
            )  # has no effect in inference
        work.leave_out(1)
        work.say("`ratio` becomes an attribute")
    _refuse_used_mask(work, _MASK)
    work.drop("seed")
    carry_over(work)


def dropout_mask(work: NodeConversion) -> None:
    """Drop the output `mask` of `Dropout`, whose type changed in version 10; reject used masks."""
    if len(work.node.outputs) > 1 and work.node.outputs[1]:
        _refuse_used_mask(work, "the type of `mask` changed in version 10")
        work.facts.dropped.add((id(work.graph.scope.original), work.node.outputs[1]))
        work.node.outputs = work.node.outputs[:1]
        work.node.output_types = work.node.output_types[:1]
        work.say("the unused output `mask` is dropped, because its type changed")
    carry_over(work)


def dft_to_input(work: NodeConversion) -> None:
    """Convert `DFT` to version 20: `axis` becomes an input."""
    axis = work.integer("axis", 1)
    assert axis is not None
    work.drop("axis")
    work.set_input(2, work.constant("axis", [axis], dims=()))
    work.say("`axis` becomes an input")
    carry_over(work)


def dft_to_attribute(work: NodeConversion) -> None:
    """Reverse `dft_to_input`."""
    axis = -2
    if work.input(2):
        axis = _whole(work.needed_numbers(2, "input `axis`"))[0]
        work.leave_out(2)
    work.set(make_tensors.int_attribute("axis", axis))
    work.say("`axis` becomes an attribute")
    carry_over(work)


def constant_value(work: NodeConversion) -> None:
    """Convert `value_int`, `value_floats`, … of `Constant` to `value`, for versions before 12."""
    for attribute in work.node.attributes:
        value = work.value(attribute.name)
        tensor = None
        match attribute.name, value:
            case "value_int", int():
                tensor = make_tensors.make_tensor("int64", [value], ())
            case "value_ints", tuple():
                tensor = make_tensors.make_tensor("int64", value, (len(value),))
            case "value_float", _:
                tensor = make_tensors.make_tensor("float", [work.real("value_float") or 0.0], ())
            case "value_floats", _:
                numbers = work.floats("value_floats") or ()
                tensor = make_tensors.make_tensor("float", numbers, (len(numbers),))
        if tensor is not None:
            work.node.attributes = (make_tensors.make_attribute("value", tensor),)
            work.say(f"`{attribute.name}` becomes a tensor")
    carry_over(work)
