# SPDX-License-Identifier: Apache-2.0
"""AST to wire bytes, directly: no message objects, fields in the order of their numbers.

The encoding is canonical: shortest varints, packed where the schema says so, unknown fields last.
"""

from __future__ import annotations

from onnxtext.ast.model import Fragment, Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.values import Attribute, SparseTensor, Tensor
from onnxtext.proto.generic import RecordError
from onnxtext.proto.habits import Habits
from onnxtext.proto.lowering import Lowering
from onnxtext.proto.value_lowering import LowerError
from onnxtext.wire.writer import delimited

__all__ = ["LowerError", "lower_fragment", "lower_model"]


def lower_model(model: Model, *, verified: bool = False) -> bytes:
    """A `ModelProto`.

    Args:
        model: the model.
        verified: whether the digests of its resources were just made of their bytes.

    Raises:
        LowerError: a decorator or record does not fit.
    """
    try:
        lowering = Lowering(Habits(model.presence), model.resources, verified=verified)
    except RecordError as error:
        raise LowerError(str(error), model.graph.at) from None
    data = b"".join(lowering.model(model))
    return _with_habits(model, data) if model.encoding_habits else data


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
        lowering = Lowering(Habits(fragment.presence))
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
