# SPDX-License-Identifier: Apache-2.0
"""Semantic errors, which actions raise for text that is grammatical but invalid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnxtext.diagnostics import Edit, Subject
from onnxtext.syntax.actions.number_list_commas import comma_edits, move_edits
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.tensor.errors import LiteralError

MAX_SEMANTIC_ERRORS = 100
"""The default maximum number of errors, after which parsing stops."""


class SemanticError(ValueError):
    """An error that an action finds; `recovery` turns it into a diagnostic.

    The error marks `length` characters. They begin `offset` characters after the start of `token`;
    if there is no token, or its offset is unknown, they begin at the offset `at` of the source.
    By default, they end at the end of the token.

    Attributes:
        message: the problem; must begin in lower case and have no final period.
        at: the 0-based character offset of the marked text in the source; None to mark the start
            of the construct.
        length: the number of marked characters, at least 1.
        help: how to fix the problem; None if unknown.
        partial_value: the value of the construct without its invalid parts; None if there is no
            such value.
        others: further errors in the same construct.
        step: if a path in a section is invalid, the 0-based index of its invalid step; otherwise
            None.
        item: if the value of the marked header key is invalid, the 0-based index of the invalid
            item, or -1 for the whole value; otherwise None.
        is_entry: whether the error is about the first entry outside of a block in a section
            `metadata`; `at` is then the start of the section.
        is_bare: whether the error is about a metadata value without quotes; `at` is then the start
            of this value.
        instead: the text that should replace the marked text, as an unsafe fix; None if unknown.
        edits: edits of the source that correct the construct, as an unsafe fix; empty if unknown.
        missing: what is missing, such as "an attribute type", if the marked text begins a line: the
            text is then probably the next statement. Empty if unknown.
    """

    def __init__(
        self,
        message: str,
        *,
        token: str | None = None,
        offset: int = 0,
        at: int | None = None,
        length: int | None = None,
        help: str | None = None,
        code: str = "syntax-error",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.at = token.at + offset if isinstance(token, Token) else at
        self.length = max(1, length if length is not None else len(token or "") - offset)
        self.help = help
        self.partial_value: Any = None
        self.others: tuple[SemanticError, ...] = ()
        self.step: int | None = None
        self.item: int | None = None
        self.is_entry = self.is_bare = False
        self.instead: str | None = None
        self.edits: tuple[Edit, ...] = ()
        self.subject: Subject | None = None
        self.missing = ""


def from_literal(
    error: LiteralError, token: str | None, parse: Callable[[str], object] | None = None
) -> SemanticError:
    """Convert a `LiteralError` to a semantic error.

    The offset of `error` must be relative to `token`, the literal. `parse` parses the literal, to
    test corrections of its commas; None for no corrections.
    """
    result = SemanticError(
        error.message,
        token=token,
        offset=error.offset,
        length=error.length,
        help=error.help,
        code=error.code,
    )
    result.instead = error.instead
    if parse is not None and isinstance(token, Token):
        result.edits = move_edits(comma_edits(token, parse), token.at.__add__)
        _mark_missing_comma(result, token)
    return result


def _mark_missing_comma(error: SemanticError, token: Token) -> None:
    """If a comma is missing at the end of a line, change the message and the place of `error`."""
    edit = error.edits[0] if error.edits else None
    if edit is None or edit.text != "," or error.at is None:
        return
    end = edit.span.start - token.at
    if "\n" in token[end : error.at - token.at]:
        error.message = "expected `,` between two elements"
        error.at, error.length = edit.span.start - 1, 1


def token_of(value: object) -> str | None:
    """Return `value` if it is a string, so that an error can mark it; otherwise None."""
    return value if isinstance(value, str) else None
