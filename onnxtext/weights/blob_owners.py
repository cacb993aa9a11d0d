# SPDX-License-Identifier: Apache-2.0
"""Describe the tensor or attribute that uses each blob, for messages about missing blobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onnxtext.ast.model import Function, Model
from onnxtext.ast.tensors_and_attributes import Attribute, Blob, SparseTensor, Tensor, TypedBlob
from onnxtext.ast.visit import walk_graphs, walk_nodes


def walk_blobs(model: Model) -> Iterator[tuple[str, Blob]]:
    """Yield (description, blob) for each use of a blob, such as ("tensor `w`", Blob(…)).

    Values and attributes of functions come before attributes of nodes.
    """
    for graph in walk_graphs(model):
        values = graph.values if isinstance(graph, Function) else [*graph.inputs, *graph.values]
        for value in values:
            for blob in _blobs(value.data):
                yield f"tensor `{value.name}`", blob
        if isinstance(graph, Function):
            for item in graph.attributes:
                if isinstance(item, Attribute):
                    for blob in _blobs(item.value):
                        yield f"attribute `{item.name}` of the function `{graph.name}`", blob
    for node in walk_nodes(model):
        for attribute in node.attributes:
            for blob in _blobs(attribute.value):
                whose = next(filter(None, node.outputs), node.op_type)
                yield f"attribute `{attribute.name}` of `{whose}`", blob


def _blobs(value: Any) -> Iterator[Blob]:
    match value:
        case Blob():
            yield value
        case TypedBlob(digest):
            yield Blob(digest)
        case Tensor():
            yield from _blobs(value.data)
        case SparseTensor():
            yield from _blobs(value.values)
            yield from _blobs(value.indices)
        case tuple():
            for item in value:
                yield from _blobs(item)


def blob_owners(model: Model) -> list[str]:
    """Return a description of each use of a blob, such as "tensor `w`, blob 0123…"."""
    return [f"{whose}, blob {blob.digest}" for whose, blob in walk_blobs(model)]
