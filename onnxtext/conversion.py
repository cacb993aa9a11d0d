# SPDX-License-Identifier: Apache-2.0
"""Convert between binary and text, with weights in the text or in files beside it.

`onnxtext.api` is built on this; the command line uses it directly.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from onnxtext.ast.model import EncodingPatch, Function, Graph, Model
from onnxtext.ast.visit import list_graphs
from onnxtext.collector import paused_collector, reuse_memory
from onnxtext.diagnostics import Diagnostic, OnnxTextError, OnnxTextWarning
from onnxtext.errors import (
    check_declared_size,
    check_encoded_size,
    invalid_model_error,
    left_out,
    lowering_error,
    warn_if_suspicious,
)
from onnxtext.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx

    from onnxtext.ast.types import TensorType
    from onnxtext.ast.values import DataFile
    from onnxtext.tensor.blobs import Elsewhere
    from onnxtext.weights.external import ExternalFile
    from onnxtext.weights.writer import WeightFiles, Weights
    from onnxtext.wire.writer import Piece

    P = TypeVar("P", onnx.ModelProto, onnx.GraphProto, onnx.FunctionProto, onnx.NodeProto)

Metadata = Literal["auto", "inline", "section", "none"]

# ---- Binary to text -------------------------------------------------------------------------


def print_binary(
    data: bytes,
    target: Path | None,
    *,
    weights: Weights = "section",
    inline_limit: int = 32,
    metadata: Metadata = "auto",
    place: str | None = None,
    embed_from: Path | None = None,
    stats: bool = False,
    name: str = "<bytes>",
) -> tuple[str, WeightFiles | None]:
    """Print a binary model as text, with its weights in the text or beside it.

    Args:
        data: as for `from_binary`; mapped bytes are not copied.
        target: the file of the text; without one, no weights are written beside it, and `auto`
            means `section`.
        weights: as for `dump`.
        inline_limit: as for `from_binary`.
        metadata: as for `from_binary`.
        place: the name of the store or file; derived from the text's name if None.
        embed_from: the directory of the model's file, to embed its external data; None to keep
            references.
        stats: whether to add comments with statistics of each blob.
        name: as for `from_binary`.

    Returns:
        The text, and the weight files that have to be written before it, if any.

    Raises:
        OnnxTextError: the bytes are not a valid `ModelProto`.
    """
    from onnxtext.printer import print_model
    from onnxtext.tensor.blobs import BlobError

    beside: WeightFiles | None = None
    reuse_memory(len(data))
    try:
        with paused_collector():
            digests: dict[str, str] = {}
            model = lift_placed(
                data,
                weights=weights,
                inline_limit=inline_limit,
                metadata=metadata,
                digests=digests,
                embed_from=embed_from,
            )
            comments = ""
            if stats and model.resources:
                from onnxtext.weights.statistics import describe_blobs

                comments = describe_blobs(model)
            if weights == "none" and model.resources:
                model.resources, model.resources_left_out = {}, True
            if target is not None and digests:
                from onnxtext.weights.writer import move_resources

                beside = move_resources(model, digests, weights, target, place)
            text = print_model(model)
            if comments:
                text = comments.join(text.rpartition("\nresources ")[::2])
            del model  # before the collector traverses it
    except BlobError as error:
        raise OnnxTextError(Diagnostic(error.code, str(error), file=name)) from None
    except ValueError as error:  # LiftError, and numpy's errors on corrupt lists
        raise invalid_model_error(data, error, name) from None
    warn_if_suspicious(data, name)
    return text, beside


def lift_placed(
    data: bytes,
    *,
    weights: str = "section",
    inline_limit: int = 32,
    metadata: str = "auto",
    digests: dict[str, str] | None = None,
    embed_from: Path | None = None,
) -> Model:
    """Return the syntax tree that `from_binary` prints; it is checked to lower to the same bytes.

    Args:
        data: an encoded `ModelProto`.
        weights: as for `from_binary`.
        inline_limit: as for `from_binary`.
        metadata: as for `from_binary`.
        digests: filled with the full digests of the resources.
        embed_from: as for `print_binary`; the tree then lowers to another model.

    Raises:
        LiftError: the bytes are not a valid `ModelProto`.
    """
    from onnxtext.printer.placement import keep_metadata, leave_metadata_out, place_metadata
    from onnxtext.printer.weights import move_weights
    from onnxtext.proto.decode.lift import lift_model

    def move(model: Model, graphs: list[Graph | Function]) -> None:
        if weights != "inline":
            moved = move_weights(model, graphs, inline_limit=inline_limit)
            if digests is not None:
                digests.clear()
                digests.update(moved)

    def finish(model: Model, graphs: list[Graph | Function]) -> None:
        if metadata in ("auto", "section"):
            place_metadata(model, graphs, short_too=metadata == "section")
        else:
            keep_metadata(graphs)
        if embed_from is None:
            move(model, graphs)

    model = lift_model(data, finish)
    if embed_from is not None:
        from onnxtext.weights.external import embed_external

        if embed_external(model, embed_from):
            model.encoding = None  # it was for the unchanged model
        move(model, list_graphs(model))
    if metadata == "none":
        leave_metadata_out(model)
    return model


# ---- Text to binary -------------------------------------------------------------------------


def encode_text(
    text: str, *, base_dir: str | os.PathLike[str] | None = None, name: str = "<string>"
) -> list[Piece]:
    """Return the bytes of `to_binary` in pieces; weights beside the text are mapped, not copied.

    Args:
        text: as for `to_binary`.
        base_dir: as for `to_binary`.
        name: as for `to_binary`.

    Raises:
        OnnxTextError: as for `to_binary`.
    """
    from onnxtext.syntax.parse import parse_model

    source = Source(text, name)
    reuse_memory(len(text))
    with paused_collector():
        model = parse_model(source)
        pieces = encode(model, source, elsewhere=FilesBeside(model, base_dir))
        del model  # before the collector traverses it
    return pieces


def encode(
    model: Model,
    source: Source,
    *,
    elsewhere: Elsewhere | None = None,
    external: ExternalFile | None = None,
) -> list[Piece]:
    """Encode a model that was read from a text.

    Args:
        model: the model.
        source: its text.
        elsewhere: finds the data that is not in the text.
        external: the file to move tensor data to, as external data.

    Raises:
        OnnxTextError: the model cannot be encoded, or its weights are missing.
    """
    from onnxtext.proto.encode.lower import LowerError

    missing = left_out(model, source)
    if missing:
        raise OnnxTextError(*missing)
    if external is not None:
        _externalize(model, source, elsewhere, external)
    try:
        pieces = lower_checked(model, source, elsewhere)
    except LowerError as error:
        check_declared_size(model, source)  # report an oversized model like `check` does
        raise lowering_error(error, source) from None
    if model.encoding is not None:
        return [_restore_encoding(model, model.encoding, joined(pieces), source.name, elsewhere)]
    return pieces


def lower_checked(model: Model, source: Source, elsewhere: Elsewhere | None) -> list[Piece]:
    """Lower a model, and check that protobuf can read the result.

    Raises:
        LowerError: the model does not fit the schema, or its weights are missing.
        OnnxTextError: the model is too large, or nested too deep.
    """
    from onnxtext.proto.encode.lower import lower_guarded

    pieces, depth = lower_guarded(
        model, elsewhere, guard=lambda: check_declared_size(model, source)
    )
    check_encoded_size(sum(map(len, pieces)), "model would take", source)
    if depth > _DEEP:
        import onnx

        decode_message(onnx.ModelProto, b"".join(pieces), source)
    return pieces


def joined(pieces: Sequence[Piece]) -> bytes:
    """Join pieces."""
    return pieces[0] if len(pieces) == 1 and type(pieces[0]) is bytes else b"".join(pieces)


class FilesBeside:
    """Finds data in files beside a text; opens them on first use."""

    def __init__(self, model: Model, base_dir: str | os.PathLike[str] | None) -> None:
        self._places = model.places
        self._base = None if base_dir is None else Path(base_dir)

    @cached_property
    def _reader(self) -> Elsewhere:
        from onnxtext.weights.reader import Reader

        return Reader(self._base, self._places)

    def find(self, digest: str) -> bytes | memoryview:
        """Return the bytes of a blob."""
        if not self._places:
            from onnxtext.tensor.blobs import unknown

            raise unknown(digest)
        return self._reader.find(digest)

    def array(self, file: DataFile, type: TensorType) -> bytes | memoryview:
        """Return the elements of an array in a data file."""
        return self._reader.array(file, type)


def embed(model: Model, source: Source, base_dir: Path) -> None:
    """Embed external data in a model.

    Raises:
        OnnxTextError: a file is missing, outside of the directory, or does not match its reference.
    """
    from onnxtext.tensor.blobs import BlobError
    from onnxtext.weights.external import embed_external

    try:
        if embed_external(model, base_dir):
            model.encoding = None  # it was for the unchanged model
    except BlobError as error:
        raise OnnxTextError(Diagnostic(error.code, str(error), source=source)) from None
    check_declared_size(model, source)


def _externalize(
    model: Model, source: Source, elsewhere: Elsewhere | None, external: ExternalFile
) -> None:
    from onnxtext.tensor.blobs import BlobError
    from onnxtext.weights.external import externalize
    from onnxtext.weights.reader import Reader

    model.encoding = None  # it was for the unchanged model
    try:
        externalize(model, external, elsewhere or Reader(None, ()))
    except BlobError as error:
        raise OnnxTextError(Diagnostic(error.code, str(error), source=source)) from None


_DEEP = 75
"""Protobuf reads any nesting up to this depth; deeper models are test-parsed."""


def _restore_encoding(
    model: Model, encoding: EncodingPatch, data: bytes, name: str, elsewhere: Elsewhere | None
) -> bytes:
    """Return the original bytes, if the text still describes the same model."""
    from onnxtext.wire.encoding_patch import apply_patch
    from onnxtext.wire.reader import WireError

    if hashlib.sha256(data).hexdigest() == encoding.canonical:
        try:
            restored = apply_patch(data, encoding.patch)
        except WireError:
            pass
        else:
            if _same_model(restored, model, elsewhere):
                return restored
    warnings.warn(
        f"{name}: the encoding section no longer fits the model, which is encoded canonically; "
        "remove the section",
        OnnxTextWarning,
        stacklevel=4,
    )
    return data


def _same_model(data: bytes, model: Model, elsewhere: Elsewhere | None) -> bool:
    """Whether bytes encode a model: a patch must not change the model."""
    from onnxtext.proto.decode.lift import LiftError, canonical_encoding
    from onnxtext.proto.encode.lower import lower_model

    try:
        plain = lower_model(replace(model, encoding_habits=()), elsewhere)
        return canonical_encoding(data) == plain
    except LiftError:
        return False


def decode_message(message_type: type[P], data: bytes, source: Source) -> P:
    """Decode a message of the `onnx` package.

    Raises:
        OnnxTextError: the message is nested deeper than protobuf reads.
    """
    from google.protobuf.message import DecodeError

    try:
        return message_type.FromString(data)
    except DecodeError as error:
        if "alloc" in str(error):
            raise MemoryError from error
        raise OnnxTextError(
            Diagnostic(
                "too-deep",
                "messages would be nested deeper than the hundred levels that protobuf reads",
                source=source,
            )
        ) from None
