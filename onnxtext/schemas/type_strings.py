# SPDX-License-Identifier: Apache-2.0
"""Convert types to and from the spelling of operator schemas, such as `seq(tensor(int64))`."""

from __future__ import annotations

import re

from onnxtext.ast.types import (
    MAX_TYPE_DEPTH,
    MapType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
    Type,
)
from onnxtext.tensor.element_types import ELEMENTS

_TENSOR = re.compile(r"\btensor\((\w+)\)")
_CONTAINER = re.compile(r"(seq|optional|map|sparse_tensor|tensor)\((.*)\)")


def type_text(type: Type | None) -> str | None:
    """Return a type in the spelling of schemas, such as `tensor(float)`.

    Return None if `type` is None, or if schemas have no spelling for it.
    """
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


def type_of(text: str, shape: tuple[()] | None = None) -> Type | None:
    """Return the type that schemas spell `text`; None if onnxtext has no such type.

    `shape` is the shape to give to the tensors in the type; None for no shape.
    """
    text = text.replace(" ", "")
    around: list[tuple[str, str]] = []
    while len(around) < MAX_TYPE_DEPTH:
        match = _CONTAINER.fullmatch(text)
        if match is None:
            break
        around.append((match[1], ""))
        text = match[2]
        if match[1] == "map":
            key, comma, text = text.partition(",")
            around[-1] = ("map", key)
            if not comma or key not in ELEMENTS:
                return None
    if text not in ELEMENTS:
        return None
    result: Type = TensorType(text, shape)
    for kind, key in reversed(around):
        match kind:
            case "seq":
                result = SequenceType(result)
            case "optional":
                result = OptionalType(result)
            case "map":
                result = MapType(key, result)
            case "sparse_tensor":
                result = SparseTensorType(text, shape)
    return result


def element_of(text: str | None, container: str) -> str | None:
    """Return the element type if `text` is a type of kind `container`; else None.

    `container` is `seq` or `optional`. Example: `element_of("seq(tensor(float))", "seq")` is
    `tensor(float)`.
    """
    prefix = f"{container}("
    return text[len(prefix) : -1] if text is not None and text.startswith(prefix) else None


def is_tensor(text: str) -> bool:
    """Whether a type in schema spelling is a tensor type, which `Cast` can convert."""
    return text.startswith("tensor(")


def text_spelling(text: str) -> str:
    """Convert a type from schema spelling to onnxtext spelling: `seq(tensor(bool))` → `seq(bool)`.

    The result has no shapes.
    """
    return _TENSOR.sub(r"\1", text).replace(" ", "").replace(",", ", ")
