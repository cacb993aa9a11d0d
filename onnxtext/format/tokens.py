# SPDX-License-Identifier: Apache-2.0
"""Tokens with the comments and blank lines around them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from onnxtext.syntax.lexer import load_lexer


@dataclass(slots=True)
class Comment:
    """A comment.

    Attributes:
        text: from `#` to the end of the line, without blanks at its end.
        at: where it stands in the source.
        blank: whether a blank line stands before it.
    """

    text: str
    at: int
    blank: bool = False


@dataclass(slots=True, eq=False)
class Token:
    """A token and what is attached to it.

    Attributes:
        text: the token's text; "" for the end of the text.
        terminal: name of its terminal in the grammar; "" for the end of the text.
        at: where it stands in the source.
        lead: comments on lines of their own before it.
        blank: whether a blank line stands directly before it.
        trail: a comment behind it on its line.
    """

    text: str
    terminal: str
    at: int
    lead: list[Comment] = field(default_factory=list)
    blank: bool = False
    trail: Comment | None = None

    @property
    def end(self) -> int:
        """Where it ends in the source."""
        return self.at + len(self.text)


def read_tokens(text: str) -> list[Token]:
    """The tokens of a text that parses, and a last token for its end."""
    tokens: list[Token] = []
    last: Token | None = None
    at = 0
    for terminal, token, start in load_lexer().read(text, 0):
        last = _attach(text, at, Token(str(token), terminal, start), last)
        tokens.append(last)
        at = last.end
    tokens.append(_attach(text, at, Token("", "", len(text)), last))
    return tokens


def _attach(text: str, start: int, token: Token, before: Token | None) -> Token:
    """Attach what stands between two tokens to one of them."""
    if token.at - start < 2:
        return token
    trivia = text[start : token.at]
    if "\n" not in trivia:
        if "#" not in trivia:
            return token
        trivia += "\n"  # a comment at the end of the text
    lines = trivia.split("\n")
    at = start
    for number, line in enumerate(lines):
        mark = line.find("#")
        if mark >= 0:
            comment = Comment(line[mark:].rstrip(), at + mark, token.blank)
            if number == 0 and before is not None:
                before.trail = comment
            else:
                token.lead.append(comment)
            token.blank = False
        elif 0 < number < len(lines) - 1 and not line.strip():
            token.blank = True
        at += len(line) + 1
    return token


def comments_of(text: str) -> list[str]:
    """The texts of all comments of a text that parses, in order."""
    if "#" not in text:
        return []
    return [found.rstrip() for found in _COMMENT.findall(text) if found]


_COMMENT = re.compile(
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""|"[^"\\]*(?:\\.[^"\\]*)*"|(#[^\n]*)', re.DOTALL
)
"""Strings, in which nothing is a comment, and comments, as the group."""
