# SPDX-License-Identifier: Apache-2.0
"""Classify the tokens of a text for highlighting: for terminals and for Pygments.

The lexer of the parser (`syntax/grammar/lexer.py`) splits the text; the neighbors of a name
determine its class. The lexer is imported only when a text is classified.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from onnxtext.source import SECTIONS

if TYPE_CHECKING:
    from onnxtext.syntax.grammar.lexer import Token

Piece = tuple[int, str, str]
"""(offset, Pygments token type such as `Name.Function`, text)"""

_SECTIONS = frozenset(map(str.upper, SECTIONS))
"""The terminals of keywords that begin a section; elsewhere, the keywords are names."""

KINDS: dict[str, str] = {
    "TRIPLE": "String.Doc", "BLOB": "String.Other", "FILE": "String.Other",
    "BYTES": "String.Double", "STRING": "String.Double", "ESCAPED_STRING": "String.Double",
    "PRIM": "Keyword.Type", "UNDEFINED": "Keyword.Type", "CONTAINER": "Keyword.Type",
    "BOOL": "Keyword.Constant", "FLOAT_WORD": "Number.Float", "NEGATIVE_WORD": "Number.Float",
    "NAN": "Number.Float", "COMPLEX": "Number", "HEX_FLOAT": "Number.Float", "HEX": "Number.Hex",
    "FIXED": "Number.Integer", "FLOAT": "Number.Float", "INT": "Number.Integer",
    "SPLAT": "Operator", "DECORATOR": "Name.Decorator", "BAD": "Error",
    **dict.fromkeys(("WORD", "WHERE", *_SECTIONS), "Name.Variable"),
}  # fmt: skip
"""The default Pygments token type of each terminal; the neighboring tokens can change the type."""

_PARTS = re.compile(
    r"(?P<blank>\s+)|(?P<type>[A-Za-z_]\w*(?=\s*\[))|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<number>-?[0-9.][-+\w.()]*)|(?P<mark>.)",
    re.DOTALL,
)
"""Matches the parts of a token that the lexer does not split (`float[N, 3]`, `[1, 2]`)."""

_NAMES = {"WORD", "STRING", "ESCAPED_STRING", "BYTES"}
_ELEMENTS = {"NUMBERS", "NESTED", "BRACES"}
"""Terminals for all elements of a tensor, such as `{1, 2}`; the lexer returns them in one token."""
_OPENING = frozenset("<([{")
_CLOSING = frozenset(">)]}")
_OPERATORS = frozenset({"=", "=>", "@"})


def classify(text: str, longest: int = sys.maxsize) -> Iterator[Piece]:
    """Yield the classified pieces of a text, lazily; their concatenation is the whole text.

    Args:
        text: a model or any part of one; errors become pieces of the kind `Error`.
        longest: a list of elements with more characters is one piece of the kind `Number`.
    """
    end = 0
    for token, kind in _classify_tokens(_tokens(text)):
        yield from _between(text, end, token.at)
        if len(token) > longest and token.kind in _ELEMENTS:
            yield token.at, "Number", str(token)
        else:
            yield from _pieces(token, kind)
        end = token.at + len(token)
    yield from _between(text, end, len(text))


def _tokens(text: str) -> Iterator[Token]:
    from onnxtext.syntax.grammar.lexer import Token, load_lexer

    for kind, token, offset in load_lexer().read(text, 0):
        if token == '"':
            # An unclosed string extends to the end: searching strings in it would take quadratic
            # time.
            yield Token(text[offset:], offset, "BAD")
            return
        yield token if isinstance(token, Token) else Token(token, offset, kind)


def _classify_tokens(tokens: Iterator[Token]) -> Iterator[tuple[Token, str]]:
    """Yield each token with its Pygments token type."""
    brackets: list[str] = []
    before: Token | str = ""
    queue = deque(islice(tokens, _QUEUE_LENGTH))
    while queue:
        token = queue.popleft()
        queue.extend(islice(tokens, 1))
        if token in _OPENING:
            brackets.append(token)
        elif token in _CLOSING and brackets:
            brackets.pop()
        found = None
        if token.kind in _NAMES or token.kind in _SECTIONS:
            after, *following = queue or ("",)
            graph = _opens_graph(following[:2])
            found = _name_type(token.kind, before, after, "".join(brackets[-1:]), graph=graph)
        if found is None:
            found = KINDS.get(token.kind, "Operator" if token in _OPERATORS else "Punctuation")
        yield token, found
        before = token


_QUEUE_LENGTH = 4
"""The current token and a lookahead of three tokens."""


def _opens_graph(following: list[Token]) -> bool:
    """Whether a `(` begins a graph, not the inputs of a node, given the two tokens after it."""
    kind = following[0].kind if following else ""
    if following == [")", "=>"] or kind == "TYPE":
        return True
    return kind in {"PRIM", "CONTAINER"} and following[1:] not in ([","], [")"])


def _name_type(kind: str, before: str, after: str, bracket: str, *, graph: bool) -> str | None:
    """Return the Pygments token type of a name; None if its neighbors do not determine the type.

    `bracket` is the innermost open bracket, or "" outside of brackets. `graph` tells whether a `(`
    after the name would begin a graph.
    """
    if kind in _SECTIONS and not bracket and before != ">" and after in {"{", "none"}:
        return "Keyword.Namespace"
    if before == "@":
        return "Name.Variable.Instance"
    if after == "=>" or (after == "(" and (graph or not bracket) and before not in {"=", "."}):
        return "Name.Class"
    if before in {"=", "."} and after in {"(", "<", ":"}:
        return "Name.Class" if graph and after == "(" else "Name.Function"
    if before == ":" and after in {"(", "<"}:
        return "Name.Tag"
    if after == ":":
        return "Name.Attribute"
    if after == ".":
        return "Name.Namespace"
    if after == "<" and not bracket:
        return "Name.Class"
    if after == "=" and bracket == "<" and before in {"<", ","}:
        return "Name.Attribute"
    return None


def _pieces(token: Token, whole: str) -> Iterator[Piece]:
    """Yield the parts of a type, a list of elements or a decorator; yield other tokens whole.

    Args:
        token: the token.
        whole: the Pygments token type of a token that is not split, or of a decorator's name.
    """
    kind = token.kind
    if kind == "DECORATOR":
        yield token.at, whole, token[:-1]
        yield token.at + len(token) - 1, "Punctuation", "("
        return
    if kind != "TYPE" and kind not in _ELEMENTS:
        yield token.at, whole, str(token)
        return
    types: dict[str | None, str] = {
        "blank": "Whitespace",
        "type": "Keyword.Type",
        "name": "Name.Label" if kind == "TYPE" else "Keyword.Constant",
        "number": "Number",
        "mark": "Punctuation",
    }
    for part in _PARTS.finditer(token):
        yield token.at + part.start(), types[part.lastgroup], part.group()


_GAP = re.compile(r"(?P<comment>#[^\n]*)|(?P<blank>\s+)|.", re.DOTALL)
_GAP_TYPES = {"comment": "Comment.Single", "blank": "Whitespace", None: "Text"}


def _between(text: str, start: int, end: int) -> Iterator[Piece]:
    """Yield the blanks, comments and other characters (`Text`) between two tokens."""
    for part in _GAP.finditer(text, start, end):
        yield part.start(), _GAP_TYPES[part.lastgroup], part.group()
