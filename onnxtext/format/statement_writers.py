# SPDX-License-Identifier: Apache-2.0
"""Format single statements of lists; the printer makes the text of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.format.trivia_spans import (
    BLANK_LINE,
    COMMENTS,
    code_before_trivia,
    same_code,
    same_code_without_quotes,
    without_comments,
)


class FormattedStatement(NamedTuple):
    """A statement in the canonical layout.

    Attributes:
        statement: the formatted text, with its comma.
        trivia: the comments and whitespace in the source between this and the next statement.
        comments: comments from the statement, to write on lines above it.
    """

    statement: str
    trivia: str
    comments: Sequence[str] = ()


Respell = Callable[[Any, str, str], str | None]
"""Prints a statement with the spelling of its source; None if impossible.

The arguments are the syntax tree, the text in the source without comma, and the indentation.
"""


@dataclass(frozen=True, slots=True)
class ListedStatements:
    """Formats the statements of one list.

    Attributes:
        respell: prints a statement with the spelling of its source.
        indent: the indentation of the statements.
        comma: the separator after each statement.
    """

    respell: Respell
    indent: str
    comma: str

    def write(self, source: str, item: Node | ValueInfo, printed: str) -> FormattedStatement | None:
        """Format a statement; None if it must be formatted in full.

        Args:
            source: the text from the statement to the next statement.
            item: its syntax tree.
            printed: the printed statement, with its comma.
        """
        if source.startswith(printed) and COMMENTS.fullmatch(source, len(printed)):
            return FormattedStatement(printed, source[len(printed) :])
        found = _without_comments(source, in_statement=not self.comma)
        if found is None:
            return None
        code, trivia, comments = found
        if not code.endswith(self.comma):
            return None
        if not same_code(code, printed):
            bare = code[: len(code) - len(self.comma)].rstrip()
            respelled = self.respell(item, bare, self.indent)
            printed = printed if respelled is None else respelled + self.comma
            if not same_code(code, printed) and not same_code_without_quotes(code, printed):
                return None
        if "\n" in printed and BLANK_LINE.search(code):  # formatting may keep the blank line
            return None
        return FormattedStatement(printed, trivia, comments)


def _without_comments(source: str, *, in_statement: bool) -> tuple[str, str, Sequence[str]] | None:
    """Split the text from a statement to the next into code, trivia, and the comments in the code.

    Return None if it is unclear where comments begin, or if a comment may be in a list: the
    formatter leaves such comments there. Without `in_statement`, also return None if there are
    comments in the code.
    """
    if "#" not in source:
        code = source.rstrip()
        return code, source[len(code) :], ()
    if "\\" in source or '"""' in source:
        return None
    stripped = code_before_trivia(source)
    if stripped is not None:
        return stripped, source[len(stripped) :], ()
    return without_comments(source) if in_statement else None
