# SPDX-License-Identifier: Apache-2.0
"""Place metadata in `@meta` decorators or in the section at the end of the file (SPEC 13)."""

from __future__ import annotations

from collections import Counter

from onnxtext.ast.compact_form.assemble import recombine_value_infos
from onnxtext.ast.compact_form.list_order import place_order
from onnxtext.ast.metadata_decorators import (
    Pairs,
    decorator_entries,
    inline_all_metadata,
    inline_metadata,
    meta_of,
)
from onnxtext.ast.model import Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.section_paths import EXPORTED, list_parts
from onnxtext.ast.visit import list_graphs
from onnxtext.printer.decorators import decorator_text
from onnxtext.printer.layout import STEP, WIDTH
from onnxtext.select_core import core, core_module


def place_metadata(
    model: Model, graphs: list[Graph | Function] | None = None, *, short_too: bool = False
) -> None:
    """Decide which metadata is printed in `@meta` decorators, and which in the `metadata` section.

    The metadata of an item is printed in a decorator in two cases:

    * No path identifies the item.
    * The metadata is a single entry that fits on one line and probably was not written by an
      exporter: its key does not begin with `pkg.`, and at most `MAX_AUTHORED_USES` items have it.

    `model` was just decoded, and is changed in place. `graphs` are all its graphs and functions;
    None to find them. With `short_too`, the section also has the single entries that fit on one
    line.
    """
    graphs = list_graphs(model) if graphs is None else graphs
    if not has_metadata(graphs):
        return
    repeated_keys: frozenset[str] | None = None

    def is_short(entries: Pairs) -> bool:
        nonlocal repeated_keys
        if short_too or len(entries) != 1 or entries[0][0].startswith(EXPORTED):
            return False
        if repeated_keys is None:
            repeated_keys = _repeated_keys(graphs)
        return entries[0][0] not in repeated_keys and _fits_on_a_line(entries)

    owners: list[Graph | Function] = []
    listed: set[int] = set()
    for _, parts in list_parts(model, to_place=True):
        for _, _, item, is_tied in parts:
            if isinstance(item, (Graph, Function)):
                listed.add(id(item))
                if is_tied:
                    owners.append(item)
            if item.metadata:
                if not is_tied or is_short(item.metadata):
                    inline_metadata(item)
                continue
            inline = [d for d in item.decorators if d.name == "meta"]
            if is_tied and len(inline) == 1:
                entries = decorator_entries(inline[0])
                if not is_short(entries):
                    item.metadata = entries
                    item.decorators = tuple([d for d in item.decorators if d.name != "meta"])
    inline_all_metadata([graph for graph in graphs if id(graph) not in listed])
    for owner in owners:
        recombine_value_infos(owner)
    place_order(model)


def leave_metadata_out(model: Model) -> None:
    """Change a model so that its text has no metadata except the metadata in the header.

    Remove the encoding patch and the decorators `@meta` and `@data.meta`, and set
    `model.metadata_left_out`: then `metadata none` is printed instead of the metadata section.
    Do nothing if no graph, function, node or value has metadata.

    The model was just decoded.
    """
    graphs = list_graphs(model)
    if not has_metadata(graphs):
        return
    model.metadata_left_out = True
    model.encoding = None  # the encoding patch applies only to the complete model
    remove_metadata_decorators(graphs)
    place_order(model)


def remove_metadata_decorators(graphs: list[Graph | Function]) -> None:
    """Remove the decorators `@meta` and `@data.meta` from graphs, functions, nodes and values.

    The graphs and functions are changed in place; the order of their `value_info` is kept.
    """
    for graph in graphs:
        removed = any(d.name == "meta" for value in graph.values for d in value.decorators)
        for item in _items(graph):
            item.decorators = tuple([d for d in item.decorators if d.name not in _META])
        recombine_value_infos(graph, removed=removed)


_META = ("meta", "data.meta")


def has_metadata(graphs: list[Graph | Function]) -> bool:
    """Whether some graph or function, or a node or value in it, has metadata."""
    if core() == "native":
        result: bool = core_module("ast.section_paths").has_metadata(graphs)
        return result
    return any(i.metadata or _meta_entries(i) for graph in graphs for i in _items(graph))


def _items(graph: Graph | Function) -> list[Graph | Function | Node | ValueInfo]:
    """Return a graph and its nodes and values."""
    return [graph, *graph.nodes, *graph.inputs, *graph.outputs, *graph.values]


def _meta_entries(item: Graph | Function | Node | ValueInfo) -> Pairs:
    """Return the entries of an item's `@meta` decorators."""
    inline = [decorator_entries(d) for d in item.decorators if d.name == "meta"]
    return tuple([entry for entries in inline for entry in entries])


MAX_AUTHORED_USES = 8
"""If more items than this have the same metadata key, an exporter probably wrote the key."""


def _repeated_keys(graphs: list[Graph | Function]) -> frozenset[str]:
    """Return the metadata keys that more than `MAX_AUTHORED_USES` items have."""
    keys: list[str] = []
    for graph in graphs:
        for item in _items(graph):
            entries = item.metadata
            if item.decorators:
                entries = (*entries, *_meta_entries(item))
            keys += dict(entries)
    return frozenset([key for key, count in Counter(keys).items() if count > MAX_AUTHORED_USES])


def _fits_on_a_line(entries: Pairs) -> bool:
    """Whether a `@meta` decorator with these entries fits on one line."""
    text = decorator_text(meta_of(entries), STEP)
    return "\n" not in text and len(text) <= WIDTH - len(STEP)
