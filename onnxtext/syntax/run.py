# SPDX-License-Identifier: Apache-2.0
"""Parsing a text: the lexer finds its tokens, and the machine is fed with them.

Where a token fits nowhere, `recovery` mends the machine and says where to go on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnxtext.syntax.lexer import load_lexer
from onnxtext.syntax.machine import HOLE, Machine, Unexpected, load_automaton


class Run:
    """One text being parsed.

    Attributes:
        recover: mends the machine where a token fits nowhere, and says where to go on.
    """

    def __init__(self, text: str, start: str) -> None:
        if text.startswith("\ufeff"):  # a byte order mark, as some editors write it
            text = " " + text[1:]
        self.text = text
        self.automaton = load_automaton()
        self.machine = Machine(self.automaton, [self.automaton.starts[start]])
        self.lexer = load_lexer()
        self.recover: Callable[[Unexpected], int | None] | None = None

    def parse(self) -> Any:
        """The value of the start rule; `HOLE` if too little of it could be made.

        Raises:
            Unexpected: a token fits nowhere, and nobody mends that.
            Fault: an action found a mistake, and the machine does not keep it.
        """
        at: int | None = 0
        while at is not None:
            try:
                self.feed_from(at)
                return self.machine.finish(len(self.text))
            except Unexpected as unexpected:
                if self.recover is None:
                    raise
                at = self.recover(unexpected)
        return HOLE

    def feed_from(self, at: int) -> None:
        """Feed the machine with the tokens from an offset on, up to the end of the text."""
        self.machine.feed_all(self.lexer.read(self.text, at))
