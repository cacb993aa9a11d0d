# SPDX-License-Identifier: Apache-2.0
"""What of a model's metadata goes to the section at the end of the file (SPELLINGS S5)."""

from __future__ import annotations

from collections.abc import Iterable

from onnxtext.ast.assemble import decorator_entries, regroup
from onnxtext.ast.model import Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.paths import walk_model
from onnxtext.ast.records import Decorator
from onnxtext.ast.visit import walk_graphs
from onnxtext.printer.layout import STEP, WIDTH
from onnxtext.printer.records import decorator_text


def place_metadata(model: Model, *, short_too: bool = False) -> None:
    """Move metadata out of the graph: all but a node's only entry, if that fits on one line.

    What cannot be tied to its owner by a name stays where it is.

    Args:
        model: freshly lifted, is changed.
        short_too: whether such single entries go to the section too.
    """
    if not has_metadata(model):
        return
    owners: list[Graph | Function] = []
    for _, named in walk_model(model):
        item = named.item
        if named.tied and isinstance(item, (Graph, Function)):
            owners.append(item)
        inline = [d for d in item.decorators if d.name == "meta"]
        if named.tied and len(inline) == 1 and (short_too or not _is_short(inline[0])):
            item.metadata = decorator_entries(inline[0])
            item.decorators = tuple([d for d in item.decorators if d.name != "meta"])
    for owner in owners:
        regroup(owner)


def leave_metadata_out(model: Model) -> None:
    """Take the metadata below the header away, and say so in the model.

    Args:
        model: freshly lifted, is changed.
    """
    if not has_metadata(model):
        return
    model.metadata_left_out = True
    model.encoding = None  # it belongs to the whole
    for graph in walk_graphs(model):
        items: list[Graph | Function | Node | ValueInfo] = [graph, *graph.nodes]
        for item in (*items, *graph.inputs, *graph.outputs, *graph.values):
            item.decorators = tuple([d for d in item.decorators if d.name not in _META])
        regroup(graph)


_META = ("meta", "data.meta")


def has_metadata(model: Model) -> bool:
    """Whether a freshly lifted model has metadata below its header."""
    return any(
        _have_metadata([graph])
        or _have_metadata(graph.nodes)
        or _have_metadata([*graph.inputs, *graph.outputs, *graph.values])
        for graph in walk_graphs(model)
    )


def _have_metadata(items: Iterable[Graph | Function | Node | ValueInfo]) -> bool:
    return any(d.name == "meta" for item in items if item.decorators for d in item.decorators)


def _is_short(decorator: Decorator) -> bool:
    if len(decorator.arguments) != 1:
        return False
    text = decorator_text(decorator, STEP)
    return "\n" not in text and len(text) <= WIDTH - len(STEP)
