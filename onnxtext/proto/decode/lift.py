# SPDX-License-Identifier: Apache-2.0
"""Wire bytes to AST.

First the quick way: every item becomes its sugar, unknown things are passed over, and the whole is
lowered again. If that gives the same bytes (nearly always), the AST says everything, and the
encoding is proven canonical. If not, the careful way: each item is compared with its own bytes,
and what its sugar does not carry is added by `difference`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from onnxtext.ast.assemble import inline_metadata
from onnxtext.ast.model import EncodingPatch, Fragment, Function, Graph, Model
from onnxtext.ast.visit import list_graphs, walk_nodes
from onnxtext.core import core
from onnxtext.proto.annotations import settle_annotations
from onnxtext.proto.decode.messages import Lifter
from onnxtext.proto.decode.nodes import PLAIN
from onnxtext.proto.encode.lower import LowerError, lower_fragment, lower_model, lower_pieces
from onnxtext.proto.presence_defaults import settle_habits
from onnxtext.wire.compare import pieces_equal
from onnxtext.wire.patch import make_patch
from onnxtext.wire.reader import WireError


class LiftError(ValueError):
    """The bytes are no message of the wanted type.

    Attributes:
        message: why not.
        offset: byte offset, where known.
    """

    def __init__(self, message: str, offset: int | None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


Finish = Callable[[Model, list[Graph | Function]], None]
"""Rearranges a model that was just lifted, given all its graphs; its meaning must stay the same."""


def lift_model(data: bytes, finish: Finish | None = None) -> Model:
    """The AST of a `ModelProto`; lowering it gives the very same bytes.

    Args:
        data: the bytes.
        finish: what is done to the model before that is proven.

    Raises:
        LiftError: the bytes are no `ModelProto`.
    """
    lowered, model = _proven(data, "ModelProto", finish)
    assert isinstance(model, Model)
    if lowered is not data:
        plain = bytes(data)  # a map of a file equals no bytes
        if lowered != plain:
            _record_encoding(model, lowered, plain)
    return model


_LARGE = 1 << 24
"""Models of fewer bytes are compared as a whole, which is faster for many small nodes."""


def _record_encoding(model: Model, canonical: bytes, data: bytes) -> None:
    """Say in the model how its file is encoded: by habits if they explain it, else exactly."""
    from onnxtext.proto.encoding import Encoder, observe

    habits = observe(data)
    encoded = Encoder(habits).encode("ModelProto", canonical) if habits else canonical
    patch = make_patch(encoded, data) if encoded != data else b""
    if habits and patch:
        # A habit that many items break helps nobody: the shorter patch decides.
        plain = make_patch(canonical, data)
        if len(plain) <= len(patch):
            habits, encoded, patch = (), canonical, plain
    model.encoding_habits = habits
    if patch:
        model.encoding = EncodingPatch(hashlib.sha256(encoded).hexdigest(), patch)


def lift_fragment(data: bytes, message: str) -> Fragment:
    """The AST of a message on its own.

    Args:
        data: canonical bytes.
        message: `GraphProto`, `FunctionProto` or `NodeProto`.

    Raises:
        LiftError: the bytes are no such message.
    """
    lowered, fragment = _proven(data, message)
    assert isinstance(fragment, Fragment)
    if lowered != data:
        raise LiftError(f"the {message} is not encoded canonically", None)
    return fragment


def _proven(
    data: bytes, message: str, finish: Finish | None = None
) -> tuple[bytes, Model | Fragment]:
    """A lifted message and what it lowers to: the quick way if that proves it, else carefully."""
    quick = _proven_quickly(data, message, finish)
    if quick is not None:
        return data, quick
    # Protobuf decides whether the bytes are a message, and encodes it canonically.
    canonical = canonical_message(data, message)
    if canonical != bytes(data):
        quick = _proven_quickly(canonical, message, finish)
        if quick is not None:
            return canonical, quick
    try:
        made = _lift(Lifter(careful=True), canonical, message, finish)
        return _lower(made), made
    except WireError as error:
        raise LiftError(error.message, error.offset) from None


def _proven_quickly(data: bytes, message: str, finish: Finish | None) -> Model | Fragment | None:
    """A message lifted the quick way; None if it does not lower to the same bytes."""
    try:
        made = _lift_fast(data, message, finish)
        if len(data) > _LARGE and isinstance(made, Model):
            # Nothing is joined: the weights of both sides are the same memory.
            is_same = pieces_equal(lower_pieces(made, verified=True), data)
        else:
            is_same = _lower(made) == bytes(data)  # a map of a file equals no bytes
    except (WireError, LowerError):
        return None
    return made if is_same else None


def canonical_encoding(data: bytes) -> bytes:
    """The canonical encoding of the model that some bytes encode.

    Raises:
        LiftError: the bytes are no `ModelProto`.
    """
    return _proven(data, "ModelProto")[0]


def _lift_fast(data: bytes, message: str, finish: Finish | None) -> Model | Fragment:
    """Lift by the core that runs; of several errors it is the one that Python meets first."""
    try:
        return _lift(Lifter(careful=False), data, message, finish)
    except WireError:
        if core() == "python":
            raise
        return _lift(Lifter(careful=False, native=False), data, message, finish)


def _lift(lifter: Lifter, data: bytes, message: str, finish: Finish | None) -> Model | Fragment:
    made: Model | Fragment
    match message:
        case "ModelProto":
            made = lifter.model(data)
        case "GraphProto":
            made = Fragment(lifter.graph(data), PLAIN)
        case "FunctionProto":
            made = Fragment(lifter.function(memoryview(data)), PLAIN)
        case _:
            made = Fragment(lifter.node(data), PLAIN)
    graphs = list_graphs(made)
    settle_habits(made, graphs)
    settle_annotations(made, graphs)
    if finish is not None and isinstance(made, Model):
        finish(made, graphs)
        return made
    for node in walk_nodes(made):
        if node.metadata:
            inline_metadata(node)
    return made


def _lower(made: Model | Fragment) -> bytes:
    return lower_model(made, verified=True) if isinstance(made, Model) else lower_fragment(made)


def canonical_message(data: bytes, message: str) -> bytes:
    """The message as protobuf itself would write it.

    Raises:
        LiftError: protobuf cannot read it.
        MemoryError: there is not enough memory.
    """
    import onnx
    from google.protobuf.message import DecodeError, EncodeError

    try:
        canonical: bytes = getattr(onnx, message).FromString(bytes(data)).SerializeToString()
    except EncodeError as error:  # what was decoded can be encoded, if there is memory for it
        raise MemoryError from error
    except DecodeError as error:
        if "alloc" in str(error):
            raise MemoryError from error
        raise LiftError(f"protobuf reads no {message} from these bytes", None) from None
    return canonical
