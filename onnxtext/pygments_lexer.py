# SPDX-License-Identifier: Apache-2.0
"""Highlight onnxtext with Pygments: for Sphinx, Jupyter and other tools that use Pygments.

Pygments finds the lexer `onnxtxt` by the entry point `pygments.lexers`. The tokens are those of the
parser (`syntax/grammar/lexer.py`); names are classified by their neighbours. This module imports
the parser only when a text is lexed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from pygments.lexer import Lexer
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
    _TokenType,
)

if TYPE_CHECKING:
    from onnxtext.syntax.grammar.lexer import Token

Piece = tuple[int, _TokenType, str]

_KINDS: dict[str, _TokenType] = {
    "TRIPLE": String.Doc,
    "BLOB": String.Other,
    "FILE": String.Other,
    "BYTES": String.Double,
    "STRING": String.Double,
    "ESCAPED_STRING": String.Double,
    "PRIM": Keyword.Type,
    "UNDEFINED": Keyword.Type,
    "CONTAINER": Keyword.Type,
    "BOOL": Keyword.Constant,
    "FLOAT_WORD": Number.Float,
    "NAN": Number.Float,
    "COMPLEX": Number,
    "HEX_FLOAT": Number.Float,
    "HEX": Number.Hex,
    "FIXED": Number.Integer,
    "FLOAT": Number.Float,
    "INT": Number.Integer,
    "SPLAT": Operator,
    "DECORATOR": Name.Decorator,
    "WORD": Name.Variable,
    "METADATA": Name.Variable,
    "QUANTIZATION": Name.Variable,
    "TRAINING": Name.Variable,
    "CONFIGURATION": Name.Variable,
    "ENCODING": Name.Variable,
    "RESOURCES": Name.Variable,
    "BAD": Error,
}
"""Token types of the terminals that need no context."""

_PARTS = re.compile(
    r"(?P<blank>\s+)|(?P<type>[A-Za-z_]\w*(?=\s*\[))|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<number>-?[0-9.][-+\w.()]*)|(?P<mark>.)",
    re.DOTALL,
)
"""The parts of a coarse token (`float[N, 3]`, `[1, 2]`)."""

_SECTIONS = {"METADATA", "QUANTIZATION", "TRAINING", "CONFIGURATION", "ENCODING", "RESOURCES"}
_NAMES = {"WORD", "STRING", "ESCAPED_STRING", "BYTES"}
_OPENING = frozenset("<([{")
_CLOSING = frozenset(">)]}")
_OPERATORS = frozenset({"=", "=>", "@"})


class OnnxTextLexer(Lexer):
    """Lexer of the onnxtext language (`.onnxtxt`), a superset of the official ONNX text syntax."""

    name = "ONNX text"
    aliases: ClassVar[list[str]] = ["onnxtxt", "onnxtext"]
    filenames: ClassVar[list[str]] = ["*.onnxtxt"]
    mimetypes: ClassVar[list[str]] = ["text/x-onnxtxt"]
    url = "https://onnx.ai"

    def get_tokens_unprocessed(self, text: str) -> Iterator[Piece]:
        """Split a text into highlighted pieces, which join to the whole text.

        Args:
            text: a model or any part of one; errors become pieces of the type `Error`.

        Yields:
            (offset, type, text)
        """
        from onnxtext.syntax.grammar.lexer import Token, load_lexer

        lexer = load_lexer()
        tokens: list[Token] = []
        end = 0
        while (token := lexer.token(text, end)) is not None:
            if token == '"':
                # An unclosed string extends to the end: searching strings in it would take
                # quadratic time.
                token = Token(text[token.at :], token.at)
            tokens.append(token)
            end = token.at + len(token)
        names = [lexer.kind(token) for token in tokens]
        end = 0
        for token, kind, name in zip(tokens, _kinds(tokens, names), names, strict=True):
            yield from _between(text, end, token.at)
            yield from _pieces(token, kind, name)
            end = token.at + len(token)
        yield from _between(text, end, len(text))


def _kinds(tokens: list[Token], names: list[str]) -> Iterator[_TokenType]:
    """Yield the type of each token, from its terminal, its neighbours and its bracket."""
    brackets: list[str] = []
    for number, (token, name) in enumerate(zip(tokens, names, strict=True)):
        if token in _OPENING:
            brackets.append(token)
        elif token in _CLOSING and brackets:
            brackets.pop()
        found = None
        if name in _NAMES or name in _SECTIONS:
            before = tokens[number - 1] if number else ""
            after = tokens[number + 1] if number + 1 < len(tokens) else ""
            graph = _opens_graph(tokens[number + 2 : number + 4], names[number + 2 : number + 3])
            found = _name(name, before, after, "".join(brackets[-1:]), graph=graph)
        if found is None:
            found = _KINDS.get(name, Operator if token in _OPERATORS else Punctuation)
        yield found


def _opens_graph(following: list[Token], names: list[str]) -> bool:
    """Whether an opening parenthesis is a graph's, not a node's, by the tokens after it."""
    if following == [")", "=>"] or names == ["TYPE"]:
        return True
    return names in (["PRIM"], ["CONTAINER"]) and following[1:] not in ([","], [")"])


def _name(kind: str, before: str, after: str, bracket: str, *, graph: bool) -> _TokenType | None:
    """Return the type of a name; None if its neighbours do not determine it.

    Args:
        kind: its terminal.
        before: the token before it.
        after: the token after it.
        bracket: the innermost open bracket.
        graph: whether a parenthesis that follows would be a graph's.
    """
    if kind in _SECTIONS and not bracket and before != ">" and after in {"{", "none"}:
        return Keyword.Namespace
    if before == "@":
        return Name.Variable.Instance
    if after == "=>" or (after == "(" and (graph or not bracket) and before not in {"=", "."}):
        return Name.Class
    if before in {"=", "."} and after in {"(", "<", ":"}:
        return Name.Class if graph and after == "(" else Name.Function
    if before == ":" and after in {"(", "<"}:
        return Name.Tag
    if after == ":":
        return Name.Attribute
    if after == ".":
        return Name.Namespace
    if after == "<" and not bracket:
        return Name.Class
    if after == "=" and bracket == "<" and before in {"<", ","}:
        return Name.Attribute
    return None


def _pieces(token: Token, whole: _TokenType, kind: str) -> Iterator[Piece]:
    """Yield a token, or the parts of a coarse token."""
    if kind == "DECORATOR":
        yield token.at, whole, token[:-1]
        yield token.at + len(token) - 1, Punctuation, "("
        return
    if kind not in {"TYPE", "NUMBERS", "NESTED", "BRACES"}:
        yield token.at, whole, str(token)
        return
    for part in _PARTS.finditer(token):
        kinds: dict[str | None, _TokenType] = {
            "blank": Whitespace,
            "type": Keyword.Type,
            "name": Name.Label if kind == "TYPE" else Keyword.Constant,
            "number": Number,
            "mark": Punctuation,
        }
        yield token.at + part.start(), kinds[part.lastgroup], part.group()


_GAP = re.compile(r"(?P<comment>#[^\n]*)|(?P<blank>\s+)|(?P<other>.)", re.DOTALL)


def _between(text: str, start: int, end: int) -> Iterator[Piece]:
    """Yield the blanks and comments between tokens."""
    for part in _GAP.finditer(text, start, end):
        kinds: dict[str | None, _TokenType] = {"comment": Comment.Single, "blank": Whitespace}
        yield part.start(), kinds.get(part.lastgroup, Text), part.group()
