# SPDX-License-Identifier: Apache-2.0
"""Trials: would the text parse if it were changed like this? With states only, without values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onnxtext.diagnostics import Edit
from onnxtext.syntax.grammar.lexer import BAD_KIND, END_KIND, Lexer, Token
from onnxtext.syntax.parser.lalr import MAX_STACK, Automaton

MAX_TOKENS = 12
"""How many tokens behind a mistake are tried: more would meet the next mistake too often."""

CERTAIN_TOKENS = 60
"""How many tokens behind a mistake must fit for a change to be beyond doubt."""

_AHEAD = 2000
"""How many characters they may have."""


class States:
    """The stack of states of a parse that may come to nothing."""

    __slots__ = ("automaton", "stack")

    def __init__(self, automaton: Automaton, stack: Sequence[int]) -> None:
        self.automaton = automaton
        self.stack = list(stack)

    def feed(self, kind: str) -> bool:
        """Whether a token of this kind fits; if not, the stack is spoilt."""
        rows = self.automaton.rows
        stack = self.stack
        while True:
            target = rows[stack[-1]].get(kind)
            if target is None:
                return kind == END_KIND and stack[-1] in self.automaton.accepting
            if target >= 0:
                stack.append(target)
                return len(stack) <= MAX_STACK
            reduction = self.automaton.reductions[~target]
            if reduction.size:
                del stack[-reduction.size :]
            stack.append(self.automaton.gotos[stack[-1]][reduction.origin])

    def takes(self, kind: str) -> bool:
        """Whether a token of this kind would fit; the stack stays as it is."""
        return States(self.automaton, self.stack).feed(kind)


@dataclass(frozen=True, slots=True)
class Region:
    """The part of a text on which changes are tried.

    Attributes:
        text: the whole text.
        start: where the part begins: between two tokens.
        states: the automaton's states there.
        error: where the token begins that fits nowhere; the length of the text for its end.
    """

    text: str
    start: int
    states: tuple[int, ...]
    error: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a trial.

    Attributes:
        count: how many tokens at or behind the mistake fit, up to what is tried.
        resume: where the first of them begins that the changes do not touch.
        complete: whether all that were tried fit, up to the end of the text or of the trial.
        next_line: whether a token fits that begins in a later line than the diagnosis.
        tokens: those before `resume`, as changed; they know where they stand in the text.
        made: the indexes of those that the changes have a part in.
    """

    count: int
    resume: int
    complete: bool
    next_line: bool
    tokens: list[Token]
    made: list[int]

    @property
    def promising(self) -> bool:
        """Whether the changes are likely to be what was meant."""
        return self.complete or self.next_line or self.count >= 4


def attempt(
    lexer: Lexer,
    automaton: Automaton,
    region: Region,
    edits: Sequence[Edit],
    most: int = MAX_TOKENS,
) -> Outcome | None:
    """Parse a region with changes, and so many tokens behind it.

    Returns:
        None if it does not even parse up to the diagnosis.
    """
    text = region.text
    pieces = []
    places = []  # for each piece: where it is in the changed text, and in the text
    created: list[tuple[int, int]] = []
    at, size = region.start, 0
    for edit in edits:
        for piece, origin in ((text[at : edit.span.start], at), (edit.text, edit.span.start)):
            pieces.append(piece)
            places.append((size, origin, piece is edit.text))
            size += len(piece)
        created.append((size - len(edit.text), len(edit.text)))
        at = edit.span.end
    touched = max(at, region.error)
    limit = min(len(text), touched + _AHEAD)
    places.append((size, at, False))
    pieces.append(text[at:limit])
    changed = "".join(pieces)
    shift = at - size  # of what lies behind the last change
    line_end = text.find("\n", region.error)
    line_end = len(text) if line_end < 0 else line_end
    states = States(automaton, region.states)
    tokens: list[Token] = []
    made: list[int] = []
    spans = [(start, start + size) for start, size in created]
    count = 0
    resume = -1
    next_line = False
    for kind, token, at in lexer.read(changed, 0):
        end = at + len(token)
        if end == len(changed) and limit < len(text) and resume >= 0:
            return Outcome(count, resume, True, next_line, tokens, made)  # it may be cut off
        behind = at >= size and at + shift >= touched
        if behind and resume < 0:
            resume = at + shift
        if not states.feed(kind):
            # A mistake of its own, if it is far enough.
            other = kind == BAD_KIND and 3 * count > most - MAX_TOKENS
            return Outcome(count, resume, other, next_line, tokens, made) if resume >= 0 else None
        if behind:
            count += 1
            next_line = next_line or at + shift > line_end
            if count == most:
                return Outcome(count, resume, True, next_line, tokens, made)
        else:
            if any(first < end and at < last for first, last in spans):
                made.append(len(tokens))
            tokens.append(Token(token, _origin(places, at), kind))
    if limit < len(text):
        return Outcome(count, resume, True, next_line, tokens, made) if resume >= 0 else None
    if resume < 0:
        resume = len(text)
    return Outcome(count, resume, states.feed(END_KIND), next_line, tokens, made)


def _origin(places: list[tuple[int, int, bool]], at: int) -> int:
    """Where in the text what stands at an offset of the changed text comes from."""
    start, origin, made = max(place for place in places if place[0] <= at)
    return origin if made else origin + at - start
