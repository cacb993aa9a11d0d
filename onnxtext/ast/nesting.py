# SPDX-License-Identifier: Apache-2.0
"""Measure how deeply types and records are nested."""

from __future__ import annotations

from onnxtext.ast.records import Decorator, Field, Fixed, Number, Record, Word
from onnxtext.ast.types import (
    DecoratedDim,
    MapType,
    OpaqueType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
)

_LEAVES = frozenset({Number, Fixed, Word, bytes, str, int})
"""Classes of most values in records and decorators: skipping these values takes the least time."""


def nesting(item: object) -> int:
    """Return how many types and records enclose the innermost part of an item: 0 for `float`.

    Args:
        item: a type, a dimension, a record, a decorator, or a tuple of these.
    """
    deepest = 0
    parts: list[tuple[object, int]] = [(item, 0)]  # a stack: recursion would limit the nesting
    while parts:
        part, depth = parts.pop()
        if isinstance(part, Record):
            part, depth = part.fields, depth + 1
        elif isinstance(part, Decorator):
            part = part.arguments
        deepest = max(deepest, depth)
        match part:
            case tuple():
                values = [item.value if type(item) is Field else item for item in part]
                parts += [(value, depth) for value in values if type(value) not in _LEAVES]
            case TensorType(shape=inside) | SparseTensorType(shape=inside):
                parts += [(inside, depth), (part.decorators, depth)]
            case OpaqueType(decorators=inside) | DecoratedDim(decorators=inside):
                parts.append((inside, depth))
            case (
                MapType(value=inside) | SequenceType(element=inside) | OptionalType(element=inside)
            ):
                parts += [(inside, depth + 1), (part.decorators, depth)]
    return deepest
