# SPDX-License-Identifier: Apache-2.0
"""Encode models and fragments directly from the AST, without protobuf message objects.

The encoding is canonical: fields in ascending order, shortest varints, lists packed as in the
schema, unknown fields last.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from onnxtext.ast.model import Fragment, Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.nesting import nesting
from onnxtext.ast.records import Record
from onnxtext.ast.tensors_and_attributes import Attribute, SparseTensor, Tensor
from onnxtext.ast.types import Type
from onnxtext.proto.convert_records import lower_record
from onnxtext.proto.descriptors import message_spec
from onnxtext.proto.encode.lower_error import LowerError
from onnxtext.proto.encode.messages import Lowering
from onnxtext.proto.encode.types_and_tensors import entry, lower_type
from onnxtext.proto.presence_defaults import PresenceDefaults, presence_defaults
from onnxtext.proto.unknown_fields import RecordError
from onnxtext.select_core import Core, core, core_module
from onnxtext.tensor.blobs import BlobSource
from onnxtext.wire.writer import Piece, delimited

DEEP = 75
"""Protobuf can read all models up to this estimated nesting depth (see `lower_guarded`)."""

__all__ = ["LowerError", "lower_fragment", "lower_model", "lower_pieces", "lower_without_weights"]


def lower_model(
    model: Model, blob_source: BlobSource | None = None, *, verified: bool = False
) -> bytes:
    """Encode a model as a `ModelProto`.

    Args:
        model: the model.
        blob_source: finds blobs that are not in the model's resources.
        verified: whether the digests of the model's resources have been verified before.

    Raises:
        LowerError: a statement cannot be encoded, for example because a blob is missing.
        OnnxTextError: the encoding fails because of a value that the classes of the tree do not
            allow.
    """
    try:
        return b"".join(lower_pieces(model, blob_source, verified=verified))
    except LowerError:
        raise
    except Exception as error:
        from onnxtext.ast.wrong_values import raise_for_wrong_value

        raise_for_wrong_value(model, error)
        raise


def lower_pieces(
    model: Model, blob_source: BlobSource | None = None, *, verified: bool = False
) -> list[Piece]:
    """Encode a model as a `ModelProto` in pieces, so that weights are not copied.

    Args:
        model: the model.
        blob_source: finds blobs that are not in the model's resources.
        verified: whether the digests of the model's resources have been verified before.

    Raises:
        LowerError: a statement cannot be encoded, for example because a blob is missing.
    """
    return lower_guarded(model, blob_source, verified=verified)[0]


def lower_guarded(
    model: Model,
    blob_source: BlobSource | None = None,
    *,
    verified: bool = False,
    guard: Callable[[], object] | None = None,
    omit_repetitions: bool = False,
) -> tuple[list[Piece], int, int]:
    """Encode a model in pieces; call a guard before much data is read.

    Args:
        model: the model.
        blob_source: finds blobs that are not in the model's resources.
        verified: whether the digests of the model's resources have been verified before.
        guard: called once, before more than 1 MiB of blobs, files and repetitions is read.
        omit_repetitions: whether to leave out the repetitions of lists beyond 1 MiB.

    Returns:
        The pieces of the `ModelProto`, an estimate of the nesting depth of its messages, and the
        number of bytes that were left out.

    Raises:
        LowerError: a statement cannot be encoded, for example because a blob is missing.
    """
    try:
        defaults = presence_defaults(model.presence.version, model.presence.explicit)
    except RecordError as error:
        raise LowerError.of_record(error, 0) from None
    options = (defaults, model.resources, blob_source, verified, guard)
    many_repetitions: Literal["write", "omit"] = "omit" if omit_repetitions else "write"
    lowering = _encoder_class(core())(*options)
    lowering.many_repetitions = many_repetitions
    try:
        pieces = lowering.model(model)
    except LowerError:
        if core() == "python":
            raise
        lowering = Lowering(*options)
        lowering.many_repetitions = many_repetitions
        pieces = lowering.model(model)  # only Python raises the first error in the text
    if model.encoding_habits:
        pieces = [_apply_encoding_habits(model, b"".join(pieces))]
    return pieces, _depth(lowering), lowering.omitted


def _depth(lowering: Any) -> int:
    """Estimate the nesting depth of the messages that `lowering` has encoded."""
    return 3 * lowering.deepest + 2 * lowering.deepest_type  # type: ignore[no-any-return]


@cache
def _encoder_class(chosen: Core) -> Any:
    """Return the class of a core that encodes one model; its arguments are those of `Lowering`."""
    return Lowering if chosen == "python" else core_module("proto.encode_graphs").Encoder


@cache
def lowering_class(chosen: Core) -> type[Lowering]:
    """Return the `Lowering` class of a core."""
    if chosen == "python":
        return Lowering
    from onnxtext.proto.encode.native import CoreLowering

    return CoreLowering


def lower_without_weights(model: Model, blob_source: BlobSource | None = None) -> bytes | None:
    """Encode a model without the data of large blobs, files and tensors that repeat an item.

    A tensor whose data is left out refers to an external file that does not exist. `blob_source`
    finds blobs that are not in the model's resources.

    Return None if a statement cannot be encoded, for example because a blob is missing, or if lists
    have more than 1 MiB of repetitions, for which type inference is slow.
    """
    try:
        defaults = PresenceDefaults(model.presence)
        lowering = lowering_class(core())(defaults, model.resources, blob_source, omit_weights=True)
        lowering.many_repetitions = "reject"
        return b"".join(lowering.model(model))
    except (LowerError, RecordError):
        return None


def _apply_encoding_habits(model: Model, data: bytes) -> bytes:
    from onnxtext.proto.encoding_habits import Encoder, HabitError

    try:
        return Encoder(model.encoding_habits).encode("ModelProto", data)
    except HabitError as error:
        raise LowerError(str(error), 0, mark=f"encoding {error.mark}") from None


def lower_fragment(fragment: Fragment, message: str = "") -> bytes:
    """Encode a fragment as its message: `GraphProto`, `FunctionProto`, `NodeProto` and so on.

    A value info with data becomes a `TensorProto`. A list of nodes becomes the `node` fields of a
    `GraphProto`.

    Args:
        fragment: the fragment.
        message: the name of the message type, needed only if the fragment is a record.

    Raises:
        LowerError: the fragment cannot be encoded, for example because its data is in a blob.
    """
    return lower_measured(fragment, message)[0]


def lower_measured(fragment: Fragment, message: str = "") -> tuple[bytes, int]:
    """Return the result of `lower_fragment`, and an estimate of the nesting depth of its messages.

    Raises:
        LowerError: the fragment cannot be encoded.
    """
    item = fragment.item
    try:
        if isinstance(item, Record):
            return lower_record(message_spec(message), item), 2 * nesting(item)
        lowering = lowering_class(core())(PresenceDefaults(fragment.presence))
    except RecordError as error:
        raise LowerError.of_record(error, -1) from None
    if isinstance(item, Type):
        lowering.deepest_type = nesting(item)
    return lower_item(lowering, fragment), _depth(lowering)


def lower_item(lowering: Lowering, fragment: Fragment) -> bytes:
    """Encode the item of a fragment as `lower_fragment` does; the item must not be a record.

    Raises:
        LowerError: the item cannot be encoded, for example because a blob cannot be read.
    """
    assert not isinstance(fragment.item, Record)
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
        case tuple() as pair:
            return entry(*pair)
    try:
        return lower_type(fragment.item)
    except RecordError as error:
        raise LowerError.of_record(error, -1) from None


def fragment_message(fragment: Fragment) -> str | None:
    """Return the message type of a value info or tensor; None for other fragments.

    A value info with data is a `TensorProto`.
    """
    match fragment.item:
        case ValueInfo() as value:
            return "ValueInfoProto" if value.data is None else "TensorProto"
        case Tensor():
            return "TensorProto"
        case SparseTensor():
            return "SparseTensorProto"
    return None
