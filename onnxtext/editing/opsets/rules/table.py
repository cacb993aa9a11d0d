# SPDX-License-Identifier: Apache-2.0
"""List the rules that convert nodes, one for each version that changed an operator.

Steps without a rule here only change types, attributes with defaults and optional inputs
(`signature_changes`). All steps up to `REVIEWED` have been reviewed; newer steps are obstacles.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from onnxtext.editing.opsets.converted_node import NodeConversion
from onnxtext.editing.opsets.model_facts import NotConvertible
from onnxtext.editing.opsets.rules import arithmetic_and_gemm as arithmetic
from onnxtext.editing.opsets.rules import attributes_to_inputs as to_inputs
from onnxtext.editing.opsets.rules import casts_and_encoders as casts
from onnxtext.editing.opsets.rules import pooling_and_indexing as indexing
from onnxtext.editing.opsets.rules import softmax_and_normalization as normalization
from onnxtext.editing.opsets.rules import upsample_and_resize
from onnxtext.editing.opsets.signature_changes import Change, Step

REVIEWED = {"": 28, "ai.onnx.ml": 5}
"""For each domain, the newest version of its operator set whose changes these rules cover.

For a domain that is not listed, the rules cover only version 1.
"""


class VersionRule(NamedTuple):
    """The conversion of a node between two adjacent versions of its operator.

    Attributes:
        up: a function that converts the node to the newer version; None if `carry_over` suffices.
        down: a function that converts the node to the older version; None if `carry_over` suffices.
    """

    up: Change | None = None
    down: Change | None = None


def _refuse(reason: str) -> Change:
    def refuse(conversion: NodeConversion) -> None:
        raise NotConvertible(reason)

    return refuse


_SQUEEZING = ("Squeeze", "Unsqueeze")
_REDUCTIONS = ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
               "ReduceMin", "ReduceProd", "ReduceSumSquare")  # fmt: skip
_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less")
_VARIADIC = ("Max", "Min", "Mean", "Sum")
_SOFTMAX = ("Softmax", "LogSoftmax", "Hardmax")
_COUNTING = ("ArgMax", "ArgMin", "Compress", "Concat", "Flatten", "Split",
             *_SQUEEZING, *_REDUCTIONS, "ReduceSum", *_SOFTMAX)  # fmt: skip


_TO_INPUT_AXES = VersionRule(
    partial(to_inputs.ints_to_input, name="axes"), to_inputs.axes_to_attribute
)


def _for_each(
    names: Iterable[str], since: int, up: Change | None, down: Change | None
) -> dict[tuple[str, int], VersionRule]:
    return dict.fromkeys([(name, since) for name in names], VersionRule(up, down))


_STANDARD_RULES: dict[tuple[str, int], VersionRule] = {
    **_for_each(_ARITHMETIC, 7, arithmetic.broadcast_up, arithmetic.broadcast_down),
    **_for_each(_COUNTING, 11, None, indexing.axes_from_start),
    **_for_each(_SOFTMAX, 13, normalization.softmax_up, normalization.softmax_down),
    **_for_each(_SQUEEZING, 13, *_TO_INPUT_AXES),
    **_for_each(_REDUCTIONS, 18, *_TO_INPUT_AXES),
    **_for_each(_VARIADIC, 8, None, arithmetic.equal_shapes),
    **_for_each(("AveragePool", "MaxPool"), 22, indexing.pool_windows, indexing.pool_windows),
    **_for_each(("DequantizeLinear", "QuantizeLinear"), 13, None, casts.one_scale),
    **_for_each(("Gather", "OneHot"), 11, None, indexing.gather_down),
    **_for_each(
        ("GlobalLpPool", "LpPool"),
        2,
        indexing.lp_pool_up,
        _refuse("before version 2, its attribute `p` is a float"),
    ),
    ("BatchNormalization", 14): VersionRule(
        normalization.batch_normalization_up, normalization.batch_normalization_down
    ),
    ("Cast", 6): VersionRule(
        casts.cast_up, _refuse("before version 6, its attribute `to` is a name, not a number")
    ),
    ("Clip", 11): VersionRule(to_inputs.clip_to_inputs, to_inputs.clip_to_attributes),
    ("Constant", 12): VersionRule(down=to_inputs.constant_value),
    ("DFT", 20): VersionRule(to_inputs.dft_to_input, to_inputs.dft_to_attribute),
    ("Dropout", 10): VersionRule(to_inputs.dropout_mask, to_inputs.dropout_mask),
    ("Dropout", 12): VersionRule(to_inputs.dropout_to_inputs, to_inputs.dropout_to_attributes),
    ("Gemm", 7): VersionRule(arithmetic.gemm_up, arithmetic.gemm_down),
    ("GridSample", 20): VersionRule(indexing.grid_sample_up, indexing.grid_sample_down),
    ("GroupNormalization", 21): VersionRule(normalization.group_normalization_up),
    ("Mod", 28): VersionRule(down=arithmetic.mod_down),
    ("PRelu", 7): VersionRule(arithmetic.prelu_up, arithmetic.prelu_down),
    ("Pad", 2): VersionRule(to_inputs.pads_renamed, to_inputs.pads_renamed),
    ("Pad", 11): VersionRule(to_inputs.pad_to_inputs, to_inputs.pad_to_attributes),
    ("Pad", 18): VersionRule(down=to_inputs.pad_without_axes),
    ("ReduceSum", 13): _TO_INPUT_AXES,
    ("Reshape", 5): VersionRule(
        to_inputs.reshape_to_input, partial(to_inputs.ints_to_attribute, name="shape")
    ),
    ("Reshape", 14): VersionRule(down=to_inputs.reshape_zero),
    ("Resize", 11): VersionRule(upsample_and_resize.resize_up, upsample_and_resize.resize_down),
    ("Resize", 13): VersionRule(
        upsample_and_resize.resize_without_empty, upsample_and_resize.resize_with_empty
    ),
    ("Scan", 9): VersionRule(*[_refuse("before version 9, it has a batch axis")] * 2),
    ("Scatter", 11): VersionRule(partial(NodeConversion.rename, operator="ScatterElements")),
    ("Shape", 15): VersionRule(down=to_inputs.shape_whole),
    ("Slice", 10): VersionRule(to_inputs.slice_to_inputs, to_inputs.slice_to_attributes),
    ("Split", 13): VersionRule(
        partial(to_inputs.ints_to_input, name="split"),
        partial(to_inputs.ints_to_attribute, name="split"),
    ),
    ("Split", 18): VersionRule(to_inputs.split_count, to_inputs.split_without_count),
    ("Tile", 6): VersionRule(*[_refuse("before version 6, it repeats along one axis only")] * 2),
    ("TopK", 10): VersionRule(to_inputs.top_k_to_input, to_inputs.top_k_to_attribute),
    ("Upsample", 7): VersionRule(
        upsample_and_resize.scales_from_sizes,
        _refuse("before version 7, it has `height_scale` and `width_scale`"),
    ),
    ("Upsample", 9): VersionRule(
        upsample_and_resize.scales_to_input, upsample_and_resize.scales_to_attribute
    ),
    ("Upsample", 10): VersionRule(partial(NodeConversion.rename, operator="Resize")),
}
RULES: dict[Step, VersionRule] = {
    **{("", name, since): rule for (name, since), rule in _STANDARD_RULES.items()},
    ("ai.onnx.ml", "LabelEncoder", 2): VersionRule(
        casts.label_encoder_up,
        _refuse("before version 2, it has `classes_strings` instead of keys and values"),
    ),
}
"""The rules by (domain, operator, version that changed the operator)."""

FIRST: dict[tuple[str, str], Change] = {
    ("", "AffineGrid"): _refuse(
        "it exists only since version 20, and the definition in its schema is not valid: its "
        "`Range` gets vectors"
    ),
    ("", "Resize"): upsample_and_resize.resize_to_upsample,
    ("", "ScatterElements"): partial(NodeConversion.rename, operator="Scatter"),
}
"""Rules for operators that the target version does not have, or has only as deprecated.

If there is no rule for the operator, its function body replaces the node.
"""


def conversion_rule(step: Step) -> VersionRule:
    """Return the rule of a step.

    Raises:
        NotConvertible: the rules do not cover its version.
    """
    domain, operator, since = step
    if since > REVIEWED.get(domain, 1):
        why = f"onnxtext has no rule for the change of `{operator}` in version {since}"
        raise NotConvertible(why, "install a newer onnxtext")
    return RULES.get(step, VersionRule())
