# SPDX-License-Identifier: Apache-2.0
"""Name places in a binary model by paths, such as `graph.node[12].attribute["axis"]`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onnxtext.ast.model import Fragment, Function, Graph, Model, Node, Training, ValueInfo
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Place
from onnxtext.proto.path_at_offset import quote_name

_PARTS: dict[type[object], tuple[tuple[str, str], ...]] = {
    Model: (
        ("graph", "graph"), ("training", "training_info"), ("functions", "functions"),
        ("configurations", "configuration"),
    ),
    Training: (("initialization", "initialization"), ("algorithm", "algorithm")),
    Graph: (
        ("inputs", "input"), ("outputs", "output"), ("values", ""),
        ("quantization", "quantization_annotation"), ("nodes", "node"),
    ),
    Function: (
        ("inputs", "input"), ("outputs", "output"), ("values", "value_info"), ("nodes", "node"),
    ),
}  # fmt: skip
"""Maps each class of statements to the statements in it: (attribute of the tree, protobuf field).

The field `""` stands for `value_info` or `initializer`, which depends on the value.
"""


class ModelPaths:
    """Maps places (`finding.Place`) in a model or fragment to paths of protobuf fields."""

    def __init__(self, subject: CheckedModel) -> None:
        self._subject = subject
        self._paths: dict[int, str] = {}
        root = subject.root.item if isinstance(subject.root, Fragment) else subject.root
        if isinstance(root, list):
            self._add_all(root, "node", "")
        else:
            self._add(root, "")

    def path(self, place: Place) -> str:
        """Return the path of a place; "" for the whole model or fragment."""
        item = self._subject.resolved.original(place.item)
        path = self._paths.get(id(item), "")
        for name in _fields(item, place.part):
            path += name if name.startswith("[") or not path else f".{name}"
        return path

    def _add(self, item: Any, path: str) -> None:
        """Store the paths of a statement and of the statements in it."""
        self._paths[id(item)] = path
        lead = f"{path}." if path else ""
        if isinstance(item, Node):
            for attribute in item.attributes:
                field = f"{lead}attribute[{quote_name(attribute.name)}]"
                if isinstance(attribute.value, Graph):
                    self._add(attribute.value, f"{field}.g")
                elif isinstance(attribute.value, tuple):
                    graphs = [(i, g) for i, g in enumerate(attribute.value) if isinstance(g, Graph)]
                    for index, graph in graphs:
                        self._add(graph, f"{field}.graphs[{index}]")
        for name, field in _PARTS.get(type(item), ()):
            part = getattr(item, name)
            if isinstance(part, list):
                self._add_all(part, field, lead)
            elif part is not None:
                self._add(part, f"{lead}{field}")

    def _add_all(self, items: list[Any], field: str, lead: str) -> None:
        for index, item in enumerate(items):
            named = isinstance(item, ValueInfo) and (item.name or not field)
            key = quote_name(item.name) if named or isinstance(item, Function) else index
            name = field or ("value_info" if item.data is None else "initializer")
            self._add(item, f"{lead}{name}[{key}]")


FIELD_NAMES = {
    "inputs": "input", "outputs": "output", "attributes": "attribute",
    "opset_imports": "opset_import", "metadata": "metadata_props",
}  # fmt: skip


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
