# SPDX-License-Identifier: Apache-2.0
"""Cascading errors: diagnostics that follow from a guess about an earlier diagnosis.

After a mistake the parser goes on in a state that is certain (a comma was added) or guessed (a
statement was left out). After a guess a further error is a cascading one, and is not reported,

- in the same statement;
- in a line that would be right somewhere else: then the state is wrong, not the line;
- at a closing bracket or at the end of the text, if the head of a block was left out.

Statements that are parsed without an error end the suspicion of the first two kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from onnxtext.syntax.grammar.lexer import load_lexer
from onnxtext.syntax.heuristics.error_context import CLOSING, OPENING, ErrorContext
from onnxtext.syntax.heuristics.speculative_parse import States
from onnxtext.syntax.parser.lalr import load_automaton

_GOES_ON = OPENING | {","}
_MAX_CHARACTERS = 2000
_CONTEXTS = (
    ("<", ">"),
    ("<x: [", "]"),
    ("g", "{"),
    ("g (", ")"),
    ("g (x", "{"),
    ("g () => (", ")"),
    ("g () => (x", "{"),
    ("g () => () <", ">"),
    ("g () => () <x", "{"),
    ("g () => () <float[1] x = [", "]"),
    ("g () => () {", "}"),
    ("g () => () {}", "f"),
    ("g () => () {} f <", ">"),
    ("g () => () {} f (", ")"),
    ("g () => () {x = X <", ">"),
    ("g () => () {x = X <a = [", "]"),
    ("g () => () {x = X <a = g () => () {", "}"),
    ("g () => () {x = X <a = g (", ")"),
    ("g () => () {x = X (", ")"),
    ("g () => () {} metadata {", "}"),
    ("g () => () {} metadata { x {", "}"),
)
"""Beginnings of texts, and what may follow a whole line there."""


class CascadeFilter:
    """Decides which errors follow from a guess.

    Attributes:
        unbalanced: whether the head or the end of a block was left out without the rest.
    """

    def __init__(self) -> None:
        self.unbalanced = False
        self._opened = False
        self._error = self._resume = -1

    def guessed(self, at: int, resume: int, left_out: Sequence[str] = (), added: str = "") -> None:
        """Keep where a guess was made.

        Args:
            at: where the token is that fits nowhere.
            resume: where parsing goes on.
            left_out: the tokens that were left out.
            added: what was added to the text.
        """
        self._opened = self._opened or "{" in added
        self._error, self._resume = min(at, resume - 1), resume
        if left_out and (left_out[-1] in OPENING or left_out[0] in CLOSING):
            self.unbalanced = True

    def certain(self) -> None:
        """Forget the guess before: the state is certain again."""
        self._error = self._resume = -1

    def is_cascade(self, context: ErrorContext) -> bool:
        """Whether an error follows from a guess."""
        start = context.region.start
        if self._opened and context.token is None:
            return True
        if self.unbalanced:
            line = context.text[context.line_start : context.line_end].lstrip()
            if context.token is None or context.token in CLOSING or line[:1] in {*CLOSING}:
                return True
        elif self._error < 0:
            return False
        if self._error >= 0 and start <= self._error:
            return True
        return (self.unbalanced or start <= self._resume) and _is_right_elsewhere(context)


@cache
def _contexts() -> tuple[tuple[tuple[int, ...], str], ...]:
    """The stacks of states behind the beginnings, and the kinds of what may follow."""
    lexer, automaton = load_lexer(), load_automaton()
    stacks = []
    for beginning, end in _CONTEXTS:
        states = States(automaton, [automaton.starts["model"]])
        for token in lexer.tokens(beginning, 0, len(beginning)):
            states.feed(lexer.kind(token))
        stacks.append((tuple(states.stack), lexer.kind(end)))
    return tuple(stacks)


def _is_right_elsewhere(context: ErrorContext) -> bool:
    """Whether the lines of an error can be parsed in another place of a text."""
    text = context.text
    line = text.rfind("\n", 0, context.region.start) + 1
    if context.line_end - line > _MAX_CHARACTERS:
        return False
    tokens = context.lexer.tokens(text, line, context.line_end)
    kinds = [context.lexer.kind(token) for token in tokens]
    for stack, end in _contexts():
        states = States(context.automaton, stack)
        fits = all(states.feed(kind) for kind in kinds)
        if fits and tokens and (tokens[-1] in _GOES_ON or states.takes(end)):
            return True
    return False
