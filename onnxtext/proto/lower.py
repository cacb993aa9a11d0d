# SPDX-License-Identifier: Apache-2.0
"""AST to wire bytes, directly: no message objects, fields in the order of their numbers.

The encoding is canonical: shortest varints, packed where the schema says so, unknown fields last.
"""

from __future__ import annotations

from math import prod

from onnxtext.ast.model import Fragment, Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import (
    Attribute,
    Blob,
    DataFile,
    ExternalData,
    SparseTensor,
    SplatData,
    Tensor,
    TensorData,
)
from onnxtext.core import core
from onnxtext.proto.generic import RecordError
from onnxtext.proto.habits import Habits
from onnxtext.proto.lowering import Lowering
from onnxtext.proto.value_lowering import LowerError
from onnxtext.tensor.blobs import Elsewhere
from onnxtext.tensor.elements import ELEMENTS
from onnxtext.wire.writer import Piece, delimited

__all__ = ["LowerError", "lower_fragment", "lower_light", "lower_model", "lower_pieces"]


def lower_model(
    model: Model, elsewhere: Elsewhere | None = None, *, verified: bool = False
) -> bytes:
    """A `ModelProto`.

    Args:
        model: the model.
        elsewhere: where the blobs are that are not among its resources.
        verified: whether the digests of its resources were just made of their bytes.

    Raises:
        LowerError: a decorator or record does not fit, or a blob is missing or damaged.
    """
    return b"".join(lower_pieces(model, elsewhere, verified=verified))


def lower_pieces(
    model: Model, elsewhere: Elsewhere | None = None, *, verified: bool = False
) -> list[Piece]:
    """A `ModelProto` in pieces, so that weights stay where they are.

    Raises:
        LowerError: as for `lower_model`.
    """
    try:
        lowering = _lowering()(
            Habits(model.presence), model.resources, elsewhere, verified=verified
        )
    except RecordError as error:
        raise LowerError(str(error), model.graph.at) from None
    pieces = lowering.model(model)
    return [_with_habits(model, b"".join(pieces))] if model.encoding_habits else pieces


def _lowering() -> type[Lowering]:
    """What lowers, by the core that runs."""
    if core() == "native":
        from onnxtext.proto.native import CoreLowering

        return CoreLowering
    return Lowering


class _Light(Lowering):
    """Lowering without large weights."""

    def tensor_data(
        self, type: TensorType, data: TensorData, at: int, name: str | None = None
    ) -> TensorData:
        """Data that is nowhere, for a large tensor."""
        if isinstance(data, (Blob, DataFile, SplatData)):
            element = ELEMENTS.get(type.element)
            dims = [dim for dim in type.shape or () if isinstance(dim, int)]
            if element is not None and element.bits * prod(dims) > _HEAVY:
                return ExternalData((("location", "left-out"),))
        return super().tensor_data(type, data, at, name)


_HEAVY = 8 << 16
"""Tensors of more bits than this (64 KiB) describe no shape."""


def lower_light(model: Model, elsewhere: Elsewhere | None = None) -> bytes:
    """A `ModelProto` whose large tensors refer to data that is nowhere, to reason about its types.

    Raises:
        LowerError: as for `lower_model`.
    """
    lowering = _Light(Habits(model.presence), model.resources, elsewhere)
    return b"".join(lowering.model(model))


def _with_habits(model: Model, data: bytes) -> bytes:
    from onnxtext.proto.encoding import Encoder, HabitError

    try:
        return Encoder(model.encoding_habits).encode("ModelProto", data)
    except HabitError as error:
        raise LowerError(str(error), 0) from None


def lower_fragment(fragment: Fragment) -> bytes:
    """The message of a fragment: `GraphProto`, `FunctionProto`, `NodeProto` and so on.

    A value info with data is a `TensorProto`.

    The nodes of a list of nodes are those of a `GraphProto`.

    Raises:
        LowerError: a decorator or record does not fit.
    """
    try:
        lowering = _lowering()(Habits(fragment.presence))
    except RecordError as error:
        raise LowerError(str(error), -1) from None
    match fragment.item:
        case Graph() as graph:
            return b"".join(lowering.graph(graph))
        case Function() as function:
            return lowering.function(function)
        case Node() as node:
            return lowering.node(node)
        case list() as nodes:
            return b"".join([delimited(b"\x0a", lowering.node(node)) for node in nodes])
        case ValueInfo() as value:
            if value.data is not None:
                return b"".join(lowering.initializer(value))
            return lowering.value_info(value)
        case Attribute() as attribute:
            return lowering.attribute(attribute)
        case Tensor() as tensor:
            return lowering.tensor(tensor)
        case SparseTensor() as sparse:
            return lowering.sparse_tensor(sparse, None)
