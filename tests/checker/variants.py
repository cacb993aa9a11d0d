# SPDX-License-Identifier: Apache-2.0
"""Move the graph of a model to a nested graph, a function body or a training algorithm."""

from __future__ import annotations

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, ValueInfoProto, helper

CALLED = "onnxtext_called"
"""The name of the function to which `in_function` moves the graph."""


def _around(model: ModelProto) -> ModelProto:
    """Return a valid model of one node with the header and functions of another model."""
    result = ModelProto()
    result.CopyFrom(model)
    result.ClearField("graph")
    result.ClearField("training_info")
    result.graph.name = "onnxtext_around"
    domains = {item.domain for item in result.opset_import}
    if domains and "" not in domains:
        result.opset_import.append(helper.make_opsetid("", 21))
    result.graph.input.append(helper.make_tensor_value_info("onnxtext_x", 1, [1]))
    result.graph.output.append(helper.make_tensor_value_info("onnxtext_y", 1, [1]))
    result.graph.node.append(helper.make_node("Identity", ["onnxtext_x"], ["onnxtext_y"]))
    return result


def in_nested_graph(model: ModelProto) -> ModelProto:
    """Move the graph into both branches of an `If`; its inputs stay outside."""
    result = _around(model)
    given = {value.name for value in model.graph.input}
    body = GraphProto()
    body.CopyFrom(model.graph)
    del body.input[:]
    del body.initializer[:], body.value_info[:]
    for value in model.graph.value_info:
        (result.graph if value.name in given else body).value_info.append(value)
    for tensor in model.graph.initializer:
        (result.graph if tensor.name in given else body).initializer.append(tensor)
    result.graph.input.extend(model.graph.input)
    result.graph.input.append(helper.make_tensor_value_info("onnxtext_c", 9, []))
    outputs = [f"onnxtext_{index}" for index in range(len(body.output))]
    node = helper.make_node("If", ["onnxtext_c"], outputs)
    for name in ("then_branch", "else_branch"):
        attribute = node.attribute.add(name=name, type=AttributeProto.GRAPH)
        attribute.g.CopyFrom(body)
    result.graph.node.append(node)
    _use(result, [(n, v) for n, v in zip(outputs, body.output, strict=True)])
    return result


def in_function(model: ModelProto) -> ModelProto:
    """Move the graph into a function that it calls; constants become the body's first nodes."""
    result = _around(model)
    result.ir_version = max(result.ir_version, 10)
    graph = model.graph
    function = result.functions.add(name=CALLED, domain="onnxtext.test")
    result.opset_import.append(helper.make_opsetid("onnxtext.test", 1))
    function.opset_import.extend(model.opset_import)
    constants = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in constants]
    distinct = {value.name: value for value in inputs}.values()
    function.input.extend(value.name for value in inputs)
    function.output.extend(value.name for value in graph.output)
    for tensor in graph.initializer:
        function.node.append(_constant(tensor.name, "value", AttributeProto.TENSOR))
        function.node[-1].attribute[0].t.CopyFrom(tensor)
    for sparse in graph.sparse_initializer:
        kind = AttributeProto.SPARSE_TENSOR
        function.node.append(_constant(sparse.values.name, "sparse_value", kind))
        function.node[-1].attribute[0].sparse_tensor.CopyFrom(sparse)
    function.node.extend(graph.node)
    function.value_info.extend(graph.value_info)
    for value in (*inputs, *graph.output):
        if value.HasField("type") and value.name not in [v.name for v in graph.value_info]:
            function.value_info.append(value)
    function.metadata_props.extend(graph.metadata_props)
    function.doc_string = graph.doc_string
    result.graph.input.extend(distinct)
    given = [value.name for value in inputs]
    results = [f"onnxtext_{index}" for index in range(len(graph.output))]
    call = helper.make_node(CALLED, given, results, domain="onnxtext.test")
    result.graph.node.append(call)
    _use(result, list(zip(results, graph.output, strict=True)))
    return result


def _use(model: ModelProto, values: list[tuple[str, ValueInfoProto]]) -> None:
    """Use all outputs of a node, of any type, so that they are not reported as unused."""
    shapes = []
    for name, value in values:
        if value.type.HasField("tensor_type") or not value.HasField("type"):
            shapes.append(f"{name}_shape")
            model.graph.node.append(helper.make_node("Shape", [name], [shapes[-1]]))
    if shapes:
        model.graph.node.append(helper.make_node("Concat", shapes, ["onnxtext_shape"], axis=0))
        rank = helper.make_tensor_value_info("onnxtext_shape", 7, [None])
        model.graph.output.append(rank)


def _constant(name: str, attribute: str, type: AttributeProto.AttributeType) -> NodeProto:
    node = helper.make_node("Constant", [], [name])
    node.attribute.add(name=attribute, type=type)
    return node


def in_training(model: ModelProto) -> ModelProto:
    """Move the graph into the algorithm of a `TrainingInfoProto`."""
    result = _around(model)
    result.ir_version = max(result.ir_version, 7)
    result.training_info.add().algorithm.CopyFrom(model.graph)
    return result
