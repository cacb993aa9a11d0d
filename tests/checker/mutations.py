# SPDX-License-Identifier: Apache-2.0
"""Mutations of valid models; each breaks one rule."""

from __future__ import annotations

from collections.abc import Callable

from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, helper

Mutation = Callable[[ModelProto], bool]
"""A function that breaks a model; it returns False if the model has no suitable part."""


def _node(model: ModelProto, *operators: str) -> NodeProto | None:
    """Return the first standard node with one of these operators, or with inputs and outputs."""
    for node in model.graph.node:
        if node.domain in ("", "ai.onnx") and (
            node.op_type in operators or (not operators and node.input and node.output)
        ):
            return node
    return None


def no_ir_version(model: ModelProto) -> bool:
    model.ClearField("ir_version")
    return True


def no_opset(model: ModelProto) -> bool:
    del model.opset_import[:]
    return model.ir_version >= 3


def other_domain(model: ModelProto) -> bool:
    if not any(node.domain in ("", "ai.onnx") for node in model.graph.node):
        return False
    for item in model.opset_import:
        if item.domain in ("", "ai.onnx"):
            item.domain = "org.example"
    return True


def unnamed_graph(model: ModelProto) -> bool:
    model.graph.name = ""
    return True


def untyped_input(model: ModelProto) -> bool:
    if model.graph.input:
        model.graph.input[0].ClearField("type")
    return bool(model.graph.input)


def untyped_output(model: ModelProto) -> bool:
    model.graph.output[0].ClearField("type")
    return True


def shapeless_output(model: ModelProto) -> bool:
    type = model.graph.output[0].type
    if not type.HasField("tensor_type"):
        return False
    type.tensor_type.ClearField("shape")
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


def undefined(model: ModelProto) -> bool:
    node = _node(model)
    if node is not None:
        node.input[0] = "there is no such value"
    return node is not None


def reversed_nodes(model: ModelProto) -> bool:
    outputs = {name for node in model.graph.node for name in node.output}
    if not any(name in outputs for node in model.graph.node for name in node.input):
        return False
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(reversed(nodes))
    return True


def cycle(model: ModelProto) -> bool:
    node = _node(model)
    if node is not None:
        node.input[0] = node.output[0]
    return node is not None


def output_undefined(model: ModelProto) -> bool:
    model.graph.output[0].name = "there is no such output"
    return True


def input_twice(model: ModelProto) -> bool:
    if model.graph.input:
        model.graph.input.add().CopyFrom(model.graph.input[0])
    return bool(model.graph.input)


def initializer_twice(model: ModelProto) -> bool:
    if model.graph.initializer:
        model.graph.initializer.add().CopyFrom(model.graph.initializer[0])
    return bool(model.graph.initializer)


def unnamed_initializer(model: ModelProto) -> bool:
    result = helper.make_tensor("", TensorProto.FLOAT, [1], [1.0])
    model.graph.initializer.append(result)
    return True


def old_initializer(model: ModelProto) -> bool:
    result = helper.make_tensor("extra", TensorProto.FLOAT, [1], [1.0])
    model.graph.initializer.append(result)
    return model.ir_version == 3


def no_operator(model: ModelProto) -> bool:
    model.graph.node[0].op_type = ""
    return True


def unknown_operator(model: ModelProto) -> bool:
    node = _node(model)
    if node is not None:
        node.op_type = f"{node.op_type}Zq"
    return node is not None


def too_many_inputs(model: ModelProto) -> bool:
    node = _node(model, "Relu", "Sigmoid", "Tanh", "Softmax", "Add", "Mul", "Transpose", "Flatten")
    if node is not None:
        node.input.extend([node.input[0]] * 3)
    return node is not None


def too_few_inputs(model: ModelProto) -> bool:
    node = _node(model, "Add", "Mul", "MatMul", "Conv", "Gemm", "Sub", "Div", "Gather")
    if node is not None:
        del node.input[1:]
    return node is not None


def too_many_outputs(model: ModelProto) -> bool:
    node = _node(model, "Relu", "Sigmoid", "Tanh", "Softmax", "Add", "Mul", "Conv", "Transpose")
    if node is not None:
        node.output.append("one too many")
    return node is not None


def unknown_attribute(model: ModelProto) -> bool:
    node = _node(model)
    if node is not None:
        node.attribute.append(helper.make_attribute("no_such_attribute", 1))
    return node is not None


def attribute_of_other_type(model: ModelProto) -> bool:
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.INT and node.domain in ("", "ai.onnx"):
                attribute.type = AttributeProto.FLOAT
                attribute.ClearField("i")
                attribute.f = 1.0
                return True
    return False


def attribute_twice(model: ModelProto) -> bool:
    for node in model.graph.node:
        if node.attribute:
            node.attribute.add().CopyFrom(node.attribute[0])
            return True
    return False


def attribute_untyped(model: ModelProto) -> bool:
    for node in model.graph.node:
        if node.attribute:
            node.attribute[0].ClearField("type")
            return model.ir_version >= 2
    return False


def attribute_unnamed(model: ModelProto) -> bool:
    for node in model.graph.node:
        if node.attribute:
            extra = node.attribute.add()
            extra.i, extra.type = 1, AttributeProto.INT
            return True
    return False


def attribute_of_two_values(model: ModelProto) -> bool:
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.INT:
                attribute.f = 1.0
                return True
    return False


def attribute_missing(model: ModelProto) -> bool:
    node = _node(model, "Cast", "Concat", "Pad", "Conv", "LRN")
    if node is None or node.op_type in ("Pad", "Conv"):
        return False
    required = {"Cast": "to", "Concat": "axis", "LRN": "size"}[node.op_type]
    kept = [attribute for attribute in node.attribute if attribute.name != required]
    del node.attribute[:]
    node.attribute.extend(kept)
    return True


def _initializer(model: ModelProto) -> TensorProto | None:
    return next((t for t in model.graph.initializer if t.dims and t.data_type == 1), None)


def tensor_untyped(model: ModelProto) -> bool:
    tensor = _initializer(model)
    if tensor is not None:
        tensor.data_type = TensorProto.UNDEFINED
    return tensor is not None


def tensor_short(model: ModelProto) -> bool:
    tensor = _initializer(model)
    if tensor is None:
        return False
    if tensor.raw_data:
        tensor.raw_data = tensor.raw_data[:-1]
    else:
        del tensor.float_data[-1:]
    return True


def tensor_in_two_fields(model: ModelProto) -> bool:
    tensor = _initializer(model)
    if tensor is not None:
        tensor.int64_data.append(1)
    return tensor is not None


def tensor_in_other_field(model: ModelProto) -> bool:
    tensor = _initializer(model)
    if tensor is not None:
        tensor.ClearField("raw_data")
        tensor.ClearField("float_data")
        tensor.double_data.append(1)
    return tensor is not None


def tensor_of_nothing(model: ModelProto) -> bool:
    tensor = _initializer(model)
    if tensor is not None:
        tensor.dims[0] = 0
    return tensor is not None


def tensor_negative(model: ModelProto) -> bool:
    tensor = _initializer(model)
    if tensor is not None:
        tensor.dims[0] = -1
    return tensor is not None


def tensor_elsewhere(model: ModelProto) -> bool:
    tensor = _initializer(model)
    if tensor is not None:
        tensor.ClearField("raw_data")
        tensor.ClearField("float_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="/etc/passwd")
    return tensor is not None


def tensor_nowhere(model: ModelProto) -> bool:
    tensor = _initializer(model)
    if tensor is not None:
        tensor.ClearField("raw_data")
        tensor.ClearField("float_data")
        tensor.data_location = TensorProto.EXTERNAL
    return tensor is not None


def sparse_unordered(model: ModelProto) -> bool:
    values = helper.make_tensor("sparse", TensorProto.FLOAT, [2], [1.0, 2.0])
    indices = helper.make_tensor("", TensorProto.INT64, [2], [2, 1])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))
    return model.ir_version >= 6


def wrong_output_element(model: ModelProto) -> bool:
    type = model.graph.output[0].type
    if not type.HasField("tensor_type") or type.tensor_type.elem_type != TensorProto.FLOAT:
        return False
    type.tensor_type.elem_type = TensorProto.INT32
    return True


def wrong_output_rank(model: ModelProto) -> bool:
    type = model.graph.output[0].type
    if not type.HasField("tensor_type"):
        return False
    type.tensor_type.shape.dim.add().dim_value = 7
    return True


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


MUTATIONS: dict[str, list[tuple[str, Mutation]]] = {}
"""For each rule, the mutations that break it, by name."""

for _code, _mutations in (
    ("ir-version-missing", (no_ir_version,)),
    ("opset-import-missing", (no_opset,)),
    ("opset-domain-not-imported", (other_domain,)),
    ("graph-name-missing", (unnamed_graph,)),
    ("graph-input-untyped", (untyped_input,)),
    ("graph-output-untyped", (untyped_output, shapeless_output)),
    ("value-redefined", (redefined, input_redefined)),
    ("value-undefined", (undefined,)),
    ("node-order", (reversed_nodes,)),
    ("graph-cycle", (cycle,)),
    ("graph-output-undefined", (output_undefined,)),
    ("input-duplicate", (input_twice,)),
    ("initializer-duplicate", (initializer_twice,)),
    ("value-name-missing", (unnamed_initializer,)),
    ("initializer-not-input", (old_initializer,)),
    ("op-type-missing", (no_operator,)),
    ("op-unknown", (unknown_operator,)),
    ("input-count", (too_many_inputs, too_few_inputs)),
    ("output-count", (too_many_outputs,)),
    ("attribute-unknown", (unknown_attribute,)),
    ("attribute-type", (attribute_of_other_type,)),
    ("attribute-duplicate", (attribute_twice,)),
    ("attribute-type-missing", (attribute_untyped,)),
    ("attribute-name-missing", (attribute_unnamed,)),
    ("attribute-value-mismatch", (attribute_of_two_values,)),
    ("attribute-required", (attribute_missing,)),
    ("tensor-type-undefined", (tensor_untyped,)),
    ("tensor-data-size", (tensor_short,)),
    ("tensor-data-field", (tensor_in_two_fields, tensor_in_other_field)),
    ("tensor-empty-data", (tensor_of_nothing,)),
    ("tensor-dim-negative", (tensor_negative,)),
    ("external-path-unsafe", (tensor_elsewhere,)),
    ("external-location-missing", (tensor_nowhere,)),
    ("sparse-index-order", (sparse_unordered,)),
    ("type-mismatch", (wrong_output_element, wrong_input_element)),
    ("shape-mismatch", (wrong_output_rank,)),
    ("function-recursive", (recursive,)),
):
    MUTATIONS[_code] = [(mutation.__name__, mutation) for mutation in _mutations]
