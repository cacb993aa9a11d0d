# SPDX-License-Identifier: Apache-2.0
"""Have onnx infer the output types of single nodes from the types of their inputs.

Many nodes of a model differ only in the names of their values, so onnx's answers are cached by
operator, attributes and input types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from onnxtext.ast.byte_strings import is_utf8, to_bytes
from onnxtext.ast.model import Node, Presence
from onnxtext.ast.tensors_and_attributes import (
    Attribute,
    AttributeType,
    TensorData,
    attribute_value,
)
from onnxtext.ast.types import TensorType, Type
from onnxtext.ast.visit import walk_graphs
from onnxtext.checker.context.checked_model import CheckedModel, cache_by_id, cache_in_memo
from onnxtext.checker.context.scopes import Opsets
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.inference.type_merging import (
    Types,
    without_negative,
    without_shape,
    without_sizes,
)
from onnxtext.checker.isolation.child_process import Failure
from onnxtext.proto.decode.types_and_tensors import lift_type
from onnxtext.proto.encode.lower_error import LowerError
from onnxtext.proto.encode.messages import Lowering
from onnxtext.proto.encode.types_and_tensors import lower_tensor, lower_type
from onnxtext.proto.presence_defaults import PresenceDefaults
from onnxtext.proto.unknown_fields import RecordError
from onnxtext.wire.reader import WireError

_IGNORED_DEFAULTS: Mapping[str, Attribute] = {
    "MeanVarianceNormalization": Attribute("axes", AttributeType.INTS, (0, 2, 3)),
    "STFT": Attribute("onesided", AttributeType.INT, 1),
}
"""Maps operators to the attribute whose default value onnx's inference ignores."""
_LEAST, _MOST = -(1 << 31), (1 << 31) - 1
"""The least and greatest IR or opset version that onnx accepts: it stores versions in 32 bits."""

Answer = Types | str | Failure
"""A node's output types, onnx's error message, or the failure of the process that runs onnx."""


class NodeInference:
    """Asks onnx for the output types of nodes, and caches the answers.

    Attributes:
        encode_tensor: encodes the type and the data of a constant as a `TensorProto`; returns None
            if that fails.
    """

    def __init__(self, subject: CheckedModel) -> None:
        self._inference = subject.options.inference
        self._version = _clamp_version(subject.ir_version or 10)
        resources = subject.model.resources if subject.model else {}
        self._lowering = Lowering(PresenceDefaults(Presence(version=1)), resources)
        self._lowering.many_repetitions = "reject"
        self._encode_type = cache(lower_type)
        self._decode_type = cache(_decode_type)
        self.encode_tensor = cache_by_id(_encode_tensor)
        types: dict[Type, Type] = {}
        self._intern: Callable[[Type], Type] = cache_by_id(lambda t: types.setdefault(t, t))
        self._versions = cache_by_id(_versions)
        self._answers: dict[tuple[object, ...], Answer] = {}
        # Keeps alive the objects whose ids are in keys of the caches, so that no `id()` is reused.
        self._kept: list[object] = []

    def plain(
        self,
        signature: Signature,
        node: Node,
        inputs: Sequence[Type | None],
        constants: Mapping[str, bytes],
        opsets: Opsets | None,
    ) -> Answer:
        """Let onnx infer the output types of a node without nested graphs; cache the answer.

        The node has no attribute references. The type of an omitted input, and an unknown type, are
        None. `constants` are the constant inputs that onnx may read, as bytes of a `TensorProto`,
        by name. `opsets` are the operator sets that the node's model or function imports; None if
        unknown.
        """
        numbers: dict[str, str] = {"": ""}
        names = tuple([numbers.setdefault(name, str(len(numbers))) for name in node.inputs])
        results = tuple([numbers.setdefault(name, str(len(numbers))) for name in node.outputs])
        types = [None if type is None else self._intern(type) for type in inputs]
        input_constants = tuple([constants.get(name) for name in node.inputs]) if constants else ()
        key = (
            id(signature), id(opsets), names, results, tuple(map(id, types)),
            tuple(map(id, node.attributes)), input_constants,
        )  # fmt: skip
        cached = self._answers.get(key)
        if cached is None:
            self._kept += (signature, opsets, node.attributes)
            sample = Node(node.op_type, names, results, node.attributes, None, node.domain,
                          node.overload)  # fmt: skip
            pairs = zip(names, input_constants, strict=False)
            tensors = {name: data for name, data in pairs if name and data is not None}
            cached = self._answers[key] = self.infer_with_subgraphs(
                signature, sample, dict(zip(names, types, strict=True)), tensors, opsets
            )
        return cached

    def infer_with_subgraphs(
        self,
        signature: Signature,
        node: Node,
        types: Mapping[str, Type | None],
        constants: Mapping[str, bytes],
        opsets: Opsets | None,
    ) -> Answer:
        """Let onnx infer the output types of a node that may have nested graphs.

        The node has no attribute references. `types` maps each value that the node or its nested
        graphs use to the type of the value; None if unknown. `constants` maps the constant inputs
        of the node to bytes of a `TensorProto`.
        If the node or a type cannot be encoded, all output types are unknown.
        """
        node = _with_default(node)
        self._kept.append(node)  # `Lowering` caches attributes by id
        known = [(name, type) for name, type in types.items() if name and type is not None]
        try:
            data = self._lowering.node(node)
            encoded_types = {name: self._encode_type(type) for name, type in known}
        except (LowerError, RecordError):
            return (None,) * len(node.outputs)
        answer = self._inference.node(
            (signature.name, signature.since, signature.domain),
            data,
            encoded_types,
            constants,
            self._versions(opsets),
            self._version,
        )
        if not isinstance(answer, list):
            return answer
        encoded = dict(zip(answer[::2], answer[1::2], strict=False))
        found = tuple([self._decode_type(encoded.get(to_bytes(name))) for name in node.outputs])
        if node.op_type == "Attention" and None in [
            getattr(types.get(name), "shape", None) for name in node.inputs[:3]
        ]:  # onnx infers too low a rank for the product of queries and keys
            return tuple(map(without_shape, found))
        unknown = any(name and types[name] is None for name in node.inputs[1:])
        if node.op_type == "DFT":
            unknown = any(name and name not in constants for name in node.inputs[1:2])
        return _correct_types(signature, node, found, unknown)


@cache_in_memo
def node_inference(subject: CheckedModel) -> NodeInference:
    """Return the `NodeInference` of a model, which caches answers for all its callers."""
    return NodeInference(subject)


def _encode_tensor(type: TensorType, data: TensorData) -> bytes | None:
    """Encode a constant as a `TensorProto`; return None if that fails."""
    try:
        return b"".join(lower_tensor(type, None, data))
    except (LowerError, ValueError):
        return None


def _versions(opsets: Opsets | None) -> dict[str, int]:
    """Return the version of each domain, clamped to int32; {} if `opsets` is None.

    Leave out domains that are not UTF-8, which cannot be passed to onnx. Add `ai.onnx`, because
    onnx distinguishes it from `""` in nested graphs.
    """
    versions = dict(opsets or {})
    if "" in versions:
        versions["ai.onnx"] = versions[""]
    return {
        domain: _clamp_version(version)
        for domain, version in versions.items()
        if is_utf8(to_bytes(domain))
    }


def _decode_type(data: bytes | None) -> Type | None:
    try:
        return None if data is None else lift_type(data)
    except WireError:
        return None


def _with_default(node: Node) -> Node:
    """Return a node that sets the attribute whose default value onnx's inference ignores.

    Return the node itself if it sets this attribute, or if onnx ignores no default value.
    """
    ignored = _IGNORED_DEFAULTS.get(node.op_type)
    if ignored is None or ignored.name in [item.name for item in node.attributes]:
        return node
    return replace(node, attributes=(*node.attributes, ignored))


def _has_wrong_rank(node: Node) -> bool:
    """Whether onnx may infer too low a rank for the output of a node.

    This happens for `ConvTranspose` if a size in `output_shape` is smaller than the input size. It
    happens for `Squeeze` and `Unsqueeze` if an axis is negative, which some versions forbid, but
    all runtimes allow.
    """
    if node.op_type in ("Squeeze", "Unsqueeze"):
        axes = attribute_value(node.attributes, "axes")
        return isinstance(axes, tuple) and any(isinstance(a, int) and a < 0 for a in axes)
    return (
        node.op_type == "ConvTranspose"
        and attribute_value(node.attributes, "output_shape") is not None
    )


def _has_wrong_sizes(node: Node) -> bool:
    """Whether the output sizes that onnx infers for a node may be wrong.

    For `Attention`, onnx calculates with 0 in place of symbols and unknown sizes. For `Einsum`, it
    infers 1 if only the second of two sizes is a symbol. For pooling with `ceil_mode`, it also
    counts windows that start in the pads at the end; runtimes do not. For pooling with `auto_pad`,
    it adds `pads`; runtimes do not.
    """
    if node.op_type in ("Attention", "Einsum"):
        return True
    automatic = attribute_value(node.attributes, "auto_pad") not in (None, b"", b"NOTSET")
    if automatic and attribute_value(node.attributes, "pads") is not None:
        return True
    return bool(attribute_value(node.attributes, "ceil_mode"))


def is_misinferred(node: Node) -> bool:
    """Whether onnx's inference of a whole model may reject `node` although the node is valid."""
    return _with_default(node) is not node or _has_wrong_rank(node) or _has_wrong_sizes(node)


def _correct_types(signature: Signature, node: Node, types: Types, unknown: bool) -> Types:
    """Remove from the output types of a node the shapes and sizes that onnx infers wrongly.

    For version 10 of `Slice`, and for `DFT` with an unknown length, onnx infers that a symbolic
    dimension keeps its size. For `Loop`, it infers that the tensors in a carried sequence keep the
    shape that they have at first. For `CenterCropPad`, it infers sizes that are negative. For nodes
    with nested graphs, it may infer types from wrong types in these graphs.

    `unknown` tells whether the length of `DFT` is unknown; for other operators, whether an input
    after the first has an unknown type. In place of such an input of `Slice`, `Split` or `Squeeze`,
    onnx uses its default.
    """
    if node.op_type == "Loop" or _has_wrong_rank(node) or (unknown and node.op_type == "Squeeze"):
        return tuple(map(without_shape, types))
    if node.op_type == "CenterCropPad":
        return tuple(map(without_negative, types))
    if any(is_misinferred(inner) for graph in walk_graphs(node) for inner in graph.nodes):
        return tuple(map(without_shape, types))
    wrong = unknown and node.op_type in ("DFT", "Slice", "Split")
    if wrong or (node.op_type == "Slice" and signature.since == 10) or _has_wrong_sizes(node):
        return tuple(map(without_sizes, types))
    return types


def _clamp_version(version: int) -> int:
    return max(_LEAST, min(version, _MOST))
