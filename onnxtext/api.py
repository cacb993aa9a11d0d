# SPDX-License-Identifier: Apache-2.0
"""The public functions; `onnxtext/__init__.py` exports them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from onnxtext.ast.model import Model
from onnxtext.conversion_errors import (
    check_declared_size,
    check_encoded_size,
    deep_message_error,
    invalid_model_error,
    lowering_error,
    other_message_error,
    warn_if_suspicious,
)
from onnxtext.diagnostics import Diagnostic
from onnxtext.io.files import read_input, write_atomically
from onnxtext.io.memory import paused_collector
from onnxtext.io.text_or_binary import BINARY_SUFFIX, decode_text, has_binary_content
from onnxtext.model_arguments import as_tuple, message_name, message_of, require_bytes, require_text
from onnxtext.select_core import cached_module
from onnxtext.source import Source

if TYPE_CHECKING:
    import onnx
    from google.protobuf.message import Message

    from onnxtext.binary_to_text import Metadata
    from onnxtext.model_arguments import ModelSource
    from onnxtext.proto.official.losses import Loss
    from onnxtext.weights.write_resources import Weights

    P = TypeVar("P", bound=Message)

FRAGMENTS = {
    "GraphProto": "graph", "FunctionProto": "function", "NodeProto": "node",
    "ValueInfoProto": "value_info", "AttributeProto": "attribute", "TypeProto": "type",
    "TensorProto": "tensor", "SparseTensorProto": "tensor", "StringStringEntryProto": "entry",
}  # fmt: skip
"""Maps message types to kinds of texts in the grammar; other messages have the kind `record`."""


def parse(text: str, *, name: str = "<string>") -> Model:
    """Parse the text of a whole model.

    Args:
        text: the text; the language includes the official ONNX syntax.
        name: the name of the text in messages, such as its file name.

    Returns:
        The abstract syntax tree.

    Raises:
        OnnxTextError: the text cannot be parsed.
        TypeError: the text is not a `str`.
    """
    from onnxtext.syntax.parse import parse_model

    require_text(text)
    return parse_model(Source(text, name))


def format_text(text: str, *, name: str = "<string>") -> str:
    """Format the text of a whole model in the canonical layout.

    The syntax tree, the spelling of numbers, and the comments and their order do not change.
    `from_binary` prints in this layout already.

    Args:
        text: a text in the onnxtext language.
        name: the name of the text in messages, such as its file name.

    Returns:
        The text, with LF line endings and without a byte order mark.

    Raises:
        OnnxTextError: the text cannot be parsed.
        TypeError: the text is not a `str`.
    """
    from onnxtext.format.format_text import format_source

    require_text(text)
    return format_source(Source(text, name))


def from_binary(
    data: bytes,
    *,
    weights: Literal["section", "inline", "none"] = "section",
    inline_limit: int = 32,
    metadata: Metadata = "auto",
    name: str = "<bytes>",
) -> str:
    """Print a binary model as text.

    The text is lossless: `to_binary` returns identical bytes. To ensure this, the syntax tree is
    encoded again and compared with `data` before it is printed.

    Args:
        data: an encoded `ModelProto`; the encoding need not be canonical.
        weights: where to write large tensors, strings and lists: `section` (blobs at the end of
            the text), `inline` (literals) or `none` (left out; `to_binary` rejects the text).
            Only `dump` can write them to files beside the text.
        inline_limit: tensors, and lists in attributes, with at most this number of elements are
            always written inline, except strings over 4096 bytes in such lists.
        metadata: where to write metadata: `section` (a section at the end of the text), `inline`
            (at each statement), `auto` (like `section`, but a single, short entry is inline if no
            exporter seems to have written it) or `none` (left out; `to_binary` rejects the text).
        name: the name of the data in messages, such as its file name.

    Returns:
        The text, in the canonical layout.

    Raises:
        OnnxTextError: the bytes are not a valid `ModelProto`.
        TypeError: `data` is not bytes.
        ValueError: `weights` or `metadata` has an unknown value, or one that only `dump` has.
    """
    data = require_bytes(data)
    text: str = cached_module("binary_to_text").print_binary(
        data, None, weights=weights, inline_limit=inline_limit, metadata=metadata, name=name
    )[0]
    return text


def to_official(data: bytes, *, name: str = "<bytes>") -> tuple[str, list[Loss]]:
    """Print a binary model in the official syntax, which `onnx.parser.parse_model` reads.

    Args:
        data: an encoded `ModelProto`; the encoding need not be canonical.
        name: the name of the data in messages, such as its file name.

    Returns:
        (text, losses). A loss describes a difference between the model and the text. If some fields
        are only stored differently, the last loss summarizes these fields and is `harmless`.

    Raises:
        OnnxTextError: the bytes are not a valid `ModelProto`.
        TypeError: `data` is not bytes.
    """
    data = require_bytes(data)
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
        text: a text in the onnxtext language.
        base_dir: the directory of the text, to resolve references to weight files. If None, no file
            is read, and these references are errors. Files of external data are never read.
        name: the name of the text in messages, such as its file name.

    Returns:
        An encoded `ModelProto`.

    Raises:
        OnnxTextError: the text has errors, or cannot be encoded.
        TypeError: the text is not a `str`.
    """
    if type(text) is not str:
        require_text(text)
    encode_text = cached_module("text_to_binary").encode_text
    return b"".join(encode_text(text, base_dir=base_dir, name=name))


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
        text: a text in the onnxtext language.
        message_type: the class of the message: `onnx.ModelProto` (the default), `onnx.NodeProto`,
            `onnx.TensorProto`, `onnx.TypeProto` or another class of the schema.
        base_dir: the directory of a model's text, to resolve references to weight files. If None,
            or if the message is not a model, these references are errors. Files of external data
            are never read.
        name: the name of the text in messages, such as its file name.

    Raises:
        OnnxTextError: the text has errors, or cannot be encoded.
        TypeError: `message_type` is not a message class of ONNX, or `text` is not a `str`.
    """
    import onnx

    require_text(text)
    kind = onnx.ModelProto if message_type is None else message_type
    message = message_name(kind)
    if message == "ModelProto":
        return kind.FromString(to_binary(text, base_dir=base_dir, name=name))
    from onnxtext.proto.encode.lower import LowerError, fragment_message, lower_fragment
    from onnxtext.syntax.parse import parse_fragment

    source = Source(text, name)
    fragment = parse_fragment(source, FRAGMENTS.get(message, "record"))
    found = fragment_message(fragment)
    if found not in (None, message):
        raise other_message_error(str(found), message, source)
    check_declared_size(fragment, source)
    try:
        data = lower_fragment(fragment, message)
    except LowerError as error:
        raise lowering_error(error, source) from None
    check_encoded_size(len(data), "message would take", source)
    from onnxtext.text_to_binary import decode_message

    return decode_message(kind, data, source)


def dumps(proto: object) -> str:
    """Print a message of the `onnx` package as text.

    Args:
        proto: a message of any type: `ModelProto`, `NodeProto`, `TensorProto`, `TypeProto`, …; or
            an object of `onnx_ir` or `onnxscript`, which is converted to a message.

    Returns:
        The text. `loads`, given the text and the message's class, returns an equal message.

    Raises:
        OnnxTextError: the message is nested deeper than protobuf reads.
        TypeError: `proto` is neither a message nor such an object.
    """
    from onnxtext.printer import print_fragment
    from onnxtext.proto.decode.lift import LiftError, lift_fragment

    converted = message_of(proto)
    message = message_name(type(converted))
    data = converted.SerializeToString()
    if message == "ModelProto":
        return from_binary(data, name="<message>")
    try:
        return print_fragment(lift_fragment(data, message))
    except LiftError:  # protobuf reads all other messages that it writes
        raise deep_message_error(message) from None


def check(
    source: ModelSource,
    *,
    base_dir: str | os.PathLike[str] | None = None,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    schemas: Sequence[str | os.PathLike[str]] = (),
) -> list[Diagnostic]:
    """Check a model against the rules of the ONNX IR.

    Args:
        source: a text (a `str`), bytes of a text or of a binary model, the path of a file with
            either (a `pathlib.Path`), a message (`ModelProto`, `GraphProto`, `FunctionProto` or
            `NodeProto`), or an object of `onnx_ir` or `onnxscript`.
        base_dir: the directory of external data; by default the directory of the source's file.
            Without a directory, as for bytes, external files are not read.
        select: rules to turn on besides the default rules: their codes, the profile `style`, or
            `all` for every rule that belongs to no profile. A `str` is one rule.
        ignore: rules to turn off. A `str` is one rule.
        schemas: schema files that describe operators of domains outside the ONNX standard. A `str`
            or a path is one file.

    Returns:
        The findings, including syntax errors; for a text, in its order. Parsing stops after 100
        errors. A valid model has no finding of severity `error`.

    Raises:
        OnnxTextError: a schema file has errors.
        OSError: a file cannot be read.
        TypeError: the source has an unsupported type, or is a `str` that looks like a file name.
        ValueError: a rule is unknown.
    """
    from onnxtext.checker.context.operator_tables import use_tables
    from onnxtext.checker.engine.check_source import check_any
    from onnxtext.checker.engine.project_schemas import tables_of
    from onnxtext.checker.engine.project_settings import Settings

    directory = None if base_dir is None else Path(base_dir)
    chosen, ignored = as_tuple(select or ()), as_tuple(ignore or ())
    with use_tables(tables_of(Settings(), [Path(path) for path in as_tuple(schemas, paths=True)])):
        return check_any(source, base_dir=directory, select=chosen, ignore=ignored)


def load(path: str | os.PathLike[str]) -> onnx.ModelProto:
    """Read a model from a text file or a binary file.

    The content of the file decides how it is read; if it is empty, the suffix decides. External
    data is not loaded: the model still refers to it.

    Args:
        path: the file. A text must be UTF-8, with or without a byte order mark.

    Raises:
        OnnxTextError: the text has errors, or the bytes are not a `ModelProto`.
        OSError: the file cannot be read.
    """
    path = Path(path)
    data = read_input(path)
    if not has_binary_content(data) and (data or path.suffix != BINARY_SUFFIX):
        return loads(decode_text(data, str(path)), base_dir=path.parent, name=str(path))
    import onnx
    from google.protobuf.message import DecodeError

    try:
        return onnx.ModelProto.FromString(data)
    except DecodeError as error:
        raise invalid_model_error(data, ValueError(str(error)), str(path)) from None


def dump(
    proto: onnx.ModelProto,
    path: str | os.PathLike[str],
    *,
    weights: Weights = "auto",
    inline_limit: int = 32,
    metadata: Metadata = "auto",
) -> None:
    """Write a model to a text file; an existing file is replaced atomically.

    Args:
        proto: the model.
        path: the file, such as `model.onnxtxt`; weights may be written beside it, before the text.
        weights: where to write large data: `section` (at the end of the text), `store` (in a
            directory beside the text, one file per blob), `safetensors` (in one file beside the
            text), `inline` or `none` (left out); `auto` is `section` up to 1 MiB of data, otherwise
            `store`.
        inline_limit: tensors, and lists in attributes, with at most this number of elements are
            always written inline, except strings over 4096 bytes in such lists.
        metadata: where to write metadata: `auto`, `section`, `inline` or `none`, as in
            `from_binary`.

    Raises:
        OnnxTextError: the message is nested deeper than protobuf reads.
        OSError: a file cannot be written.
        TypeError: the message is not a `ModelProto`.
        ValueError: `path` has the suffix `.onnx`; `weights` or `metadata` has an unknown value; or
            the weights cannot be written, for example because the safetensors file has external
            data of the model, or the library `safetensors` is not installed.
    """
    proto = message_of(proto)
    if message_name(type(proto)) != "ModelProto":
        raise TypeError(f"expected a model, not {type(proto).__name__}")
    if Path(path).suffix.lower() == BINARY_SUFFIX:
        raise ValueError(
            f"{os.fspath(path)} has the suffix of binary models, but `onnxtext.dump` writes texts: "
            "use the suffix .onnxtxt, or write a binary model with `onnx.save`"
        )
    from onnxtext.binary_to_text import print_binary

    text, weight_files = print_binary(
        proto.SerializeToString(),
        Path(path),
        weights=weights,
        inline_limit=inline_limit,
        metadata=metadata,
    )
    if weight_files is not None:
        weight_files.write()
    write_atomically(Path(path), text.encode())
    if weight_files is not None:
        weight_files.remove_obsolete()
