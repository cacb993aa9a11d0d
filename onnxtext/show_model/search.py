# SPDX-License-Identifier: Apache-2.0
"""Find the statements of a model that match a pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from onnxtext.ast.model import Function, Graph, Node
from onnxtext.ast.visit import attribute_graphs
from onnxtext.printer.graphs_and_nodes import GraphPrinter
from onnxtext.printer.layout import STEP
from onnxtext.printer.models import graph_printer
from onnxtext.show_model.find_bodies import NamedBody
from onnxtext.show_model.show_error import ShowError


def search(
    bodies: Sequence[NamedBody], pattern: re.Pattern[str], context: int, file: str
) -> Iterator[str]:
    """Yield the lines of the statements that match, with the statements around each match.

    Raises:
        ShowError: no statement matches.
    """
    printer = graph_printer()
    separator = ""
    for body in bodies:
        statements = list(_statements(body.graph, printer))
        matches = [index for index, text in enumerate(statements) if pattern.search(text)]
        if not matches:
            continue
        count = f"{len(matches)} of {len(statements)} statements match"
        yield f"{separator}# {comment_text(body.title)}: {count}\n"
        separator = "\n"
        yield from _excerpts(statements, matches, context)
    if not separator:
        raise ShowError.of(f"no statement matches `{pattern.pattern}`", file)


def _excerpts(statements: Sequence[str], matches: Sequence[int], context: int) -> Iterator[str]:
    shown = 0
    for match in matches:
        start = max(shown, match - context)
        if start > shown:
            yield f"{STEP}# … {start - shown} more\n"
        end = min(len(statements), match + context + 1)
        yield from [f"{STEP}{statement}\n" for statement in statements[start:end]]
        shown = max(shown, end)
    if shown < len(statements):
        yield f"{STEP}# … {len(statements) - shown} more\n"


def _statements(graph: Graph | Function, printer: GraphPrinter) -> Iterator[str]:
    """Yield the statements of a graph: its inputs, outputs, values and nodes."""
    for kind, values in (("input", graph.inputs), ("output", graph.outputs)):
        for value in values:
            yield f"{printer.value_text(value, STEP)} # {kind}"
    for value in graph.values:
        yield printer.value_text(value, STEP)
    for node in graph.nodes:
        yield _node_text(node, printer)


def _node_text(node: Node, printer: GraphPrinter) -> str:
    """Return the text of a node without nested graphs, which are searched separately."""
    nesting = [item for item in node.attributes if any(attribute_graphs((item,)))]
    if not nesting:
        return printer.node_text(node, STEP)
    plain = tuple([item for item in node.attributes if item not in nesting])
    names = comment_text(", ".join([item.name for item in nesting]))
    return f"{printer.node_text(replace(node, attributes=plain), STEP)} # and the graphs: {names}"


def comment_text(text: str) -> str:
    """Return a text that fits into a comment: with line breaks or other controls, it is escaped."""
    return text if text.isprintable() else ascii(text)
