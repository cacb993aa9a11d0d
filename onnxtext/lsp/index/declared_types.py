# SPDX-License-Identifier: Apache-2.0
"""Collect the types that a text declares."""

from __future__ import annotations

from onnxtext.ast.types import Type
from onnxtext.checker.context.compare_declared_types import declared_type
from onnxtext.checker.context.scopes import Scope


def declared_types(scope: Scope) -> dict[str, Type]:
    """Return the first declared type of each value of a graph or function, by value name."""
    found: dict[str, Type] = {}
    for value in (*scope.inputs, *scope.initializers, *scope.infos, *scope.outputs):
        type = declared_type(value)
        if type is not None:
            found.setdefault(value.name, type)
    for node in scope.nodes:
        if not node.output_types:
            continue
        for name, declared in zip(node.outputs, node.output_types, strict=False):
            if declared is not None:
                found.setdefault(name, declared)
    return found
