# SPDX-License-Identifier: Apache-2.0
"""Summarize a model: its interface, operators, parameters, and the location of its weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from onnxtext import ast
from onnxtext.ast.qualified_names import qualified_name
from onnxtext.ast.visit import list_graphs
from onnxtext.printer import print_type
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.element_types import ELEMENTS, raw_size

LARGEST = 10
"""Maximum number of tensors in the list of the largest tensors."""


@dataclass(frozen=True, slots=True)
class InterfaceValue:
    """An input or output of the main graph.

    Attributes:
        name: its name.
        type: its type as a text; None if the model does not declare one.
        default: whether the value is an input with an initializer.
    """

    name: str
    type: str | None
    default: bool = False


@dataclass(frozen=True, slots=True)
class Weight:
    """A constant tensor: an initializer, or the value of a tensor attribute.

    Attributes:
        name: the initializer's name; for an attribute, `OUTPUT.ATTRIBUTE` with the node's first
            output, or `OPERATOR.ATTRIBUTE` if the node has no output.
        type: its type as a text.
        element: its element type.
        elements: the number of elements.
        size: the size of its data in bytes.
        place: the location of its data: a phrase such as `in the file`, the path of another file or
            of a directory, or `nowhere` for missing data.
    """

    name: str
    type: str
    element: str
    elements: int
    size: int
    place: str


@dataclass(frozen=True, slots=True)
class TensorTotals:
    """Totals of a group of tensors: their number, their elements and their size in bytes."""

    tensors: int
    elements: int
    size: int


@dataclass(frozen=True, slots=True)
class FunctionSummary:
    """A function of the model.

    Attributes:
        name: its qualified name: `domain.name:overload`.
        nodes: the number of nodes in its body, nested graphs included.
    """

    name: str
    nodes: int


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """The summary of a model.

    Attributes:
        producer: name and version of the tool that made the model; None if the model has neither.
        ir_version: version of the IR; None if it is missing.
        opsets: version by domain; the default domain is `ai.onnx`.
        graph: the name of the main graph.
        inputs: the inputs of the main graph.
        outputs: the outputs of the main graph.
        dimensions: maps each symbolic dimension to the axes of inputs and outputs that have it,
            such as `x[0]`.
        nodes: the number of nodes, nested graphs and functions included.
        operators: the number of nodes by operator, the most frequent first. Operators outside the
            default domain are qualified: `domain.name`.
        subgraphs: the number of nested graphs, including graphs in functions.
        functions: the functions of the model.
        parameters: the totals of all constant tensors.
        types: the totals by element type, the largest first.
        places: the totals by `Weight.place`, the largest first.
        largest: the largest tensors, at most `LARGEST`.
        metadata: the number of metadata entries of the model.
        training: whether the model has training information.
    """

    producer: str | None
    ir_version: int | None
    opsets: dict[str, int]
    graph: str
    inputs: tuple[InterfaceValue, ...]
    outputs: tuple[InterfaceValue, ...]
    dimensions: dict[str, tuple[str, ...]]
    nodes: int
    operators: dict[str, int]
    subgraphs: int
    functions: tuple[FunctionSummary, ...]
    parameters: TensorTotals
    types: dict[str, TensorTotals]
    places: dict[str, TensorTotals]
    largest: tuple[Weight, ...]
    metadata: int
    training: bool


def summarize(model: ast.Model) -> ModelSummary:
    """Summarize a model without reading any file.

    Args:
        model: the model; its large data may be in it, in other files, or missing.
    """
    graphs = list_graphs(model)
    functions = {id(function) for function in model.functions}
    weights = sorted(_weights(model, graphs), key=lambda weight: -weight.size)
    interface = (*model.graph.inputs, *model.graph.outputs)
    producer = " ".join(filter(None, (model.producer_name, model.producer_version)))
    operators = Counter(
        [qualified_name(node.domain, node.op_type) for graph in graphs for node in graph.nodes]
    )
    # The main graph and the graphs of training information are not nested.
    outermost = 1 + sum(
        graph is not None
        for training in model.training
        for graph in (training.initialization, training.algorithm)
    )
    return ModelSummary(
        producer or None,
        model.ir_version,
        {opset.domain or "ai.onnx": opset.version for opset in model.opset_imports},
        model.graph.name,
        tuple(map(_value, model.graph.inputs)),
        tuple(map(_value, model.graph.outputs)),
        _dimensions(interface),
        operators.total(),
        dict(sorted(operators.items(), key=lambda item: (-item[1], item[0]))),
        sum(id(graph) not in functions for graph in graphs) - outermost,
        tuple(map(_summarize_function, model.functions)),
        _amount(weights),
        _group_weights(weights, attrgetter("element")),
        _group_weights(weights, attrgetter("place")),
        tuple(weights[:LARGEST]),
        len(model.metadata),
        bool(model.training),
    )


def _summarize_function(function: ast.Function) -> FunctionSummary:
    nodes = sum(len(graph.nodes) for graph in list_graphs(function))
    return FunctionSummary(qualified_name(function.domain, function.name, function.overload), nodes)


def _value(value: ast.ValueInfo) -> InterfaceValue:
    type = None if value.type is None else print_type(value.type)
    return InterfaceValue(value.name, type, value.data is not None)


def _dimensions(values: Iterable[ast.ValueInfo]) -> dict[str, tuple[str, ...]]:
    dimensions: dict[str, dict[str, None]] = {}
    for value in values:
        for index, dim in enumerate(_shape(value.type)):
            name = dim.value if isinstance(dim, ast.DecoratedDim) else dim
            if isinstance(name, str):
                dimensions.setdefault(name, {})[f"{value.name}[{index}]"] = None
    return {name: tuple(axes) for name, axes in dimensions.items()}


def _shape(type: ast.Type | None) -> tuple[ast.Dim, ...]:
    """Return the shape of a tensor, or of the tensors in a sequence, optional or map; else ()."""
    while True:
        match type:
            case ast.TensorType() | ast.SparseTensorType():
                return type.shape or ()
            case ast.SequenceType() | ast.OptionalType():
                type = type.element
            case ast.MapType():
                type = type.value
            case _:
                return ()


def _weights(model: ast.Model, graphs: Iterable[ast.Graph | ast.Function]) -> Iterator[Weight]:
    for graph in graphs:
        if isinstance(graph, ast.Graph):
            for value in (*graph.inputs, *graph.values):
                if value.data is not None:
                    yield _weight(model, value.name, value.type, value.data)
        for node in graph.nodes:
            for attribute in node.attributes:
                name = node.outputs[0] if node.outputs else node.op_type
                yield from _attribute_weights(model, f"{name}.{attribute.name}", attribute)


def _attribute_weights(model: ast.Model, name: str, attribute: ast.Attribute) -> Iterator[Weight]:
    values = attribute.value if isinstance(attribute.value, tuple) else (attribute.value,)
    for tensor in values:
        if isinstance(tensor, ast.Tensor):
            yield _weight(model, name, tensor.type, tensor.data)
        elif isinstance(tensor, ast.SparseTensor):
            yield _weight(model, name, None, tensor)


def _weight(
    model: ast.Model, name: str, type: ast.Type | None, data: ast.TensorData | ast.SparseTensor
) -> Weight:
    if isinstance(data, ast.SparseTensor):
        values = _weight(model, name, data.values.type, data.values.data)
        indices = _weight(model, name, data.indices.type, data.indices.data)
        shown = f"sparse({values.element}[{', '.join(map(str, data.dims))}])"
        size = values.size + indices.size
        return Weight(name, shown, values.element, values.elements, size, values.place)
    assert isinstance(type, ast.TensorType)
    count = max(count_elements(type.integer_dims), 0)
    element = ELEMENTS.get(type.element)
    if isinstance(data, ast.StringData):
        size = sum(map(len, data.values))
    else:
        size = raw_size(element, count) if element is not None and element.bits else 0
    return Weight(name, print_type(type), type.element, count, size, _place(model, data))


def _place(model: ast.Model, data: ast.TensorData) -> str:
    """Return the location of a tensor's data, as in `Weight.place`."""
    match data:
        case ast.ExternalData(entries):
            return dict(entries).get("location", "external data")
        case ast.DataFile(path):
            return path
        case ast.Blob() if data.digest not in model.resources:
            outside = [place.path for place in model.places]
            return " or ".join(outside) if outside else "nowhere"
        case ast.NoData():
            return "nowhere"
    return "in the file"


def _amount(weights: list[Weight]) -> TensorTotals:
    elements = sum([weight.elements for weight in weights])
    return TensorTotals(len(weights), elements, sum([weight.size for weight in weights]))


def _group_weights(weights: list[Weight], key: Callable[[Weight], str]) -> dict[str, TensorTotals]:
    """Group weights by a key and return the totals of each group, the largest size first."""
    groups: dict[str, list[Weight]] = {}
    for weight in weights:
        groups.setdefault(key(weight), []).append(weight)
    amounts = {key: _amount(group) for key, group in groups.items()}
    return dict(sorted(amounts.items(), key=lambda item: (-item[1].size, item[0])))
