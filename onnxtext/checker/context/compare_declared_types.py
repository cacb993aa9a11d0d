# SPDX-License-Identifier: Apache-2.0
"""Find contradictions between the declared types of one value."""

from __future__ import annotations

from onnxtext.ast.model import ValueInfo
from onnxtext.ast.tensors_and_attributes import SparseTensor
from onnxtext.ast.types import (
    DecoratedDim,
    Dim,
    MapType,
    OpaqueType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
    Type,
)


def describe_contradiction(left: Type, right: Type) -> str | None:
    """Describe the contradiction between two declared types of one value; None if there is none."""
    match left, right:
        case TensorType() | SparseTensorType(), TensorType() | SparseTensorType():
            # Real models declare a sparse initializer with a dense type, which is no contradiction.
            return _tensors(left, right)
        case (SequenceType(a), SequenceType(b)) | (OptionalType(a), OptionalType(b)):
            return describe_contradiction(a, b)
        case MapType(key_a, a), MapType(key_b, b):
            if key_a != key_b:
                return f"the key types are `{key_a}` and `{key_b}`"
            return describe_contradiction(a, b)
        case OpaqueType(), OpaqueType():
            return None
    return f"{_kind(left)} and {_kind(right)}"


def _kind(type: Type) -> str:
    """Return the kind of a type for messages, with its article: `a sparse tensor`."""
    names = {
        TensorType: "a tensor",
        SparseTensorType: "a sparse tensor",
        SequenceType: "a sequence",
        OptionalType: "an optional",
        MapType: "a map",
    }
    return names.get(type.__class__, "an opaque type")


def _tensors(
    left: TensorType | SparseTensorType, right: TensorType | SparseTensorType
) -> str | None:
    if left.element != right.element and "undefined" not in (left.element, right.element):
        return f"the element types are `{left.element}` and `{right.element}`"
    if left.shape is None or right.shape is None:
        return None
    if len(left.shape) != len(right.shape):
        return f"the ranks are {len(left.shape)} and {len(right.shape)}"
    for index, (a, b) in enumerate(zip(left.shape, right.shape, strict=True)):
        first, second = plain_dim(a), plain_dim(b)
        if (
            isinstance(first, int)
            and isinstance(second, int)
            and first != second
            and min(first, second) >= 0
        ):
            return f"dimension {index} is {first} and {second}"
    return None


def declared_type(value: ValueInfo) -> Type | None:
    """Return the declared type of a value; None if no type is declared.

    A sparse initializer has the type of its data, whatever type it declares.
    """
    if isinstance(value.data, SparseTensor):
        return SparseTensorType(value.data.values.type.element, value.data.dims)
    return value.type


def plain_dim(dim: Dim) -> int | str | None:
    """Return a dimension without its decorators: a size, a symbol, or None if unknown."""
    return dim.value if isinstance(dim, DecoratedDim) else dim
