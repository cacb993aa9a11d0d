# SPDX-License-Identifier: Apache-2.0
"""Make `onnx.load` and `onnx.save` read and write texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from onnxtext.api import dumps, loads
from onnxtext.io.text_or_binary import TEXT_SUFFIXES, decode_text

if TYPE_CHECKING:
    from collections.abc import Collection

    from google.protobuf.message import Message

    P = TypeVar("P", bound=Message)


class TextSerializer:
    """A serializer of onnxtext for `onnx.serialization.registry`.

    Attributes:
        supported_format: the value of the argument `format` of `onnx.load` and `onnx.save` that
            selects this serializer.
        file_extensions: the suffixes of files for which this serializer is used without `format`.
    """

    supported_format = "onnxtxt"
    file_extensions: Collection[str] = frozenset(TEXT_SUFFIXES)

    def serialize_proto(self, proto: Message) -> bytes:
        """Return the text of a message, in UTF-8; large weights are at the end of the text.

        Raises:
            OnnxTextError: the message is nested deeper than protobuf reads.
            TypeError: messages of this type have no text.
        """
        return dumps(proto).encode()

    def deserialize_proto(self, serialized: bytes | str, proto: P) -> P:
        """Parse a text, in the onnxtext language or in the official syntax, to a message.

        Args:
            serialized: the text. References to weight files beside the text are errors, since its
                directory is unknown; `onnxtext.load` reads such texts.
            proto: a message of the wanted type; its content is replaced.

        Returns:
            `proto`.

        Raises:
            OnnxTextError: the text has errors, or cannot be encoded.
            TypeError: messages of this type have no text.
        """
        text = serialized if isinstance(serialized, str) else decode_text(serialized, "<bytes>")
        proto.CopyFrom(loads(text, type(proto)))
        return proto


def register() -> None:
    """Make `onnx.load` and `onnx.save` use onnxtext for `.onnxtxt` and `.onnxtext` files.

    Without this call, the onnx package reads and writes these files in the official syntax, with
    losses. After it, `onnx.load` reads both syntaxes. Texts with weights in files beside them must
    be read with `onnxtext.load`.
    """
    from onnx.serialization import registry

    registry.register(TextSerializer())
