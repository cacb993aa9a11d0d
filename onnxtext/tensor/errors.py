# SPDX-License-Identifier: Apache-2.0
"""The exception for invalid literals."""

from __future__ import annotations


class LiteralError(ValueError):
    """A literal is invalid.

    Attributes:
        message: The problem, such as "expected a number, found `x`"; must begin in lower case and
            have no final period.
        offset: 0-based offset of the first wrong character in the literal; 0 if unknown.
        length: Number of wrong characters; 0 if unknown.
        help: How to fix the text; None if unknown.
        code: The code of the diagnostic.
        instead: The text that should replace the wrong characters; None if unknown.
    """

    def __init__(
        self,
        message: str,
        offset: int = 0,
        length: int = 0,
        help: str | None = None,
        *,
        code: str = "syntax-error",
        instead: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.length = length
        self.help = help
        self.code = code
        self.instead = instead

    def at(self, offset: int, length: int | None = None) -> LiteralError:
        """Return this error for a longer text, which contains the literal at `offset`.

        `length` replaces the length of this error; None keeps it.
        """
        size = self.length if length is None else length
        return LiteralError(
            self.message,
            self.offset + offset,
            size,
            self.help,
            code=self.code,
            instead=self.instead,
        )


def quote_token(text: str) -> str:
    """Return a token in backticks for a message, cut to 40 characters; ``nothing`` for ""."""
    if not text:
        return "nothing"
    return f"`{text}`" if len(text) <= 40 else f"`{text[:37]}...`"
