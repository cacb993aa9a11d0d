# SPDX-License-Identifier: Apache-2.0
"""Move metadata between the graph and the section at the end of the file (SPEC 13)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from onnxtext.ast.combine_lists import (
    Pairs,
    decorator_entries,
    inline_metadata,
    meta_of,
    regroup,
)
from onnxtext.ast.list_order import place_order
from onnxtext.ast.model import Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.paths import list_parts
from onnxtext.ast.visit import METADATA, list_graphs
from onnxtext.printer.layout import STEP, WIDTH
from onnxtext.printer.records import decorator_text


def place_metadata(
    model: Model, graphs: list[Graph | Function] | None = None, *, short_too: bool = False
) -> None:
    """Move metadata to the section, except a single entry that fits on one line.

    A single entry that an exporter wrote is moved, too: its key begins with `pkg.`, or many items
    have the key. Metadata stays in the graph if no path can bind it to its owner.

    Args:
        model: freshly lifted; changed in place.
        graphs: all of its graphs and functions; None if not known yet.
        short_too: whether to move short single entries too.
    """
    graphs = list_graphs(model) if graphs is None else graphs
    if not has_metadata(graphs):
        return
    owners: list[Graph | Function] = []
    moved: set[int] = set()
    repeated: frozenset[str] | None = None

    def is_short(entries: Pairs) -> bool:
        nonlocal repeated
        if short_too or not _is_short(entries):
            return False
        if repeated is None:
            repeated = _repeated_keys(graphs)
        return entries[0][0] not in repeated

    for _, parts in list_parts(model):
        for kind, _, item, is_bound in parts:
            if kind == "node":
                if item.metadata and is_bound and not is_short(item.metadata):
                    moved.add(id(item))
                if item.metadata:
                    continue
            elif is_bound and isinstance(item, (Graph, Function)):
                owners.append(item)
            if not item.decorators:
                continue
            inline = [d for d in item.decorators if d.name == "meta"]
            if is_bound and len(inline) == 1:
                entries = decorator_entries(inline[0])
                if not is_short(entries):
                    item.metadata = entries
                    moved.add(id(item))
                    item.decorators = tuple([d for d in item.decorators if d.name != "meta"])
    keep_metadata(graphs, moved)
    for owner in owners:
        regroup(owner)
    place_order(model)


def keep_metadata(
    graphs: list[Graph | Function], moved: Collection[int] = frozenset[int]()
) -> None:
    """Convert the metadata of freshly lifted nodes to decorators.

    Args:
        graphs: all graphs and functions of a model.
        moved: the ids of nodes whose metadata goes to the section.
    """
    for graph in graphs:
        for node in graph.nodes:
            if node.metadata and id(node) not in moved:
                inline_metadata(node)


def leave_metadata_out(model: Model) -> None:
    """Remove the metadata of everything except the header, and mark the model accordingly.

    Args:
        model: freshly lifted; changed in place.
    """
    graphs = list_graphs(model)
    if not has_metadata(graphs):
        return
    model.metadata_left_out = True
    model.encoding = None  # it applies only to the complete model
    for graph in graphs:
        removed = any(d.name == "meta" for value in graph.values for d in value.decorators)
        items: list[Graph | Function | Node | ValueInfo] = [graph, *graph.nodes]
        for item in (*items, *graph.inputs, *graph.outputs, *graph.values):
            item.decorators = tuple([d for d in item.decorators if d.name not in _META])
        regroup(graph, removed=removed)
    place_order(model)


_META = ("meta", "data.meta")


def has_metadata(graphs: list[Graph | Function]) -> bool:
    """Whether freshly lifted graphs, or their items, have metadata."""
    items: list[Graph | Function | Node | ValueInfo] = [*graphs]
    for graph in graphs:
        items += graph.nodes
        items += graph.inputs
        items += graph.outputs
        items += graph.values
    if any(any(map(METADATA, graph.nodes)) for graph in graphs):
        return True
    decorated = [item for item in items if item.decorators]
    return any(d.name == "meta" for item in decorated for d in item.decorators)


MANY = 8
"""The number of items with the same key above which an exporter wrote the key."""


def _repeated_keys(graphs: list[Graph | Function]) -> frozenset[str]:
    """Return the keys of metadata that more than `MANY` items have."""
    counts: Counter[str] = Counter()
    for graph in graphs:
        for node in graph.nodes:
            counts.update([key for key, _ in node.metadata])
        for item in (graph, *graph.inputs, *graph.outputs, *graph.values):
            for decorator in item.decorators:
                if decorator.name == "meta":
                    counts.update([key for key, _ in decorator_entries(decorator)])
    return frozenset([key for key, count in counts.items() if count > MANY])


def _is_short(entries: Pairs) -> bool:
    """Whether metadata is a single entry that fits on one line, without the prefix `pkg.`."""
    if len(entries) != 1 or entries[0][0].startswith("pkg."):
        return False
    text = decorator_text(meta_of(entries), STEP)
    return "\n" not in text and len(text) <= WIDTH - len(STEP)
