# SPDX-License-Identifier: Apache-2.0
"""The types that a text declares, as the language writes them."""

from __future__ import annotations

from onnxtext.ast.model import ValueInfo
from onnxtext.ast.types import SparseTensorType
from onnxtext.ast.values import SparseTensor
from onnxtext.checker.explain import written
from onnxtext.checker.scopes import Scope


def declared_types(scope: Scope) -> dict[str, str]:
    """The types that a graph or body declares for its values; of several the first counts."""
    found: dict[str, str] = {}
    for value in (*scope.inputs, *scope.initializers, *scope.infos, *scope.outputs):
        type = _type_of(value)
        if type is not None:
            found.setdefault(value.name, type)
    for node in scope.nodes:
        for name, declared in zip(node.outputs, node.output_types, strict=False):
            if declared is not None:
                found.setdefault(name, written(declared))
    return found


def _type_of(value: ValueInfo) -> str | None:
    if isinstance(value.data, SparseTensor):
        return written(SparseTensorType(value.data.values.type.element, value.data.dims))
    return None if value.type is None else written(value.type)
