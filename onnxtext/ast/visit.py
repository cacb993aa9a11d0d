# SPDX-License-Identifier: Apache-2.0
"""Traverse the graphs, nodes and values of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from onnxtext.ast.model import Fragment, Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import (
    PLAIN_VALUES,
    Attribute,
    Floats,
    RawData,
    Tensor,
    TypedData,
)
from onnxtext.ast.types import TensorType, Type
from onnxtext.select_core import core, core_module
from onnxtext.tensor.element_types import ELEMENTS


def attribute_lists(nodes: Iterable[Node]) -> Sequence[tuple[Attribute, ...]]:
    """Return the nonempty attribute lists of nodes, without duplicates: nodes may share a list."""
    if core() == "native":
        result: list[tuple[Attribute, ...]] = core_module("ast.visit").attribute_lists(nodes)
        return result
    return list(
        {id(node.attributes): node.attributes for node in nodes if node.attributes}.values()
    )


def rich_lists(nodes: Iterable[Node]) -> Sequence[tuple[Attribute, ...]]:
    """Return the lists of `attribute_lists` in which at least one attribute is not plain.

    The value of a plain attribute is a number, a string, or a list of numbers or strings.
    """
    if core() == "native":
        result: list[tuple[Attribute, ...]] = core_module("ast.visit").rich_lists(nodes)
        return result
    return [
        attributes for attributes in attribute_lists(nodes) if not all(map(_is_plain, attributes))
    ]


def non_numeric_lists(nodes: Iterable[Node]) -> Sequence[tuple[Attribute, ...]]:
    """Return the lists of `attribute_lists` with at least one attribute that is not numeric.

    A numeric attribute has a name, a type, and a value that is a number or a list of numbers.
    """
    if core() == "native":
        result: list[tuple[Attribute, ...]] = core_module("ast.visit").non_numeric_lists(nodes)
        return result
    return [
        attributes
        for attributes in attribute_lists(nodes)
        if not all(map(_is_named_number, attributes))
    ]


def _is_named_number(attribute: Attribute) -> bool:
    if type(attribute) is not Attribute or not attribute.name or attribute.type is None:
        return False
    value = attribute.value
    return _NUMBERS.issuperset(map(_class_of, value if type(value) is tuple else (value,)))


_class_of: Callable[[object], type] = type
_NUMBERS = PLAIN_VALUES - {bytes}


def _is_plain(attribute: Attribute) -> bool:
    if type(attribute) is not Attribute:
        return False
    value = attribute.value
    return all(type(item) in PLAIN_VALUES for item in (value if type(value) is tuple else (value,)))


INLINE_BYTES = 4096
"""Attribute strings with more bytes than this become blobs."""


def large_lists(nodes: Iterable[Node], max_elements: int) -> Sequence[tuple[Attribute, ...]]:
    """Return the lists of `attribute_lists` in which at least one attribute is not small.

    The value of a small attribute is a number, a string of at most `max_elements` and at most
    `INLINE_BYTES` bytes, a tensor with few elements (see `large_values`), or a list of at most
    `max_elements` such values.
    """
    if core() == "native":
        module = core_module("ast.visit")
        result: list[tuple[Attribute, ...]] = module.large_lists(nodes, max_elements)
        return result
    return [
        attributes
        for attributes in attribute_lists(nodes)
        if not all(type(i) is Attribute and _is_small(i.value, max_elements) for i in attributes)
    ]


def _is_small(value: object, max_elements: int) -> bool:
    if type(value) is tuple:
        return len(value) <= max_elements and all(_is_small(item, max_elements) for item in value)
    if type(value) is Tensor:
        return _is_small_data(value.type, value.data, max_elements)
    if type(value) is bytes:
        return len(value) <= min(max_elements, INLINE_BYTES)
    if type(value) is Floats:
        return len(value) <= max_elements
    return type(value) in PLAIN_VALUES


def attribute_graphs(attributes: Iterable[Attribute | str]) -> Iterator[Graph]:
    """Yield the graphs that are values of the attributes, without the graphs nested in them."""
    for attribute in attributes:
        if type(attribute) is str:
            continue
        value = attribute.value  # type: ignore[union-attr]
        if type(value) is Graph:
            yield value
        elif type(value) is tuple and value and type(value[0]) is Graph:
            yield from value  # type: ignore[misc]


def nested_graphs(nodes: Iterable[Node]) -> Sequence[Graph]:
    """Return the graphs in the attributes of the nodes, without the graphs nested in them."""
    if core() == "native":
        graphs: list[Graph] = core_module("ast.visit").nested_graphs(nodes)
        return graphs
    return [
        graph for attributes in attribute_lists(nodes) for graph in attribute_graphs(attributes)
    ]


def large_values(values: Iterable[ValueInfo], max_elements: int) -> Sequence[ValueInfo]:
    """Return the values that are initializers, except initializers with few elements.

    An initializer is left out if its raw data has at most `max_elements` elements, or if a field
    such as `float_data` has at most 4 times this number of bytes.
    """
    if core() == "native":
        result: list[ValueInfo] = core_module("ast.visit").large_values(values, max_elements)
        return result
    return [
        value
        for value in values
        if value.data is not None and not _is_small_data(value.type, value.data, max_elements)
    ]


def _is_small_data(type_: Type | None, data: object, max_elements: int) -> bool:
    if type(data) is TypedData:
        return len(data.entries) <= 4 * max_elements
    if type(data) is not RawData or type(type_) is not TensorType:
        return False
    bits = ELEMENTS[type_.element].bits if type_.element in ELEMENTS else 0
    return bits > 0 and 8 * len(data.data) <= max_elements * bits


def walk_graphs(root: Model | Fragment | Graph | Function | Node) -> Iterator[Graph | Function]:
    """Yield the graphs and functions in a syntax tree, each before the graphs nested in it.

    If the root is a graph or function itself, it is the first one.
    """
    stack = root_graphs(root)
    while stack:
        graph = stack.pop()
        yield graph
        inner = list(nested_graphs(graph.nodes)) if graph.nodes else []
        if isinstance(graph, Function):
            inner = [*attribute_graphs(graph.attributes), *inner]
        stack += reversed(inner)


def list_graphs(root: Model | Fragment | Graph | Function | Node) -> list[Graph | Function]:
    """Return the graphs and functions that `walk_graphs` yields, as a list."""
    if core() == "native":
        result: list[Graph | Function] = core_module("ast.visit").list_graphs(root_graphs(root))
        return result
    return list(walk_graphs(root))


def root_graphs(root: Model | Fragment | Graph | Function | Node) -> list[Graph | Function]:
    """Return the graphs and functions that are not nested in others, the last one first."""
    item = root.item if isinstance(root, Fragment) else root
    result: list[Graph | Function] = []
    match item:
        case Model():
            result = [item.graph]
            for training in item.training:
                graphs = (training.initialization, training.algorithm)
                result += [graph for graph in graphs if graph is not None]
            result += item.functions
        case Node():
            result += attribute_graphs(item.attributes)
        case list():
            result += nested_graphs(item)
        case Attribute():
            result += attribute_graphs((item,))
        case Function() | Graph():
            result = [item]
    result.reverse()
    return result


def walk_nodes(root: Model | Fragment | Graph | Function | Node) -> Iterator[Node]:
    """Yield every node in a syntax tree, including the root if it is a node or a list of nodes."""
    item = root.item if isinstance(root, Fragment) else root
    if isinstance(item, Node):
        yield item
    elif isinstance(item, list):
        yield from item
    for graph in walk_graphs(root):
        yield from graph.nodes
