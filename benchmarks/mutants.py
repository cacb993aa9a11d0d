# SPDX-License-Identifier: Apache-2.0
"""Change one thing of a model at random: a size, an axis, an operator, an element type."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, numpy_helper

Change = Callable[[ModelProto, random.Random], str | None]
"""Changes a model and returns a description; None if the drawn change is impossible."""


_UNARY = """
    Relu Exp Softmax Transpose Flatten Shape Size GlobalAveragePool Identity LogSoftmax ArgMax Not
    Sqrt NonZero Hardmax Ceil
"""
_BINARY = """
    Add Sub Mul Div Pow MatMul Gemm Concat Reshape Gather Expand Equal Less And PRelu Conv Tile Max
    GatherElements
"""
_REQUIRED = {"Concat": ("axis", (0, 1, -1)), "Cast": ("to", (1, 6, 7, 9, 11))}
_LARGEST = 64
_ELEMENTS = (
    TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.INT32,
    TensorProto.FLOAT16, TensorProto.BOOL, TensorProto.UINT8,
)  # fmt: skip


def graphs(owner: Any) -> Iterator[Any]:
    """Yield a graph or function, and all of its nested graphs."""
    yield owner
    for node in owner.node:
        for attribute in node.attribute:
            for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else ())):
                yield from graphs(graph)


def _nodes(model: ModelProto, fits: Callable[[NodeProto], bool]) -> list[NodeProto]:
    return [node for graph in graphs(model.graph) for node in graph.node if fits(node)]


def _label(node: NodeProto) -> str:
    return f"{node.op_type} {node.output[0] if node.output else ''}"


def _other_size(size: int, choose: random.Random) -> int:
    near = {1, 2, 3, size + 1, size - 1, 2 * size, size // 2, size + 2} - {size}
    return choose.choice(sorted(number for number in near if number > 0))


def _other_number(number: int, choose: random.Random) -> int:
    return choose.choice(sorted({-1, 0, 1, 2, 3, number + 1, number - 1, 2 * number} - {number}))


# ---- Declarations -------------------------------------------------------------------------------


def declared_dim(model: ModelProto, choose: random.Random) -> str | None:
    """Change one dimension of an input, an output or a value info."""
    graph = model.graph
    values = [value for value in (*graph.input, *graph.output, *graph.value_info)
              if value.type.tensor_type.shape.dim]  # fmt: skip
    if not values:
        return None
    value = choose.choice(values)
    dims = value.type.tensor_type.shape.dim
    index = choose.randrange(len(dims))
    dim = dims[index]
    before = dim.dim_param or dim.dim_value
    if dim.HasField("dim_value"):
        if choose.random() < 0.3:
            dim.dim_param = "M"
        else:
            dim.dim_value = _other_size(dim.dim_value, choose)
    else:
        dim.dim_value = choose.randint(1, 4)
    return f"{value.name}: dimension {index}: {before} -> {dim.dim_param or dim.dim_value}"


def declared_rank(model: ModelProto, choose: random.Random) -> str | None:
    """Add or remove a dimension of an input, an output or a value info."""
    graph = model.graph
    values = [value for value in (*graph.input, *graph.output, *graph.value_info)
              if value.type.tensor_type.HasField("shape")]  # fmt: skip
    if not values:
        return None
    value = choose.choice(values)
    dims = value.type.tensor_type.shape.dim
    if dims and choose.random() < 0.5:
        del dims[choose.randrange(len(dims))]
        return f"{value.name}: one dimension less"
    dims.add().dim_value = choose.randint(1, 3)
    return f"{value.name}: one dimension more"


def declared_element(model: ModelProto, choose: random.Random) -> str | None:
    """Change the element type of an input, an output or a value info."""
    graph = model.graph
    values = [value for value in (*graph.input, *graph.output, *graph.value_info)
              if value.type.tensor_type.elem_type in _ELEMENTS]  # fmt: skip
    if not values:
        return None
    value = choose.choice(values)
    before = value.type.tensor_type.elem_type
    after = choose.choice([kind for kind in _ELEMENTS if kind != before])
    value.type.tensor_type.elem_type = after
    return (
        f"{value.name}: {TensorProto.DataType.Name(before)} -> {TensorProto.DataType.Name(after)}"
    )


def weight_shape(model: ModelProto, choose: random.Random) -> str | None:
    """Transpose, cut, lengthen or reshape an initializer."""
    tensors = [tensor for tensor in model.graph.initializer
               if 0 < np.prod(tensor.dims) <= 1 << 20
               and tensor.data_location != TensorProto.EXTERNAL]  # fmt: skip
    if not tensors:
        return None
    tensor = choose.choice(tensors)
    array = numpy_helper.to_array(tensor)
    what = choose.choice(["transpose", "cut", "more", "flat", "rank"])
    if what == "transpose" and array.ndim > 1 and len(set(array.shape)) > 1:
        made = np.swapaxes(array, *choose.sample(range(array.ndim), 2))
    elif what == "cut" and array.ndim and max(array.shape) > 1:
        axis = choose.choice([axis for axis, size in enumerate(array.shape) if size > 1])
        made = np.take(array, range(array.shape[axis] - 1), axis)
    elif what == "more" and array.ndim:
        axis = choose.randrange(array.ndim)
        made = np.concatenate([array, np.take(array, [0], axis)], axis)
    elif what == "flat" and array.ndim != 1:
        made = array.reshape(-1)
    else:
        made = array.reshape((1, *array.shape))
    if made.shape == array.shape:
        return None
    before = list(tensor.dims)
    tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(made), tensor.name))
    return f"{tensor.name}: {before} -> {list(tensor.dims)}"


# ---- Nodes --------------------------------------------------------------------------------------


def _constants(model: ModelProto) -> list[tuple[str, TensorProto]]:
    found = [(tensor.name, tensor) for graph in graphs(model.graph) for tensor in graph.initializer]
    for node in _nodes(model, lambda node: node.op_type == "Constant" and not node.domain):
        found += [(node.output[0], a.t) for a in node.attribute if a.HasField("t")]
    kinds = (TensorProto.INT64, TensorProto.INT32)
    return [(name, tensor) for name, tensor in found
            if tensor.data_type in kinds and 0 < np.prod(tensor.dims) <= _LARGEST
            and tensor.data_location != TensorProto.EXTERNAL]  # fmt: skip


def constant_number(model: ModelProto, choose: random.Random) -> str | None:
    """Change a number in a small integer constant: a shape, an axis, an index."""
    found = _constants(model)
    if not found:
        return None
    name, tensor = choose.choice(found)
    array = numpy_helper.to_array(tensor).copy()
    at = choose.randrange(array.size)
    before = int(array.flat[at])
    after = _other_number(before, choose)
    if not np.iinfo(array.dtype).min <= after <= np.iinfo(array.dtype).max:
        return None
    array.flat[at] = after
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return f"{name}[{at}]: {before} -> {after}"


def constant_length(model: ModelProto, choose: random.Random) -> str | None:
    """Lengthen or shorten a small list of integers."""
    found = [(name, tensor) for name, tensor in _constants(model) if len(tensor.dims) == 1]
    if not found:
        return None
    name, tensor = choose.choice(found)
    array = numpy_helper.to_array(tensor)
    at = choose.randrange(array.size)
    made = np.delete(array, at) if choose.random() < 0.5 else np.insert(array, at, 1)
    tensor.CopyFrom(numpy_helper.from_array(made, tensor.name))
    return f"{name}: {array.tolist()} -> {made.tolist()}"


def attribute_number(model: ModelProto, choose: random.Random) -> str | None:
    """Change an integer in an attribute: an axis, a permutation, a kernel."""
    kinds = (AttributeProto.INT, AttributeProto.INTS)
    found = [(node, a) for node in _nodes(model, lambda node: True) for a in node.attribute
             if a.type in kinds and (a.type == AttributeProto.INT or a.ints)]  # fmt: skip
    if not found:
        return None
    node, attribute = choose.choice(found)
    if attribute.type == AttributeProto.INT:
        before = attribute.i
        attribute.i = _other_number(before, choose)
        return f"{_label(node)}: {attribute.name}: {before} -> {attribute.i}"
    at = choose.randrange(len(attribute.ints))
    before = attribute.ints[at]
    attribute.ints[at] = _other_number(before, choose)
    return f"{_label(node)}: {attribute.name}[{at}]: {before} -> {attribute.ints[at]}"


def attribute_list(model: ModelProto, choose: random.Random) -> str | None:
    """Lengthen or shorten a list of integers in an attribute, or swap two of them."""
    found = [(node, a) for node in _nodes(model, bool) for a in node.attribute
             if a.type == AttributeProto.INTS and a.ints]  # fmt: skip
    if not found:
        return None
    node, attribute = choose.choice(found)
    before = list(attribute.ints)
    what = choose.choice(["less", "more", "swap"])
    if what == "swap" and len(set(before)) > 1:
        one, other = choose.sample(range(len(before)), 2)
        attribute.ints[one], attribute.ints[other] = before[other], before[one]
    elif what == "less":
        del attribute.ints[-1:]
    else:
        attribute.ints.append(before[-1])
    if list(attribute.ints) == before:
        return None
    return f"{_label(node)}: {attribute.name}: {before} -> {list(attribute.ints)}"


def attribute_removed(model: ModelProto, choose: random.Random) -> str | None:
    """Remove an attribute other than a graph."""
    found = [(node, at) for node in _nodes(model, lambda node: node.op_type != "Constant")
             for at, a in enumerate(node.attribute) if a.type != AttributeProto.GRAPH]  # fmt: skip
    if not found:
        return None
    node, at = choose.choice(found)
    name = node.attribute[at].name
    del node.attribute[at]
    return f"{_label(node)}: without {name}"


def operator_replaced(model: ModelProto, choose: random.Random) -> str | None:
    """Replace an operator by another with as many inputs and outputs."""
    opset = next((item.version for item in model.opset_import if item.domain in ("", "ai.onnx")), 0)
    found = _nodes(model, lambda node: node.domain in ("", "ai.onnx") and len(node.output) == 1
                   and len(node.input) in (1, 2) and node.op_type != "Constant")  # fmt: skip
    if not found or not opset:
        return None
    node = choose.choice(found)
    before = node.op_type
    others = (_UNARY if len(node.input) == 1 else _BINARY).split()
    node.op_type = choose.choice([name for name in others if name != before])
    try:
        schema = onnx.defs.get_schema(node.op_type, opset)
    except onnx.defs.SchemaError:
        return None
    kept = [attribute for attribute in node.attribute if attribute.name in schema.attributes]
    del node.attribute[:]
    node.attribute.extend(kept)
    name, numbers = _REQUIRED.get(node.op_type, ("", ()))
    if name and name not in [attribute.name for attribute in kept]:
        node.attribute.append(onnx.helper.make_attribute(name, choose.choice(numbers)))
    return f"{_label(node)}: {before} -> {node.op_type}"


def inputs_swapped(model: ModelProto, choose: random.Random) -> str | None:
    """Swap two inputs of a node."""
    found = _nodes(model, lambda node: len({name for name in node.input if name}) > 1)
    if not found:
        return None
    node = choose.choice(found)
    one, other = choose.sample([index for index, name in enumerate(node.input) if name], 2)
    node.input[one], node.input[other] = node.input[other], node.input[one]
    return f"{_label(node)}: inputs {one} and {other} swapped"


def input_replaced(model: ModelProto, choose: random.Random) -> str | None:
    """Replace an input of a node by an input or initializer of the graph, or an earlier value."""
    nodes = [(index, node) for index, node in enumerate(model.graph.node) if any(node.input)]
    if not nodes:
        return None
    index, node = choose.choice(nodes)
    known = [value.name for value in model.graph.input]
    known += [tensor.name for tensor in model.graph.initializer]
    known += [name for each in model.graph.node[:index] for name in each.output if name]
    at = choose.choice([at for at, name in enumerate(node.input) if name])
    others = sorted(set(known) - {node.input[at]})
    if not others:
        return None
    before = node.input[at]
    node.input[at] = choose.choice(others)
    return f"{_label(node)}: {before} -> {node.input[at]}"


def input_removed(model: ModelProto, choose: random.Random) -> str | None:
    """Remove the last input of a node."""
    found = _nodes(model, lambda node: len(node.input) > 1)
    if not found:
        return None
    node = choose.choice(found)
    name = node.input.pop()
    return f"{_label(node)}: without {name}"


def cast_element(model: ModelProto, choose: random.Random) -> str | None:
    """Change the element type to which a node casts."""
    found = _nodes(model, lambda node: node.op_type == "Cast" and not node.domain)
    found = [node for node in found if node.attribute and node.attribute[0].type == 2]
    if not found:
        return None
    node = choose.choice(found)
    before = node.attribute[0].i
    node.attribute[0].i = choose.choice([kind for kind in _ELEMENTS if kind != before])
    return f"{_label(node)}: to {before} -> {node.attribute[0].i}"


CHANGES: dict[str, Change] = {
    "declared dimension": declared_dim,
    "declared rank": declared_rank,
    "declared element type": declared_element,
    "shape of a weight": weight_shape,
    "number in a constant": constant_number,
    "length of a constant": constant_length,
    "number in an attribute": attribute_number,
    "length of an attribute": attribute_list,
    "attribute removed": attribute_removed,
    "operator": operator_replaced,
    "inputs swapped": inputs_swapped,
    "other input": input_replaced,
    "input removed": input_removed,
    "element type of a cast": cast_element,
}
"""The kinds of changes."""


def drawn(model: ModelProto, choose: random.Random) -> tuple[str, str, ModelProto] | None:
    """Return (kind, description, changed model) of a random change.

    Return None if four random kinds of changes are impossible.
    """
    for kind in choose.sample(sorted(CHANGES), 4):
        mutant = ModelProto()
        mutant.CopyFrom(model)
        what = CHANGES[kind](mutant, choose)
        if what is not None:
            return kind, what, mutant
    return None
