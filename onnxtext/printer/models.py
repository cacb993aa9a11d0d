# SPDX-License-Identifier: Apache-2.0
"""Print whole models, and fragments of models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import chain

from onnxtext import ast
from onnxtext.ast.compact_form.list_order import ORDERS
from onnxtext.printer.attributes import attribute_text, type_value_text
from onnxtext.printer.decorators import decorator_lines
from onnxtext.printer.dialect import ONNXTEXT, Dialect
from onnxtext.printer.graphs_and_nodes import GraphPrinter, opsets_text
from onnxtext.printer.layout import STEP, WIDTH, bracket_list, one_per_line
from onnxtext.printer.quoting import string_value
from onnxtext.printer.records import record_text
from onnxtext.printer.resources import resources_parts
from onnxtext.printer.sections import encoding_text, section_parts
from onnxtext.printer.types_and_tensors import tensor_text, type_text
from onnxtext.select_core import core, core_module


def graph_printer() -> GraphPrinter:
    """Return a new graph printer, in Python or native, as `core()` selects."""
    return GraphPrinter() if core() == "python" else _core_printer()()


@cache
def _core_printer() -> type[GraphPrinter]:
    from onnxtext.printer.native import CorePrinter

    return CorePrinter


def print_model(
    model: ast.Model, printer: GraphPrinter | None = None, *, in_full: bool = False
) -> str:
    """Return the text of a model in the canonical layout, with a final newline.

    `printer` prints the graphs and functions; None for a new `graph_printer()`. With `in_full`,
    repeated values of metadata are printed in full, not as `above`.

    Raises:
        OnnxTextError: the printing fails because of a value that the classes of the tree do not
            allow.
    """
    try:
        return "".join(model_parts(model, printer, in_full=in_full))
    except Exception as error:
        from onnxtext.ast.wrong_values import raise_for_wrong_value

        raise_for_wrong_value(model, error)
        raise


def model_parts(
    model: ast.Model, printer: GraphPrinter | None = None, *, in_full: bool = False
) -> Iterable[str]:
    """Return the text of a model as parts to be joined; blobs are encoded one at a time.

    For the parameters, see `print_model`.
    """
    may_have_sections = True
    if printer is None and core() == "native":
        core_printer = core_module("printer.graphs").Printer()
        parts: list[str] = core_printer.model(model)
        may_have_sections = core_printer.has_sections
    else:
        printer = printer or graph_printer()
        parts = [header_text(model, printer.dialect)]
        parts += printer.graph_statement(main_graph(model) if model.has_order else model.graph)
        parts += ["\n", *printer.function_parts(model.functions)]
    if may_have_sections:

        def graph_text(graph: ast.Graph, indent: str, start: int) -> str:
            return (printer or graph_printer()).graph_value(graph, indent, start)

        for section in section_parts(model, graph_text, in_full=in_full):
            parts += ["\n", *section, "\n"]
    if model.encoding is not None:
        parts.append(f"\n{encoding_text(model.encoding)}\n")
    if not (model.resources or model.places or model.resources_left_out):
        return parts
    return chain(parts, resources_parts(model))


def header_text(model: ast.Model, dialect: Dialect = ONNXTEXT) -> str:
    """Return the decorators and header of a model, with a final newline; "" if it has neither."""
    entries = _presence(model.presence)
    if model.encoding_habits:
        habits = list(map(str, model.encoding_habits))
        entries.append(f"encoding: {bracket_list(habits, '[]', STEP, WIDTH - 20)}")
    if model.ir_version is not None:
        entries.append(f"ir_version: {model.ir_version}")
    if model.opset_imports:
        entries.append(f"opset_import: {opsets_text(model.opset_imports, STEP, dialect)}")
    for key in ("producer_name", "producer_version", "domain"):
        value = getattr(model, key)
        if value is not None:
            entries.append(f"{key}: {dialect.quoted(value)}")
    if model.model_version is not None:
        entries.append(f"model_version: {model.model_version}")
    if model.doc_string is not None:
        entries.append(f"doc_string: {dialect.string(model.doc_string, STEP)}")
    if model.metadata:
        entries.append(f"metadata_props: {metadata_list(model.metadata, dialect)}")
    header = one_per_line(entries, "<>", "", dialect.comma) + "\n" if entries else ""
    return decorator_lines(model.decorators, "") + header


def metadata_list(entries: Iterable[tuple[str, str]], dialect: Dialect = ONNXTEXT) -> str:
    """Return entries of `metadata_props` as a list, for a header."""
    inner = STEP * 2
    items = [f"{dialect.quoted(key)}: {dialect.string(value, inner)}" for key, value in entries]
    return bracket_list(items, "[]", STEP, WIDTH - 20, dialect.comma)


def main_graph(model: ast.Model) -> ast.Graph:
    """Return the main graph without the decorators that are printed in the section `order`."""
    others = tuple([item for item in model.graph.decorators if item.name not in ORDERS])
    return replace(model.graph, decorators=others)


def print_fragment(fragment: ast.Fragment) -> str:
    """Return the text of a fragment, with a final newline."""
    entries = _presence(fragment.presence)
    head = bracket_list(entries, "<>", "", WIDTH) + "\n" if entries else ""
    printer = graph_printer()
    match fragment.item:
        case ast.Graph() as graph:
            return "".join([head, *printer.graph_statement(graph), "\n"])
        case ast.Function() as function:
            return printer.function_statement(function, entries) + "\n"
        case ast.Node() as node:
            return head + printer.node_text(node, "") + "\n"
        case list() as nodes:
            return head + printer.body_text(nodes, "") + "\n"
        case ast.ValueInfo() as value:
            return head + printer.value_text(value, "") + "\n"
        case ast.Attribute() as attribute:
            return head + print_attribute(attribute) + "\n"
        case (ast.Tensor() | ast.SparseTensor()) as tensor:
            return head + tensor_text(tensor, "", WIDTH) + "\n"
        case (key, value):
            return f"{string_value(key, '')}: {string_value(value, '')}\n"
        case ast.Record() as record:
            return record_text(record, "") + "\n"
    return type_value_text(fragment.item, "", WIDTH) + "\n"


def print_attribute(attribute: ast.Attribute) -> str:
    """Return the text of an attribute, without a newline."""
    return attribute_text(attribute, "", GraphPrinter().graph_value)


def print_type(type: ast.Type) -> str:
    """Return the text of a type without its own decorators, and without a newline."""
    return type_text(type)


def _presence(presence: ast.Presence) -> list[str]:
    entries = [] if presence.version is None else [f"onnxtext: {presence.version}"]
    if presence.explicit:
        entries.append(f"explicit: {bracket_list(presence.explicit, '[]', STEP, WIDTH - 20)}")
    return entries
