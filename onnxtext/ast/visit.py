# SPDX-License-Identifier: Apache-2.0
"""Walking over a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from onnxtext.ast.model import Fragment, Function, Graph, Model, Node
from onnxtext.ast.values import Attribute
from onnxtext.core import core


def attribute_lists(nodes: Iterable[Node]) -> Sequence[tuple[Attribute, ...]]:
    """The lists of attributes of some nodes, each object once, in the order of the nodes."""
    if core() == "native":
        from onnxtext._core import walk

        return walk.attribute_lists(nodes)
    return list(
        {id(node.attributes): node.attributes for node in nodes if node.attributes}.values()
    )


def attribute_graphs(attributes: Iterable[Attribute | str]) -> Iterator[Graph]:
    """The graphs that some attributes hold."""
    for attribute in attributes:
        if type(attribute) is str:
            continue
        value = attribute.value  # type: ignore[union-attr]
        if type(value) is Graph:
            yield value
        elif type(value) is tuple and value and type(value[0]) is Graph:
            yield from value  # type: ignore[misc]


def walk_graphs(root: Model | Fragment | Graph | Function | Node) -> Iterator[Graph | Function]:
    """Every graph and function in something, that itself included, outer before inner."""
    match root:
        case Model():
            yield from walk_graphs(root.graph)
            for training in root.training:
                for graph in (training.initialization, training.algorithm):
                    if graph is not None:
                        yield from walk_graphs(graph)
            for function in root.functions:
                yield from walk_graphs(function)
        case Fragment():
            if isinstance(root.item, (Graph, Function, Node)):
                yield from walk_graphs(root.item)
        case Node():
            for graph in attribute_graphs(root.attributes):
                yield from walk_graphs(graph)
        case Function() | Graph():
            yield root
            if isinstance(root, Function):
                for graph in attribute_graphs(root.attributes):
                    yield from walk_graphs(graph)
            for attributes in attribute_lists(root.nodes):
                for graph in attribute_graphs(attributes):
                    yield from walk_graphs(graph)


def walk_nodes(root: Model | Fragment | Graph | Function | Node) -> Iterator[Node]:
    """Every node in something, that itself included."""
    item = root.item if isinstance(root, Fragment) else root
    if isinstance(item, Node):
        yield item
    for graph in walk_graphs(root):
        yield from graph.nodes
