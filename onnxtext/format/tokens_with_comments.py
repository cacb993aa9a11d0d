# SPDX-License-Identifier: Apache-2.0
"""Tokenize a text, attaching comments and blank lines to the tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from onnxtext.source import COMMENT, STRING, STRING_OR_COMMENT
from onnxtext.syntax.grammar.lexer import load_lexer


@dataclass(slots=True)
class Comment:
    """A comment.

    Attributes:
        text: the text from `#` to the end of the line, without trailing whitespace.
        at: the 0-based offset of the comment in the source.
        blank: whether a blank line precedes the comment.
    """

    text: str
    at: int
    blank: bool = False


@dataclass(slots=True, eq=False)
class CommentedToken:
    """A token with the comments and blank lines around it.

    Attributes:
        text: the token's text; "" for the end of the text.
        terminal: the name of its terminal in the grammar; "" for the end of the text.
        at: the 0-based offset of the token in the source.
        lead: the comments before the token that have their own lines.
        blank: whether a blank line directly precedes the token.
        trail: the comment after the token on the same line; None if there is none.
    """

    text: str
    terminal: str
    at: int
    lead: list[Comment] = field(default_factory=list)
    blank: bool = False
    trail: Comment | None = None

    @property
    def end(self) -> int:
        """The offset after the token in the source."""
        return self.at + len(self.text)


def read_tokens(text: str) -> list[CommentedToken]:
    """Return the tokens of a valid text with their comments; the last token marks the end."""
    tokens: list[CommentedToken] = []
    last: CommentedToken | None = None
    offset = 0
    for terminal, token, start in load_lexer().read(text, 0):
        last = _attach(text, offset, CommentedToken(str(token), terminal, start), last)
        tokens.append(last)
        offset = last.end
    tokens.append(_attach(text, offset, CommentedToken("", "", len(text)), last))
    return tokens


def _attach(
    text: str, start: int, token: CommentedToken, before: CommentedToken | None
) -> CommentedToken:
    """Attach the comments and blank lines after `start` to `token`; return `token`.

    A comment in the line of `start` is attached to `before`, if any.
    """
    if token.at - start < 2 and not text.startswith("#", start):  # `#` may be an empty comment
        return token
    trivia = text[start : token.at]
    if "\n" not in trivia:
        if "#" not in trivia:
            return token
        trivia += "\n"  # a comment without line end at the end of the text
    lines = trivia.split("\n")
    offset = start
    for index, line in enumerate(lines):
        mark = line.find("#")
        if mark >= 0:
            comment = Comment(line[mark:].rstrip(), offset + mark, token.blank)
            if index == 0 and before is not None:
                before.trail = comment
            else:
                token.lead.append(comment)
            token.blank = False
        elif 0 < index < len(lines) - 1 and not line.strip():
            token.blank = True
        offset += len(line) + 1
    return token


def comments_of(text: str) -> list[str]:
    """Return the comments of a valid text in order."""
    if "#" not in text:
        return []
    matches = STRING_OR_COMMENT.findall(text)
    return [piece.rstrip() for piece in matches if piece[0] == "#"]


_STRING_OR_SPACED_COMMENT = re.compile(f"({STRING})|[ ]*{COMMENT}", re.DOTALL)


def drop_comments(text: str) -> str:
    """Remove the comments of a valid text, and the spaces before them."""
    return _STRING_OR_SPACED_COMMENT.sub(lambda match: match[1] or "", text)
