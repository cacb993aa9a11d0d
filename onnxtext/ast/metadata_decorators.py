# SPDX-License-Identifier: Apache-2.0
"""Convert metadata between the two forms of the AST: `item.metadata` and `@meta` decorators.

Decoding a binary sets the `metadata` of nodes and value infos, which is printed in the metadata
section (SPEC 13). To print metadata at its item instead, convert it to a decorator.
"""

from __future__ import annotations

from collections.abc import Iterable

from onnxtext.ast.byte_strings import to_bytes, to_text
from onnxtext.ast.model import Function, Graph, Node, ValueInfo
from onnxtext.ast.records import Decorator, Field

Pairs = tuple[tuple[str, str], ...]


def decorator_entries(meta: Decorator) -> Pairs:
    """Return the (key, value) entries of a `@meta` decorator; skip values other than strings."""
    return tuple(
        [
            (str(field.key), to_text(field.value))
            for field in meta.arguments
            if isinstance(field.value, bytes)
        ]
    )


def meta_of(entries: Pairs) -> Decorator:
    """Return a `@meta` decorator with these (key, value) entries."""
    return Decorator("meta", tuple([Field(key, to_bytes(value)) for key, value in entries]))


def inline_metadata(item: Graph | Function | Node | ValueInfo) -> None:
    """Replace the `metadata` of an item by a `@meta` decorator."""
    at = next(
        (
            index
            for index, one in enumerate(item.decorators)
            if one.name.startswith(_BEHIND_METADATA)
        ),
        len(item.decorators),
    )
    item.decorators = (*item.decorators[:at], meta_of(item.metadata), *item.decorators[at:])
    item.metadata = ()


_BEHIND_METADATA = ("device", "set", "unset", "data.")
"""A decorator whose name begins with one of these prefixes must follow `@meta`."""


def inline_all_metadata(graphs: Iterable[Graph | Function]) -> None:
    """Replace the `metadata` of all nodes and values in some graphs by `@meta` decorators."""
    for graph in graphs:
        for items in (graph.nodes, graph.inputs, graph.outputs, graph.values):
            for item in items:
                if item.metadata:
                    inline_metadata(item)
