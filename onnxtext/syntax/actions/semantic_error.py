# SPDX-License-Identifier: Apache-2.0
"""Semantic errors, which actions raise for text that is grammatical but invalid."""

from __future__ import annotations

from typing import Any

from onnxtext.syntax.grammar.lexer import Token
from onnxtext.tensor.errors import LiteralError

MAX_SEMANTIC_ERRORS = 100
"""Maximum number of errors; then parsing stops."""


class SemanticError(ValueError):
    """An error that an action finds; `recovery` turns it into a diagnostic.

    The constructor's arguments `token`, `offset` and `length` give the text that the error marks:
    `length` characters (by default the rest of the token) from `offset` in the token on.

    Attributes:
        code: the code of the diagnostic, such as `syntax-error`.
        message: the problem; must begin in lower case and have no final period.
        at: the character offset of the marked text in the source; None to use the start of the
            construct.
        length: the number of marked characters, at least 1.
        help: how to fix it.
        made: the value to use for the construct, without its invalid parts; None if there is none.
        others: further errors in the same construct.
        step: if the path of a section's entry is invalid, the index of its invalid step; else None.
        instead: the text to suggest in place of the invalid text; None if unknown.
    """

    def __init__(
        self,
        message: str,
        *,
        token: str | None = None,
        offset: int = 0,
        length: int | None = None,
        help: str | None = None,
        code: str = "syntax-error",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.at = token.at + offset if isinstance(token, Token) else None
        self.length = max(1, length if length is not None else len(token or "") - offset)
        self.help = help
        self.made: Any = None
        self.others: tuple[SemanticError, ...] = ()
        self.step: int | None = None
        self.instead: str | None = None


def from_literal(error: LiteralError, token: str | None) -> SemanticError:
    """Convert the error for an invalid literal; its offset must be relative to `token`."""
    return SemanticError(
        error.message, token=token, offset=error.offset, length=error.length, help=error.help
    )
