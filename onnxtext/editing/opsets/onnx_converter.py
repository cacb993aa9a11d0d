# SPDX-License-Identifier: Apache-2.0
"""Convert a node with onnx's version converter, in a child process with limits."""

from __future__ import annotations

from onnxtext.ast.model import Graph, Model, Node, OpsetImport, Presence, ValueInfo
from onnxtext.ast.types import TensorType
from onnxtext.ast.visit import nested_graphs
from onnxtext.checker.isolation.child_process import Failure
from onnxtext.checker.isolation.inference_client import InferenceClient
from onnxtext.editing.opsets.converted_node import NodeConversion
from onnxtext.editing.opsets.make_tensors import make_tensor, read_numbers
from onnxtext.editing.opsets.model_facts import NotConvertible, unknown_fact
from onnxtext.proto.decode.lift import LiftError, lift_model
from onnxtext.proto.encode.lower import LowerError, lower_model

_MAX_REQUESTS = 2000
"""Maximum number of requests to the converter in one conversion."""


class Converter:
    """Calls onnx's version converter, and caches its answers for equal nodes."""

    def __init__(self) -> None:
        self._inference = InferenceClient()
        self._asked = 0
        self._known: dict[bytes, bytes | str] = {}

    def convert(self, conversion: NodeConversion, current: int, target: int) -> None:
        """Rewrite a node with onnx's version converter.

        Args:
            conversion: the node to rewrite.
            current: the version of the operator set that the node uses.
            target: the version to convert to.

        Raises:
            NotConvertible: the node cannot be converted alone, or the converter fails or changes
                more than the node.
        """
        if conversion.old.domain or nested_graphs((conversion.node,)):
            raise NotConvertible("onnxtext has no rule for this change of the operator")
        model, kept = _model_of(conversion, current)
        try:
            data = lower_model(model)
        except LowerError:
            raise NotConvertible("onnxtext has no rule for this change of the operator") from None
        answer = self._convert_with_onnx(data, target)
        if isinstance(answer, str):
            raise NotConvertible(f"onnx's version converter failed: {answer}")
        _take_over(conversion, answer, kept)

    def _convert_with_onnx(self, data: bytes, target: int) -> bytes | str:
        """Return a model converted by onnx's version converter, or the reason of its failure."""
        key = data + target.to_bytes(4, "little")
        cached = self._known.get(key)
        if cached is None:
            self._asked += 1
            if self._asked > _MAX_REQUESTS:
                return "too many nodes need it"
            answer = self._inference.convert(data, target)
            if isinstance(answer, Failure):
                cached = f"its process failed ({answer.kind})"
            elif isinstance(answer, str):
                lines = answer.strip().splitlines() or ["no reason was given"]
                cached = lines[-1][-200:]
            else:
                cached = answer[0]
            self._known[key] = cached
        return cached


def _model_of(conversion: NodeConversion, current: int) -> tuple[Model, set[str]]:
    """Return (model of only this node, written for version `current`; names of its inputs).

    Raises:
        NotConvertible: the type of an input or output is unknown, or an input is not a tensor.
    """
    inputs, kept = [], set()
    facts, scope = conversion.facts, conversion.graph.scope
    for name in dict.fromkeys(filter(None, conversion.node.inputs)):
        tensor = conversion.graph.new_tensors.get(name)
        type = facts.type(scope, name) if tensor is None else tensor.type
        if not isinstance(type, TensorType):
            raise unknown_fact("the type of", name)
        constant = facts.constant(scope, name) if tensor is None else None
        if constant is not None:
            tensor = make_tensor(constant[0].element, constant[1], constant[0].integer_dims)
        inputs.append(ValueInfo(name, type, None if tensor is None else tensor.data))
        kept.add(name)
    outputs = []
    for name in filter(None, conversion.node.outputs):
        type = facts.type(scope, name)
        if type is None:
            raise unknown_fact("the type of", name)
        outputs.append(ValueInfo(name, type))
    node = Node(
        conversion.node.op_type,
        conversion.node.inputs,
        conversion.node.outputs,
        conversion.node.attributes,
    )
    graph = Graph("node", inputs, outputs, nodes=[node])
    model = Model(
        graph, presence=Presence(1), ir_version=8, opset_imports=[OpsetImport("", current)]
    )
    return model, kept


def _take_over(conversion: NodeConversion, data: bytes, kept: set[str]) -> None:
    """Replace a node by the nodes of `data`, the converted model that contained only this node.

    `kept` has the names of the node's inputs.

    Raises:
        NotConvertible: `data` or a constant in it cannot be read, or the converter changed more
            than the node.
    """
    try:
        lifted = lift_model(data)
    except LiftError:
        raise NotConvertible("onnx's version converter returned no valid model") from None
    graph = lifted.graph
    outputs = set(filter(None, conversion.node.outputs))
    new = [node for node in graph.nodes if not outputs.isdisjoint(node.outputs)]
    is_same = len(new) == 1 and outputs.issubset(new[0].outputs)
    if not is_same or any(value.type is None for value in graph.values):
        raise NotConvertible("onnx's version converter changes more than this node")
    names: dict[str, str] = {}
    for value in graph.values:
        if value.data is not None and value.name not in kept:
            numbers = read_numbers(value.type, value.data, {})
            if numbers is None:
                raise NotConvertible("onnx's version converter wrote a constant that is unreadable")
            assert isinstance(value.type, TensorType)
            dims = value.type.integer_dims
            names[value.name] = conversion.constant("constant", numbers, value.type.element, dims)
    main = new[0]
    for node in graph.nodes:
        inputs = tuple([names.get(name, name) for name in node.inputs])
        if node is main:
            conversion.node.op_type, conversion.node.inputs = node.op_type, inputs
            conversion.node.attributes = node.attributes
            continue
        renamed = []
        for name in node.outputs:
            names[name] = conversion.facts.fresh("converted") if name else ""
            renamed.append(names[name])
        conversion.before.append(Node(node.op_type, inputs, tuple(renamed), node.attributes))
    conversion.add_note("onnx's version converter rewrites this node")
