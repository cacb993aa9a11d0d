# SPDX-License-Identifier: Apache-2.0
"""Read a model that a user passes to a public function: as text, bytes, path, message or object."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from onnxtext.io.files import read_input
from onnxtext.io.text_or_binary import MODEL_SUFFIXES, decode_text, has_binary_content, is_binary
from onnxtext.wire.writer import LENGTH, delimited, tag

if TYPE_CHECKING:
    from google.protobuf.message import Message

    ModelSource = str | bytes | bytearray | memoryview | os.PathLike[str] | Message | Any
    """A text, bytes, a path, a message, or an object of `onnx_ir` or `onnxscript`."""


@dataclass(frozen=True, slots=True)
class ModelArgument:
    """A model, or a part of one, as the user passed it.

    Attributes:
        content: a text, or an encoded message.
        name: the name of the content in messages, such as the path of its file.
        base: the directory for references to weight files and external data; None if unknown.
        message: the type of the encoded message, such as `ModelProto`; ignored for a text.
    """

    content: str | bytes
    name: str
    base: Path | None = None
    message: str = "ModelProto"

    @property
    def data(self) -> bytes:
        """The content as bytes; a text is encoded in UTF-8."""
        content = self.content
        return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content

    def as_model(self) -> ModelArgument:
        """Wrap a graph, function or node in a model; return a text or a model unchanged.

        Raises:
            TypeError: the message has an unsupported type, such as `TensorProto`.
        """
        if isinstance(self.content, str) or self.message == "ModelProto":
            return self
        if self.message not in _FIELDS:
            raise TypeError(f"expected a model, graph, function or node, not {self.message}")
        content = self.content
        for number in _FIELDS[self.message]:
            content = delimited(tag(number, LENGTH), content)
        return ModelArgument(content, self.name, self.base)


_FIELDS = {"GraphProto": (7,), "FunctionProto": (25,), "NodeProto": (1, 7)}
"""The numbers of the fields that contain a message in a `ModelProto`, innermost first."""


def require_text(text: object) -> None:
    """Raise a TypeError if the argument of a function that reads texts is not a `str`."""
    if isinstance(text, str):
        return
    found = type(text).__name__
    if isinstance(text, bytes | bytearray | memoryview):
        raise TypeError(f"expected a text (a str), not {found}: decode it, if it is UTF-8")
    hint = ": read the file" if isinstance(text, os.PathLike) else ""
    raise TypeError(f"expected a text (a str), not {found}{hint}")


def require_bytes(data: Any) -> Any:
    """Return an argument that must be bytes or a view of bytes; copy views whose items are `char`.

    Raises:
        TypeError: the argument is something else.
    """
    if isinstance(data, bytes):
        return data
    try:
        view = memoryview(data)
        if view.format not in {"B", "c", "<c"} or view.ndim != 1 or not view.contiguous:
            raise TypeError
        return data if view.format == "B" else bytes(view)
    except TypeError:
        found = type(data).__name__
        hint = ": call `dumps` to print a message" if hasattr(data, "SerializeToString") else ""
        raise TypeError(f"expected the bytes of a binary model, not {found}{hint}") from None


Item = TypeVar("Item", bound=str | os.PathLike[str])


_BYTES = bytes | bytearray | memoryview


def as_tuple(items: Item | Iterable[Item], *, paths: bool = False) -> tuple[Item, ...]:
    """Return the items of an argument that is a list of names, or a single one.

    Args:
        items: the argument.
        paths: whether the items are names of files, which may be paths.

    Raises:
        TypeError: the argument, or an item of it, is no name (or path, if `paths` is true).
    """
    expected = "a name or path (a str or os.PathLike)" if paths else "a name (a str)"
    # The items of bytes are integers; a memoryview with several dimensions cannot be iterated.
    if not isinstance(items, Iterable | os.PathLike) or isinstance(items, _BYTES):
        items = [items]  # type: ignore[list-item]
    result = (items,) if isinstance(items, str | os.PathLike) else tuple(items)
    for item in result:
        if not isinstance(item, str) and not (paths and isinstance(item, os.PathLike)):
            raise TypeError(f"expected {expected}, not {type(item).__name__}")
    return result


_FILE_NAME = re.compile(rf"[^\n{{}}<>()]*(?:{'|'.join(map(re.escape, MODEL_SUFFIXES))})")
"""Matches file names. It cannot match a valid text, which has one of the excluded characters."""


def read_model_argument(source: object, name: str | None = None) -> ModelArgument:
    """Read a model, or a part of one, from any form that the public functions accept.

    Args:
        source: a text; bytes of a text or of a binary model; the path of a file with either; a
            message of the `onnx` package; or an object of `onnx_ir` or `onnxscript`.
        name: the name of the source in messages. If None, it is the path of the file, or a
            placeholder such as `<string>`.

    Raises:
        OnnxTextError: the content is neither a binary model nor UTF-8.
        OSError: the file cannot be read.
        TypeError: the source has an unsupported type, or is a `str` that looks like a file name.
    """
    match source:
        case str():
            if _FILE_NAME.fullmatch(source):
                raise TypeError(
                    "this string looks like a file name, but a str is read as a text: pass "
                    f"pathlib.Path({source!r}) to read the file"
                )
            return ModelArgument(source, name or "<string>")
        case bytes() | bytearray() | memoryview():
            data, name = bytes(source), name or "<bytes>"
            is_text = data and not has_binary_content(data)
            return ModelArgument(decode_text(data, name) if is_text else data, name)
        case os.PathLike():
            path = Path(source)
            data, name = read_input(path), name or os.fspath(path)
            content = data if is_binary(data, name) else decode_text(data, name)
            return ModelArgument(content, name, path.parent)
    try:
        proto = message_of(source)
    except TypeError as error:
        raise TypeError(f"{error}; a text, bytes or a path is accepted, too") from None
    message = message_name(type(proto))
    return ModelArgument(proto.SerializeToString(), name or "<message>", None, message)


def message_of(source: Any) -> Any:
    """Return a message unchanged; convert an object of `onnx_ir` or `onnxscript` to a message.

    Raises:
        TypeError: the source has an unsupported type.
    """
    if hasattr(source, "SerializeToString") and hasattr(source, "DESCRIPTOR"):
        return source
    if hasattr(source, "to_model_proto"):  # a function of onnxscript
        return source.to_model_proto()
    if any(kind.__module__.partition(".")[0] == "onnx_ir" for kind in type(source).__mro__):
        import onnx_ir

        return onnx_ir.to_proto(source)
    raise TypeError(
        "expected a message of onnx, or an object of onnx_ir or onnxscript, not "
        f"{type(source).__name__}"
    )


def message_name(kind: type) -> str:
    """Return the name of a message class in the ONNX schema, such as `TypeProto.Tensor`.

    Raises:
        TypeError: the type is not a message type of ONNX.
    """
    from onnxtext.proto.descriptors import message_spec

    full = str(getattr(getattr(kind, "DESCRIPTOR", None), "full_name", ""))
    name = full.removeprefix("onnx.")
    if name != full:
        try:
            return message_spec(name).name
        except KeyError:
            pass
    name = getattr(kind, "__name__", None) or f"an object of {type(kind).__name__}"
    raise TypeError(f"{name} is not a message type of the onnx package")
