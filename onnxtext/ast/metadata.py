# SPDX-License-Identifier: Apache-2.0
"""Convert metadata between entries of an item and its `@meta` decorator.

Nodes and value infos decoded from a binary have entries. The entries that stay in the graph become
decorators; the other entries are printed in the section (SPEC 13).
"""

from __future__ import annotations

from collections.abc import Iterable

from onnxtext.ast.model import Function, Graph, Node, ValueInfo
from onnxtext.ast.records import Decorator, Field

Pairs = tuple[tuple[str, str], ...]


def decorator_entries(meta: Decorator) -> Pairs:
    """Return the entries of a `@meta` decorator."""
    return tuple(
        [
            (str(field.key), field.value.decode("utf-8", "surrogateescape"))
            for field in meta.arguments
            if isinstance(field.value, bytes)
        ]
    )


def meta_of(entries: Pairs) -> Decorator:
    """Create the `@meta` decorator with these entries."""
    return Decorator(
        "meta",
        tuple([Field(key, value.encode("utf-8", "surrogateescape")) for key, value in entries]),
    )


def inline_metadata(item: Graph | Function | Node | ValueInfo) -> None:
    """Convert the metadata of an item to a `@meta` decorator."""
    at = next(
        (at for at, one in enumerate(item.decorators) if one.name.startswith(_BEHIND_METADATA)),
        len(item.decorators),
    )
    item.decorators = (*item.decorators[:at], meta_of(item.metadata), *item.decorators[at:])
    item.metadata = ()


_BEHIND_METADATA = ("device", "set", "unset", "data.")
"""Name prefixes of the decorators that follow `@meta`."""


def inline_all_metadata(graphs: Iterable[Graph | Function]) -> None:
    """Convert the metadata of all nodes and values in some graphs to decorators."""
    for graph in graphs:
        for items in (graph.nodes, graph.inputs, graph.outputs, graph.values):
            for item in items:
                if item.metadata:
                    inline_metadata(item)
