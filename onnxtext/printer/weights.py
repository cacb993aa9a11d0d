# SPDX-License-Identifier: Apache-2.0
"""Moving large data out of a model into its resources, so that the graph stays readable."""

from __future__ import annotations

import hashlib
import struct
from math import prod
from typing import Any

from onnxtext.ast.model import Function, Graph, Model
from onnxtext.ast.rewrite import Rewriter
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import AttributeType, Blob, Floats, RawData
from onnxtext.tensor.blobs import PRINTED_DIGITS
from onnxtext.tensor.elements import ELEMENTS
from onnxtext.tensor.format import is_splat

INLINE_ELEMENTS = 64
"""Tensors with more elements than this become blobs."""

INLINE_BYTES = 4096
"""Attribute strings with more bytes than this become blobs."""

INLINE_NUMBERS = 4096
"""Attribute lists with more numbers than this become blobs."""


class Mover(Rewriter):
    """One run of moving.

    Attributes:
        limit: how many elements of a tensor stay where they are.
        resources: what was moved, by digest as it is printed.
        digests: the whole digest of each.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = self.least = limit
        self.resources: dict[str, bytes | memoryview] = {}
        self.digests: dict[str, str] = {}

    def blob(self, data: bytes | memoryview) -> Blob:
        """Move some bytes."""
        whole = hashlib.sha256(data).hexdigest()
        digest = whole[:PRINTED_DIGITS]
        if digest not in self.resources:
            self.resources[digest] = data
            self.digests[digest] = whole
        return Blob(digest)

    def data(self, type: TensorType, data: Any, name: str | None) -> Any:
        """A tensor's data, moved if it is large and says more than one number."""
        if not isinstance(data, RawData):
            return data
        count = prod(dim for dim in type.shape or () if isinstance(dim, int))
        if count <= self.limit or is_splat(ELEMENTS[type.element], data.data, count):
            return data
        return self.blob(data.data)

    def value(self, kind: AttributeType | None, value: Any, name: str) -> Any:
        """The value of an attribute: long strings and lists are moved too."""
        match value:
            case bytes() if len(value) > INLINE_BYTES:
                return self.blob(value)
            case Floats(data) if len(value) > INLINE_NUMBERS:
                return self.blob(data)
            case tuple() if kind is AttributeType.INTS and len(value) > INLINE_NUMBERS:
                return self.blob(struct.pack(f"<{len(value)}q", *value))
        return super().value(kind, value, name)


def move_weights(
    model: Model,
    graphs: list[Graph | Function] | None = None,
    *,
    inline_limit: int = INLINE_ELEMENTS,
) -> dict[str, str]:
    """Move large tensors, strings and lists of a model into its resources.

    Args:
        model: is changed.
        graphs: all of its graphs and functions, if they are known.
        inline_limit: how many elements of a tensor stay where they are.

    Returns:
        The whole digest of each resource, by the digits that are printed.
    """
    mover = Mover(inline_limit)
    mover.run(model, graphs)
    model.resources = mover.resources
    return mover.digests
