# SPDX-License-Identifier: Apache-2.0
"""Move large data of a model to its resources, so that the text of the graph stays readable."""

from __future__ import annotations

from typing import Any

from onnxtext import ast
from onnxtext.ast.rewrite_tensors import Rewriter
from onnxtext.ast.typed_blobs import (
    PackedInts,
    blob_of_data,
    blob_of_list,
    compress_repetition,
    entry_count,
    required_entries,
)
from onnxtext.ast.visit import INLINE_BYTES
from onnxtext.tensor.blobs import PRINTED_DIGITS, digest_of
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.tensor.format_elements import is_splat

INLINE_ELEMENTS = 32
"""By default, tensors and lists in attributes with more elements are large."""

_LISTS = (ast.AttributeType.FLOATS, ast.AttributeType.INTS, ast.AttributeType.STRINGS)


class WeightMover(Rewriter):
    """Moves the large data of one model to its resources.

    Attributes:
        max_small_elements: tensors and lists with more elements than this are large.
        resources: the bytes of the moved data, by printed (shortened) digest.
        digests: maps each printed digest to the full SHA-256 digest.
    """

    def __init__(self, max_small_elements: int) -> None:
        super().__init__()
        self.max_small_elements = max_small_elements
        self.resources: dict[str, bytes | memoryview] = {}
        self.digests: dict[str, str] = {}
        self._type: ast.TensorType | None = None  # of the last tensor; often also of the next
        self._count = 0  # the number of elements of this type

    def add(self, data: bytes | memoryview) -> str:
        """Add bytes to the resources; return their digest as the text shows it."""
        full_digest = digest_of(data)
        digest = full_digest[:PRINTED_DIGITS]
        if digest not in self.resources:
            self.resources[digest] = data
            self.digests[digest] = full_digest
        return digest

    def data(self, type: ast.TensorType, data: Any, name: str | None) -> Any:
        """Move large raw data or a large field to `resources`; return the data or its blob.

        Raw data that repeats one element is not moved. A field, such as `float_data`, is not moved
        if its number of entries does not match the type.
        """
        if isinstance(data, ast.RawData):
            if type is not self._type:
                self._type, self._count = type, count_elements(type.integer_dims)
            count = self._count
            if count <= self.max_small_elements:
                return data
            if is_splat(ELEMENTS[type.element], data.data, count):
                return data
            return ast.Blob(self.add(data.data))
        if isinstance(data, (ast.TypedData, ast.StringData)):
            if type.element not in ELEMENTS or entry_count(type, data) <= self.max_small_elements:
                return data
            if entry_count(type, data) != required_entries(type):
                return data  # a wrong number of entries is easier to see inline
            return ast.TypedBlob(self.add(blob_of_data(type, data)))
        return data

    def value(self, kind: ast.AttributeType | None, value: Any, name: str) -> Any:
        """Return an attribute's value; if it is large, return a blob or `RepeatedList` instead.

        The bytes of the blob are added to `resources`.
        """
        if isinstance(value, PackedInts):
            return ast.TypedBlob(self.add(value.data))
        if isinstance(value, bytes):
            return ast.Blob(self.add(value)) if len(value) > INLINE_BYTES else value
        is_list = kind in _LISTS and isinstance(value, (ast.Floats, tuple))
        if not is_list or len(value) <= self.max_small_elements:
            return super().value(kind, value, name)
        splat = compress_repetition(value)
        if splat is not None:
            return splat
        if isinstance(value, ast.Floats):
            return ast.Blob(self.add(value.data))
        packed = blob_of_list(kind, value)
        return value if packed is None else ast.TypedBlob(self.add(packed))


def move_weights(
    model: ast.Model,
    graphs: list[ast.Graph | ast.Function] | None = None,
    *,
    inline_limit: int = INLINE_ELEMENTS,
) -> dict[str, str]:
    """Move large tensors, strings and lists of a model into its resources.

    Tensors and lists with more than `inline_limit` elements are moved; for strings, the limit is
    always `INLINE_BYTES`. Resources that the model had before are dropped. `graphs` are all its
    graphs and functions; None to find them.

    Returns:
        A dict that maps the printed digest of each resource to its full SHA-256 digest.
    """
    mover = WeightMover(inline_limit)
    mover.run(model, graphs)
    model.resources = mover.resources
    return mover.digests
