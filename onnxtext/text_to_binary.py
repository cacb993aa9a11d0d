# SPDX-License-Identifier: Apache-2.0
"""Convert text to binary, with weights in the text or in files beside the text.

`onnxtext.api` is built on this module; the command line uses the module directly.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from onnxtext.ast.model import EncodingPatch, Model
from onnxtext.conversion_errors import (
    check_declared_size,
    check_encoded_size,
    left_out_errors,
    lowering_error,
)
from onnxtext.diagnostics import Diagnostic, OnnxTextError, OnnxTextWarning
from onnxtext.io.memory import paused_collector
from onnxtext.proto.encode.lower import DEEP, LowerError, lower_guarded, lower_model
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model
from onnxtext.weights.find_blobs import BlobReader

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from onnxtext.tensor.blobs import BlobSource
    from onnxtext.weights.external_data import ExternalFile
    from onnxtext.wire.writer import Piece

    P = TypeVar("P", bound=Message)


def encode_text(
    text: str,
    *,
    base_dir: str | os.PathLike[str] | None = None,
    name: str = "<string>",
    max_bytes: int | None = None,
) -> list[Piece]:
    """Encode the text of a whole model; return the bytes in pieces.

    Weights in files beside the text are not copied if the files are mapped (see `view_file`).

    Args:
        text: a text in the onnxtext language.
        base_dir: the directory of the text, to resolve references to weight files. If None, no file
            is read, and these references are errors. Files of external data are never read.
        name: the name of the text in messages.
        max_bytes: the maximum size of the weights; None for the limit of protobuf only.

    Raises:
        OnnxTextError: the text has errors, or cannot be encoded.
    """
    source = Source(text, name)
    with paused_collector(len(text)):
        model = parse_model(source)
        blob_source: BlobSource | None = None
        if base_dir is not None or model.places:
            blob_source = BlobReader.of(model, base_dir)
        pieces = encode(model, source, blob_source=blob_source, max_bytes=max_bytes)
        del model  # before the garbage collector traverses the tree
    return pieces


def encode(
    model: Model,
    source: Source,
    *,
    blob_source: BlobSource | None = None,
    external: ExternalFile | None = None,
    max_bytes: int | None = None,
) -> list[Piece]:
    """Return the encoded bytes of a model that was parsed from a text, in pieces.

    Args:
        model: the model; with `external`, it is changed in place.
        source: the text of the model.
        blob_source: finds the data that is not in the text; None if all data is in the text.
        external: the file to move tensor data to, as external data; None to move no data.
        max_bytes: the maximum size of the weights; None for the limit of protobuf only.

    Raises:
        OnnxTextError: the model cannot be encoded, or its weights are missing.
    """
    if model.metadata_left_out or model.resources_left_out:
        raise OnnxTextError(*left_out_errors(model, source))
    if external is not None:
        _move_to_external_file(model, source, blob_source, external)
    try:
        pieces, _ = lower_checked(model, source, blob_source, max_bytes)
    except LowerError as error:
        check_declared_size(model, source)  # report a model that is too large, as `check` does
        raise lowering_error(error, source) from None
    if model.encoding is not None:
        return [
            _restore_encoding(model, model.encoding, b"".join(pieces), source.name, blob_source)
        ]
    return pieces


def lower_checked(
    model: Model,
    source: Source,
    blob_source: BlobSource | None,
    max_bytes: int | None = None,
    *,
    omit_repetitions: bool = False,
) -> tuple[list[Piece], int]:
    """Encode a model to bytes, in pieces, and check that protobuf can read them.

    Returns:
        The pieces, and the number of bytes that were left out: 0 unless `omit_repetitions`.

    Raises:
        LowerError: the model does not fit the schema, or its weights are missing.
        OnnxTextError: the model is too large, or nested too deeply.
    """
    pieces, depth, omitted = lower_guarded(
        model,
        blob_source,
        guard=partial(check_declared_size, model, source, max_bytes),
        omit_repetitions=omit_repetitions,
    )
    check_encoded_size(sum(map(len, pieces)) + omitted, "model would take", source)
    if depth > DEEP:
        from onnxtext.proto.descriptors import message_classes

        decode_message(message_classes().ModelProto, b"".join(pieces), source)
    return pieces, omitted


def embed(model: Model, source: Source, base_dir: Path) -> None:
    """Replace references to external data in a model by the data.

    Args:
        model: the model; changed in place.
        source: the text of the model.
        base_dir: the directory that the references are relative to.

    Raises:
        OnnxTextError: a reference is invalid or does not match its file, the file is missing or
            outside of `base_dir`, or the model would be too large.
    """
    from onnxtext.weights.external_data import embed_external

    with _blob_diagnostics(source):
        embed_external(model, base_dir)
    check_declared_size(model, source)


@contextmanager
def _blob_diagnostics(source: Source) -> Iterator[None]:
    """Convert a `BlobError` of the `with` block to an `OnnxTextError`."""
    from onnxtext.tensor.blobs import BlobError

    try:
        yield
    except BlobError as error:
        if error.at >= 0:
            raise lowering_error(LowerError(str(error), error.at, error.code), source) from None
        raise OnnxTextError(Diagnostic(error.code, str(error), source=source)) from None


def _move_to_external_file(
    model: Model, source: Source, blob_source: BlobSource | None, external: ExternalFile
) -> None:
    from onnxtext.tensor.blobs import Blobs
    from onnxtext.weights.external_data import Externalizer

    model.encoding = None  # the encoding patch fits only the unchanged model
    with _blob_diagnostics(source):
        blobs = Blobs(model.resources)
        Externalizer(external, blobs, blob_source or BlobReader(None, ())).run(model)


def _restore_encoding(
    model: Model, encoding: EncodingPatch, data: bytes, name: str, blob_source: BlobSource | None
) -> bytes:
    """Patch `data`, the encoded model, to get the bytes of the original file.

    If the patch `encoding` does not fit `data`, warn and return `data`.
    """
    import hashlib

    from onnxtext.wire.encoding_patch import apply_patch
    from onnxtext.wire.reader import WireError

    if hashlib.sha256(data).hexdigest() == encoding.canonical:
        try:
            restored = apply_patch(data, encoding.patch)
        except WireError:
            pass
        else:
            if _same_model(restored, model, data, blob_source):
                return restored
    warnings.warn(
        f"{name}: the encoding section does not fit the model (was the text edited?), so the model "
        "is encoded canonically; remove the section",
        OnnxTextWarning,
        stacklevel=4,
    )
    return data


def _same_model(data: bytes, model: Model, encoded: bytes, blob_source: BlobSource | None) -> bool:
    """Whether `data` encodes `model`, canonically or not; `encoded` is its encoding by habits."""
    from onnxtext.proto.decode.lift import LiftError, canonical_encoding, canonical_message

    if model.encoding_habits:
        encoded = lower_model(replace(model, encoding_habits=()), blob_source)
    try:
        # Only long varints in unknown fields need the encoding of the syntax tree.
        return (
            canonical_message(data, "ModelProto") == encoded or canonical_encoding(data) == encoded
        )
    except LiftError:
        return False


def decode_message(message_type: type[P], data: bytes, source: Source) -> P:
    """Return the object of the `onnx` package for a message that onnxtext has encoded.

    Raises:
        OnnxTextError: the message is nested deeper than protobuf reads.
        MemoryError: there is not enough memory.
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
                "the text needs messages nested more than 100 levels deep, the limit of protobuf",
                source=source,
            )
        ) from None
