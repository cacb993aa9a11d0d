# SPDX-License-Identifier: Apache-2.0
"""What an action raises when the text is grammatical and still means nothing."""

from __future__ import annotations

from typing import Any

from onnxtext.syntax.grammar.lexer import Token

MAX_SEMANTIC_ERRORS = 100
"""After so many mistakes a text is not read further."""


class SemanticError(ValueError):
    """A mistake in a text; the parser turns it into a diagnostic.

    Attributes:
        code: slug of the diagnostic.
        message: lower case, no final period.
        at: character offset in the source; None for the whole construct.
        length: in characters, at least 1.
        help: how to fix it.
        made: what could be made all the same, without what is wrong; None if nothing could.
        others: further mistakes in the same construct.
        step: which step of the path at this place is wrong, from 0; None if it is all of it.
        instead: what to write there; None if that is not known.
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
