# SPDX-License-Identifier: Apache-2.0
"""Print models in the official syntax, which `onnx.parser` reads, in the canonical layout.

`proto.official` must have removed everything that this syntax cannot express, such as decorators,
records, raw data and blobs. Types are in the `<…>` list, never before the outputs of nodes. Lists
have no trailing comma. Strings escape only the quote and the backslash. The literal of a tensor
lists the entries of its typed field: for a type such as float16, these are the bits of the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from onnxtext import ast
from onnxtext.ast.compact_form.list_order import (
    INITIALIZERS,
    order_of,
    value_info_entries,
    with_data,
)
from onnxtext.printer.dialect import Dialect
from onnxtext.printer.graphs_and_nodes import GraphPrinter
from onnxtext.printer.layout import bracket_list, fill_list, fill_list_text
from onnxtext.printer.models import print_model
from onnxtext.printer.quoting import quote_word, value_name
from onnxtext.printer.statement_layout import Decorators, tensor_lines
from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.tensor.format_elements import format_field


def print_official(model: ast.Model) -> str:
    """Return the text of a model in the official dialect, with a final newline.

    `proto.official` must have converted the model to this dialect.
    """
    return print_model(replace(model, presence=ast.Presence()), OfficialPrinter(OFFICIAL))


class OfficialPrinter(GraphPrinter):
    """Prints graphs and functions in the official syntax, with types of node outputs in `<…>`."""

    def graph_statement(self, graph: ast.Graph) -> list[str]:
        """Return the text of the main graph, as parts to be joined."""
        return super().graph_statement(_with_explicit_lists(graph))

    def graph_value(self, graph: ast.Graph, indent: str, start: int) -> str:
        """Return the text of a graph in an attribute."""
        return super().graph_value(_with_explicit_lists(graph), indent, start)

    def graph_head(self, graph: ast.Graph, indent: str, start: int) -> str:
        """Return the unquoted name, the inputs and the outputs of a graph in an attribute."""
        return graph.name + self._interface(graph, indent, start + len(graph.name))

    def function_statement(self, function: ast.Function, entries: Sequence[str] = ()) -> str:
        """Return the text of a function with its header."""
        listed = _with_explicit_lists(ast.Graph("", nodes=function.nodes, values=function.values))
        return super().function_statement(replace(function, values=listed.values), entries)

    def _outputs(self, node: ast.Node) -> list[tuple[str, str]]:
        return [("", self._names[name]) for name in node.outputs]


def _with_explicit_lists(graph: ast.Graph) -> ast.Graph:
    """Return a copy of a graph in which `<…>` has all entries of `value_info`.

    The copy has no decorators.
    """
    listed = value_info_entries(graph, order_of(graph))
    infos = [entry.statement or ast.ValueInfo(entry.name, entry.type) for entry in listed]
    inputs, initializers = graph.inputs, [value for value in graph.values if value.data is not None]
    if any(item.name == INITIALIZERS for item in graph.decorators):
        # The official syntax puts the defaults of inputs before all other initializers. This
        # graph has another order, so write all initializers in `<…>`.
        initializers = with_data(graph)
        inputs = [replace(value, data=None) for value in inputs]
    return replace(graph, inputs=inputs, values=[*initializers, *infos], decorators=())


# ---- Names and strings ----------------------------------------------------------------------


def _quote(text: str) -> str:
    """Quote a string; line endings and tabs are not escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _value_name(text: str) -> str:
    return text if value_name(text) == text else _quote(text)


def _word(text: str) -> str:
    return text if quote_word(text) == text else _quote(text)


# ---- Types ----------------------------------------------------------------------------------


def _type(type: ast.Type) -> str:
    match type:
        case ast.TensorType():
            return _tensor_type(type)
        case ast.SparseTensorType():
            return f"sparse_tensor({_tensor_type(type)})"
        case ast.SequenceType():
            return f"seq({_type(type.element)})"
        case ast.OptionalType():
            return f"optional({_type(type.element)})"
        case ast.MapType():
            return f"map({type.key}, {_type(type.value)})"
        case ast.OpaqueType():  # domains and names are never quoted
            return f"opaque({', '.join([part for part in (type.domain, type.name) if part])})"


def _tensor_type(type: ast.TensorType | ast.SparseTensorType) -> str:
    if type.shape is None:
        return f"{type.element}[]"
    if not type.shape:
        return type.element
    return f"{type.element}[{', '.join(map(_dim, type.shape))}]"


def _dim(dim: ast.Dim) -> str:
    if dim is None:
        return "?"
    return _word(dim) if isinstance(dim, str) else str(dim)


# ---- Tensors --------------------------------------------------------------------------------


def _tensor(tensor: ast.Tensor | ast.SparseTensor, indent: str, budget: int) -> str:
    assert isinstance(tensor, ast.Tensor), "official text has no sparse tensors"
    # A bracket right after a type would be read as its dimensions.
    equals = " =" if isinstance(tensor.data, ast.ExternalData) else ""
    head = (_type(tensor.type), tensor.name or "", equals)
    return tensor_lines(
        Decorators(), head, partial(_data, tensor.type, tensor.data), indent, budget
    )


def _data_parts(type: ast.TensorType, data: ast.TensorData, indent: str, budget: int) -> list[str]:
    return [_data(type, data, indent, budget)]


def _data(type: ast.TensorType, data: ast.TensorData, indent: str, budget: int) -> str:
    """Print the literal of a tensor's data; an empty literal for a tensor without data."""
    match data:
        case ast.NoData():
            return "{}"
        case ast.ExternalData(entries):
            items = [f"{_quote(key)}: {_quote(value)}" for key, value in entries]
            return bracket_list(items, "[]", indent, budget, comma="")
        case ast.StringData(values) | ast.FieldData((("string_data", tuple() as values),)):
            items = [_quote(item.decode("utf-8")) for item in values]
        case ast.TypedData(entries) | ast.FieldData(((_, bytes() as entries),)):
            row = format_field(ELEMENTS[type.element].field, entries)
            return fill_list_text(row, "{}", indent, budget, comma="")
        case _:
            raise AssertionError(
                "official text has one data field per tensor, the field of its type"
            )
    return fill_list(items, "{}", indent, budget, comma="")


OFFICIAL = Dialect(
    comma="",
    word=_word,
    value_name=_value_name,
    quoted=_quote,
    string=lambda text, _: _quote(text),
    type=_type,
    tensor=_tensor,
    data_parts=_data_parts,
)
