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
    match item:
        case tuple():
            return max(map(nesting, item), default=0)
        case Record(fields):
            return 1 + nesting(fields)
        case Field(value=inside) | Decorator(arguments=inside):
            return nesting(inside)
        case TensorType(shape=inside) | SparseTensorType(shape=inside):
            return max(nesting(inside), nesting(item.decorators))
        case OpaqueType(decorators=inside) | DecoratedDim(decorators=inside):
            return nesting(inside)
        case MapType(value=inside) | SequenceType(element=inside) | OptionalType(element=inside):
            return max(1 + nesting(inside), nesting(item.decorators))
    return 0
