# SPDX-License-Identifier: Apache-2.0
"""Make `onnx.load` and `onnx.save` read and write texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from onnxtext.api import dumps, loads
from onnxtext.filetype import TEXT_SUFFIXES, decode_text

if TYPE_CHECKING:
    from collections.abc import Collection

    from google.protobuf.message import Message

    P = TypeVar("P", bound=Message)


class TextSerializer:
    """A serializer for `onnx.serialization.registry`.

    Attributes:
        supported_format: the value of the argument `format` of `onnx.load` and `onnx.save`.
        file_extensions: the suffixes of files that are recognized without `format`.
    """

    supported_format = "onnxtxt"
    file_extensions: Collection[str] = frozenset(TEXT_SUFFIXES)

    def serialize_proto(self, proto: Message) -> bytes:
        """Print a message; large weights are in a section at the end of the text.

        Raises:
            TypeError: messages of this type have no text.
        """
        return dumps(proto).encode()

    def deserialize_proto(self, serialized: bytes | str, proto: P) -> P:
        """Parse a text, in the onnxtext language or in the official syntax.

        Args:
            serialized: the text. Its directory is unknown, so weights in files beside it are an
                error: `onnxtext.load` reads them.
            proto: the message whose content is replaced, and which is returned.

        Raises:
            OnnxTextError: the text has errors, or cannot be encoded.
            TypeError: messages of this type have no text.
        """
        text = serialized if isinstance(serialized, str) else decode_text(serialized, "<bytes>")
        proto.CopyFrom(loads(text, type(proto)))
        return proto


def register() -> None:
    """Let `onnx.load` and `onnx.save` read and write `.onnxtxt` files as onnxtext does.

    Without this the onnx package reads and writes the official syntax only, with losses. Texts in
    the official syntax are still read. Weights in files beside a text need `onnxtext.load`.
    """
    from onnx.serialization import registry

    registry.register(TextSerializer())
