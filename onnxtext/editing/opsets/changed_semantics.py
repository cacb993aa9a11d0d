# SPDX-License-Identifier: Apache-2.0
"""Rules for operators whose meaning changed between versions: `Softmax`, `Add` and others."""

from __future__ import annotations

from onnxtext.ast.tensors_and_attributes import Attribute, AttributeType, Reference
from onnxtext.editing.opsets import tensors
from onnxtext.editing.opsets.converted_node import Dims, Work
from onnxtext.editing.opsets.model_facts import Obstacle
from onnxtext.editing.opsets.signature_changes import carry_over
from onnxtext.editing.opsets.tensors import integer, ints
from onnxtext.tensor.elements import ELEMENTS

# ---- Softmax --------------------------------------------------------------------------------


def softmax_up(work: Work) -> None:
    """Convert `Softmax` and the like to version 13: one axis instead of all axes from `axis` on."""
    shape = work.shape(work.input(0))
    axis = work.integer("axis", 1)
    assert axis is not None
    if shape is not None:
        at = axis % len(shape) if -len(shape) <= axis < len(shape) else axis
        real = _only_axis(shape, at)
        if real is not None:
            explicit = work.attribute("axis") is not None
            if real != at or (not explicit and real != len(shape) - 1):
                work.set(integer("axis", real))
                work.say("`axis` is the one axis along which it normalizes")
            carry_over_axis(work)
            return
    name = work.input(0)
    size = work.insert("Shape", (name,), "shape", element="int64")
    flat = work.insert("Flatten", (name,), "flat", integer("axis", axis))
    work.set_input(0, flat)
    work.set(integer("axis", -1))
    old = work.divert("normalized")
    work.append("Reshape", (work.node.outputs[0], size), (old,))
    work.say("it normalizes over all axes from `axis` on, so `Flatten` and `Reshape` are "
             "added around it")  # fmt: skip
    carry_over_axis(work)


def _only_axis(shape: Dims, axis: int) -> int | None:
    """Return the one axis from `axis` on whose size is not 1; None if there are several."""
    if axis == len(shape) - 1:
        return axis
    longer = [at for at in range(axis, len(shape)) if shape[at] != 1]
    if len(longer) > 1 or axis >= len(shape):
        return None
    return longer[0] if longer else axis


def softmax_down(work: Work) -> None:
    """Reverse `softmax_up`: transpose so that the axis is the last axis."""
    name = work.input(0)
    axis = work.integer("axis", -1)
    assert axis is not None
    if axis == -1:
        work.set(integer("axis", -1))
    else:
        shape = work.shape(name)
        if shape is None:
            raise Obstacle(f"the rank of `{name}` is not known", f"declare the type of `{name}`")
        rank = len(shape)
        if not -rank <= axis < rank:
            raise Obstacle(f"its `axis` {axis} does not exist")
        axis %= rank
        if all(size == 1 for size in shape[axis + 1 :]):
            work.set(integer("axis", axis))
        else:
            order = [*range(axis), *range(axis + 1, rank), axis]
            back = [order.index(at) for at in range(rank)]
            work.set_input(0, work.insert("Transpose", (name,), "moved", ints("perm", order)))
            work.set(integer("axis", rank - 1))
            old = work.divert("normalized")
            work.append("Transpose", (work.node.outputs[0],), (old,), ints("perm", back))
            work.say(
                "it normalizes along one axis, so `Transpose` moves this axis to the end and back"
            )
    carry_over_axis(work)


def carry_over_axis(work: Work) -> None:
    """Carry the attributes over, but keep an omitted `axis`: other rules handle its default."""
    held = work.attribute("axis")
    if held is not None:
        carry_over(work)
        return
    work.set(integer("axis", 0))
    carry_over(work)
    work.drop("axis")


# ---- Axes that count from the end -----------------------------------------------------------


def axes_from_start(work: Work) -> None:
    """Replace negative axes, which versions before 11 do not have."""
    for name in ("axis", "axes"):
        held = work.attribute(name)
        if held is None or isinstance(held.value, Reference):
            continue
        value = work.value(name)
        axes = (value,) if isinstance(value, int) else value
        if isinstance(axes, tuple) and any(isinstance(axis, int) and axis < 0 for axis in axes):
            rank = work.needed_rank(work.input(0))
            if work.old.name == "Unsqueeze":
                rank += len(axes)
            made = [axis + rank if axis < 0 else axis for axis in axes]
            work.set(integer(name, made[0]) if isinstance(value, int) else ints(name, made))
            work.say(f"`{name}` counts from the start, as always before version {work.old.since}")
    carry_over(work)


def gather_down(work: Work) -> None:
    """Reject negative and computed indices of `Gather` and `OneHot`, new in version 11."""
    index = 0 if work.old.name == "OneHot" else 1
    numbers = work.numbers(work.input(index))
    if numbers is None:
        raise Obstacle(
            f"its indices `{work.input(index)}` are computed, and before version 11 they could not "
            "count from the end"
        )
    if any(number < 0 for number in numbers):
        raise Obstacle("its indices count from the end, which they could not before version 11")
    carry_over(work)


# ---- Broadcasting ---------------------------------------------------------------------------


def broadcast_up(work: Work) -> None:
    """Convert arithmetic to version 7, which broadcasts like numpy."""
    axis = work.integer("axis")
    if work.integer("broadcast", 0) and axis is not None:
        left, right = work.needed_rank(work.input(0)), work.needed_rank(work.input(1))
        behind = left - (axis % left if left else 0) - right
        if behind > 0 and right:
            axes = ints("axes", range(right, right + behind))
            work.set_input(1, work.insert("Unsqueeze", (work.input(1),), "aligned", axes))
            work.say("`axis` is replaced by an `Unsqueeze` of the second input")
    work.drop("axis")
    work.drop("broadcast")
    carry_over(work)


def broadcast_down(work: Work) -> None:
    """Reverse `broadcast_up`, for inputs of equal shapes or a second input with fewer axes."""
    left, right = work.shape(work.input(0)), work.shape(work.input(1))
    if left is None or right is None or None in left or None in right:
        raise Obstacle("the shapes of its inputs are not known")
    if left != right:
        if len(right) > len(left) or left[len(left) - len(right) :] != right:
            raise Obstacle("it broadcasts in a way that exists since version 7")
        work.set(integer("broadcast", 1))
        work.say("`broadcast = 1` is added, because version 6 needs it")
    carry_over(work)


def equal_shapes(work: Work) -> None:
    """Require equal shapes of `Max`, `Min`, `Mean` and `Sum`, which broadcast since version 8."""
    shapes = {work.shape(name) for name in work.node.inputs}
    same = next(iter(shapes)) if len(shapes) == 1 else None
    if len(work.node.inputs) > 1 and (same is None or None in same):
        raise Obstacle("its inputs may differ in shape, which is allowed since version 8")
    carry_over(work)


def prelu_up(work: Work) -> None:
    """Convert `PRelu` to version 7: the slope of each channel broadcasts like in numpy."""
    slope, data = work.shape(work.input(1)), work.shape(work.input(0))
    if slope is None or slope not in {(1,), ()}:
        if slope is None or data is None:
            raise Obstacle("the shapes of its inputs are not known")
        if len(slope) == 1 and len(data) > 2:
            axes = ints("axes", range(1, len(data) - 1))
            work.set_input(1, work.insert("Unsqueeze", (work.input(1),), "slope", axes))
            work.say("an `Unsqueeze` aligns the slopes with the channels")
    carry_over(work)


def prelu_down(work: Work) -> None:
    """Reverse `prelu_up`, for one slope."""
    if work.shape(work.input(1)) != (1,):
        raise Obstacle("its slope broadcasts, which exists since version 7")
    carry_over(work)


def gemm_up(work: Work) -> None:
    """Convert `Gemm` to version 7, which always broadcasts."""
    work.drop("broadcast")
    carry_over(work)


def gemm_down(work: Work) -> None:
    """Reverse `gemm_up`."""
    shape = work.shape(work.input(2))
    if shape is None or len(shape) != 2:
        work.set(integer("broadcast", 1))
    elif None in shape:
        raise Obstacle(f"the shape of `{work.input(2)}` is not known")
    else:
        work.set(integer("broadcast", 1 if 1 in shape else 0))
    carry_over(work)


# ---- Normalization, quantization ------------------------------------------------------------


def group_normalization_up(work: Work) -> None:
    """Convert `GroupNormalization` to version 21: scale and bias per channel, not per group."""
    shape = work.shape(work.input(0))
    groups = work.integer("num_groups") or 0
    channels = shape[1] if shape is not None and len(shape) > 1 else None
    if not isinstance(channels, int) or groups < 1 or channels % groups:
        raise Obstacle(f"the number of channels of `{work.input(0)}` is not known")
    if channels != groups:
        for index, base in ((1, "scale"), (2, "bias")):
            column = work.constant("column", [-1, 1])
            wide = work.constant("groups", [groups, channels // groups])
            flat = work.constant("flat", [-1])
            made = work.insert("Reshape", (work.input(index), column), base)
            made = work.insert("Expand", (made, wide), base)
            work.set_input(index, work.insert("Reshape", (made, flat), base))
        work.say("scale and bias are expanded from groups to channels")
    carry_over(work)


def one_scale(work: Work) -> None:
    """Require a single scale of (De)QuantizeLinear, as versions before 13 do."""
    if work.shape(work.input(1)) != ():
        raise Obstacle(f"its scale `{work.input(1)}` may have several elements (since version 13)")
    work.drop("axis")
    carry_over(work)


def batch_normalization_up(work: Work) -> None:
    """Convert `BatchNormalization` to version 14, without the outputs for training."""
    if any(work.node.outputs[1:]):
        raise Obstacle("its outputs for training changed in version 14")
    carry_over(work)


def batch_normalization_down(work: Work) -> None:
    """Reverse `batch_normalization_up`, for inference only."""
    if work.integer("training_mode", 0):
        raise Obstacle("`training_mode` exists since version 14")
    carry_over(work)


def mod_down(work: Work) -> None:
    """Reject a `Mod` of floats without `fmod`, which exists since version 28."""
    if not work.integer("fmod", 0):
        element = work.element(work.input(0))
        if "float" in element or element == "double":
            raise Obstacle(f"it is a modulo of `{element}`, which exists since version 28")
    carry_over(work)


# ---- Pooling, conversions -------------------------------------------------------------------


def lp_pool_up(work: Work) -> None:
    """Convert `LpPool` and `GlobalLpPool` to version 2, where `p` is an integer."""
    p = work.real("p")
    if p is not None:
        if p != int(p):
            raise Obstacle(f"its `p` {p} is no integer")
        work.drop("p")
        if p != 2:
            work.set(integer("p", int(p)))
    carry_over(work)


def pool_windows(work: Work) -> None:
    """Reject a pooling node if a window starts in the end padding: version 22 ignores such windows.

    Windows start there only with `ceil_mode`, if padding and stride together are longer than the
    window.
    """
    if work.integer("ceil_mode", 0) and work.string("auto_pad") in (None, "NOTSET"):
        kernel = work.integers("kernel_shape") or ()
        ones = (1,) * len(kernel)
        strides, dilations = work.integers("strides") or ones, work.integers("dilations") or ones
        pads = work.integers("pads") or (0,) * (2 * len(kernel))
        shape = work.shape(work.input(0))
        sizes = shape[2:] if shape is not None else (None,) * len(kernel)
        if not len(kernel) == len(strides) == len(dilations) == len(pads) // 2 == len(sizes):
            raise Obstacle("its attributes do not fit each other")
        for at, size in enumerate(sizes):
            window = (kernel[at] - 1) * dilations[at] + 1
            start, end = pads[at], pads[at + len(kernel)]
            if end + strides[at] <= window or strides[at] < 1:
                continue
            if not isinstance(size, int):
                raise Obstacle(
                    "its last window may start in the padding, which version 22 ignores, and the "
                    f"size of `{work.input(0)}` is not known"
                )
            if -(-(size + start + end - window) // strides[at]) * strides[at] >= size + start:
                raise Obstacle("its last window starts in the padding, which version 22 ignores")
    carry_over(work)


def cast_up(work: Work) -> None:
    """Convert `to` of `Cast` to version 6: the number of the type instead of its name."""
    name = (work.string("to") or "").lower()
    if name not in ELEMENTS:
        raise Obstacle(f"its type `{name}` is unknown")
    work.set(integer("to", ELEMENTS[name].number))
    work.say("`to` becomes a number")
    carry_over(work)


def renamed(name: str, values: dict[bytes, bytes]) -> object:
    """Return a rule that renames values of an attribute."""

    def rule(work: Work) -> None:
        value = work.value(name)
        if isinstance(value, bytes) and value in values:
            work.set(tensors.text(name, values[value].decode()))
            work.say(f"`{name} = {values[value].decode()}` replaces `{value.decode()}`")
        carry_over(work)

    return rule


def grid_sample_down(work: Work) -> None:
    """Convert `GridSample` to versions before 20: images only, older names of `mode`."""
    if work.needed_rank(work.input(0)) != 4:
        raise Obstacle(f"`{work.input(0)}` is no image: other ranks exist since version 20")
    names = {b"linear": "bilinear", b"cubic": "bicubic", b"nearest": "nearest"}
    value = work.value("mode")
    work.set(tensors.text("mode", names[value if isinstance(value, bytes) else b"linear"]))
    work.say("`mode` gets its older name")
    carry_over(work)


def label_encoder_up(work: Work) -> None:
    """Convert `LabelEncoder` to version 2: lists of keys and values replace numbered classes."""
    classes = work.value("classes_strings")
    if not isinstance(classes, tuple):
        raise Obstacle("it has no `classes_strings`")
    numbers = tuple(range(len(classes)))
    to_numbers = work.element(work.input(0)) == "string"
    strings = Attribute("keys_strings" if to_numbers else "values_strings", AttributeType.STRINGS,
                        classes)  # fmt: skip
    work.drop("classes_strings")
    work.set(strings)
    work.set(ints("values_int64s" if to_numbers else "keys_int64s", numbers))
    work.say("attributes for keys and values replace `classes_strings`")
    carry_over(work)


def scatter_up(work: Work) -> None:
    """Rename `Scatter` to `ScatterElements` (version 11)."""
    work.node.op_type = "ScatterElements"
    work.say("`ScatterElements` replaces `Scatter`")


def scatter_down(work: Work) -> None:
    """Reverse `scatter_up`."""
    work.node.op_type = "Scatter"
    work.say("`Scatter` replaces `ScatterElements`")
