# SPDX-License-Identifier: Apache-2.0
"""The exception for invalid literals."""

from __future__ import annotations


class LiteralError(ValueError):
    """A literal is invalid.

    Attributes:
        message: The problem, such as "expected a number, found x"; must begin in lower case and
            have no final period.
        offset: Character offset of the wrong characters in the literal; 0 if unknown.
        length: Number of wrong characters; 0 if unknown.
        help: How to fix the text, or None.
    """

    def __init__(
        self, message: str, offset: int = 0, length: int = 0, help: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.length = length
        self.help = help

    def at(self, offset: int, length: int | None = None) -> LiteralError:
        """Return the error for a text that contains the literal at `offset`.

        `length` replaces the length of the error; None keeps it.
        """
        size = self.length if length is None else length
        return LiteralError(self.message, self.offset + offset, size, self.help)


def quoted(text: str) -> str:
    """Return `text` as a message shows it: shorten a long text; return ``nothing`` for ""."""
    if not text:
        return "nothing"
    return text if len(text) <= 40 else f"{text[:37]}..."
