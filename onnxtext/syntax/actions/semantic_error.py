# SPDX-License-Identifier: Apache-2.0
"""Semantic errors, which actions raise for text that is grammatical but invalid."""

from __future__ import annotations

from typing import Any

from onnxtext.syntax.grammar.lexer import Token
from onnxtext.tensor.errors import LiteralError

MAX_SEMANTIC_ERRORS = 100
"""The number of errors after which parsing stops."""


class SemanticError(ValueError):
    """An error that an action finds; `recovery` turns it into a diagnostic.

    The error marks `length` characters, which begin `offset` characters after the start of `token`;
    without `length`, the rest of the token.

    Attributes:
        code: the code of the diagnostic, such as `syntax-error`.
        message: begins in lower case, and has no final period.
        at: the character offset of the marked text in the source; None to use the start of the
            construct.
        length: the number of marked characters, at least 1.
        help: how to fix it.
        made: the value of the construct without its invalid parts; None if it has no value.
        others: further errors in the same construct.
        step: the index of the invalid step in an entry's path; None for other errors.
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
    """Convert the error for an invalid literal; offsets in `error` are relative to `token`."""
    return SemanticError(
        error.message, token=token, offset=error.offset, length=error.length, help=error.help
    )
