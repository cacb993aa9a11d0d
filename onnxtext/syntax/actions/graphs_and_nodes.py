# SPDX-License-Identifier: Apache-2.0
"""Actions for graphs, value infos and nodes."""

from __future__ import annotations

from typing import Any

from onnxtext.ast.model import Graph, Node, ValueInfo
from onnxtext.ast.records import Decorator
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.ast.types import Type
from onnxtext.syntax.actions.registry import action, located
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.actions.tensors import resolve
from onnxtext.syntax.actions.unparsed_literals import Pending

Decorators = list[Decorator] | None


@located
def graph(
    offset: int,
    decorators: Decorators,
    name: str,
    inputs: list[ValueInfo] | None,
    outputs: list[ValueInfo],
    values: list[ValueInfo] | None,
    nodes: list[Node],
) -> Graph:
    """Return the graph for `name (inputs) => (outputs) <values> { nodes }`.

    Raises:
        SemanticError: an output has a default value.
    """
    for output in outputs:
        if output.data is not None:
            message = "an output of a graph cannot have a default value"
            help = "write initializers in `<…>` after the `)` of the outputs"
            raise SemanticError(message, at=output.at, help=help)
    result = Graph(name, inputs or [], outputs, values or [], nodes, tuple(decorators or ()))
    result.at = offset
    return result


@located
def untyped_value(offset: int, decorators: Decorators, name: str) -> ValueInfo:
    """Return the value info for `x`, without a type."""
    return ValueInfo(name, None, None, tuple(decorators or ()), (), offset)


@located
def typed_value(offset: int, decorators: Decorators, type: Type, name: str) -> ValueInfo:
    """Return the value info for `float[N] x`."""
    return ValueInfo(name, type, None, tuple(decorators or ()), (), offset)


@located
def initializer(
    offset: int, decorators: Decorators, type: Type, name: str, data: Pending | None
) -> ValueInfo:
    """Return the value info for the initializer `float[2] w = {1, 2}`."""
    return ValueInfo(name, type, resolve(type, data), tuple(decorators or ()), (), offset)


@located
def dataless(offset: int, decorators: Decorators, type: Type, name: str) -> ValueInfo:
    """Return the initializer without data at the end of a list, as in `<…, float[2] w =>`.

    This form needs its own grammar rule because the lexer reads `=>` as one token.
    """
    result: ValueInfo = initializer(offset, decorators, type, name, None)
    return result


class LeadingComma(tuple[str, ...]):
    """The outputs of a node that begins with a comma, such as `, y = Split (x)`."""

    __slots__ = ()


@action
def more_nodes(nodes: list[Node], node: Node) -> list[Node]:
    """Append a node to a list of nodes, and return the list.

    Raises:
        SemanticError: the node begins with a comma and is not the first node of the list, as in
            `x = A(), y = B()`. The official parser reads `, y = B()` as a node
            whose first output is omitted.
    """
    if type(node.outputs) is LeadingComma:
        if nodes:
            error = SemanticError(
                "a comma between two nodes",
                at=node.at,
                length=1,
                help='write `""` for an omitted output',
            )
            error.instead = ""
            raise error
        node.outputs = tuple(node.outputs)
    nodes.append(node)
    return nodes


def _names(items: list[Any]) -> tuple[Any, ...]:
    """Remove a None at the end of `items`; return the items as a tuple, with "" for None."""
    if items[-1] is None:
        items.pop()
    return tuple(["" if item is None else item for item in items] if None in items else items)


@located
def node(
    offset: int,
    decorators: Decorators,
    label: str | None,
    outputs: list[Any],
    operator: list[str] | None,
    overload: str | None,
    attributes: list[Attribute] | None,
    names: list[Any],
) -> Node:
    """Return the node for `[label] outputs = operator:overload <attributes> (inputs)`."""
    output_types: tuple[Type | None, ...] = ()
    if tuple in map(type, outputs):
        pairs = [output if type(output) is tuple else (output, None) for output in outputs]
        outputs = [name for name, _ in pairs]
        output_types = tuple([type for _, type in pairs])
    comma = outputs[0] is None and len(outputs) > 1 and label is None and not decorators
    defined = _names(outputs)
    if comma:
        defined = LeadingComma(defined)
    domain = None
    op_type = ""
    if operator is not None:
        op_type = operator.pop()
        if operator:  # the domain is "com" in `com.Add` and `.com.Add`, and "" in `.Add`
            domain = ".".join(operator[1:] if operator[0] == "" and len(operator) > 1 else operator)
    return Node(
        op_type,
        _names(names),
        defined,
        tuple(attributes or ()),
        label,
        domain,
        overload,
        output_types[: len(defined)],
        tuple(decorators or ()),
        (),
        offset,
    )


@located
def node_attributes_last(
    offset: int,
    decorators: Decorators,
    label: str | None,
    outputs: list[Any],
    operator: list[str] | None,
    overload: str | None,
    names: list[Any],
    attributes: list[Attribute],
) -> Node:
    """Return the node for `y = Op (x) <axis = 1>`, with the attributes after the inputs."""
    result: Node = node(offset, decorators, label, outputs, operator, overload, attributes, names)
    return result


@action
def label(name: str | None) -> str:
    """Return the node name for the label `[name]`; "" for `[]`."""
    return name or ""


@action
def typed_output(type: Type, name: str) -> tuple[str, Type]:
    """Return the name and the type of the output `float[N] y`."""
    return name, type


@action
def operator_dot(name: str) -> list[str]:
    """Return `["", "Add"]` for the operator `.Add`, whose domain is stored as an empty string."""
    return ["", name]
