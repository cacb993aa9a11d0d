# SPDX-License-Identifier: Apache-2.0
"""The functions that `onnxtext` offers; see `onnxtext/__init__.py` for the list."""

from __future__ import annotations

import hashlib
import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from onnxtext.ast.model import EncodingPatch, Fragment, Model
from onnxtext.collector import paused_collector
from onnxtext.diagnostics import Diagnostic, Label, OnnxTextError, OnnxTextWarning
from onnxtext.files import write_atomically
from onnxtext.refusals import (
    advise,
    check_size,
    incomplete,
    no_model,
    not_a_message,
    unlowerable,
    without_weights,
)
from onnxtext.source import Source, Span

if TYPE_CHECKING:
    import onnx

    from onnxtext.proto.losses import Loss
    from onnxtext.tensor.blobs import Elsewhere
    from onnxtext.weights.external import ExternalFile
    from onnxtext.weights.writer import Beside, Weights
    from onnxtext.wire.writer import Piece

    Proto = onnx.ModelProto | onnx.GraphProto | onnx.FunctionProto | onnx.NodeProto
    P = TypeVar("P", onnx.ModelProto, onnx.GraphProto, onnx.FunctionProto, onnx.NodeProto)

Metadata = Literal["auto", "inline", "section", "none"]

FRAGMENTS = {"GraphProto": "graph", "FunctionProto": "function", "NodeProto": "node"}
"""The messages other than `ModelProto` that have a text of their own, and what that is called."""


def parse(text: str, *, name: str = "<string>") -> Model:
    """Parse the text of a whole model.

    Args:
        text: in the onnxtext language, of which the official ONNX syntax is a part.
        name: what to call the text in messages, such as its file name.

    Returns:
        The abstract syntax tree.

    Raises:
        OnnxTextError: the text is not of the language.
    """
    from onnxtext.syntax.parse import parse_model

    return parse_model(Source(text, name))


def from_binary(
    data: bytes,
    *,
    weights: Literal["section", "inline", "none"] = "section",
    inline_limit: int = 64,
    metadata: Metadata = "auto",
    name: str = "<bytes>",
) -> str:
    """Print a binary model as text.

    The text says everything: `to_binary` gives the very same bytes back. For every model the
    syntax tree that was read is encoded again and compared, before it is printed.

    Args:
        data: an encoded `ModelProto`, in whatever way it is encoded.
        weights: where large tensors, strings and lists go: as blobs to a section at the end of
            the text (section); inline as literals; or nowhere, so that the text is for reading,
            and `to_binary` refuses it (none).
        inline_limit: how many elements a tensor may have that is written inline in any case.
        metadata: where metadata goes: to a section at the end of the text, but for short single
            entries (auto) or with them (section); to the statements it belongs to (inline); or
            nowhere: such a text is for reading, and `to_binary` refuses it (none).
        name: what to call the data in messages, such as its file name.

    Returns:
        The text, in the canonical layout.

    Raises:
        OnnxTextError: the bytes are no `ModelProto`.
    """
    return print_binary(
        data, None, weights=weights, inline_limit=inline_limit, metadata=metadata, name=name
    )[0]


def print_binary(
    data: bytes,
    target: Path | None,
    *,
    weights: Weights = "section",
    inline_limit: int = 64,
    metadata: Metadata = "auto",
    place: str | None = None,
    embed_from: Path | None = None,
    stats: bool = False,
    name: str = "<bytes>",
) -> tuple[str, Beside | None]:
    """Print a binary model as text, with its weights beside it.

    Args:
        data: as for `from_binary`; bytes that are mapped stay where they are.
        target: the file that the text will be in; None without one, for which no weights are
            beside the text: `auto` is `section` then.
        weights: as for `from_binary`; to a store or a safetensors file beside the text; `auto` is
            a section up to 1 MiB of weights, and a store beyond.
        inline_limit: as for `from_binary`.
        metadata: as for `from_binary`.
        place: the name of the store or file; None for one like the text's.
        embed_from: the directory of the model's file, to take its external data into the text or
            beside it; None to keep references as they are.
        stats: whether to say in comments what the numbers of each blob are like.
        name: as for `from_binary`.

    Returns:
        The text, and what has to be written before it, if anything.

    Raises:
        OnnxTextError: the bytes are no `ModelProto`.
    """
    from onnxtext.printer import print_model
    from onnxtext.tensor.blobs import BlobError

    beside: Beside | None = None
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
                from onnxtext.weights.writer import take_out

                beside = take_out(model, digests, weights, target, place)
            text = print_model(model)
            if comments:
                text = comments.join(text.rpartition("\nresources ")[::2])
            del model  # before the collector looks at all of it
    except BlobError as error:
        raise OnnxTextError(Diagnostic(error.code, str(error), file=name)) from None
    except ValueError as error:  # LiftError is one, and what numpy says of corrupt lists
        raise no_model(data, error, name) from None
    advise(data, name)
    return text, beside


def lift_placed(
    data: bytes,
    *,
    weights: str = "section",
    inline_limit: int = 64,
    metadata: str = "auto",
    digests: dict[str, str] | None = None,
    embed_from: Path | None = None,
) -> Model:
    """The syntax tree that `from_binary` prints; that it lowers to the same bytes is proven.

    Args:
        data: an encoded `ModelProto`.
        weights: as for `from_binary`.
        inline_limit: as for `from_binary`.
        metadata: as for `from_binary`.
        digests: takes the whole digests of the resources.
        embed_from: as for `print_binary`; the tree then lowers to another model.

    Raises:
        LiftError: the bytes are no `ModelProto`.
    """
    from onnxtext.printer.placement import leave_metadata_out, place_metadata
    from onnxtext.printer.weights import move_weights
    from onnxtext.proto.lift import lift_model

    def move(model: Model) -> None:
        if weights != "inline":
            moved = move_weights(model, inline_limit=inline_limit)
            if digests is not None:
                digests.clear()
                digests.update(moved)

    def finish(model: Model) -> None:
        if metadata in ("auto", "section"):
            place_metadata(model, short_too=metadata == "section")
        if embed_from is None:
            move(model)

    model = lift_model(data, finish)
    if embed_from is not None:
        from onnxtext.weights.external import embed_external

        if embed_external(model, embed_from):
            model.encoding = None  # it is of the model as it was
        move(model)
    if metadata == "none":
        leave_metadata_out(model)
    return model


def to_official(data: bytes, *, name: str = "<bytes>") -> tuple[str, list[Loss]]:
    """Print a binary model in the official syntax, which `onnx.parser.parse_model` reads.

    Args:
        data: an encoded `ModelProto`, in whatever way it is encoded.
        name: what to call the data in messages, such as its file name.

    Returns:
        The text, and what it cannot carry of the model; the last of the losses may be harmless.

    Raises:
        OnnxTextError: the bytes are no `ModelProto`.
    """
    from onnxtext.printer.official import print_official
    from onnxtext.proto.reduce import lift_reduced

    try:
        with paused_collector():
            model, losses = lift_reduced(data)
            text = print_official(model)
    except ValueError as error:
        raise no_model(data, error, name) from None
    advise(data, name)
    return text, losses


def to_binary(
    text: str, *, base_dir: str | os.PathLike[str] | None = None, name: str = "<string>"
) -> bytes:
    """Encode the text of a whole model.

    Args:
        text: in the onnxtext language.
        base_dir: the directory of the text, from which it names the files beside it that hold its
            weights. Without it nothing is read from disk, and such a text is an error.
        name: what to call the text in messages, such as its file name.

    Returns:
        An encoded `ModelProto`.

    Raises:
        OnnxTextError: the text is not of the language, or says what no model can hold.
    """
    pieces = encode_text(text, base_dir=base_dir, name=name)
    return pieces[0] if len(pieces) == 1 and type(pieces[0]) is bytes else b"".join(pieces)


def encode_text(
    text: str,
    *,
    base_dir: str | os.PathLike[str] | None = None,
    embed_external: bool = False,
    external: ExternalFile | None = None,
    name: str = "<string>",
) -> list[Piece]:
    """What `to_binary` gives, in pieces: weights in files beside the text are mapped, not copied.

    Args:
        text: as for `to_binary`.
        base_dir: as for `to_binary`.
        embed_external: whether data that the text refers to as external is put into the model.
        external: takes the data of tensors, which the model then refers to as external.
        name: as for `to_binary`.

    Raises:
        OnnxTextError: as for `to_binary`.
    """
    from onnxtext.proto.lower import LowerError, lower_pieces
    from onnxtext.syntax.parse import parse_model

    source = Source(text, name)
    with paused_collector():
        model = parse_model(source)
        if model.metadata_left_out:
            raise incomplete(source)
        if model.resources_left_out:
            raise without_weights(model, source)
        elsewhere = _elsewhere(model, source, base_dir)
        if embed_external or external is not None:
            _convert_external(model, source, base_dir, embed_external, external)
        elif elsewhere is not None:
            check_size(model, source)
        try:
            pieces = lower_pieces(model, elsewhere)
        except LowerError as error:
            raise unlowerable(error, source) from None
        _check_depth(pieces, source)
        if model.encoding is not None:
            data = b"".join(pieces)
            pieces = [_restore_encoding(model, model.encoding, data, name, elsewhere)]
        del model  # before the collector looks at all of it
    return pieces


def _elsewhere(
    model: Model, source: Source, base_dir: str | os.PathLike[str] | None
) -> Elsewhere | None:
    """Where the data is that a text does not hold; None for texts that hold all."""
    if not model.places and 'file"' not in source.text:
        return None
    from onnxtext.weights.reader import Reader

    return Reader(None if base_dir is None else Path(base_dir), model.places)


def _convert_external(
    model: Model,
    source: Source,
    base_dir: str | os.PathLike[str] | None,
    embed: bool,
    external: ExternalFile | None,
) -> None:
    """Change where a model's data is."""
    from onnxtext.tensor.blobs import BlobError
    from onnxtext.weights.external import embed_external, externalize
    from onnxtext.weights.reader import Reader

    base = None if base_dir is None else Path(base_dir)
    model.encoding = None  # it is of the model as it was
    try:
        if embed:
            embed_external(model, base)
        if external is None:
            check_size(model, source)
        else:
            externalize(model, external, Reader(base, model.places))
    except BlobError as error:
        raise OnnxTextError(Diagnostic(error.code, str(error), source=source)) from None


@overload
def loads(
    text: str, *, base_dir: str | os.PathLike[str] | None = ..., name: str = ...
) -> onnx.ModelProto: ...
@overload
def loads(
    text: str,
    message_type: type[P],
    *,
    base_dir: str | os.PathLike[str] | None = ...,
    name: str = ...,
) -> P: ...
def loads(
    text: str,
    message_type: type[Any] | None = None,
    *,
    base_dir: str | os.PathLike[str] | None = None,
    name: str = "<string>",
) -> Any:
    """Parse a text to a message of the `onnx` package.

    Args:
        text: in the onnxtext language.
        message_type: `onnx.ModelProto` (the default), `GraphProto`, `FunctionProto` or
            `NodeProto`.
        base_dir: as for `to_binary`.
        name: what to call the text in messages, such as its file name.

    Raises:
        OnnxTextError: the text is not of the language, or says what no message can hold.
        TypeError: there is no text of such messages.
    """
    import onnx

    message = "ModelProto" if message_type is None else _message_name(message_type)
    if message == "ModelProto":
        return onnx.ModelProto.FromString(to_binary(text, base_dir=base_dir, name=name))
    from onnxtext.proto.lower import LowerError, lower_fragment
    from onnxtext.syntax.parse import parse_fragment

    source = Source(text, name)
    fragment = parse_fragment(source, FRAGMENTS[message])
    try:
        data = lower_fragment(fragment)
    except LowerError as error:
        raise unlowerable(error, source) from None
    return _decode(getattr(onnx, message), data, source)


def dumps(proto: Proto) -> str:
    """Print a message of the `onnx` package as text.

    Args:
        proto: a `ModelProto`, `GraphProto`, `FunctionProto` or `NodeProto`.

    Returns:
        The text; `loads` gives an equal message back.

    Raises:
        TypeError: there is no text of such messages.
    """
    from onnxtext.printer import print_fragment
    from onnxtext.proto.lift import LiftError, lift_fragment

    message = _message_name(type(proto))
    data = proto.SerializeToString()
    if message == "ModelProto":
        return from_binary(data)
    try:
        return print_fragment(lift_fragment(data, message))
    except LiftError as error:
        raise not_a_message(error, message, "<message>") from None


def load(path: str | os.PathLike[str]) -> onnx.ModelProto:
    """Read a model from a text file.

    Args:
        path: a file in UTF-8, with or without a byte order mark.

    Raises:
        OnnxTextError: the file is not of the language.
        OSError: the file cannot be read.
    """
    return loads(read_text(path), base_dir=Path(path).parent, name=os.fspath(path))


def dump(
    proto: onnx.ModelProto,
    path: str | os.PathLike[str],
    *,
    weights: Weights = "auto",
    inline_limit: int = 64,
    metadata: Metadata = "auto",
) -> None:
    """Write a model to a text file, which is replaced as a whole or not at all.

    Args:
        proto: the model.
        path: the file; weights may be written beside it, and before it.
        weights: where large data goes: `section` (the end of the text), `store` (a directory
            beside it, one file a blob), `safetensors` (one file beside it), `inline`, `none`;
            `auto` is a section up to 1 MiB, and a store beyond.
        inline_limit: as for `from_binary`.
        metadata: as for `from_binary`.

    Raises:
        OSError: a file cannot be written.
        TypeError: it is no `ModelProto`.
    """
    if _message_name(type(proto)) != "ModelProto":
        raise TypeError(f"dump writes models, not {type(proto).__name__}")
    text, beside = print_binary(
        proto.SerializeToString(),
        Path(path),
        weights=weights,
        inline_limit=inline_limit,
        metadata=metadata,
    )
    if beside is not None:
        beside.write()
    write_atomically(Path(path), text.encode())


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file in UTF-8; its line ends are kept as they are.

    Raises:
        OnnxTextError: the file is not UTF-8.
        OSError: the file cannot be read.
    """
    return decode_text(Path(path).read_bytes(), os.fspath(path))


def decode_text(data: bytes, name: str) -> str:
    """Bytes in UTF-8 as text.

    Raises:
        OnnxTextError: they are not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        raise OnnxTextError(
            Diagnostic(
                "invalid-utf8",
                f"the text is not UTF-8: byte {data[error.start]:#04x} begins no character",
                source=Source(before, name),
                labels=(Label(Span(len(before), len(before))),),
                offset=error.start,
                help="a binary model is read by `onnxtext from-binary`",
            )
        ) from None


def _message_name(kind: type) -> str:
    name = kind.__name__
    if name != "ModelProto" and name not in FRAGMENTS:
        known = ", ".join(["ModelProto", *FRAGMENTS])
        raise TypeError(f"{name} has no text of its own; these have: {known}")
    return name


def _decode(message_type: type[P], data: bytes, source: Source) -> P:
    from google.protobuf.message import DecodeError

    try:
        return message_type.FromString(data)
    except DecodeError:
        raise OnnxTextError(
            Diagnostic(
                "too-deep",
                "messages would be nested deeper than the hundred levels that protobuf reads",
                source=source,
            )
        ) from None


def _check_depth(pieces: list[Piece], source: Source) -> None:
    """Refuse a model that protobuf could not read back; only deep ones are tried."""
    if source.text.count("=>") > _DEEP:
        import onnx

        _decode(onnx.ModelProto, b"".join(pieces), source)


_DEEP = 20
"""A text with fewer graphs than this cannot nest them deeper than protobuf reads."""


def _restore_encoding(
    model: Model, encoding: EncodingPatch, data: bytes, name: str, elsewhere: Elsewhere | None
) -> bytes:
    """The file's own bytes, if the text still says the model they encoded."""
    from onnxtext.wire.patch import apply_patch
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
    """Whether bytes say what a text does: a patch must not make another model of it."""
    from onnxtext.proto.lift import LiftError, canonical_encoding
    from onnxtext.proto.lower import lower_model

    try:
        plain = lower_model(replace(model, encoding_habits=()), elsewhere)
        return canonical_encoding(data) == plain
    except LiftError:
        return False


__all__ = [
    "Fragment",
    "dump",
    "dumps",
    "from_binary",
    "load",
    "loads",
    "parse",
    "to_binary",
]
