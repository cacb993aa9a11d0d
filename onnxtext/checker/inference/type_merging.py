# SPDX-License-Identifier: Apache-2.0
"""Types put together: what a declaration and inference say, and what a node gives its body."""

from __future__ import annotations

from dataclasses import replace

from onnxtext.ast.model import Node
from onnxtext.ast.types import (
    Dim,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
    Type,
)
from onnxtext.checker.context.declarations import contradiction, plain_dim


def given_types(node: Node, inputs: list[Type | None]) -> tuple[Type | None, ...]:
    """The types that a node gives the inputs of its body."""
    match node.op_type:
        case "Loop":
            # A carried value may change its shape from one iteration to the next.
            carried = [_shapeless(type) for type in inputs[2:]]
            return (TensorType("int64"), TensorType("bool"), *carried)
        case "SequenceMap":
            return tuple([t.element if isinstance(t, SequenceType) else t for t in inputs])
    return ()


def _shapeless(type: Type | None) -> Type | None:
    return replace(type, shape=None) if isinstance(type, (TensorType, SparseTensorType)) else type


class Joins:
    """Joins declared types with inferred ones. Most values have the same two types as another."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[str | None, Type]] = {}
        self._kept: list[Type] = []  # so that no id is given twice

    def join(self, declared: Type, inferred: Type) -> tuple[str | None, Type]:
        """What two types disagree about, None if nothing; and what they say together."""
        key = id(declared), id(inferred)
        known = self._known.get(key)
        if known is None:
            said = contradiction(inferred, declared)
            both = declared if said is not None else merged(declared, inferred)
            known = self._known[key] = said, both
            self._kept += declared, inferred
        return known


def merged(declared: Type, inferred: Type) -> Type:
    """A declared type with the sizes that inference adds."""
    match declared, inferred:
        case (TensorType(), TensorType()) if inferred.shape is not None:
            if declared.shape is None:
                return replace(declared, shape=inferred.shape)
            if len(declared.shape) == len(inferred.shape):
                dims = tuple(map(_merged_dim, declared.shape, inferred.shape))
                return replace(declared, shape=dims) if dims != declared.shape else declared
        case SequenceType(a), SequenceType(b):
            return SequenceType(merged(a, b), declared.decorators)
        case OptionalType(a), OptionalType(b):
            return OptionalType(merged(a, b), declared.decorators)
    return declared


def _merged_dim(declared: Dim, inferred: Dim) -> Dim:
    own, found = plain_dim(declared), plain_dim(inferred)
    if own is None or (isinstance(own, int) and own < 0):
        return found
    return found if isinstance(found, int) and not isinstance(own, int) else own


def plausible(type: Type) -> Type:
    """A type without negative dims, which a rule of its own reports."""
    if not isinstance(type, (TensorType, SparseTensorType)) or type.shape is None:
        return type
    dims = tuple([None if _is_negative(dim) else dim for dim in type.shape])
    return type if dims == type.shape else replace(type, shape=dims)


def _is_negative(dim: Dim) -> bool:
    value = plain_dim(dim)
    return isinstance(value, int) and value < 0
