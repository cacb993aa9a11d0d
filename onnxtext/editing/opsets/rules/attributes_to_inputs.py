# SPDX-License-Identifier: Apache-2.0
"""Rules for operators whose attributes became inputs, such as `Squeeze`, `Clip` and `TopK`.

The rules raise `NotConvertible` if they cannot convert a node.
"""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.ast.tensors_and_attributes import Reference
from onnxtext.editing.opsets import make_tensors
from onnxtext.editing.opsets.converted_node import NodeConversion
from onnxtext.editing.opsets.make_tensors import Number
from onnxtext.editing.opsets.model_facts import NotConvertible, unknown_fact


def ints_to_input(conversion: NodeConversion, name: str, index: int = 1) -> bool:
    """Replace the attribute called `name`, a list of integers, by the input at `index`.

    Return False if the attribute is missing or empty; an empty attribute is dropped.
    """
    attribute = conversion.attribute(name)
    if attribute is None:
        return False
    if isinstance(attribute.value, Reference):
        _become_input(conversion, name, index, conversion.parameter(name, attribute))
        return True
    numbers = conversion.integers(name) or ()
    if not numbers:  # an empty list means the same as no attribute
        conversion.drop(name)
        return False
    _become_input(conversion, name, index, conversion.constant(name, numbers))
    return True


def ints_to_attribute(conversion: NodeConversion, name: str, index: int = 1) -> None:
    """Replace the input at `index`, if any, by the attribute called `name`, a list of integers."""
    if conversion.input(index):
        numbers = conversion.needed_numbers(index, f"input `{name}`")
        become_attribute(conversion, name, index, _whole(numbers))


def _become_input(conversion: NodeConversion, name: str, index: int, value: str) -> None:
    """Replace the attribute called `name` by the input at `index`: the value called `value`."""
    conversion.drop(name)
    conversion.set_input(index, value)
    conversion.add_note(f"`{name}` becomes an input")


def become_input(
    conversion: NodeConversion, name: str, index: int, numbers: Sequence[Number],
    element: str = "int64", dims: Sequence[int] | None = None,
) -> None:  # fmt: skip
    """Replace the attribute called `name` by the input at `index`: a constant of `numbers`."""
    _become_input(conversion, name, index, conversion.constant(name, numbers, element, dims))


def become_attribute(conversion: NodeConversion, name: str, index: int, value: object) -> None:
    """Replace the input at `index` by the attribute called `name`, which gets `value`."""
    conversion.leave_out(index)
    conversion.set(name, value)
    conversion.add_note(f"`{name}` becomes an attribute")


def _whole(numbers: tuple[Number, ...]) -> tuple[int, ...]:
    return tuple([int(number) for number in numbers])


# ---- Axes -----------------------------------------------------------------------------------


def axes_to_attribute(conversion: NodeConversion) -> None:
    """Convert the input `axes` of `Squeeze`, `Unsqueeze` or a reduction to an attribute.

    Reject a reduction over no axes (`noop_with_empty_axes`).
    """
    noop = conversion.integer("noop_with_empty_axes", 0)
    numbers = conversion.numbers(conversion.input(1)) if conversion.input(1) else ()
    if numbers == () and "noop_with_empty_axes" in conversion.old.attributes:
        if noop:
            raise NotConvertible("it reduces nothing (`noop_with_empty_axes`)", "remove the node")
        if conversion.input(1):
            conversion.facts.replaced.add(conversion.input(1))
        conversion.leave_out(1)
    ints_to_attribute(conversion, "axes")
    conversion.drop("noop_with_empty_axes")


def split_count(conversion: NodeConversion) -> None:
    """Add `num_outputs` to a `Split` without the input `split`: version 18 needs one of the two."""
    if not conversion.input(1):
        conversion.set("num_outputs", len(conversion.node.outputs))
        conversion.add_note("`num_outputs` is added, because version 18 needs it")


def split_without_count(conversion: NodeConversion) -> None:
    """Reverse `split_count`; if the parts are unequal, add the input `split` with their sizes."""
    if conversion.attribute("num_outputs") is not None:
        count = len(conversion.node.outputs)
        if conversion.integer("num_outputs") != count:
            raise NotConvertible("the number of its outputs differs from `num_outputs`")
        shape = conversion.shape(conversion.input(0))
        axis = conversion.integer("axis", 0) or 0
        size = shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None
        if not isinstance(size, int):
            why = ", and older versions split into equal parts only"
            raise unknown_fact("the size of the split dimension of", conversion.input(0), why)
        if size % count:
            part = -(-size // count)
            last = size - part * (count - 1)
            if last < 0:
                raise NotConvertible(
                    f"a dimension of size {size} is too small to be split into {count} parts of "
                    f"size {part}, of which only the last may be smaller"
                )
            conversion.set_input(1, conversion.constant("split", [*[part] * (count - 1), last]))
        conversion.drop("num_outputs")
        conversion.add_note("`num_outputs` is dropped: older versions do not have it")


# ---- Slices, pads, shapes -------------------------------------------------------------------


def slice_to_inputs(conversion: NodeConversion) -> None:
    """Convert `Slice` to version 10: `starts`, `ends` and `axes` become inputs."""
    for index, name in enumerate(("starts", "ends", "axes"), start=1):
        ints_to_input(conversion, name, index)
    if not (conversion.input(1) and conversion.input(2)):
        raise NotConvertible("it has no `starts` or `ends`")


def slice_to_attributes(conversion: NodeConversion) -> None:
    """Reverse `slice_to_inputs`; reject steps other than 1."""
    if conversion.input(4):
        if any(step != 1 for step in conversion.needed_numbers(4, "input `steps`")):
            raise NotConvertible(
                "it has steps other than 1, which are allowed only since version 10"
            )
        conversion.leave_out(4)
    for index, name in enumerate(("starts", "ends", "axes"), start=1):
        ints_to_attribute(conversion, name, index)


def pad_to_inputs(conversion: NodeConversion) -> None:
    """Convert `Pad` to version 11: `pads` and `value` become inputs."""
    value = conversion.real("value") or 0.0
    if not ints_to_input(conversion, "pads"):
        raise NotConvertible("its `pads` is missing or empty")
    if value:
        element = conversion.element(conversion.input(0))
        conversion.set_input(2, conversion.constant("constant_value", [value], element, ()))
    conversion.drop("value")


def pad_to_attributes(conversion: NodeConversion) -> None:
    """Reverse `pad_to_inputs`."""
    ints_to_attribute(conversion, "pads")
    if conversion.input(2):
        value = conversion.needed_numbers(2, "input `constant_value`")
        conversion.leave_out(2)
        if value[:1] != (0,):
            conversion.set("value", _real("value", value))


def pad_without_axes(conversion: NodeConversion) -> None:
    """Merge the input `axes` of `Pad` (new in version 18) into `pads`."""
    if conversion.input(3):
        axes = _whole(conversion.needed_numbers(3, "input `axes`"))
        pads = _whole(conversion.needed_numbers(1, "input `pads`"))
        rank = conversion.needed_rank(conversion.input(0))
        everywhere = [0] * (2 * rank)
        if len(pads) != 2 * len(axes) or any(not -rank <= axis < rank for axis in axes):
            raise NotConvertible("its `pads` do not fit its `axes`")
        for index, axis in enumerate(axes):
            everywhere[axis % rank] = pads[index]
            everywhere[rank + axis % rank] = pads[len(axes) + index]
        conversion.set_input(1, conversion.constant("pads", everywhere))
        conversion.leave_out(3)
        conversion.add_note("`axes` is merged into `pads`")


def pads_renamed(conversion: NodeConversion) -> None:
    """Rename the attribute `paddings` of `Pad` (version 1) to `pads` (version 2), or back."""
    old, new = ("paddings", "pads") if conversion.is_up else ("pads", "paddings")
    numbers = conversion.integers(old)
    if numbers is None:
        raise NotConvertible(f"it has no `{old}`")
    conversion.drop(old)
    conversion.set(new, numbers)
    conversion.add_note(f"`{old}` is renamed to `{new}`")


def reshape_to_input(conversion: NodeConversion) -> None:
    """Convert `Reshape` to version 5: `shape` becomes an input."""
    if not ints_to_input(conversion, "shape"):
        raise NotConvertible("it has no `shape`")


def reshape_zero(conversion: NodeConversion) -> None:
    """Drop `allowzero = 1` of `Reshape` (new in version 14); reject shapes that may contain 0."""
    if conversion.integer("allowzero", 0):
        numbers = conversion.numbers(conversion.input(1))
        if numbers is None or 0 in numbers:
            raise NotConvertible(
                "`allowzero = 1` exists only since version 14, and its shape may contain 0"
            )
        conversion.drop("allowzero")
        conversion.add_note("`allowzero` is dropped: no size is 0")


def shape_whole(conversion: NodeConversion) -> None:
    """Replace the attributes `start` and `end` of `Shape` (new in version 15) by a `Slice`."""
    start, end = conversion.integer("start", 0) or 0, conversion.integer("end")
    conversion.drop("start")
    conversion.drop("end")
    if start != 0 or end is not None:
        old = conversion.divert("shape")
        starts = conversion.constant("starts", [start])
        ends = conversion.constant("ends", [(1 << 31) - 1 if end is None else end])
        conversion.append("Slice", (conversion.node.outputs[0], starts, ends), (old,))
        conversion.add_note("a `Slice` after it replaces `start` and `end`")


# ---- Limits, counts, ratios -----------------------------------------------------------------


def _real(name: str, numbers: tuple[Number, ...]) -> float:
    tensor = make_tensors.make_tensor("float", [float(number) for number in numbers[:1]], ())
    if tensor is None or len(numbers) != 1:
        raise NotConvertible(f"its `{name}` is not a single float32 number")
    return float(numbers[0])


def clip_to_inputs(conversion: NodeConversion) -> None:
    """Convert `Clip` to version 11: `min` and `max` become inputs."""
    moved = []
    for index, name in ((1, "min"), (2, "max")):
        if conversion.attribute(name) is not None:
            value = conversion.real(name) or 0.0
            conversion.drop(name)
            bound = conversion.constant(name, [value], conversion.element(conversion.input(0)), ())
            conversion.set_input(index, bound)
            moved.append(name)
    _note_limits(conversion, moved, "an input", "inputs")


def clip_to_attributes(conversion: NodeConversion) -> None:
    """Reverse `clip_to_inputs`."""
    moved = []
    for index, name in ((1, "min"), (2, "max")):
        if conversion.input(index):
            conversion.set(name, _real(name, conversion.needed_numbers(index, f"input `{name}`")))
            conversion.leave_out(index)
            moved.append(name)
    _note_limits(conversion, moved, "an attribute", "attributes")


def _note_limits(conversion: NodeConversion, moved: list[str], singular: str, plural: str) -> None:
    """Add a note that the limits `moved` become inputs or attributes.

    `singular` is `an input` or `an attribute`, for one limit; `plural` is for two.
    """
    if moved:
        end = f" becomes {singular}" if len(moved) == 1 else f" become {plural}"
        conversion.add_note(" and ".join([f"`{name}`" for name in moved]) + end)


def top_k_to_input(conversion: NodeConversion) -> None:
    """Convert `TopK` to version 10: `k` becomes an input."""
    count = conversion.integer("k")
    if count is None:
        raise NotConvertible("it has no `k`")
    become_input(conversion, "k", 1, [count])


def top_k_to_attribute(conversion: NodeConversion) -> None:
    """Reverse `top_k_to_input`."""
    numbers = _whole(conversion.needed_numbers(1, "input `K`"))
    if len(numbers) != 1:
        raise NotConvertible("its `K` is not a single number")
    become_attribute(conversion, "k", 1, numbers[0])


def _refuse_used_mask(conversion: NodeConversion, reason: str) -> None:
    if any(name in conversion.facts.used for name in conversion.node.outputs[1:2] if name):
        raise NotConvertible(f"its output `mask` is used, and {reason}")


_MASK = "what it contains in inference is defined only since version 12"


def dropout_to_inputs(conversion: NodeConversion) -> None:
    """Convert `Dropout` to version 12: `ratio` becomes an input; reject nodes if `mask` is used."""
    _refuse_used_mask(conversion, _MASK)
    if conversion.attribute("ratio") is not None:
        become_input(conversion, "ratio", 1, [conversion.real("ratio") or 0.0], "float", ())


def dropout_to_attributes(conversion: NodeConversion) -> None:
    """Reverse `dropout_to_inputs`; reject nodes that may train, and nodes whose `mask` is used."""
    if conversion.input(2):
        training = conversion.numbers(conversion.input(2))
        if training is None or any(training):
            raise NotConvertible("its input `training_mode` exists only since version 12")
        conversion.facts.replaced.add(conversion.input(2))
        conversion.leave_out(2)
    if conversion.input(1):
        numbers = conversion.numbers(conversion.input(1))
        if numbers is not None and len(numbers) == 1:
            conversion.facts.replaced.add(conversion.input(1))
            conversion.set("ratio", float(numbers[0]))  # no effect in inference
        conversion.leave_out(1)
        conversion.add_note("`ratio` becomes an attribute")
    _refuse_used_mask(conversion, _MASK)
    conversion.drop("seed")


def dropout_mask(conversion: NodeConversion) -> None:
    """Drop the unused output `mask` of `Dropout`, whose type changed in version 10.

    Reject nodes whose `mask` is used.
    """
    if len(conversion.node.outputs) > 1 and conversion.node.outputs[1]:
        _refuse_used_mask(conversion, "the type of `mask` changed in version 10")
        conversion.facts.dropped.add(
            (id(conversion.graph.scope.original), conversion.node.outputs[1])
        )
        conversion.node.outputs = conversion.node.outputs[:1]
        conversion.node.output_types = conversion.node.output_types[:1]
        conversion.add_note("the unused output `mask` is dropped, because its type changed")


def dft_to_input(conversion: NodeConversion) -> None:
    """Convert `DFT` to version 20: `axis` becomes an input."""
    axis = conversion.integer("axis", 1)
    assert axis is not None
    become_input(conversion, "axis", 2, [axis], dims=())


def dft_to_attribute(conversion: NodeConversion) -> None:
    """Reverse `dft_to_input`."""
    axis = -2
    if conversion.input(2):
        axis = _whole(conversion.needed_numbers(2, "input `axis`"))[0]
    become_attribute(conversion, "axis", 2, axis)


def constant_value(conversion: NodeConversion) -> None:
    """Convert `Constant` nodes for versions before 12: write numeric attributes as `value`."""
    for attribute in conversion.node.attributes:
        value = conversion.value(attribute.name)
        tensor = None
        match attribute.name, value:
            case "value_int", int():
                tensor = make_tensors.make_tensor("int64", [value], ())
            case "value_ints", tuple():
                tensor = make_tensors.make_tensor("int64", value, (len(value),))
            case "value_float", _:
                tensor = make_tensors.make_tensor(
                    "float", [conversion.real("value_float") or 0.0], ()
                )
            case "value_floats", _:
                numbers = conversion.floats("value_floats") or ()
                tensor = make_tensors.make_tensor("float", numbers, (len(numbers),))
        if tensor is not None:
            conversion.node.attributes = ()
            conversion.set("value", tensor)
            conversion.add_note(f"`{attribute.name}` becomes a tensor")
