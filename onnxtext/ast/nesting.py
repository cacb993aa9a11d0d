# SPDX-License-Identifier: Apache-2.0
"""Measure how deeply types and records are nested."""

from __future__ import annotations

from onnxtext.ast.records import Decorator, Field, Record
from onnxtext.ast.types import (
    DecoratedDim,
    MapType,
    OpaqueType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
)


def nesting(item: object) -> int:
    """Return how many types and records enclose the innermost part of an item: 0 for `float`.

    Args:
        item: a type, a dimension, a record, a decorator, or a tuple of these.
    """
    deepest = 0
    parts: list[tuple[object, int]] = [(item, 0)]  # a stack: recursion would limit the nesting
    while parts:
        part, depth = parts.pop()
        deepest = max(deepest, depth)
        match part:
            case tuple():
                parts += [(inside, depth) for inside in part]
            case Record(fields):
                parts.append((fields, depth + 1))
            case Field(value=inside) | Decorator(arguments=inside):
                parts.append((inside, depth))
            case TensorType(shape=inside) | SparseTensorType(shape=inside):
                parts += [(inside, depth), (part.decorators, depth)]
            case OpaqueType(decorators=inside) | DecoratedDim(decorators=inside):
                parts.append((inside, depth))
            case (
                MapType(value=inside) | SequenceType(element=inside) | OptionalType(element=inside)
            ):
                parts += [(inside, depth + 1), (part.decorators, depth)]
    return deepest
