# SPDX-License-Identifier: Apache-2.0
"""Add symbolic dimensions to the types that onnx infers for a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from onnxtext.ast.model import Node
from onnxtext.ast.types import Dim, TensorType, Type
from onnxtext.checker.context.checked_model import cache_by_id
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.finding import Place
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.inference.element_types import with_special
from onnxtext.checker.inference.function_attributes import has_references
from onnxtext.checker.inference.type_merging import Types
from onnxtext.checker.inference.type_variables import bind_type_variables
from onnxtext.checker.symbolic.operator_call import Shapes, SymbolicShape
from onnxtext.checker.symbolic.operators import DOMAINS
from onnxtext.checker.symbolic.shape_merging import declared_shape, infer_node
from onnxtext.checker.symbolic.sizes.polynomials import Extent, SymbolicSize, text
from onnxtext.checker.symbolic.sizes.size_equations import SizeEquations
from onnxtext.checker.symbolic.small_tensors import SmallTensor, SmallTensors
from onnxtext.schemas.type_strings import type_of, type_text

_MAX_CHARACTERS = 120
"""Maximum length of an expression that is used as a dimension."""


class NoEquations(SizeEquations):
    """Ignores all equations and mismatches (null object)."""

    def equal(self, left: Extent, right: Extent, place: Place) -> None:
        """Ignore the equation."""

    def one_or(self, extent: SymbolicSize, size: int, place: Place) -> None:
        """Ignore the restriction."""

    def defer_broadcast(self, extents: Sequence[Extent], place: Place) -> None:
        """Ignore the broadcast."""

    def reject(
        self, node: Node, message: str, shapes: Sequence[SymbolicShape], *, specified: bool
    ) -> None:
        """Ignore the mismatch."""


class SymbolicStep:
    """Adds symbolic dimensions to the output types of nodes; caches results for equal nodes."""

    def __init__(self) -> None:
        self._sizes = NoEquations()
        self._shape = cache_by_id(declared_shape)
        self._known: dict[tuple[object, ...], tuple[Types, SmallTensors]] = {}
        self._kept: list[object] = []  # keeps alive the objects whose ids are in keys

    def node(
        self,
        signature: Signature,
        node: Node,
        inputs: Sequence[Type | None],
        values: Sequence[SmallTensor | None] = (),
        inferred: Types = (),
    ) -> tuple[Types, SmallTensors]:
        """Add symbolic dimensions to a node's output types; compute the elements of small outputs.

        `values` are the elements of small inputs, and `inferred` the output types that onnx
        inferred; both are None where unknown. Types that onnx does not infer follow from the schema
        if the operator is in a schema file or in `ai.onnx.ml`.

        Return (types, elements of small outputs); missing entries at the end are unknown.
        """
        if not signature.origin and (signature.domain not in DOMAINS or has_references(node)):
            return inferred, ()
        key = (
            id(signature), len(inputs), len(node.outputs), *map(id, inputs), *map(id, inferred),
            *map(id, node.attributes), *values,
        )  # fmt: skip
        cached = self._known.get(key)
        if cached is None:
            self._kept += (signature, *inputs, *inferred, *node.attributes)
            if signature.origin or (signature.domain and None in inferred):
                by_schema = _bound(signature, node, inputs)
                inferred = tuple([a or b for a, b in zip_longest(inferred, by_schema)])
            shapes: Shapes = ()
            computed: SmallTensors = ()
            if not has_references(node):
                given = list(map(self._shape, inputs))
                shapes, computed = infer_node(node, signature, given, values, self._sizes)
            # The shapes may be fewer than the types.
            refined = map(refine_type, inferred, (*shapes, *(None,) * len(inferred)))
            cached = self._known[key] = tuple(refined), computed
        return cached


def _bound(signature: Signature, node: Node, inputs: Sequence[Type | None]) -> Types:
    """Return the output types that follow from a schema and a node's input types and attributes."""
    texts = tuple([None if type is None else type_text(type) for type in inputs])
    output_types, mismatch = bind_type_variables(signature, texts, node)
    if mismatch is None:
        output_types = with_special(signature, node, texts, output_types)
    return tuple([None if text is None else type_of(text) for text in output_types])


def refine_type(inferred: Type | None, shape: SymbolicShape) -> Type | None:
    """Fill in the unknown shape or dimensions of a tensor type from `shape`.

    Return the type unchanged if it is not a tensor type, or if its rank differs.
    """
    if not isinstance(inferred, TensorType) or shape is None:
        return inferred
    inferred_dims: tuple[Dim, ...] = (
        (None,) * len(shape) if inferred.shape is None else inferred.shape
    )
    if len(inferred_dims) != len(shape):
        return inferred
    pairs = zip(inferred_dims, shape, strict=True)
    dims = tuple([size_to_dim(size) if size is not None and plain_dim(dim) in (None, "") else dim
                  for dim, size in pairs])  # fmt: skip
    return inferred if dims == inferred.shape else replace(inferred, shape=dims)


def size_to_dim(size: Extent) -> Dim:
    """Return a size as a dimension; None if it is unknown, negative or too long."""
    if isinstance(size, SymbolicSize):
        written = text(size)
        return written if len(written) <= _MAX_CHARACTERS else None
    return size if size is not None and size >= 0 else None
