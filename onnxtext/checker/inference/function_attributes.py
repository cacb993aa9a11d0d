# SPDX-License-Identifier: Apache-2.0
"""Replace the attribute references in a function body by the attributes of a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from onnxtext.ast.model import Function, Graph, Node
from onnxtext.ast.tensors_and_attributes import Attribute, Reference


def call_attributes(
    function: Function | Graph, node: Node, outer: Mapping[str, Attribute]
) -> dict[str, Attribute]:
    """Return the attributes of a function call by name: those that the call sets, and defaults.

    `node` is the call. If the call is in the body of another function, `outer` are the attributes
    that the other function gets; these attributes replace attribute references in `node`.
    """
    result: dict[str, Attribute] = {}
    if isinstance(function, Function):
        for item in function.attributes:
            if isinstance(item, Attribute) and item.value is not None:
                result[item.name] = item
    for attribute in bound_node(node, outer).attributes:
        result[attribute.name] = attribute
    return result


def has_references(node: Node) -> bool:
    """Whether attributes of a node refer to attribute parameters of the enclosing function."""
    return any(type(attribute.value) is Reference for attribute in node.attributes)


def bound_node(node: Node, parameters: Mapping[str, Attribute]) -> Node:
    """Return a node with its attribute references replaced by the attributes of a call.

    `parameters` are the attributes of the call, by name. An attribute is dropped if it refers to an
    attribute that the call lacks.
    """
    if not has_references(node):
        return node
    attributes = []
    for attribute in node.attributes:
        if type(attribute.value) is not Reference:
            attributes.append(attribute)
        elif attribute.value.name in parameters:
            argument = parameters[attribute.value.name]
            attributes.append(replace(argument, name=attribute.name))
    return replace(node, attributes=tuple(attributes))
