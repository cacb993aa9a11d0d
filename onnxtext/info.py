# SPDX-License-Identifier: Apache-2.0
"""Summarize a model: its interface, operators, parameters, and where its weights are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from onnxtext.ast.model import Function, Graph, Model, OpsetImport, ValueInfo
from onnxtext.ast.types import (
    DecoratedDim,
    Dim,
    MapType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
    Type,
)
from onnxtext.ast.values import (
    Attribute,
    Blob,
    DataFile,
    ExternalData,
    NoData,
    SparseTensor,
    StringData,
    Tensor,
    TensorData,
)
from onnxtext.ast.visit import list_graphs
from onnxtext.printer import print_type
from onnxtext.tensor.elements import ELEMENTS, raw_size

LARGEST = 10
"""Number of the largest tensors that are listed."""
IN_FILE = "in the file"


@dataclass(frozen=True, slots=True)
class Value:
    """An input or output of the main graph.

    Attributes:
        name: its name.
        type: its type as a text; None if it has none.
        default: whether it is an input with an initializer.
    """

    name: str
    type: str | None
    default: bool = False


@dataclass(frozen=True, slots=True)
class Weight:
    """A constant tensor: an initializer, or the value of a tensor attribute.

    Attributes:
        name: of the initializer, or of the first output of the node and the attribute.
        type: its type as a text.
        element: its element type.
        elements: the number of elements.
        size: their size in memory, in bytes.
        place: where its data is: `in the file`, or the file or directory beside it.
    """

    name: str
    type: str
    element: str
    elements: int
    size: int
    place: str


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of tensors, their elements and their size in bytes."""

    tensors: int
    elements: int
    size: int


@dataclass(frozen=True, slots=True)
class Called:
    """A function of the model.

    Attributes:
        name: with its domain and overload.
        nodes: the number of nodes in its body, nested graphs included.
    """

    name: str
    nodes: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The summary of a model.

    Attributes:
        producer: name and version of the tool that made the model; None if the model has neither.
        ir_version: version of the IR; None if it is missing.
        opsets: version by domain; the default domain is `ai.onnx`.
        graph: the name of the main graph.
        inputs: its inputs.
        outputs: its outputs.
        dimensions: the names of symbolic dimensions, each with the inputs and outputs that have it.
        nodes: the number of nodes, nested graphs and functions included.
        operators: the number of nodes by operator, the most frequent first; other domains than the
            default one precede the name.
        subgraphs: the number of nested graphs, those of functions included.
        functions: the functions of the model.
        parameters: all constant tensors together.
        types: the same by element type, the largest first.
        places: the same by place, the largest first.
        largest: the largest tensors.
        metadata: the number of metadata entries of the model.
        training: whether it has training information.
    """

    producer: str | None
    ir_version: int | None
    opsets: dict[str, int]
    graph: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    dimensions: dict[str, tuple[str, ...]]
    nodes: int
    operators: dict[str, int]
    subgraphs: int
    functions: tuple[Called, ...]
    parameters: Amount
    types: dict[str, Amount]
    places: dict[str, Amount]
    largest: tuple[Weight, ...]
    metadata: int
    training: bool


def summarize(model: Model) -> Overview:
    """Summarize a model; nothing is read from the disk.

    Args:
        model: the model, whose large data may be anywhere.
    """
    graphs = list_graphs(model)
    functions = {id(function) for function in model.functions}
    weights = sorted(_weights(model, graphs), key=lambda weight: -weight.size)
    interface = (*model.graph.inputs, *model.graph.outputs)
    producer = " ".join(filter(None, (model.producer_name, model.producer_version)))
    operators = Counter(
        [_qualified(node.domain, node.op_type) for graph in graphs for node in graph.nodes]
    )
    outer = 1 + sum(
        graph is not None
        for training in model.training
        for graph in (training.initialization, training.algorithm)
    )
    return Overview(
        producer or None,
        model.ir_version,
        _opsets(model.opset_imports),
        model.graph.name,
        tuple(map(_value, model.graph.inputs)),
        tuple(map(_value, model.graph.outputs)),
        _dimensions(interface),
        operators.total(),
        dict(sorted(operators.items(), key=lambda item: (-item[1], item[0]))),
        sum(id(graph) not in functions for graph in graphs) - outer,
        tuple(map(_called, model.functions)),
        _amount(weights),
        _grouped(weights, [weight.element for weight in weights]),
        _grouped(weights, [weight.place for weight in weights]),
        tuple(weights[:LARGEST]),
        len(model.metadata),
        bool(model.training),
    )


def _opsets(imports: Iterable[OpsetImport]) -> dict[str, int]:
    return {each.domain or "ai.onnx": each.version for each in imports}


def _qualified(domain: str | None, name: str, overload: str | None = None) -> str:
    before = f"{domain}." if domain not in (None, "", "ai.onnx") else ""
    return f"{before}{name}{f':{overload}' if overload else ''}"


def _called(function: Function) -> Called:
    nodes = sum(len(graph.nodes) for graph in list_graphs(function))
    return Called(_qualified(function.domain, function.name, function.overload), nodes)


def _value(value: ValueInfo) -> Value:
    shown = None if value.type is None else print_type(value.type)
    return Value(value.name, shown, value.data is not None)


def _dimensions(values: Iterable[ValueInfo]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for value in values:
        for index, dim in enumerate(_shape(value.type)):
            plain = dim.value if isinstance(dim, DecoratedDim) else dim
            if isinstance(plain, str):
                found.setdefault(plain, {})[f"{value.name}[{index}]"] = None
    return {name: tuple(places) for name, places in found.items()}


def _shape(type: Type | None) -> tuple[Dim, ...]:
    """Return the shape of a tensor, or of the tensors in a sequence, optional or map."""
    while True:
        match type:
            case TensorType() | SparseTensorType():
                return type.shape or ()
            case SequenceType() | OptionalType():
                type = type.element
            case MapType():
                type = type.value
            case _:
                return ()


# ---- Weights --------------------------------------------------------------------------------


def _weights(model: Model, graphs: Iterable[Graph | Function]) -> Iterator[Weight]:
    for graph in graphs:
        if isinstance(graph, Graph):
            for value in (*graph.inputs, *graph.values):
                if value.data is not None:
                    yield _weight(model, value.name, value.type, value.data)
        for node in graph.nodes:
            for attribute in node.attributes:
                name = node.outputs[0] if node.outputs else node.op_type
                yield from _attribute_weights(model, f"{name}.{attribute.name}", attribute)


def _attribute_weights(model: Model, name: str, attribute: Attribute) -> Iterator[Weight]:
    held = attribute.value if isinstance(attribute.value, tuple) else (attribute.value,)
    for tensor in held:
        if isinstance(tensor, Tensor):
            yield _weight(model, name, tensor.type, tensor.data)
        elif isinstance(tensor, SparseTensor):
            yield _weight(model, name, None, tensor)


def _weight(model: Model, name: str, type: Type | None, data: TensorData | SparseTensor) -> Weight:
    if isinstance(data, SparseTensor):
        values = _weight(model, name, data.values.type, data.values.data)
        indices = _weight(model, name, data.indices.type, data.indices.data)
        shown = f"sparse({values.element}[{', '.join(map(str, data.dims))}])"
        size = values.size + indices.size
        return Weight(name, shown, values.element, values.elements, size, values.place)
    assert isinstance(type, TensorType)
    count = math.prod([dim for dim in _shape(type) if isinstance(dim, int)])
    count = max(count, 0)
    element = ELEMENTS.get(type.element)
    if isinstance(data, StringData):
        size = sum(map(len, data.values))
    else:
        size = raw_size(element, count) if element is not None and element.bits else 0
    return Weight(name, print_type(type), type.element, count, size, _place(model, data))


def _place(model: Model, data: TensorData) -> str:
    match data:
        case ExternalData(entries):
            return dict(entries).get("location", "external data")
        case DataFile(path):
            return path
        case Blob() if data.digest not in model.resources:
            outside = [place.path for place in model.places]
            return " or ".join(outside) if outside else "nowhere"
        case NoData():
            return "nowhere"
    return IN_FILE


def _amount(weights: Iterable[Weight]) -> Amount:
    held = list(weights)
    elements = sum([weight.elements for weight in held])
    return Amount(len(held), elements, sum([weight.size for weight in held]))


def _grouped(weights: list[Weight], keys: list[str]) -> dict[str, Amount]:
    groups: dict[str, list[Weight]] = {}
    for weight, key in zip(weights, keys, strict=True):
        groups.setdefault(key, []).append(weight)
    amounts = {key: _amount(group) for key, group in groups.items()}
    return dict(sorted(amounts.items(), key=lambda item: (-item[1].size, item[0])))
