# SPDX-License-Identifier: Apache-2.0
"""The functions that `onnxtext` offers; see `onnxtext/__init__.py` for the list."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from onnxtext.ast.model import Fragment, Model
from onnxtext.collector import paused_collector
from onnxtext.diagnostics import Diagnostic, Label, OnnxTextError
from onnxtext.errors import (
    invalid_message_error,
    invalid_model_error,
    lowering_error,
    warn_if_suspicious,
)
from onnxtext.files import write_atomically
from onnxtext.source import Source, Span

if TYPE_CHECKING:
    import onnx

    from onnxtext.conversion import Metadata
    from onnxtext.proto.official.losses import Loss
    from onnxtext.weights.writer import Weights

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
    from onnxtext.conversion import print_binary

    return print_binary(
        data, None, weights=weights, inline_limit=inline_limit, metadata=metadata, name=name
    )[0]


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
    from onnxtext.proto.official.model import lift_reduced

    try:
        with paused_collector():
            model, losses = lift_reduced(data)
            text = print_official(model)
    except ValueError as error:
        raise invalid_model_error(data, error, name) from None
    warn_if_suspicious(data, name)
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
    from onnxtext.conversion import encode_text, joined

    return joined(encode_text(text, base_dir=base_dir, name=name))


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
    from onnxtext.proto.encode.lower import LowerError, lower_fragment
    from onnxtext.syntax.parse import parse_fragment

    source = Source(text, name)
    fragment = parse_fragment(source, FRAGMENTS[message])
    try:
        data = lower_fragment(fragment)
    except LowerError as error:
        raise lowering_error(error, source) from None
    from onnxtext.conversion import decode_message

    return decode_message(getattr(onnx, message), data, source)


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
    from onnxtext.proto.decode.lift import LiftError, lift_fragment

    message = _message_name(type(proto))
    data = proto.SerializeToString()
    if message == "ModelProto":
        return from_binary(data)
    try:
        return print_fragment(lift_fragment(data, message))
    except LiftError as error:
        raise invalid_message_error(error, message, "<message>") from None


def check(
    source: str | bytes | os.PathLike[str] | Proto,
    *,
    base_dir: str | os.PathLike[str] | None = None,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
) -> list[Diagnostic]:
    """Check a model against the rules of the ONNX IR.

    Args:
        source: text, the bytes of a binary model, the path of a file with either (a
            `pathlib.Path`; a `str` is text), or a message: `ModelProto`, or `GraphProto`,
            `FunctionProto`, `NodeProto` with what can be known of them.
        base_dir: the directory of external data; of a file, its own by default. Without one,
            external files are not looked into.
        select: rules to turn on besides those that are on by default; `all` is every rule.
        ignore: rules to turn off.

    Returns:
        What was found, syntax errors included, in the order of the text or of the model. No
        finding has the severity `error` if the model is valid.

    Raises:
        OSError: the file cannot be read.
        TypeError: the source is nothing of these.
        ValueError: a rule is not known.
    """
    from onnxtext.checker.engine.sources import check_any

    directory = None if base_dir is None else Path(base_dir)
    return check_any(source, base_dir=directory, select=select, ignore=ignore)


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
    from onnxtext.conversion import print_binary

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
    if beside is not None:
        beside.remove_obsolete()


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


__all__ = [
    "Fragment",
    "check",
    "dump",
    "dumps",
    "format_text",
    "from_binary",
    "load",
    "loads",
    "parse",
    "to_binary",
]
