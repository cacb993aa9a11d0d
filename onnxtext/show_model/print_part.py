# SPDX-License-Identifier: Apache-2.0
"""Print a part of a model: a graph, the nodes between values, or the matches of a pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from onnxtext.ast.model import Function, Model
from onnxtext.plurals import count_noun
from onnxtext.printer.models import graph_printer, model_parts
from onnxtext.show_model.find_bodies import NamedBody, find_bodies, walk_bodies
from onnxtext.show_model.load_model import ReadableModel
from onnxtext.show_model.paths_between_values import cut_graph
from onnxtext.show_model.search import comment_text, search


@dataclass(frozen=True, slots=True)
class PartOptions:
    """The options that choose the part of a model to show.

    Attributes:
        graph: the name of a graph or function; None for the whole model.
        starts: names of values or nodes; show only nodes that depend on one of them.
        ends: names of values or nodes; show only nodes needed to compute one of them.
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


def part_text(model: ReadableModel, options: PartOptions) -> Iterator[str]:
    """Yield the text of the chosen part of a model, in pieces.

    Raises:
        ShowError: a chosen graph, value or node does not exist, or no statement matches.
    """
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
        yield from search(bodies, options.find, options.context, name)
        return
    printer = graph_printer()
    for index, body in enumerate(bodies):
        yield f"{chr(10) * bool(index)}# {comment_text(body.title)}\n"
        if isinstance(body.graph, Function):
            yield printer.function_statement(body.graph)
        else:
            yield from printer.graph_statement(body.graph)
        yield "\n"
