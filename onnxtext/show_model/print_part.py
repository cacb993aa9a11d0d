# SPDX-License-Identifier: Apache-2.0
"""Print a part of a model: a graph, the nodes between values, or the matches of a pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from onnxtext.ast.model import Function, Graph, Model, Node
from onnxtext.ast.visit import attribute_graphs
from onnxtext.plurals import count_noun
from onnxtext.printer.graphs_and_nodes import GraphPrinter
from onnxtext.printer.layout import STEP
from onnxtext.printer.models import graph_printer, model_parts
from onnxtext.recursion_limit import room_for_nesting
from onnxtext.show_model.find_bodies import NamedBody, find_bodies, walk_bodies
from onnxtext.show_model.load_model import ReadableModel
from onnxtext.show_model.paths_between_values import cut_graph
from onnxtext.show_model.show_error import ShowError


@dataclass(frozen=True, slots=True)
class PartOptions:
    """The options that choose the part of a model to show.

    Attributes:
        graph: the name of a graph or function; None for the whole model.
        starts: if not empty, show only nodes that depend on any of these values or nodes.
        ends: if not empty, show only nodes needed to compute any of these values or nodes.
        find: show only statements that match this pattern; None for all statements.
        context: the number of statements to show before and after each match of `find`.
    """

    graph: str | None = None
    starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    find: re.Pattern[str] | None = None
    context: int = 2

    @property
    def selects_whole_model(self) -> bool:
        """Whether no option selects a part of the model."""
        return self.graph is None and self.find is None and not self.starts and not self.ends


def part_text(model: ReadableModel, options: PartOptions) -> str:
    """Return the text of the chosen part of a model.

    Raises:
        ShowError: the chosen part does not exist (see `find_bodies` and `cut_graph`), or no
            statement matches.
    """
    with room_for_nesting():
        return "".join(_pieces(model, options))


def _pieces(model: ReadableModel, options: PartOptions) -> Iterator[str]:
    root, name = model.root, model.name
    if model.findings:
        yield f"# {count_noun(len(model.findings), 'error')}: unreadable parts are left out\n"
    if options.selects_whole_model and isinstance(root, Model):
        yield from model_parts(root)
        return
    bodies: Sequence[NamedBody]
    if options.graph is None:
        bodies = list(walk_bodies(root))
    else:
        bodies = find_bodies(root, options.graph, name)
    if options.starts or options.ends:
        bodies = [cut_graph(bodies, options.starts, options.ends, name)]
    elif options.graph is None and options.find is None:
        bodies = bodies[:1]  # the text of the root contains its nested graphs
    if options.find is not None:
        yield from _search(bodies, options.find, options.context, name)
        return
    printer = graph_printer()
    for index, body in enumerate(bodies):
        yield f"{chr(10) * bool(index)}# {_comment_text(body.title)}\n"
        if isinstance(body.graph, Function):
            yield printer.function_statement(body.graph)
        else:
            yield from printer.graph_statement(body.graph)
        yield "\n"


def _search(
    bodies: Sequence[NamedBody], pattern: re.Pattern[str], context: int, file: str
) -> Iterator[str]:
    """Yield the matching statements and those around them; raise ShowError if none matches."""
    printer = graph_printer()
    separator = ""
    for body in bodies:
        statements = list(_statements(body.graph, printer))
        matches = [index for index, text in enumerate(statements) if pattern.search(text)]
        if not matches:
            continue
        count = f"matches in {len(matches)} of {count_noun(len(statements), 'statement')}"
        yield f"{separator}# {_comment_text(body.title)}: {count}\n"
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
    """Return a node's text; a comment names its nested graphs, which are searched separately."""
    nesting = [item for item in node.attributes if any(attribute_graphs((item,)))]
    if not nesting:
        return printer.node_text(node, STEP)
    plain = tuple([item for item in node.attributes if item not in nesting])
    names = _comment_text(", ".join([item.name for item in nesting]))
    return f"{printer.node_text(replace(node, attributes=plain), STEP)} # and the graphs: {names}"


def _comment_text(text: str) -> str:
    """Return a text for a comment; escape it if it has unprintable characters or line breaks."""
    return text if text.isprintable() else ascii(text)
