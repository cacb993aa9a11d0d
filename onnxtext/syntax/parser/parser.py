# SPDX-License-Identifier: Apache-2.0
"""Parse a text: feed the tokens of the lexer to the LALR(1) machine.

At an unexpected token, `Parser.recover` changes the machine's stack and returns the offset at which
parsing continues. `recover` is None until the first syntax error; then `onnxtext.syntax.parse` sets
it to `Recovery.recover`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnxtext.syntax.grammar.lexer import load_lexer
from onnxtext.syntax.parser.lalr import ERROR_NODE, Machine, Unexpected, load_automaton


class Parser:
    """A parser of one text.

    Attributes:
        recover: the function to call at an unexpected token; None to raise an error instead. The
            function changes the stack of the machine, and returns the offset at which to continue,
            or None to give up.
    """

    def __init__(self, text: str, start: str) -> None:
        if text.startswith("\ufeff"):  # a byte order mark, as some editors write it
            text = " " + text[1:]
        self.text = text
        self.automaton = load_automaton()
        self.machine = Machine(self.automaton, [self.automaton.starts[start]])
        self.lexer = load_lexer()
        self.recover: Callable[[Unexpected], int | None] | None = None

    def parse(self, offset: int | None = 0) -> Any:
        """Return the value of the start rule; `ERROR_NODE` if the recovery gives up.

        Begin at `offset`; if it is None, return `ERROR_NODE` at once.

        Raises:
            Unexpected: a token is unexpected, and there is no recovery.
            SemanticError: an action failed, and the machine does not keep errors or has too many;
                or constructs are nested too deeply.
        """
        while offset is not None:
            try:
                self.feed_from(offset)
                return self.finish()
            except Unexpected as unexpected:
                if self.recover is None:
                    raise
                offset = self.recover(unexpected)
        return ERROR_NODE

    def finish(self) -> Any:
        """Return the value of the start rule, at the end of the text.

        Raises:
            Unexpected: the text cannot end here.
            SemanticError: an action failed.
        """
        return self.machine.finish(len(self.text))

    def feed_from(self, offset: int) -> None:
        """Feed the tokens from an offset to the end of the text.

        Raises:
            Unexpected: a token is unexpected.
            SemanticError: an action failed, as in `Machine.feed_all`.
        """
        self.machine.feed_all(self.lexer.read(self.text, offset))
