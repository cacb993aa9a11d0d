# SPDX-License-Identifier: Apache-2.0
"""Spell types without shapes as operator schemas do: `tensor(float)`, `seq(tensor(int64))`."""

from __future__ import annotations

from onnxtext.ast.types import (
    MapType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
    Type,
)


def type_text(type: Type | None) -> str | None:
    """Return a type as schemas spell it; None if any part of it is unknown."""
    match type:
        case TensorType(element):
            return None if element == "undefined" else f"tensor({element})"
        case SparseTensorType(element):
            return None if element == "undefined" else f"sparse_tensor({element})"
        case SequenceType(element):
            return _around("seq", type_text(element))
        case OptionalType(element):
            return _around("optional", type_text(element))
        case MapType(key, value):
            inner = type_text(value)
            return None if inner is None else f"map({key},{inner})"
    return None


def _around(name: str, inner: str | None) -> str | None:
    return None if inner is None else f"{name}({inner})"


def element_of(text: str | None, container: str) -> str | None:
    """Return the element type of a sequence (`seq`) or an optional; None if it is neither."""
    prefix = f"{container}("
    return text[len(prefix) : -1] if text is not None and text.startswith(prefix) else None


def shown(text: str) -> str:
    """Return a schema's type as the language spells it: `float` for `tensor(float)`."""
    return text[7:-1] if text.startswith("tensor(") else text
