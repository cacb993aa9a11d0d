# SPDX-License-Identifier: Apache-2.0
"""Decode wire bytes to the AST, and prove that encoding the AST gives the same bytes.

The fast path decodes every item, ignores unknown fields and encodes the result. If the encoding
equals the input (nearly always), the AST is complete and the input is canonical. Otherwise,
protobuf makes the input canonical, and the fast path is tried again. If this fails, the slow
path encodes each item, and compares the result with the item's own bytes. It adds
`residual_decorators` for fields that the AST lacks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from onnxtext.ast.compact_form.list_order import place_order
from onnxtext.ast.metadata_decorators import inline_all_metadata, inline_metadata
from onnxtext.ast.model import EncodingPatch, Fragment, Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import Tensor
from onnxtext.ast.visit import list_graphs
from onnxtext.plurals import with_article
from onnxtext.proto.decode.fields import all_fields
from onnxtext.proto.decode.messages import Lifter
from onnxtext.proto.decode.nodes import NO_DEFAULTS
from onnxtext.proto.decode.single_messages import lift_item, record_fragment, with_official_defaults
from onnxtext.proto.decode.types_and_tensors import NotCanonical
from onnxtext.proto.encode.lower import (
    DEEP,
    LowerError,
    lower_fragment,
    lower_guarded,
    lower_measured,
    lower_model,
)
from onnxtext.proto.presence_defaults import settle_presence
from onnxtext.proto.unknown_fields import canonical_unknown_fields
from onnxtext.proto.unreachable_annotations import settle_annotations
from onnxtext.select_core import core, core_module
from onnxtext.wire.compare_pieces import pieces_equal
from onnxtext.wire.encoding_patch import make_patch
from onnxtext.wire.reader import WireError
from onnxtext.wire.writer import LENGTH, Piece


class LiftError(ValueError):
    """The bytes are not a message of the expected type, or not canonical (see `lift_fragment`).

    Attributes:
        offset: the byte offset; None if unknown.
    """

    def __init__(self, message: str, offset: int | None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


Finish = Callable[[Model, list[Graph | Function] | None, int], None]
"""A function that rearranges a model that was just decoded, without changing its meaning.

Its arguments are the model, all its graphs (None if it has no metadata except in its header), and
the first item of `Facts`.
"""

Facts = tuple[int, bool, list[list[Node]], list[Tensor] | None]
"""Facts that the native core collects about a model while it decodes the model. In order:

- the number of elements of the largest tensor or attribute list; -1 if it is unknown or there is a
  long string;
- whether the model has no annotations, and no metadata except in its header;
- the nodes of all graphs and functions, if a node stores, or may store, an empty domain or doc
  string;
- the tensors in attributes; None if unknown.
"""
_UNKNOWN: Facts = (-1, False, [], None)


def lift_model(data: bytes, finish: Finish | None = None, most_ints: int = sys.maxsize) -> Model:
    """Return the AST of a `ModelProto`; encoding the AST gives exactly the same bytes.

    Args:
        data: the bytes.
        finish: a function that rearranges the model (see `Finish`); it is called before the
            encoding is compared with `data`.
        most_ints: the native core decodes a list of more ints in an attribute as a `RepeatedList`,
            or as `PackedInts`, which `finish` must replace.

    Raises:
        LiftError: the bytes are not a `ModelProto`.
    """
    lowered, model = _lift_proven(data, "ModelProto", finish, most_ints)
    assert isinstance(model, Model)
    if lowered is not data:
        data = bytes(data)  # a memory map never compares equal to bytes
        if lowered != data:
            _record_encoding(model, lowered, data)
    return model


LARGE = 1 << 24
"""Maximum size, in bytes, of encodings that are joined before they are compared.

Joining is faster if there are many small nodes.
"""


def _record_encoding(model: Model, canonical: bytes, data: bytes) -> None:
    """Store in the model how the file deviates from `canonical`: as habits, a patch, or both."""
    from onnxtext.proto.encoding_habits import Encoder, observe_habits

    habits = observe_habits(data)
    encoded = Encoder(habits).encode("ModelProto", canonical) if habits else canonical
    patch = make_patch(encoded, data) if encoded != data else b""
    if habits and patch:
        # Habits that do not shorten the patch are useless.
        plain = make_patch(canonical, data)
        if len(plain) <= len(patch):
            habits, encoded, patch = (), canonical, plain
    model.encoding_habits = habits
    if patch:
        import hashlib

        model.encoding = EncodingPatch(hashlib.sha256(encoded).hexdigest(), patch)


def lift_fragment(data: bytes, message: str) -> Fragment:
    """Return the AST of a message other than a model.

    Args:
        data: the bytes that protobuf writes for the message. Varints in unknown fields, which
            protobuf copies, may be longer than necessary; the fragment has only their values.
        message: the name of the message type, such as `GraphProto` or `TypeProto.Tensor`.

    Raises:
        LiftError: the bytes are not a message of this type, or not canonical.
    """
    lowered, fragment = _lift_proven(data, message)
    assert isinstance(fragment, Fragment)
    if lowered != data:
        data = bytes(canonical_unknown_fields(message, data))
    if lowered != data and message not in _NODES_AND_GRAPHS:
        fragment = record_fragment(data, message)
        lowered = lower_fragment(fragment, message)
    if lowered != data:
        raise LiftError(f"the {message} is not encoded canonically", None)
    return with_official_defaults(fragment, data, message)


_NODES_AND_GRAPHS = ("GraphProto", "FunctionProto", "NodeProto")
"""Messages that never become records, because their fields without syntax become decorators."""


def _lift_proven(
    data: bytes, message: str, finish: Finish | None = None, most_ints: int = sys.maxsize
) -> tuple[bytes, Model | Fragment]:
    """Return the canonical encoding and the AST of a message.

    If the fast path shows that `data` is canonical, the encoding is `data` itself.

    Raises:
        LiftError: the bytes are not a message of the type `message`.
    """
    fast, differs = lift_in_one_pass(data, message, finish, most_ints)
    if fast is not None:
        return data, fast
    # Let protobuf validate the bytes and encode them canonically.
    canonical = canonical_message(data, message)
    if canonical != bytes(data):
        fast, differs = lift_in_one_pass(canonical, message, finish, most_ints)
        if fast is not None:
            return canonical, fast
    try:
        canonical = bytes(canonical_unknown_fields(message, canonical))
        lifted = lift_with(
            Lifter(compare_items=True, graph_differs=differs), canonical, message, finish
        )
        return _lower(lifted, message), lifted
    except WireError as error:
        raise LiftError(error.message, error.offset) from None


def lift_in_one_pass(
    data: bytes, message: str, finish: Finish | None, most_ints: int = sys.maxsize
) -> tuple[Model | Fragment | None, bool]:
    """Decode without comparing items.

    Returns:
        (AST, False) if the AST is complete; otherwise (None, differs). `differs` is True if a
        model's encoding differs from `data` before the end of the main graph.

    Raises:
        LiftError: protobuf cannot read the message, for example because it is nested too deeply.
    """
    try:
        lifted = _lift_fast(data, message, finish, most_ints)
        if not isinstance(lifted, Model):
            encoded, depth = lower_measured(lifted, message)
            if depth > DEEP:
                canonical_message(data, message)  # protobuf checks the depth
            return (lifted if encoded == bytes(data) else None), False
        pieces, depth, _ = lower_guarded(lifted, verified=True)
        if depth > DEEP:
            canonical_message(data, message)
        # Do not join the pieces of large models: their weights share memory with `data`.
        if len(data) > LARGE:
            is_complete = pieces_equal(pieces, data)
        else:
            pieces = [b"".join(pieces)]
            is_complete = pieces[0] == bytes(data)  # a memory map never compares equal to bytes
        return (lifted, False) if is_complete else (None, _graph_differs(pieces, data))
    except (WireError, LowerError, NotCanonical):
        return None, False


def _graph_differs(pieces: list[Piece], data: bytes) -> bool:
    """Whether the encoding in `pieces` differs from `data` before the end of the main graph.

    If `data` is canonical, only the graph can differ, not the fields before it.
    """
    ends = (f.end for f in all_fields(data) if f.number == 7 and f.wire_type == LENGTH)
    left = end = next(ends, 0)
    start: list[Piece] = []
    for piece in pieces:
        start.append(memoryview(piece)[:left])
        left -= len(start[-1])
    return not pieces_equal(start, memoryview(data)[:end])


def canonical_encoding(data: bytes) -> bytes:
    """Return the canonical encoding of the `ModelProto` in `data`.

    Raises:
        LiftError: the bytes are not a `ModelProto`.
    """
    return _lift_proven(data, "ModelProto")[0]


def _lift_fast(
    data: bytes, message: str, finish: Finish | None, most_ints: int
) -> Model | Fragment:
    """Decode with the selected core; after an error, repeat in Python, which defines the errors."""
    if core() == "python":
        return lift_with(Lifter(compare_items=False), data, message, finish)
    try:
        if message == "ModelProto":
            decoder = core_module("proto.decode_models").ModelDecoder({}, most_ints)
            model: Model | None = decoder.model(data)
            if model is not None:
                return _settle(model, finish, decoder.facts())
        return lift_with(Lifter(compare_items=False), data, message, finish)
    except WireError:
        return lift_with(Lifter(compare_items=False, native=False), data, message, finish)


def lift_with(lifter: Lifter, data: bytes, message: str, finish: Finish | None) -> Model | Fragment:
    """Decode a message with `lifter`; return it after `_settle`."""
    lifted: Model | Fragment
    match message:
        case "ModelProto":
            lifted = lifter.model(data)
        case "GraphProto":
            lifted = Fragment(lifter.graph(data), NO_DEFAULTS)
        case "FunctionProto":
            lifted = Fragment(lifter.function(memoryview(data)), NO_DEFAULTS)
        case _:
            lifted = lift_item(lifter, data, message)
    return _settle(lifted, finish, _UNKNOWN)


def _settle(lifted: Model | Fragment, finish: Finish | None, facts: Facts) -> Model | Fragment:
    """Choose the presence defaults of a decoded message; place its metadata and annotations.

    Args:
        lifted: the message; changed in place.
        finish: the function that rearranges a model. Without it, and for fragments, the metadata
            of nodes and values becomes `@meta` decorators.
        facts: what is known about the message (see `Facts`).
    """
    largest, is_plain, nodes, tensors = facts
    if isinstance(lifted, Model) and lifted.graph.decorators:
        place_order(lifted)
    graphs: list[Graph | Function] = []
    if not is_plain:
        graphs = list_graphs(lifted)
        nodes = [graph.nodes for graph in graphs]
    if nodes or tensors or not is_plain:
        settle_presence(lifted, nodes, tensors)
    if not is_plain:
        settle_annotations(lifted, graphs)
    if finish is not None and isinstance(lifted, Model):
        finish(lifted, None if is_plain else graphs, largest)
    elif not is_plain:
        inline_all_metadata(graphs)
        item = lifted.item if isinstance(lifted, Fragment) else None
        if isinstance(item, (Node, ValueInfo)) and item.metadata:
            inline_metadata(item)
    return lifted


def _lower(lifted: Model | Fragment, message: str) -> bytes:
    if isinstance(lifted, Model):
        return lower_model(lifted, verified=True)
    return lower_fragment(lifted, message)


def canonical_message(data: bytes, message: str) -> bytes:
    """Parse a message with protobuf, and return protobuf's encoding of it, which is canonical.

    Raises:
        LiftError: protobuf cannot read the message.
        MemoryError: there is not enough memory.
    """
    from google.protobuf.message import DecodeError, EncodeError

    from onnxtext.proto.descriptors import message_class

    try:
        canonical: bytes = message_class(message).FromString(bytes(data)).SerializeToString()
    except EncodeError as error:  # a decoded message can be encoded unless memory runs out
        raise MemoryError from error
    except DecodeError as error:
        if "alloc" in str(error):
            raise MemoryError from error
        problem = f"protobuf cannot read these bytes as {with_article(message)}"
        raise LiftError(problem, None) from None
    return canonical
