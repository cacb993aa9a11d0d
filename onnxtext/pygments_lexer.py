# SPDX-License-Identifier: Apache-2.0
"""Highlight onnxtext with Pygments: for Sphinx, Jupyter and other tools that use Pygments.

Pygments finds the lexer `onnxtxt` by the entry point `pygments.lexers`. `onnxtext.highlight`
classifies the tokens; it imports the parser only when a text is lexed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from pygments.lexer import Lexer
from pygments.token import _TokenType, string_to_tokentype

from onnxtext.highlight import classify
from onnxtext.io.text_or_binary import TEXT_SUFFIXES

Piece = tuple[int, _TokenType, str]


class OnnxTextLexer(Lexer):
    """Lexer of the onnxtext language (`.onnxtxt`), a superset of the official ONNX text syntax."""

    name = "ONNX text"
    aliases: ClassVar[list[str]] = ["onnxtxt", "onnxtext"]
    filenames: ClassVar[list[str]] = [f"*{suffix}" for suffix in TEXT_SUFFIXES]
    mimetypes: ClassVar[list[str]] = ["text/x-onnxtxt"]
    url = "https://onnx.ai"

    def get_tokens_unprocessed(self, text: str) -> Iterator[Piece]:
        """Split a text into pieces with token types; their concatenation is the whole text.

        Args:
            text: a model or any part of one; errors become pieces of the type `Error`.

        Yields:
            (offset, type, text)
        """
        for offset, kind, piece in classify(text):
            yield offset, string_to_tokentype(kind), piece
