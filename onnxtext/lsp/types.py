# SPDX-License-Identifier: Apache-2.0
"""The type of a value: as it was inferred, else as the text declares it."""

from __future__ import annotations

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.types import SparseTensorType
from onnxtext.ast.values import SparseTensor
from onnxtext.checker.explain import written
from onnxtext.checker.scopes import GIVEN, Scope
from onnxtext.lsp.document import Document


def value_type(document: Document, scope: Scope, name: str) -> str | None:
    """The type of a value, as the language writes it; None if it is not known.

    Args:
        document: the document; what the checker found out about an older version counts only
            where it is of a graph that begins at the same place.
        scope: the graph or body that defines the value.
        name: the value.
    """
    if document.current is not None:
        inferred = document.current.types.get(scope.place.at, {}).get(name)
        if inferred is not None:
            return inferred
    return declared_type(scope, name)


def value_types(document: Document, scope: Scope) -> dict[str, str]:
    """The types of all values of a graph or body that are known."""
    found: dict[str, str] = {}
    for value in (*scope.inputs, *scope.initializers, *scope.infos, *scope.outputs):
        type = _type_of(value)
        if type is not None:
            found.setdefault(value.name, type)
    for node in scope.nodes:
        for name, declared in zip(node.outputs, node.output_types, strict=False):
            if declared is not None:
                found.setdefault(name, written(declared))
    if document.current is not None:
        found.update(document.current.types.get(scope.place.at, {}))
    return found


def declared_type(scope: Scope, name: str) -> str | None:
    """The type that the text declares for a value; None if it declares none."""
    for value in (*scope.inputs, *scope.initializers, *scope.infos, *scope.outputs):
        if value.name == name:
            found = _type_of(value)
            if found is not None:
                return found
    at = scope.position.get(name, GIVEN)
    if at == GIVEN:
        return None
    node: Node = scope.nodes[at]
    if node.output_types:
        type = node.output_types[node.outputs.index(name)]
        return None if type is None else written(type)
    return None


def _type_of(value: ValueInfo) -> str | None:
    if isinstance(value.data, SparseTensor):
        return written(SparseTensorType(value.data.values.type.element, value.data.dims))
    return None if value.type is None else written(value.type)
