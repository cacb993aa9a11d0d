# SPDX-License-Identifier: Apache-2.0
"""Mutate valid models with extreme numbers, and missing or superfluous values."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, numpy_helper

from benchmarks.mutants import graphs
from tests.checker.bombs import FLOATS, NUMBERS, SMALL, WORDS


def mutated(data: bytes, draw: random.Random) -> onnx.ModelProto:
    """Return a model with one to three mutations."""
    model = onnx.load_model_from_string(data)
    for _ in range(draw.choice((1, 1, 2, 3))):
        draw.choice(MUTATIONS)(model, draw)
    return model


def nodes(graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """Return the nodes of a graph and of its nested graphs."""
    return [node for inner in graphs(graph) for node in inner.node]


def _number(draw: random.Random) -> int:
    return draw.choice(NUMBERS if draw.random() < 0.7 else SMALL)


def _attribute(model: onnx.ModelProto, draw: random.Random) -> None:
    """Change the value of an attribute."""
    found = [a for node in nodes(model.graph) for a in node.attribute]
    if not found:
        _add_attribute(model, draw)
        return
    attribute = draw.choice(found)
    match attribute.type:
        case AttributeProto.INT:
            attribute.i = _number(draw)
        case AttributeProto.FLOAT:
            attribute.f = draw.choice(FLOATS)
        case AttributeProto.STRING:
            attribute.s = draw.choice((*[w.encode() for w in WORDS], attribute.s * 2))
        case AttributeProto.INTS:
            values = list(attribute.ints)
            match draw.randrange(4):
                case 0 if values:
                    values[draw.randrange(len(values))] = _number(draw)
                case 1:
                    values.append(_number(draw))
                case 2 if values:
                    values.pop()
                case _:
                    values = values * draw.choice((0, 2, 50))
            del attribute.ints[:]
            attribute.ints.extend(values)
        case AttributeProto.TENSOR:
            _extreme(attribute.t, draw)


def _add_attribute(model: onnx.ModelProto, draw: random.Random) -> None:
    """Add an attribute of the schema with any value."""
    node = draw.choice(nodes(model.graph) or [onnx.NodeProto()])
    version = max([i.version for i in model.opset_import if i.domain == node.domain] or [1])
    try:
        schema = onnx.defs.get_schema(node.op_type, version, node.domain)
    except onnx.defs.SchemaError:
        return
    absent = schema.attributes.keys() - {attribute.name for attribute in node.attribute}
    for name in sorted(absent)[: draw.randrange(1, 4)]:
        kind = schema.attributes[name].type
        match kind:
            case onnx.defs.OpSchema.AttrType.INT:
                node.attribute.add(name=name, type=AttributeProto.INT, i=_number(draw))
            case onnx.defs.OpSchema.AttrType.INTS:
                ints = [_number(draw) for _ in range(draw.randrange(6))]
                node.attribute.add(name=name, type=AttributeProto.INTS, ints=ints)
            case onnx.defs.OpSchema.AttrType.STRING:
                word = draw.choice(WORDS).encode()
                node.attribute.add(name=name, type=AttributeProto.STRING, s=word)


def _dims(model: onnx.ModelProto, draw: random.Random) -> None:
    """Change the dims of an input or output."""
    values = [*model.graph.input, *model.graph.output, *model.graph.value_info]
    if not values:
        return
    type = draw.choice(values).type
    if type.WhichOneof("value") != "tensor_type":
        return
    shape = type.tensor_type.shape
    match draw.randrange(4):
        case 0 if shape.dim:
            shape.dim[draw.randrange(len(shape.dim))].dim_value = _number(draw)
        case 1:
            shape.dim.add(dim_value=_number(draw))
        case 2 if shape.dim:
            del shape.dim[-1]
        case _:
            type.tensor_type.ClearField("shape")


def _inputs(model: onnx.ModelProto, draw: random.Random) -> None:
    """Add, remove or change inputs of a node."""
    node = draw.choice(nodes(model.graph) or [onnx.NodeProto()])
    match draw.randrange(4):
        case 0 if node.input:
            del node.input[-1]
        case 1 if node.input:
            node.input.append(draw.choice(node.input))
        case 2 if node.input:
            node.input[draw.randrange(len(node.input))] = ""
        case _ if len(node.input) > 1:
            node.input[0], node.input[1] = node.input[1], node.input[0]


def _outputs(model: onnx.ModelProto, draw: random.Random) -> None:
    """Add or remove outputs of a node."""
    node = draw.choice(nodes(model.graph) or [onnx.NodeProto()])
    match draw.randrange(3):
        case 0 if node.output:
            del node.output[-1]
        case 1:
            node.output.append(f"more{len(node.output)}")
        case _:
            node.output.extend(f"many{index}" for index in range(draw.choice((2, 30))))


def _constant(model: onnx.ModelProto, draw: random.Random) -> None:
    """Turn an input into a constant, or change a constant."""
    graph = model.graph
    if graph.initializer and draw.random() < 0.5:
        _extreme(draw.choice(graph.initializer), draw)
        return
    inputs = [value for value in graph.input if value.type.HasField("tensor_type")]
    if not inputs:
        return
    value = draw.choice(inputs)
    tensor = graph.initializer.add(name=value.name, data_type=value.type.tensor_type.elem_type)
    tensor.dims.extend([dim.dim_value for dim in value.type.tensor_type.shape.dim])
    _extreme(tensor, draw)
    graph.input.remove(value)


def _extreme(tensor: TensorProto, draw: random.Random) -> None:
    """Change the elements of a tensor, sometimes with a wrong number of them."""
    count = int(np.prod([min(dim, 8) for dim in tensor.dims])) if tensor.dims else 1
    count = max(0, min(count, 64)) + (draw.random() < 0.1)
    if draw.random() < 0.3:
        del tensor.dims[:]
        tensor.dims.append(count)
    if tensor.data_type == TensorProto.INT64:
        values = np.array([_number(draw) for _ in range(count)], np.int64)
    elif tensor.data_type == TensorProto.FLOAT:
        values = np.array([draw.choice(FLOATS) for _ in range(count)], np.float32)
    else:
        return
    tensor.ClearField("float_data")
    tensor.ClearField("int64_data")
    tensor.raw_data = numpy_helper.from_array(values).raw_data


def _version(model: onnx.ModelProto, draw: random.Random) -> None:
    """Change the version of the operators."""
    if model.opset_import:
        item = draw.choice(model.opset_import)
        item.version = max(1, item.version - draw.randrange(12))


def _element(model: onnx.ModelProto, draw: random.Random) -> None:
    """Change the element type of an input."""
    if model.graph.input:
        draw.choice(model.graph.input).type.tensor_type.elem_type = draw.randrange(24)


MUTATIONS: tuple[Callable[[onnx.ModelProto, random.Random], None], ...] = (
    _attribute, _attribute, _attribute, _add_attribute, _dims, _dims, _inputs, _outputs, _constant,
    _constant, _version, _element,
)  # fmt: skip
