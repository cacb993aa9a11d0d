# SPDX-License-Identifier: Apache-2.0
"""Mutations of valid models; each breaks one rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, helper
from onnx import StringStringEntryProto as Entry

Mutation = Callable[[ModelProto], bool]
"""A function that breaks a model; it returns False if the model has no suitable part."""


def _changed(item: Any, *cleared: str, **added: Any) -> bool:
    """Clear fields of a message, then set fields or append to lists; False if `item` is None."""
    if item is None:
        return False
    for name in cleared:
        item.ClearField(name)
    item.MergeFrom(type(item)(**added))
    return True


def _node(model: ModelProto, *operators: str) -> NodeProto | None:
    """Return the first standard node with one of these operators, or with inputs and outputs."""
    for node in model.graph.node:
        if node.domain in ("", "ai.onnx") and (
            node.op_type in operators or (not operators and node.input and node.output)
        ):
            return node
    return None


def _first_input(model: ModelProto, new: str | None = None) -> bool:
    """Replace the first input of a node: by `new`, or else by its first output."""
    node = _node(model)
    if node is not None:
        node.input[0] = new or node.output[0]
    return node is not None


def _attribute(model: ModelProto, kind: int) -> AttributeProto | None:
    """Return the first attribute with the type `kind` in the nodes of standard operators."""
    nodes = [node for node in model.graph.node if node.domain in ("", "ai.onnx")]
    return next((item for node in nodes for item in node.attribute if item.type == kind), None)


def _attributes(model: ModelProto) -> Any:
    """Return the attributes of the first node that has some."""
    return next((node.attribute for node in model.graph.node if node.attribute), [])


def _tensor(model: ModelProto) -> TensorProto | None:
    """Return the first initializer of floats that is not a scalar."""
    return next((t for t in model.graph.initializer if t.dims and t.data_type == 1), None)


def _output(model: ModelProto) -> Any:
    """Return the tensor type of the first output; None for another type."""
    type = model.graph.output[0].type
    return type.tensor_type if type.HasField("tensor_type") else None


def other_domain(model: ModelProto) -> bool:
    if not any(node.domain in ("", "ai.onnx") for node in model.graph.node):
        return False
    for item in model.opset_import:
        if item.domain in ("", "ai.onnx"):
            item.domain = "org.example"
    return True


def redefined(model: ModelProto) -> bool:
    node = _node(model)
    if node is not None:
        model.graph.node.add().CopyFrom(node)
        model.graph.node[-1].name = ""
    return node is not None


def input_redefined(model: ModelProto) -> bool:
    node = _node(model)
    if node is None or not model.graph.input:
        return False
    old = node.output[0]
    new = model.graph.input[0].name
    for other in model.graph.node:
        for index, name in enumerate(other.input):
            if name == old:
                other.input[index] = new
    node.output[0] = new
    return old not in [value.name for value in model.graph.output]


def reversed_nodes(model: ModelProto) -> bool:
    outputs = {name for node in model.graph.node for name in node.output}
    if not any(name in outputs for node in model.graph.node for name in node.input):
        return False
    return _changed(model.graph, "node", node=list(reversed(model.graph.node)))


def first_twice(items: Any) -> bool:
    """Repeat the first item of a list."""
    items.extend(items[:1])
    return bool(items)


def too_many_inputs(model: ModelProto) -> bool:
    node = _node(model, *_UNARY, "Flatten")
    return _changed(node, input=node.input[:1] * 3 if node is not None else ())


def too_few_inputs(model: ModelProto) -> bool:
    node = _node(model, "Add", "Mul", "MatMul", "Conv", "Gemm", "Sub", "Div", "Gather")
    return _changed(node, "input", input=node.input[:1] if node is not None else ())


def attribute_missing(model: ModelProto) -> bool:
    node = _node(model, "Cast", "Concat", "Pad", "Conv", "LRN")
    if node is None or node.op_type in ("Pad", "Conv"):
        return False
    required = {"Cast": "to", "Concat": "axis", "LRN": "size"}[node.op_type]
    kept = [attribute for attribute in node.attribute if attribute.name != required]
    return _changed(node, "attribute", attribute=kept)


def tensor_short(model: ModelProto) -> bool:
    tensor = _tensor(model)
    if tensor is None:
        return False
    if tensor.raw_data:
        tensor.raw_data = tensor.raw_data[:-1]
    else:
        del tensor.float_data[-1:]
    return True


def tensor_of_size(model: ModelProto, size: int) -> bool:
    """Change the first dimension of an initializer."""
    tensor = _tensor(model)
    if tensor is not None:
        tensor.dims[0] = size
    return tensor is not None


def sparse_unordered(model: ModelProto) -> bool:
    values = helper.make_tensor("sparse", TensorProto.FLOAT, [2], [1.0, 2.0])
    indices = helper.make_tensor("", TensorProto.INT64, [2], [2, 1])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))
    return model.ir_version >= 6


def wrong_output_rank(model: ModelProto) -> bool:
    type = _output(model)
    if type is not None:
        type.shape.dim.add().dim_value = 7
    return type is not None


def wrong_input_element(model: ModelProto) -> bool:
    node = _node(model, "Relu", "Sigmoid", "Softmax", "Conv", "Tanh", "MaxPool")
    known = {tensor.name for tensor in model.graph.initializer}
    used = set(node.input) - known if node is not None else set()
    value = next((v for v in model.graph.input if v.name in used), None)
    if value is not None:
        value.type.tensor_type.elem_type = TensorProto.STRING
    return value is not None


def recursive(model: ModelProto) -> bool:
    body = [helper.make_node("f", ["a"], ["b"], domain="org.example")]
    opsets = [helper.make_opsetid("org.example", 1)]
    model.functions.append(helper.make_function("org.example", "f", ["a"], ["b"], body, opsets))
    model.opset_import.append(helper.make_opsetid("org.example", 1))
    return model.ir_version >= 8


_ONE = helper.make_tensor("extra", TensorProto.FLOAT, [1], [1.0])
_UNNAMED = helper.make_tensor("", TensorProto.FLOAT, [1], [1.0])
_NAMELESS = AttributeProto(i=1, type=AttributeProto.INT)
_UNKNOWN = helper.make_attribute("no_such_attribute", 1)
_UNARY = "Relu", "Sigmoid", "Tanh", "Softmax", "Add", "Mul", "Transpose"
_DATA = "raw_data", "float_data"
_EXTERNAL = {"data_location": TensorProto.EXTERNAL}
_OUTSIDE = Entry(key="location", value="/etc/passwd")

MUTATIONS: dict[str, dict[str, Mutation]] = {
    "ir-version-missing": {"no_ir_version": lambda m: _changed(m, "ir_version")},
    "opset-import-missing": {
        "no_opset": lambda m: _changed(m, "opset_import") and m.ir_version >= 3
    },
    "opset-domain-not-imported": {"other_domain": other_domain},
    "graph-name-missing": {"unnamed_graph": lambda m: _changed(m.graph, "name")},
    "graph-input-untyped": {
        "untyped_input": lambda m: _changed(next(iter(m.graph.input), None), "type")
    },
    "graph-output-untyped": {
        "untyped_output": lambda m: _changed(m.graph.output[0], "type"),
        "shapeless_output": lambda m: _changed(_output(m), "shape"),
    },
    "value-redefined": {"redefined": redefined, "input_redefined": input_redefined},
    "value-undefined": {"undefined": lambda m: _first_input(m, "there is no such value")},
    "node-order": {"reversed_nodes": reversed_nodes},
    "graph-cycle": {"cycle": _first_input},
    "graph-output-undefined": {
        "output_undefined": lambda m: _changed(m.graph.output[0], name="there is no such output")
    },
    "input-duplicate": {"input_twice": lambda m: first_twice(m.graph.input)},
    "initializer-duplicate": {"initializer_twice": lambda m: first_twice(m.graph.initializer)},
    "value-name-missing": {
        "unnamed_initializer": lambda m: _changed(m.graph, initializer=[_UNNAMED])
    },
    "initializer-not-input": {
        "old_initializer": lambda m: _changed(m.graph, initializer=[_ONE]) and m.ir_version == 3
    },
    "op-type-missing": {"no_operator": lambda m: _changed(m.graph.node[0], op_type="")},
    "op-unknown": {"unknown_operator": lambda m: _changed(_node(m), op_type="NoSuchOperator")},
    "input-count": {"too_many_inputs": too_many_inputs, "too_few_inputs": too_few_inputs},
    "output-count": {
        "too_many_outputs": lambda m: _changed(_node(m, *_UNARY, "Conv"), output=["one too many"])
    },
    "attribute-unknown": {"unknown_attribute": lambda m: _changed(_node(m), attribute=[_UNKNOWN])},
    "attribute-type": {
        "attribute_of_other_type": lambda m: _changed(
            _attribute(m, AttributeProto.INT), "i", type=AttributeProto.FLOAT, f=1.0
        )
    },
    "attribute-duplicate": {"attribute_twice": lambda m: first_twice(_attributes(m))},
    "attribute-type-missing": {
        "attribute_untyped": lambda m: (
            _changed(next(iter(_attributes(m)), None), "type") and m.ir_version >= 2
        )
    },
    "attribute-name-missing": {
        "attribute_unnamed": lambda m: _changed(_node(m), attribute=[_NAMELESS])
    },
    "attribute-value-mismatch": {
        "attribute_of_two_values": lambda m: _changed(_attribute(m, AttributeProto.INT), f=1.0)
    },
    "attribute-required": {"attribute_missing": attribute_missing},
    "tensor-type-undefined": {
        "tensor_untyped": lambda m: _changed(_tensor(m), data_type=TensorProto.UNDEFINED)
    },
    "tensor-data-size": {"tensor_short": tensor_short},
    "tensor-data-field": {
        "tensor_in_two_fields": lambda m: _changed(_tensor(m), int64_data=[1]),
        "tensor_in_other_field": lambda m: _changed(_tensor(m), *_DATA, double_data=[1]),
    },
    "tensor-empty-data": {"tensor_of_nothing": lambda m: tensor_of_size(m, 0)},
    "tensor-dim-negative": {"tensor_negative": lambda m: tensor_of_size(m, -1)},
    "external-path-unsafe": {
        "tensor_elsewhere": lambda m: _changed(
            _tensor(m), *_DATA, **_EXTERNAL, external_data=[_OUTSIDE]
        )
    },
    "external-location-missing": {
        "tensor_nowhere": lambda m: _changed(_tensor(m), *_DATA, **_EXTERNAL)
    },
    "sparse-index-order": {"sparse_unordered": sparse_unordered},
    "type-mismatch": {
        "wrong_output_element": lambda m: (
            getattr(_output(m), "elem_type", 0) == TensorProto.FLOAT
            and _changed(_output(m), elem_type=TensorProto.INT32)
        ),
        "wrong_input_element": wrong_input_element,
    },
    "shape-mismatch": {"wrong_output_rank": wrong_output_rank},
    "function-recursive": {"recursive": recursive},
}
"""For each rule, the mutations that break it, by name."""
