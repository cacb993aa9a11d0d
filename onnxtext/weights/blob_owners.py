# SPDX-License-Identifier: Apache-2.0
"""Describe the tensor or attribute that uses each blob, for messages about missing blobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onnxtext.ast.model import Function, Model
from onnxtext.ast.tensors_and_attributes import Attribute, Blob, SparseTensor, Tensor, TypedBlob
from onnxtext.ast.visit import walk_graphs, walk_nodes


def blob_owners(model: Model) -> list[str]:
    """Return a description of each use of a blob, such as "tensor `w`, blob 0123…".

    Values and function attributes come before node attributes.
    """
    owners = _all_data(model)
    return [f"{owner}, blob {digest}" for owner, data in owners for digest in _digests(data)]


def _all_data(model: Model) -> Iterator[tuple[str, Any]]:
    """Yield (description of the owner, data) for each value and attribute that may have blobs."""
    for graph in walk_graphs(model):
        for value in (*graph.inputs, *graph.values):
            yield f"tensor `{value.name}`", value.data
        if isinstance(graph, Function):
            for item in graph.attributes:
                if isinstance(item, Attribute):
                    yield f"attribute `{item.name}` of the function `{graph.name}`", item.value
    for node in walk_nodes(model):
        for attribute in node.attributes:
            whose = next(filter(None, node.outputs), node.op_type)
            yield f"attribute `{attribute.name}` of `{whose}`", attribute.value


def _digests(value: Any) -> Iterator[str]:
    """Yield the digests of the blobs in a value and its parts."""
    match value:
        case Blob(digest) | TypedBlob(digest):
            yield digest
        case Tensor():
            yield from _digests(value.data)
        case SparseTensor():
            yield from _digests(value.values)
            yield from _digests(value.indices)
        case tuple():
            for item in value:
                yield from _digests(item)
