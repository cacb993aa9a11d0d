# SPDX-License-Identifier: Apache-2.0
"""Print statements for a diff, with names of blobs (`blob"…"`) instead of large data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from onnxtext.ast.model import Function, Graph, Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import (
    Attribute,
    NoData,
    SparseTensor,
    TensorData,
    TypedData,
)
from onnxtext.ast.types import TensorType, Type
from onnxtext.printer.attributes import attribute_text
from onnxtext.printer.graphs_and_nodes import GraphPrinter, domain_text
from onnxtext.printer.layout import STEP
from onnxtext.printer.move_weights import INLINE_ELEMENTS, WeightMover
from onnxtext.printer.quoting import quote_word, value_name
from onnxtext.printer.types_and_tensors import data_text, type_text

MAX_NAMES = 12
"""Maximum number of inputs or outputs in a headline."""

_MAX_TYPED = 8 * INLINE_ELEMENTS


def node_statement(node: Node) -> str:
    """Return the text of a node, with large data as names of blobs."""
    return GraphPrinter().node_text(_WithoutLargeData().node(node), "")


def node_headline(node: Node) -> str:
    """Return the label, outputs, operator and inputs of a node: `[n] y = Op (x)`."""
    label = f"[{quote_word(node.name)}] " if node.name else ""
    operator = quote_word(node.op_type) if node.op_type else '""'
    domain = domain_text(node.domain) if node.domain else ""
    return f"{label}{_names(node.outputs)} = {domain}{operator} ({_names(node.inputs)})"


def _names(names: Sequence[str]) -> str:
    shown = [value_name(name) for name in names[:MAX_NAMES]]
    if len(names) > MAX_NAMES:
        shown.append(f"… {len(names) - MAX_NAMES} more")
    return ", ".join(shown)


def value_statement(value: ValueInfo) -> str:
    """Return the text of a declaration or initializer, with large data as the name of a blob."""
    return GraphPrinter().value_text(_WithoutLargeData().value_info(value), "")


def value_headline(value: ValueInfo) -> str:
    """Return the type and name of a declaration or initializer as text."""
    type = "" if value.type is None else type_text(value.type) + " "
    return type + value_name(value.name)


def graph_statement(graph: Graph) -> str:
    """Return the text of a graph, with large data as names of blobs."""
    return "".join(GraphPrinter().graph_statement(_WithoutLargeData().graph(graph)))


def function_statement(function: Function) -> str:
    """Return the text of a function, with large data as names of blobs."""
    rewriter = _WithoutLargeData()
    copy = replace(
        function,
        nodes=[rewriter.node(node) for node in function.nodes],
        attributes=rewriter.parameters(function),
    )
    return GraphPrinter().function_statement(copy)


def attribute_statement(attribute: Attribute) -> str:
    """Return the text of an attribute, `name = value`, with large data as names of blobs."""
    return attribute_text(_WithoutLargeData().attribute(attribute), "", GraphPrinter().graph_value)


def data_statement(type: TensorType, data: TensorData) -> str:
    """Return the text of a tensor's data; `no data` if the tensor has none.

    Large data is shown as the name of a blob, or as `{…}` if a blob cannot hold it.
    """
    shown = _WithoutLargeData().data(type, data, None)
    if isinstance(shown, TypedData) and len(shown.entries) > _MAX_TYPED:
        return "{…}"
    return data_text(type, shown, "", 80) or "no data"


def type_statement(type: Type | None) -> str | None:
    """Return the text of a type; None if `type` is None."""
    return None if type is None else type_text(type)


class _WithoutLargeData(WeightMover):
    """Copies statements, replacing large data by names of blobs."""

    def __init__(self) -> None:
        super().__init__(INLINE_ELEMENTS)

    def node(self, node: Node) -> Node:
        """Copy a node."""
        if not node.attributes:
            return node
        return replace(node, attributes=tuple([self.attribute(item) for item in node.attributes]))

    def graph(self, graph: Graph) -> Graph:
        """Copy a graph without its large data."""
        return replace(
            graph,
            inputs=[self.value_info(value) for value in graph.inputs],
            values=[self.value_info(value) for value in graph.values],
            nodes=[self.node(node) for node in graph.nodes],
        )

    def value_info(self, value: ValueInfo) -> ValueInfo:
        """Copy a declaration or an initializer."""
        data = value.data
        if isinstance(data, SparseTensor):
            return replace(value, data=self.sparse(data))
        if data is None or isinstance(data, NoData) or not isinstance(value.type, TensorType):
            return value
        return replace(value, data=self.data(value.type, data, value.name))

    def value(self, kind: Any, value: Any, name: str) -> Any:
        """Copy the value of an attribute, including graphs."""
        if isinstance(value, Graph):
            return self.graph(value)
        if isinstance(value, tuple) and value and isinstance(value[0], Graph):
            return tuple([self.graph(item) for item in value])
        return super().value(kind, value, name)


def indent_text(text: str) -> str:
    """Indent each non-empty line of a text by one step."""
    return "\n".join([STEP + line if line else line for line in text.split("\n")])
