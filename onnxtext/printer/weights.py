# SPDX-License-Identifier: Apache-2.0
"""Move large data of a model to its resources, so that the graph stays readable."""

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
    """Moves the large data of one model.

    Attributes:
        limit: the maximum number of elements of an inline tensor.
        resources: the moved data, by printed digest.
        digests: the whole digests, by printed digest.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = self.least = limit
        self.resources: dict[str, bytes | memoryview] = {}
        self.digests: dict[str, str] = {}

    def blob(self, data: bytes | memoryview) -> Blob:
        """Add bytes to the resources."""
        whole = hashlib.sha256(data).hexdigest()
        digest = whole[:PRINTED_DIGITS]
        if digest not in self.resources:
            self.resources[digest] = data
            self.digests[digest] = whole
        return Blob(digest)

    def data(self, type: TensorType, data: Any, name: str | None) -> Any:
        """Return a tensor's data; move it if it is large and not a splat."""
        if not isinstance(data, RawData):
            return data
        count = prod(dim for dim in type.shape or () if isinstance(dim, int))
        if count <= self.limit or is_splat(ELEMENTS[type.element], data.data, count):
            return data
        return self.blob(data.data)

    def value(self, kind: AttributeType | None, value: Any, name: str) -> Any:
        """Return the value of an attribute; move long strings and lists."""
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
        model: changed in place.
        graphs: all of its graphs and functions; None if not known yet.
        inline_limit: the maximum number of elements of an inline tensor.

    Returns:
        The whole digest of each resource, by printed digest.
    """
    mover = Mover(inline_limit)
    mover.run(model, graphs)
    model.resources = mover.resources
    return mover.digests
