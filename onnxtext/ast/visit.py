# SPDX-License-Identifier: Apache-2.0
"""Walking over a model."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.model import Fragment, Function, Graph, Model, Node
from onnxtext.ast.values import Attribute


def attribute_graphs(attribute: Attribute) -> Iterator[Graph]:
    """The graphs that an attribute holds."""
    value = attribute.value
    if isinstance(value, Graph):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            if isinstance(item, Graph):
                yield item


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
            for attribute in root.attributes:
                for graph in attribute_graphs(attribute):
                    yield from walk_graphs(graph)
        case Function():
            yield root
            for item in root.attributes:
                if isinstance(item, Attribute):
                    for graph in attribute_graphs(item):
                        yield from walk_graphs(graph)
            for node in root.nodes:
                yield from walk_graphs(node)
        case Graph():
            yield root
            for node in root.nodes:
                if node.attributes:
                    yield from walk_graphs(node)


def walk_nodes(root: Model | Fragment | Graph | Function | Node) -> Iterator[Node]:
    """Every node in something, that itself included."""
    item = root.item if isinstance(root, Fragment) else root
    if isinstance(item, Node):
        yield item
    for graph in walk_graphs(root):
        yield from graph.nodes
