# SPDX-License-Identifier: Apache-2.0
"""Merge the declared and inferred types of values, and find the types that nodes pass to bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeGuard, TypeVar

from onnxtext.ast.model import Node
from onnxtext.ast.qualified_names import qualified_name
from onnxtext.ast.types import Dim, OptionalType, SequenceType, SparseTensorType, TensorType, Type
from onnxtext.checker.context.checked_model import cache_by_id
from onnxtext.checker.context.compare_declared_types import describe_contradiction, plain_dim
from onnxtext.checker.symbolic.sizes.parse_sizes import parse_size
from onnxtext.checker.symbolic.sizes.polynomials import symbols as symbols_of

Types = tuple[Type | None, ...]
"""The types of the inputs or outputs of a node or body; None where unknown."""
T = TypeVar("T", bound=Type | None)


def given_types(node: Node, inputs: list[Type | None]) -> Types:
    """Return the types that `Loop` or `SequenceMap` passes to its body; () for other nodes."""
    match qualified_name(node.domain, node.op_type):
        case "Loop":
            # A carried value may change its shape between iterations.
            carried = [without_shape(type) for type in inputs[2:]]
            return (TensorType("int64"), TensorType("bool"), *carried)
        case "SequenceMap":
            return tuple([t.element if isinstance(t, SequenceType) else t for t in inputs])
    return ()


def without_shape(type: T) -> T:
    """Return a tensor type, or the type of a sequence or optional of tensors, without its shape.

    Return any other type unchanged.
    """
    if isinstance(type, (SequenceType, OptionalType)):
        return replace(type, element=without_shape(type.element))
    return replace(type, shape=None) if isinstance(type, (TensorType, SparseTensorType)) else type


def without_sizes(type: Type | None) -> Type | None:
    """Return a tensor type with all dimensions unknown, and any other type unchanged."""
    if not isinstance(type, TensorType) or type.shape is None:
        return type
    return replace(type, shape=(None,) * len(type.shape))


def with_shape_of(type: Type | None, other: Type | None) -> Type | None:
    """Return `type` with the shape of `other` if both are tensor types; otherwise `type`.

    If `type` is unknown (None), return `other`.
    """
    if type is None:
        return other
    if isinstance(type, TensorType) and isinstance(other, TensorType):
        return replace(type, shape=other.shape)
    return type


def type_merger(symbols: frozenset[str]) -> Callable[[Type, Type], tuple[str | None, Type]]:
    """Return a function that merges a declared with an inferred type, and caches the results.

    The function returns (message, type). If the types contradict each other, `message` describes
    the contradiction, and `type` is the declared type. Otherwise, `message` is None, and `type` is
    the merged type.

    `symbols` are the symbols in the shapes of the model's inputs, such as `batch`. If an inferred
    dimension has only symbols of this set, such as `2*batch`, it replaces a declared symbol that is
    not in the set.
    """

    def merge(declared: Type, inferred: Type) -> tuple[str | None, Type]:
        conflict = describe_contradiction(inferred, declared)
        return conflict, merge_types(declared, inferred, symbols) if conflict is None else declared

    return cache_by_id(merge)


def merge_types(declared: Type, inferred: Type, symbols: frozenset[str] = frozenset()) -> Type:
    """Return a declared type, completed with the dimensions of an inferred type.

    Inferred dimensions replace unknown dimensions, and inferred numbers replace symbols. `symbols`
    are the symbols in the shapes of the model's inputs (see `type_merger`).
    """
    match declared, inferred:
        case (TensorType(), TensorType()) if inferred.shape is not None:
            if declared.shape is None:
                return replace(declared, shape=inferred.shape)
            if len(declared.shape) == len(inferred.shape):
                pairs = zip(declared.shape, inferred.shape, strict=True)
                dims = tuple([_merge_dims(declared, found, symbols) for declared, found in pairs])
                return replace(declared, shape=dims) if dims != declared.shape else declared
        case SequenceType(a), SequenceType(b):
            return SequenceType(merge_types(a, b, symbols), declared.decorators)
        case OptionalType(a), OptionalType(b):
            return OptionalType(merge_types(a, b, symbols), declared.decorators)
    return declared


def _merge_dims(declared: Dim, inferred: Dim, symbols: frozenset[str]) -> Dim:
    declared_dim, result = plain_dim(declared), plain_dim(inferred)
    if isinstance(declared_dim, str) and isinstance(result, str) and declared_dim not in symbols:
        return result if result and symbols_of(parse_size(result)) <= symbols else declared_dim
    if declared_dim is None or (isinstance(declared_dim, int) and declared_dim < 0):
        return result
    return result if isinstance(result, int) and not isinstance(declared_dim, int) else declared_dim


def is_defined(type: Type | None) -> TypeGuard[Type]:
    """Whether a type is present and, if it is a tensor type, has an element type."""
    return type is not None and getattr(type, "element", None) != "undefined"


def without_negative(type: T) -> T:
    """Return a tensor type with negative dimensions unknown, and any other type unchanged."""
    if not isinstance(type, (TensorType, SparseTensorType)) or type.shape is None:
        return type
    pairs = [(dim, plain_dim(dim)) for dim in type.shape]
    dims = tuple([None if isinstance(size, int) and size < 0 else dim for dim, size in pairs])
    return type if dims == type.shape else replace(type, shape=dims)
