# SPDX-License-Identifier: Apache-2.0
"""Rules for attributes with listed values, and for the equation of `Einsum`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import attribute_value
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, Repair, did_you_mean, quote
from onnxtext.checker.context.operator_resolution import resolve_targets
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.symbolic.operator_shapes.ml_operators import DOMAIN as LEARNING
from onnxtext.suggestions import nearest_name
from onnxtext.tensor.element_types import ELEMENTS

_NEWEST = 1 << 30
_MAX_SHOWN = 5
"""The maximum number of listed numbers in a note."""


class _Listed(NamedTuple):
    """The listed values of an attribute.

    Attributes:
        operators: the operators with this attribute, separated by spaces; `*` for all.
        attribute: the name of the attribute; in `TABLE`, also several names separated by spaces.
        values: the listed strings, separated by spaces, or the listed numbers. They include values
            of other operator versions that onnxruntime also accepts.
        loads: unlisted values that cause only a warning, because onnxruntime loads a model with
            them. None if every unlisted value causes only a warning.
        since: the first operator version to which the list applies.
        until: the last operator version to which the list applies.
    """

    operators: str
    attribute: str
    values: str | range
    loads: tuple[str, ...] | None = ()
    since: int = 1
    until: int = _NEWEST
    domain: str = ""


_RECURRENT = "GRU LSTM RNN"
_LOSSES = "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss"
_ACTIVATIONS = """
    Affine Elu HardSigmoid LeakyRelu Relu ScaledTanh Sigmoid Softplus Softsign Tanh ThresholdedRelu
"""
_COORDINATES = """
    align_corners asymmetric half_pixel half_pixel_symmetric pytorch_half_pixel tf_crop_and_resize
    tf_half_pixel_for_nn
"""
_FLAG = range(2)
_NUMBER = range(_NEWEST)
_POSITIVE = range(1, _NEWEST)
_ODD = range(1, _NEWEST, 2)
_FLAGS = """
    align_corners allowzero antialias ceil_mode count_include_pad detect_negative detect_positive
    exclude_outside exclusive fmod input_forget interleaved inverse is_case_sensitive is_causal
    keepdims largest linear_before_reset new_axis noop_with_empty_axes onesided periodic reverse
    saturate select_last_index sorted training_mode transA transB upper
"""

TABLE = (
    _Listed("*", _FLAGS, _FLAG, None),  # later entries about the same attribute apply instead
    _Listed("*", "auto_pad", "NOTSET SAME_LOWER SAME_UPPER VALID", ("",)),
    _Listed("Attention", "qk_matmul_output_mode", range(4), None),
    _Listed("BitCast Cast", "to", _POSITIVE),
    _Listed("*", "dtype output_datatype", _POSITIVE),
    _Listed("*", "stash_type", _POSITIVE, None),
    _Listed("BitShift", "direction", "LEFT RIGHT"),
    _Listed("Cast", "round_mode", "down nearest up"),
    _Listed("CastLike", "round_mode", "down nearest up", None),
    _Listed("Col2Im", "dilations strides", _POSITIVE),
    _Listed("DeformConv", "group offset_group", _POSITIVE, None),
    _Listed("DequantizeLinear QuantizeLinear", "block_size", _NUMBER),
    _Listed("CausalConvWithState", "activation", "none silu swish"),
    _Listed("DepthToSpace SpaceToDepth", "mode", "CRD DCR"),
    # In the first version of GRU, the default value is misspelled: `foward`.
    _Listed(_RECURRENT, "direction", "bidirectional forward reverse", ("foward",)),
    _Listed(_RECURRENT, "activations", _ACTIVATIONS),
    _Listed(_RECURRENT, "layout", _FLAG),
    _Listed("Gelu", "approximate", "none tanh", None),
    _Listed("GlobalLpPool LpPool", "p", _POSITIVE, None),
    _Listed("GridSample", "mode", "bicubic bilinear nearest", until=19),
    _Listed("GridSample", "mode", "cubic linear nearest", since=20),
    _Listed("GridSample", "padding_mode", "border reflection zeros"),
    _Listed("GroupNormalization", "num_groups", _POSITIVE, None),
    _Listed("ImageDecoder", "pixel_format", "BGR Grayscale RGB"),
    _Listed("LinearAttention", "update_rule", "delta gated gated_delta linear"),
    _Listed("LRN", "size", _ODD, None),
    _Listed("LpNormalization", "p", range(1, 3)),
    _Listed("MaxPool", "storage_order", _FLAG),
    _Listed("MaxRoiPool", "pooled_shape", _POSITIVE, None),
    _Listed("MaxUnpool", "kernel_shape strides", _POSITIVE),
    _Listed("Multinomial", "sample_size", _POSITIVE, None),
    _Listed("NonMaxSuppression", "center_point_box", _FLAG),
    _Listed(_LOSSES, "reduction", "mean none sum", None),
    _Listed("Pad", "mode", "constant edge reflect wrap"),
    _Listed("Resize", "mode", "cubic linear nearest"),
    _Listed("Upsample", "mode", "bilinear nearest", until=6),
    _Listed("Upsample", "mode", "linear nearest", ("cubic",), since=7),
    _Listed("Resize", "nearest_mode", "ceil floor round_prefer_ceil round_prefer_floor"),
    _Listed("Resize", "coordinate_transformation_mode", _COORDINATES),
    _Listed("Resize", "keep_aspect_ratio_policy", "not_larger not_smaller stretch"),
    _Listed("RoiAlign", "mode", "avg max", ("AVG", "Avg", "MAX", "Max")),
    _Listed("RoiAlign", "coordinate_transformation_mode", "half_pixel output_half_pixel", None),
    _Listed("RoiAlign", "output_height output_width", _POSITIVE, None),
    _Listed("RoiAlign", "sampling_ratio", _NUMBER),
    _Listed("RotaryEmbedding", "num_heads rotary_embedding_dim", _NUMBER, None),
    _Listed("Scan", "directions scan_input_directions scan_output_directions", _FLAG),
    _Listed("Scan", "num_scan_inputs", _POSITIVE),
    _Listed("ScatterElements ScatterND", "reduction", "add max min mul none", None),
    _Listed("StringNormalizer", "case_change_action", "LOWER NONE UPPER"),
    _Listed("TensorScatter", "mode", "circular linear"),
    _Listed("TfIdfVectorizer", "max_gram_length min_gram_length", _POSITIVE, None),
    _Listed("TfIdfVectorizer", "max_skip_count", _NUMBER, None),
    _Listed("TfIdfVectorizer", "mode", "IDF TF TFIDF"),
    _Listed("Momentum", "mode", "nesterov standard", domain="ai.onnx.preview.training"),
    _Listed("CastMap", "cast_to", "TO_FLOAT TO_INT64 TO_STRING", domain=LEARNING),
    _Listed("CastMap", "max_map", _POSITIVE, None, domain=LEARNING),
    _Listed("CastMap", "map_form", "DENSE SPARSE", domain=LEARNING),
    _Listed("LinearRegressor", "targets", _POSITIVE, domain=LEARNING),
    _Listed("Normalizer", "norm", "L1 L2 MAX", domain=LEARNING),
    _Listed("*", "post_transform", "LOGISTIC NONE PROBIT SOFTMAX SOFTMAX_ZERO", domain=LEARNING),
    _Listed("*", "kernel_type", "LINEAR POLY RBF SIGMOID", domain=LEARNING),
    _Listed("TreeEnsemble", "aggregate_function", range(4), domain=LEARNING),
    _Listed("TreeEnsemble", "post_transform", range(5), domain=LEARNING),
    _Listed("TreeEnsembleRegressor", "aggregate_function", "AVERAGE MAX MIN SUM", domain=LEARNING),
)  # fmt: skip


_EQUATION = re.compile(r"{0}(?:,{0})*(?:->{0})?".format(r"[A-Za-z]*(?:\.{3}[A-Za-z]*)?"))
"""Matches an equation of `Einsum` without spaces."""

_TITLES = frozenset(_ACTIVATIONS.title().split())

_TARGETS: Mapping[str, tuple[tuple[object, ...], frozenset[int], str]] = {
    "round_mode": (
        (b"down", b"nearest"), frozenset((ELEMENTS["float8e8m0"].number,)), "`float8e8m0`"
    ),
    "saturate": (
        (0,), frozenset(e.number for e in ELEMENTS.values() if e.name.startswith("float8")),
        "a `float8` type",
    ),
}  # fmt: skip
"""The attributes of `Cast` that have an effect only for some target types.

Maps each attribute to (values, types, description). `types` has the numbers of these target types.
For other target types, onnxruntime rejects the values.
"""


def _listed_values(signature: Signature) -> dict[str, _Listed]:
    return {
        name: entry._replace(attribute=name)
        for entry in TABLE
        if entry.domain == signature.domain
        and entry.since <= signature.since <= entry.until
        and (entry.operators == "*" or signature.name in entry.operators.split())
        for name in entry.attribute.split()
        if name in signature.attributes
    }


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find unlisted values, invalid equations of `Einsum`, and attributes that have no effect."""
    resolved = resolve_targets(subject)
    listed: dict[int, dict[str, _Listed]] = {}
    for scope in subject.scopes:
        for node, target in zip(scope.nodes, resolved[id(scope)], strict=True):
            if not node.attributes or type(target) is not Signature or target.origin:
                continue
            cached = listed.get(id(target))
            if cached is None:
                cached = listed[id(target)] = _listed_values(target)
            if target.name == "Einsum" and not target.domain:
                yield from _malformed(node)
            if cached:
                yield from _unlisted(node, target, cached)


def _unlisted(node: Node, signature: Signature, listed: dict[str, _Listed]) -> Iterator[Finding]:
    for index, attribute in enumerate(node.attributes):
        if node.op_type == "Cast" and attribute.name in signature.attributes:
            yield from _without_effect(node, index)
        entry = listed.get(attribute.name)
        if entry is None:
            continue
        value = attribute.read()
        if isinstance(value, int) and isinstance(entry.values, range) and value in entry.values:
            continue
        values = value if isinstance(value, tuple) else (value,)
        items = dict.fromkeys([item for item in values if isinstance(item, (int, bytes))])
        place = Place(node, ("attributes", index, "value"))
        for item in items:
            if isinstance(entry.values, range):
                if isinstance(item, int) and item not in entry.values:
                    yield _unknown(entry, place, str(item))
            elif isinstance(item, bytes):
                text = item.decode("utf-8", "backslashreplace")
                if not _is_listed(node, entry, text):
                    found = _unknown(entry, place, text)
                    yield found if item is value else found._replace(repair=None)


def _unknown(entry: _Listed, place: Place, text: str) -> Finding:
    """Return the finding for an attribute whose value `text` is not one of `entry.values`."""
    node = place.item
    suggestion = None
    if isinstance(entry.values, range):
        candidates = [f"`{number}`" for number in entry.values[:_MAX_SHOWN]]
        candidates += ["…"] * (len(entry.values) > _MAX_SHOWN)
    else:
        candidates = [f"`{name}`" for name in sorted(entry.values.split())]
        suggestion = nearest_name(text, entry.values.split())
    return Finding(
        "attribute-value-unknown",
        f"the attribute `{entry.attribute}` of `{node.op_type}` has the unknown value "
        + (quote(text) if text else '`""`'),
        (place,),
        help=did_you_mean(suggestion, "write one of the values in the note"),
        notes=(f"its values: {', '.join(candidates)}",),
        severity="warning" if _loads(node, entry, text) else None,
        repair=Repair("respell", node, (f'"{text}"', f'"{suggestion}"')) if suggestion else None,
    )


def _malformed(node: Node) -> Iterator[Finding]:
    """Find an invalid equation of `Einsum`: onnx's inference hangs on most."""
    equation = attribute_value(node.attributes, "equation")
    if isinstance(equation, bytes):
        text = equation.decode("utf-8", "backslashreplace")
        if not _EQUATION.fullmatch(text.replace(" ", "")):
            index = [attribute.name for attribute in node.attributes].index("equation")
            yield Finding(
                "attribute-value-unknown",
                f"the equation of `Einsum` is invalid: {quote(text)}",
                (Place(node, ("attributes", index, "value")),),
                help="write letters and at most one `...` for each input, as in `...ij,jk->...ik`",
            )


def _without_effect(node: Node, index: int) -> Iterator[Finding]:
    """Find an attribute of `Cast` that has no effect for the target type of the node."""
    attribute = node.attributes[index]
    if attribute.name not in _TARGETS:
        return
    values, types, described = _TARGETS[attribute.name]
    to = attribute_value(node.attributes, "to")
    if isinstance(to, int) and to not in types and attribute.read() in values:
        yield Finding(
            "attribute-value-unknown",
            f"`Cast` uses `{attribute.name}` only if it casts to {described}",
            (Place(node, ("attributes", index, "value")),),
            help="remove the attribute, which onnxruntime rejects here",
            severity="warning",
        )


def _is_listed(node: Node, entry: _Listed, text: str) -> bool:
    assert isinstance(entry.values, str)
    # `GRU` and `LSTM` of onnxruntime ignore the case of activation functions, `RNN` does not.
    ignores_case = entry.attribute == "activations" and node.op_type != "RNN"
    return text in entry.values.split() or (ignores_case and text.title() in _TITLES)


def _loads(node: Node, entry: _Listed, text: str) -> bool:
    """Whether onnxruntime loads a model with the value `text`, which the operator does not list."""
    if entry.attribute == "nearest_mode":  # onnxruntime reads this only if `mode` is `nearest`
        mode = attribute_value(node.attributes, "mode")
        return mode not in (None, b"nearest") or text == ""
    return entry.loads is None or text in entry.loads


RULES = (Rule("attribute-value-unknown"),)
