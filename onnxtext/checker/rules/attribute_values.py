# SPDX-License-Identifier: Apache-2.0
"""Rule that compares string attributes with the values that an operator lists.

What: an attribute such as `mode` has one of the values that the operator's documentation lists.
Why: onnx does not check these values, but most runtimes reject a model with another value.
Fix: write one of the values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import attribute_value
from onnxtext.checker.context.checked_model import Subject
from onnxtext.checker.context.finding import Finding, Place, Repair, quoted
from onnxtext.checker.context.operator_resolution import targets
from onnxtext.checker.context.registry import Family, Rule
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.inference.symbolic.ml_operators import DOMAIN as LEARNING
from onnxtext.suggestions import nearest
from onnxtext.tensor.elements import ELEMENTS

_NEWEST = 1 << 30
_SCALE = ELEMENTS["float8e8m0"].number


class _Listed(NamedTuple):
    """The listed values of an attribute.

    Attributes:
        operators: the operators with this attribute.
        attribute: its name.
        values: the listed values, and values of other versions that onnxruntime accepts as well.
        loads: further values that onnxruntime accepts when it loads a model; they are only
            warnings. None if it accepts any value.
        since: the first version of the operators that this entry describes.
        until: the last version that it describes.
        domain: the domain of the operators.
    """

    operators: str
    attribute: str
    values: str
    loads: tuple[str, ...] | None = ()
    since: int = 1
    until: int = _NEWEST
    domain: str = ""


_WINDOWS = "AveragePool Conv ConvInteger ConvTranspose LpPool MaxPool QLinearConv"
_RECURRENT = "GRU LSTM RNN"
_LOSSES = "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss"
_ACTIVATIONS = """
    Affine Elu HardSigmoid LeakyRelu Relu ScaledTanh Sigmoid Softplus Softsign Tanh ThresholdedRelu
"""
_COORDINATES = """
    align_corners asymmetric half_pixel half_pixel_symmetric pytorch_half_pixel tf_crop_and_resize
    tf_half_pixel_for_nn
"""
_TRANSFORMED = """
    LinearClassifier LinearRegressor SVMClassifier SVMRegressor TreeEnsembleClassifier
    TreeEnsembleRegressor
"""
_MACHINES = "SVMClassifier SVMRegressor"

_TABLE = (
    _Listed(_WINDOWS, "auto_pad", "NOTSET SAME_LOWER SAME_UPPER VALID", ("",)),
    _Listed("BitShift", "direction", "LEFT RIGHT"),
    _Listed("Cast", "round_mode", "down nearest up"),
    _Listed("CastLike", "round_mode", "down nearest up", None),
    _Listed("CausalConvWithState", "activation", "none silu swish"),
    _Listed("DepthToSpace SpaceToDepth", "mode", "CRD DCR"),
    # The default of the first version of GRU is misspelled.
    _Listed(_RECURRENT, "direction", "bidirectional forward reverse", ("foward",)),
    _Listed(_RECURRENT, "activations", _ACTIVATIONS),
    _Listed("Gelu", "approximate", "none tanh", None),
    _Listed("GridSample", "mode", "bicubic bilinear nearest", until=19),
    _Listed("GridSample", "mode", "cubic linear nearest", since=20),
    _Listed("GridSample", "padding_mode", "border reflection zeros"),
    _Listed("ImageDecoder", "pixel_format", "BGR Grayscale RGB"),
    _Listed("LinearAttention", "update_rule", "delta gated gated_delta linear"),
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
    _Listed("ScatterElements ScatterND", "reduction", "add max min mul none", None),
    _Listed("StringNormalizer", "case_change_action", "LOWER NONE UPPER"),
    _Listed("TensorScatter", "mode", "circular linear"),
    _Listed("TfIdfVectorizer", "mode", "IDF TF TFIDF"),
    _Listed("Momentum", "mode", "nesterov standard", domain="ai.onnx.preview.training"),
    _Listed("CastMap", "cast_to", "TO_FLOAT TO_INT64 TO_STRING", domain=LEARNING),
    _Listed("CastMap", "map_form", "DENSE SPARSE", domain=LEARNING),
    _Listed("Normalizer", "norm", "L1 L2 MAX", domain=LEARNING),
    _Listed(_MACHINES, "kernel_type", "LINEAR POLY RBF SIGMOID", domain=LEARNING),
    _Listed("TreeEnsembleRegressor", "aggregate_function", "AVERAGE MAX MIN SUM", domain=LEARNING),
    _Listed(_TRANSFORMED, "post_transform", "LOGISTIC NONE PROBIT SOFTMAX SOFTMAX_ZERO",
            domain=LEARNING),
)  # fmt: skip


_TITLES = frozenset(_ACTIVATIONS.title().split())


def _listed_for(signature: Signature) -> dict[str, _Listed]:
    return {
        entry.attribute: entry
        for entry in _TABLE
        if entry.domain == signature.domain
        and entry.attribute in signature.attributes
        and entry.since <= signature.since <= entry.until
        and signature.name in entry.operators.split()
    }


def check(subject: Subject) -> Iterator[Finding]:
    """Find string attributes with values that their operators do not list."""
    resolved = targets(subject)
    listed: dict[int, dict[str, _Listed]] = {}
    for scope in subject.scopes:
        for node, target in zip(scope.nodes, resolved[id(scope)], strict=True):
            if not node.attributes or type(target) is not Signature or target.origin:
                continue
            known = listed.get(id(target))
            if known is None:
                known = listed[id(target)] = _listed_for(target)
            if known:
                yield from _unlisted(node, known)


def _unlisted(node: Node, listed: dict[str, _Listed]) -> Iterator[Finding]:
    for index, attribute in enumerate(node.attributes):
        entry = listed.get(attribute.name)
        if entry is None:
            continue
        value = attribute.read()
        values = value if isinstance(value, tuple) else (value,)
        known = entry.values.split()
        for item in dict.fromkeys([value for value in values if isinstance(value, bytes)]):
            text = item.decode("utf-8", "backslashreplace")
            if text in known or (_ignores_case(node, attribute.name) and text.title() in _TITLES):
                if attribute.name == "round_mode":
                    yield from _without_rounding(node, index, text)
                continue
            near = nearest(text, known)
            yield Finding(
                "attribute-value-unknown",
                f"the attribute `{attribute.name}` of `{node.op_type}` has the unknown value "
                + (quoted(text) if text else '`""`'),
                (Place(node, ("attributes", index, "value")),),
                help=f"did you mean `{near}`?" if near else "write one of the values in the note",
                notes=(f"its values: {', '.join(f'`{name}`' for name in sorted(known))}",),
                severity="warning" if _loads(node, entry, text) else None,
                repair=Repair("respell", node, (f'"{text}"', f'"{near}"'))
                if near and item is value
                else None,
            )


def _without_rounding(node: Node, index: int, mode: str) -> Iterator[Finding]:
    """Find a `round_mode` of a `Cast` to another type than `float8e8m0`, which is not rounded."""
    to = attribute_value(node.attributes, "to")
    if node.op_type == "Cast" and isinstance(to, int) and to != _SCALE and mode != "up":
        yield Finding(
            "attribute-value-unknown",
            f"`round_mode` is `{mode}`, but `Cast` uses it only if it casts to `float8e8m0`",
            (Place(node, ("attributes", index, "value")),),
            help="remove the attribute, which onnxruntime rejects here",
            severity="warning",
        )


def _ignores_case(node: Node, name: str) -> bool:
    """Whether onnxruntime ignores the case of the activation functions in an attribute."""
    return name == "activations" and node.op_type != "RNN"


def _loads(node: Node, entry: _Listed, text: str) -> bool:
    """Whether onnxruntime loads a model with this value."""
    if entry.attribute == "nearest_mode":  # onnxruntime reads it only in one mode
        mode = attribute_value(node.attributes, "mode")
        return mode not in (None, b"nearest") or text == ""
    return entry.loads is None or text in entry.loads


FAMILY = Family(
    check,
    (
        Rule(
            "attribute-value-unknown",
            "error",
            "string attributes have values that the operator lists",
            "schema",
        ),
    ),
)
