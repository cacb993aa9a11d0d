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
from onnxtext.source import Source, Span

if TYPE_CHECKING:
    import onnx

    from onnxtext.proto.lift import LiftError
    from onnxtext.proto.losses import Loss
    from onnxtext.proto.lower import LowerError

    Proto = onnx.ModelProto | onnx.GraphProto | onnx.FunctionProto | onnx.NodeProto
    P = TypeVar("P", onnx.ModelProto, onnx.GraphProto, onnx.FunctionProto, onnx.NodeProto)

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


def format_text(text: str, *, name: str = "<string>") -> str:
    """Put the text of a whole model in the canonical layout.

    The syntax tree stays the same, numbers keep their spelling, and every comment is kept, once
    and in order. A text that `from_binary` has printed is in this layout already.

    Args:
        text: in the onnxtext language.
        name: what to call the text in messages, such as its file name.

    Returns:
        The text, with LF as line ends and without a byte order mark.

    Raises:
        OnnxTextError: the text is not of the language.
    """
    from onnxtext.format.text import format_source

    return format_source(Source(text, name))


def from_binary(
    data: bytes,
    *,
    weights: Literal["section", "inline"] = "section",
    inline_limit: int = 64,
    metadata: Literal["auto", "inline", "section", "none"] = "auto",
    name: str = "<bytes>",
) -> str:
    """Print a binary model as text.

    The text says everything: `to_binary` gives the very same bytes back. For every model the
    syntax tree that was read is encoded again and compared, before it is printed.

    Args:
        data: an encoded `ModelProto`, in whatever way it is encoded.
        weights: where large tensors, strings and lists go: as blobs to a section at the end of
            the text, or inline as literals.
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
    from onnxtext.printer import print_model

    try:
        with paused_collector():
            model = lift_placed(data, weights=weights, inline_limit=inline_limit, metadata=metadata)
            text = print_model(model)
            del model  # before the collector looks at all of it
    except ValueError as error:  # LiftError is one, and what numpy says of corrupt lists
        raise _no_model(data, error, name) from None
    _advise(data, name)
    return text


def lift_placed(
    data: bytes, *, weights: str = "section", inline_limit: int = 64, metadata: str = "auto"
) -> Model:
    """The syntax tree that `from_binary` prints; that it lowers to the same bytes is proven.

    Args:
        data: an encoded `ModelProto`.
        weights: as for `from_binary`.
        inline_limit: as for `from_binary`.
        metadata: as for `from_binary`.

    Raises:
        LiftError: the bytes are no `ModelProto`.
    """
    from onnxtext.printer.placement import leave_metadata_out, place_metadata
    from onnxtext.printer.weights import move_weights
    from onnxtext.proto.lift import lift_model

    def finish(model: Model) -> None:
        if metadata in ("auto", "section"):
            place_metadata(model, short_too=metadata == "section")
        if weights == "section":
            move_weights(model, inline_limit=inline_limit)

    model = lift_model(data, finish)
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
        raise _no_model(data, error, name) from None
    _advise(data, name)
    return text, losses


def to_binary(text: str, *, name: str = "<string>") -> bytes:
    """Encode the text of a whole model.

    Args:
        text: in the onnxtext language.
        name: what to call the text in messages, such as its file name.

    Returns:
        An encoded `ModelProto`.

    Raises:
        OnnxTextError: the text is not of the language, or says what no model can hold.
    """
    from onnxtext.proto.lower import LowerError, lower_model
    from onnxtext.syntax.parse import parse_model

    source = Source(text, name)
    with paused_collector():
        model = parse_model(source)
        if model.metadata_left_out:
            raise _incomplete(source)
        try:
            data = lower_model(model)
        except LowerError as error:
            raise _unlowerable(error, source) from None
        _check_depth(model, data, source)
        if model.encoding is not None:
            data = _restore_encoding(model, model.encoding, data, name)
        del model  # before the collector looks at all of it
    return data


@overload
def loads(text: str, *, name: str = ...) -> onnx.ModelProto: ...
@overload
def loads(text: str, message_type: type[P], *, name: str = ...) -> P: ...
def loads(text: str, message_type: type[Any] | None = None, *, name: str = "<string>") -> Any:
    """Parse a text to a message of the `onnx` package.

    Args:
        text: in the onnxtext language.
        message_type: `onnx.ModelProto` (the default), `GraphProto`, `FunctionProto` or
            `NodeProto`.
        name: what to call the text in messages, such as its file name.

    Raises:
        OnnxTextError: the text is not of the language, or says what no message can hold.
        TypeError: there is no text of such messages.
    """
    import onnx

    message = "ModelProto" if message_type is None else _message_name(message_type)
    if message == "ModelProto":
        return onnx.ModelProto.FromString(to_binary(text, name=name))
    from onnxtext.proto.lower import LowerError, lower_fragment
    from onnxtext.syntax.parse import parse_fragment

    source = Source(text, name)
    fragment = parse_fragment(source, FRAGMENTS[message])
    try:
        data = lower_fragment(fragment)
    except LowerError as error:
        raise _unlowerable(error, source) from None
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
        raise _not_a_message(error, message, "<message>") from None


def load(path: str | os.PathLike[str]) -> onnx.ModelProto:
    """Read a model from a text file.

    Args:
        path: a file in UTF-8, with or without a byte order mark.

    Raises:
        OnnxTextError: the file is not of the language.
        OSError: the file cannot be read.
    """
    return loads(read_text(path), name=os.fspath(path))


def dump(proto: onnx.ModelProto, path: str | os.PathLike[str]) -> None:
    """Write a model to a text file, which is replaced as a whole or not at all.

    Raises:
        OSError: the file cannot be written.
        TypeError: it is no `ModelProto`.
    """
    if _message_name(type(proto)) != "ModelProto":
        raise TypeError(f"dump writes models, not {type(proto).__name__}")
    write_atomically(Path(path), dumps(proto).encode())


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


def _check_depth(model: Model, data: bytes, source: Source) -> None:
    """Refuse a model that protobuf could not read back; only deep ones are tried."""
    from onnxtext.ast.visit import nesting

    if nesting(model) > _DEEP:
        import onnx

        _decode(onnx.ModelProto, data, source)


_DEEP = 20
"""Graphs that are nested no deeper than this are no problem for protobuf."""


def _restore_encoding(model: Model, encoding: EncodingPatch, data: bytes, name: str) -> bytes:
    """The file's own bytes, if the text still says the model they encoded."""
    from onnxtext.wire.patch import apply_patch
    from onnxtext.wire.reader import WireError

    if hashlib.sha256(data).hexdigest() == encoding.canonical:
        try:
            restored = apply_patch(data, encoding.patch)
        except WireError:
            pass
        else:
            if _same_model(restored, model):
                return restored
    warnings.warn(
        f"{name}: the encoding section no longer fits the model, which is encoded canonically; "
        "remove the section",
        OnnxTextWarning,
        stacklevel=3,
    )
    return data


def _same_model(data: bytes, model: Model) -> bool:
    """Whether bytes say what a text does: a patch must not make another model of it."""
    from onnxtext.proto.lift import LiftError, canonical_encoding
    from onnxtext.proto.lower import lower_model

    try:
        return canonical_encoding(data) == lower_model(replace(model, encoding_habits=()))
    except LiftError:
        return False


def _incomplete(source: Source) -> OnnxTextError:
    """What to raise for a text that was printed for reading only."""
    at = source.text.rfind("\nmetadata none") + 1
    return OnnxTextError(
        Diagnostic(
            "metadata-left-out",
            "this text was printed without its metadata, so no model can be made of it",
            source=source,
            labels=(Label(Span(at, at + len("metadata none"))),),
            help="print it again without --metadata none; or remove this line, for a model "
            "without metadata",
        )
    )


def _unlowerable(error: LowerError, source: Source) -> OnnxTextError:
    at = max(error.at, 0)
    end = min(at + 1, len(source.text))
    return OnnxTextError(
        Diagnostic("invalid-record", error.message, source=source, labels=(Label(Span(at, end)),))
    )


def _no_model(data: bytes, error: ValueError, name: str) -> ValueError:
    """What to raise for bytes that are no model; the error itself if it is none of theirs."""
    from onnxtext.proto.refusal import refusal

    diagnostic = refusal(data, name)
    return error if diagnostic is None else OnnxTextError(diagnostic)


def _advise(data: bytes, name: str) -> None:
    """Warn of a model that is hardly one."""
    from onnxtext.proto.refusal import advice

    said = advice(data, name)
    if said is not None:
        warnings.warn(said, OnnxTextWarning, stacklevel=3)


def _not_a_message(error: LiftError, message: str, name: str) -> OnnxTextError:
    return OnnxTextError(
        Diagnostic(
            "not-a-model" if message == "ModelProto" else "not-a-message",
            f"these bytes are no {message}: {error.message}",
            offset=error.offset,
            file=name,
        )
    )


__all__ = [
    "Fragment",
    "dump",
    "dumps",
    "format_text",
    "from_binary",
    "load",
    "loads",
    "parse",
    "to_binary",
]
