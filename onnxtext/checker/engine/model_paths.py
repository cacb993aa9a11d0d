# SPDX-License-Identifier: Apache-2.0
"""Name places in a binary model by paths, such as `graph.node[12].attribute["axis"]`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onnxtext.ast.model import Fragment, Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Place
from onnxtext.proto.path_at_offset import quote_name


class ModelPaths:
    """Maps places (`finding.Place`) in a model or fragment to paths of protobuf fields."""

    def __init__(self, subject: CheckedModel) -> None:
        self._subject = subject
        self._paths: dict[int, str] = {}
        root = subject.root
        if isinstance(root, Model):
            self._model(root)
        elif isinstance(root, Fragment):
            self._item(root.item)

    def path(self, place: Place) -> str:
        """Return the path of a place; "" for the whole model or fragment."""
        item = self._subject.resolved.original(place.item)
        path = self._paths.get(id(item), "")
        for name in _fields(item, place.part):
            path += name if name.startswith("[") or not path else f".{name}"
        return path

    def _model(self, model: Model) -> None:
        self._paths[id(model)] = ""
        self._graph(model.graph, "graph")
        for index, training in enumerate(model.training):
            path = f"training_info[{index}]"
            self._paths[id(training)] = path
            if training.initialization is not None:
                self._graph(training.initialization, f"{path}.initialization")
            if training.algorithm is not None:
                self._graph(training.algorithm, f"{path}.algorithm")
        for function in model.functions:
            self._function(function, f"functions[{quote_name(function.name)}]")
        for index, configuration in enumerate(model.configurations):
            self._paths[id(configuration)] = f"configuration[{index}]"

    def _item(self, item: Any) -> None:
        match item:
            case Graph():
                self._graph(item, "")
            case Function():
                self._function(item, "")
            case Node():
                self._node(item, "")
            case list():
                self._nodes(item, "")

    def _graph(self, graph: Graph, path: str) -> None:
        lead = self._interface(graph, path)
        for value in graph.values:
            kind = "value_info" if value.data is None else "initializer"
            self._paths[id(value)] = f"{lead}{kind}[{quote_name(value.name)}]"
        for index, annotation in enumerate(graph.quantization):
            self._paths[id(annotation)] = f"{lead}quantization_annotation[{index}]"
        self._nodes(graph.nodes, lead)

    def _function(self, function: Function, path: str) -> None:
        lead = self._interface(function, path)
        self._values(function.values, f"{lead}value_info")
        self._nodes(function.nodes, lead)

    def _interface(self, graph: Graph | Function, path: str) -> str:
        """Store the paths of a graph, its inputs and outputs; return the prefix for its parts."""
        self._paths[id(graph)] = path
        lead = f"{path}." if path else ""
        self._values(graph.inputs, f"{lead}input")
        self._values(graph.outputs, f"{lead}output")
        return lead

    def _values(self, values: list[ValueInfo], path: str) -> None:
        for index, value in enumerate(values):
            self._paths[id(value)] = f"{path}[{quote_name(value.name) if value.name else index}]"

    def _nodes(self, nodes: list[Node], lead: str) -> None:
        for index, node in enumerate(nodes):
            self._node(node, f"{lead}node[{index}]")

    def _node(self, node: Node, path: str) -> None:
        self._paths[id(node)] = path
        for attribute in node.attributes:
            lead = f"{path}.attribute[{quote_name(attribute.name)}]"
            if isinstance(attribute.value, Graph):
                self._graph(attribute.value, f"{lead}.g")
            elif isinstance(attribute.value, tuple):
                for index, item in enumerate(attribute.value):
                    if isinstance(item, Graph):
                        self._graph(item, f"{lead}.graphs[{index}]")


FIELD_NAMES = {
    "inputs": "input",
    "outputs": "output",
    "attributes": "attribute",
    "opset_imports": "opset_import",
    "metadata": "metadata_props",
}


def _fields(item: object, part: tuple[str | int, ...]) -> Iterator[str]:
    """Convert `Place.part` to steps of a path: `("inputs", 0)` → `input`, `[0]`."""
    if part[:1] == ("output_types",) or (isinstance(item, ValueInfo) and part == ("name",)):
        return
    for index, step in enumerate(part):
        if step == "element":
            return
        if isinstance(step, int):
            name = _attribute_name(item, step) if part[index - 1] == "attributes" else None
            yield f"[{step}]" if name is None else f"[{quote_name(name)}]"
        elif isinstance(item, ValueInfo) and step == "data":
            continue
        else:
            yield FIELD_NAMES.get(step, step)


def _attribute_name(item: object, index: int) -> str | None:
    attributes = getattr(item, "attributes", ())
    if index < len(attributes):
        attribute = attributes[index]
        return attribute.name if isinstance(attribute, Attribute) else str(attribute)
    return None
