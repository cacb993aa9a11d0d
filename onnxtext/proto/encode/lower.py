# SPDX-License-Identifier: Apache-2.0
"""AST to wire bytes, directly: no message objects, fields in the order of their numbers.

The encoding is canonical: shortest varints, packed where the schema says so, unknown fields last.
"""

from __future__ import annotations

from collections.abc import Callable

from onnxtext.ast.model import Fragment, Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.values import Attribute, SparseTensor, Tensor
from onnxtext.core import core
from onnxtext.proto.encode.messages import Lowering
from onnxtext.proto.encode.values import LowerError
from onnxtext.proto.generic import RecordError
from onnxtext.proto.presence_defaults import Habits
from onnxtext.tensor.blobs import Elsewhere
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
    return lower_guarded(model, elsewhere, verified=verified)[0]


def lower_guarded(
    model: Model,
    elsewhere: Elsewhere | None = None,
    *,
    verified: bool = False,
    guard: Callable[[], object] | None = None,
) -> tuple[list[Piece], int]:
    """A `ModelProto` in pieces, and how many messages of graphs and types are in one another.

    Args:
        model: as for `lower_model`.
        elsewhere: as for `lower_model`.
        verified: as for `lower_model`.
        guard: called before data that is large, or elsewhere, is met for the first time.

    Raises:
        LowerError: as for `lower_model`.
    """
    try:
        habits = Habits(model.presence)
    except RecordError as error:
        raise LowerError(str(error), model.graph.at) from None

    def lower(kind: type[Lowering]) -> tuple[list[Piece], int]:
        lowering = kind(habits, model.resources, elsewhere, verified=verified, guard=guard)
        return lowering.model(model), 3 * lowering.deepest + 2 * lowering.deepest_type

    try:
        pieces, depth = lower(_lowering())
    except LowerError:
        if core() == "python":
            raise
        pieces, depth = lower(Lowering)  # of several errors it raises the first
    if model.encoding_habits:
        pieces = [_with_habits(model, b"".join(pieces))]
    return pieces, depth


def _lowering() -> type[Lowering]:
    """What lowers, by the core that runs."""
    if core() == "native":
        from onnxtext.proto.encode.compiled import CoreLowering

        return CoreLowering
    return Lowering


def lower_light(model: Model, elsewhere: Elsewhere | None = None) -> bytes:
    """A `ModelProto` whose large tensors refer to data that is nowhere, to reason about its types.

    Raises:
        LowerError: as for `lower_model`.
    """
    lowering = _lowering()(Habits(model.presence), model.resources, elsewhere, light=True)
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
