# SPDX-License-Identifier: Apache-2.0
"""The exception for invalid literals."""

from __future__ import annotations


class LiteralError(ValueError):
    """Text that is not a valid literal.

    Attributes:
        message: The problem, such as "expected a number, found x": no capital, no final period.
        offset: Character offset into the given text; 0 if unknown.
        length: Number of characters of the wrong part; 0 if unknown.
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
        """Return the same error moved by `offset` characters into a longer text."""
        size = self.length if length is None else length
        return LiteralError(self.message, self.offset + offset, size, self.help)


def quoted(text: str) -> str:
    """Return text for a message: shortened if it is long, ``nothing`` if it is empty."""
    if not text:
        return "nothing"
    return text if len(text) <= 40 else f"{text[:37]}..."
