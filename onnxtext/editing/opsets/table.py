# SPDX-License-Identifier: Apache-2.0
"""The rules that convert a node, one for each version that changed its operator.

Steps without a rule here only change types, attributes with defaults and optional inputs
(`signature_changes`). All steps up to `REVIEWED` have been reviewed; onnx's version converter
converts newer steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from onnxtext.editing.opsets import attributes_to_inputs as o
from onnxtext.editing.opsets import changed_semantics as m
from onnxtext.editing.opsets import resize as r
from onnxtext.editing.opsets.converted_node import Work
from onnxtext.editing.opsets.model_facts import Obstacle
from onnxtext.editing.opsets.signature_changes import Step, carry_over

Change = Callable[[Work], None]

REVIEWED: Mapping[str, int] = MappingProxyType(
    {"": 28, "ai.onnx.ml": 5, "ai.onnx.training": 1, "ai.onnx.preview": 1,
     "ai.onnx.preview.training": 1}
)  # fmt: skip
"""The newest versions of operator sets whose changes these rules cover."""


class Rule(NamedTuple):
    """How a node is converted between two adjacent versions of its operator.

    Attributes:
        up: converts the node to the newer version.
        down: converts the node to the older version.
    """

    up: Change = carry_over
    down: Change = carry_over


def _refuse(reason: str) -> Change:
    def refuse(work: Work) -> None:
        raise Obstacle(reason)

    return refuse


_SQUEEZING = ("Squeeze", "Unsqueeze")
_REDUCTIONS = ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
               "ReduceMin", "ReduceProd", "ReduceSumSquare")  # fmt: skip
_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less")
_VARIADIC = ("Max", "Min", "Mean", "Sum")
_SOFTMAX = ("Softmax", "LogSoftmax", "Hardmax")
_COUNTING = ("ArgMax", "ArgMin", "Compress", "Concat", "Flatten", "Split",
             *_SQUEEZING, *_REDUCTIONS, "ReduceSum", *_SOFTMAX)  # fmt: skip
_MODES = {b"bilinear": b"linear", b"bicubic": b"cubic"}


@cache
def rules() -> Mapping[Step, Rule]:
    """Return the rules by domain, operator and version."""
    found: dict[tuple[str, int], Rule] = {
        ("BatchNormalization", 14): Rule(m.batch_normalization_up, m.batch_normalization_down),
        ("Cast", 6): Rule(m.cast_up, _refuse("its type was a name before version 6")),
        ("Clip", 11): Rule(o.clip_to_inputs, o.clip_to_attributes),
        ("Constant", 12): Rule(carry_over, o.constant_value),
        ("DFT", 20): Rule(o.dft_to_input, o.dft_to_attribute),
        ("DequantizeLinear", 13): Rule(carry_over, m.one_scale),
        ("Dropout", 10): Rule(o.dropout_mask, o.dropout_mask),
        ("Dropout", 12): Rule(o.dropout_to_inputs, o.dropout_to_attributes),
        ("Gather", 11): Rule(carry_over, m.gather_down),
        ("OneHot", 11): Rule(carry_over, m.gather_down),
        ("Gemm", 7): Rule(m.gemm_up, m.gemm_down),
        ("GridSample", 20): Rule(m.renamed("mode", _MODES), m.grid_sample_down),  # type: ignore[arg-type]
        ("GroupNormalization", 21): Rule(m.group_normalization_up, carry_over),
        ("Mod", 28): Rule(carry_over, m.mod_down),
        ("PRelu", 7): Rule(m.prelu_up, m.prelu_down),
        ("Pad", 2): Rule(o.pads_renamed, o.pads_renamed),
        ("Pad", 11): Rule(o.pad_to_inputs, o.pad_to_attributes),
        ("Pad", 18): Rule(carry_over, o.pad_without_axes),
        ("QuantizeLinear", 13): Rule(carry_over, m.one_scale),
        ("ReduceSum", 13): Rule(o.axes_to_input, o.axes_to_attribute),
        ("Reshape", 5): Rule(o.reshape_to_input, o.reshape_to_attribute),
        ("Reshape", 14): Rule(carry_over, o.reshape_zero),
        ("Resize", 11): Rule(r.resize_up, r.resize_down),
        ("Resize", 13): Rule(r.resize_without_empty, r.resize_with_empty),
        ("Scan", 9): Rule(*[_refuse("it had a batch axis before version 9")] * 2),
        ("Scatter", 11): Rule(m.scatter_up),
        ("Shape", 15): Rule(carry_over, o.shape_whole),
        ("Slice", 10): Rule(o.slice_to_inputs, o.slice_to_attributes),
        ("Split", 13): Rule(o.split_to_input, o.split_to_attribute),
        ("Split", 18): Rule(o.split_count, o.split_without_count),
        ("Tile", 6): Rule(*[_refuse("it repeated along one axis before version 6")] * 2),
        ("TopK", 10): Rule(o.top_k_to_input, o.top_k_to_attribute),
        ("Upsample", 7): Rule(r.scales_from_sizes, _refuse("its scales changed in version 7")),
        ("Upsample", 9): Rule(r.scales_to_input, r.scales_to_attribute),
        ("Upsample", 10): Rule(r.upsample_to_resize),
    }
    for name in _SQUEEZING:
        found[name, 13] = Rule(o.axes_to_input, o.axes_to_attribute)
    for name in _REDUCTIONS:
        found[name, 18] = Rule(o.axes_to_input, o.axes_to_attribute)
    for name in _SOFTMAX:
        found[name, 13] = Rule(m.softmax_up, m.softmax_down)
    for name in _COUNTING:
        found[name, 11] = Rule(carry_over, m.axes_from_start)
    for name in _ARITHMETIC:
        found[name, 7] = Rule(m.broadcast_up, m.broadcast_down)
    for name in _VARIADIC:
        found[name, 8] = Rule(carry_over, m.equal_shapes)
    for name in ("AveragePool", "MaxPool"):
        found[name, 22] = Rule(m.pool_windows, m.pool_windows)
    for name in ("LpPool", "GlobalLpPool"):
        found[name, 2] = Rule(m.lp_pool_up, _refuse("its `p` was a float before version 2"))
    made = {("", name, since): rule for (name, since), rule in found.items()}
    made["ai.onnx.ml", "LabelEncoder", 2] = Rule(
        m.label_encoder_up, _refuse("it numbered its classes before version 2")
    )
    return MappingProxyType(made)


FIRST: Mapping[tuple[str, str], Change] = MappingProxyType(
    {("", "Resize"): r.resize_to_upsample, ("", "ScatterElements"): m.scatter_down}
)
"""The change that replaces an operator in versions before its first version."""


def reviewed_version(domain: str) -> int:
    """Return the newest version of an operator set that the rules cover; at least 1."""
    return REVIEWED.get(domain, 1)


def is_reviewed(step: Step) -> bool:
    """Whether the rules cover a step."""
    return step[2] <= reviewed_version(step[0])


def rule_of(step: Step) -> Rule:
    """Return the rule of a step."""
    return rules().get(step, Rule())
