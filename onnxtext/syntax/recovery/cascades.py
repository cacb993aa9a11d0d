# SPDX-License-Identifier: Apache-2.0
"""Suppress cascading errors: diagnostics that follow from a guess about an earlier error.

After an error, the parser state is certain (for example, if a missing comma was inserted) or a
guess (for example, if a statement was dropped). After a guess, an error is not reported if it is

- in the statement of the guess;
- on a line that is valid in another context: probably the guessed state is wrong, not the line;
- at a closing bracket or the end of the text, if one bracket of a pair was dropped;
- at the end of the text, if a `{` was inserted.

The first two conditions apply until a statement parses without an error; the second applies to the
rest of the text if one bracket of a pair was dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.syntax.heuristics.constructs.misplaced_lines import parses_elsewhere
from onnxtext.syntax.heuristics.error_context import CLOSING, OPENING, ErrorContext


class CascadeFilter:
    """Decides which errors follow from a guess about an earlier error.

    Attributes:
        unbalanced: whether the beginning of a block was dropped without its end, or the reverse.
    """

    def __init__(self) -> None:
        self.unbalanced = False
        self._inserted_brace = False
        self._error = self._resume = -1

    def note_guess(
        self, offset: int, resume: int, removed: Sequence[str] = (), inserted: str = ""
    ) -> None:
        """Record that the parser state is a guess after an error.

        `offset` is that of the unexpected token; parsing continues at `resume`. `removed` are the
        tokens that were dropped, `inserted` the text that was inserted.
        """
        self._inserted_brace = self._inserted_brace or "{" in inserted
        self._error, self._resume = min(offset, resume - 1), resume
        if removed and (removed[-1] in OPENING or removed[0] in CLOSING):
            self.unbalanced = True

    def note_certain(self) -> None:
        """Forget the last guess: the parser state is certain again."""
        self._error = self._resume = -1

    def is_cascade(self, context: ErrorContext) -> bool:
        """Whether an error probably follows from an earlier guess and should not be reported."""
        start = context.region.start
        if self._inserted_brace and context.token is None:
            return True
        if self.unbalanced:
            line = context.text[context.line_start : context.line_end].lstrip()
            if context.token is None or context.token in CLOSING or line[:1] in {*CLOSING}:
                return True
        elif self._error < 0:
            return False
        if self._error >= 0 and start <= self._error:
            return True
        return (self.unbalanced or start <= self._resume) and parses_elsewhere(context)
