# SPDX-License-Identifier: Apache-2.0
"""Speculative parse: test whether an edited text would parse, without building its tree."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from onnxtext.diagnostics import Edit
from onnxtext.syntax.grammar.lexer import Lexer, Token
from onnxtext.syntax.grammar.tables import BAD_KIND, END_KIND
from onnxtext.syntax.parser.lalr import MAX_PARSER_STACK, Automaton

MAX_TOKENS = 12
"""Usual number of tokens to parse after an error; later tokens often have the next error."""

CERTAIN_TOKENS = 60
"""Number of tokens after an error that must parse so that an edit is certain."""

_AHEAD = 2000
"""Maximum number of characters to parse after an error."""

_COARSE = frozenset(("NUMBERS", "NESTED", "BRACES", "TYPE"))
_NO_COMMA = re.compile(r"[\w.?)][ \t\n\v\f\r]+[-+\w.?(]|\][ \t\n\v\f\r]*[-+\w.\[]|,[ \t\n\v\f\r]*,")
"""Finds two elements of a list that are not separated by exactly one comma.

The lexer reads a list as one token even if commas are missing or repeated.
"""


class States:
    """The stack of states of a speculative parse."""

    __slots__ = ("automaton", "stack")

    def __init__(self, automaton: Automaton, stack: Sequence[int]) -> None:
        self.automaton = automaton
        self.stack = list(stack)

    def feed(self, kind: str) -> bool:
        """Reduce, then shift a token of this kind; return whether the token is valid.

        After an invalid token, the stack must not be used.
        """
        rows = self.automaton.rows
        stack = self.stack
        while True:
            target = rows[stack[-1]].get(kind)
            if target is None:
                return kind == END_KIND and stack[-1] in self.automaton.accepting
            if target >= 0:
                stack.append(target)
                return len(stack) <= MAX_PARSER_STACK
            reduction = self.automaton.reductions[~target]
            if reduction.size:
                del stack[-reduction.size :]
            stack.append(self.automaton.gotos[stack[-1]][reduction.origin])

    def takes(self, kind: str) -> bool:
        """Whether the next token may be of this kind; does not change the stack."""
        return States(self.automaton, self.stack).feed(kind)


class EditedToken(Token):
    """A token of an edited text, with its place in the original text.

    Attributes:
        size: the number of characters that the token covers in the original text.
    """

    __slots__ = ("size",)
    size: int

    def __new__(cls, text: str, offset: int, kind: str = "", size: int = 0) -> EditedToken:
        """Create a token with a text, and its offset and size in the original text."""
        token = super().__new__(cls, text, offset, kind)
        assert isinstance(token, EditedToken)
        token.size = size
        return token

    @property
    def end(self) -> int:
        """The end offset of the token in the original text."""
        return self.at + self.size

    def __getnewargs__(self) -> tuple[str, int, str, int]:  # type: ignore[override]
        """Return the arguments of `__new__` for `copy` and `pickle`."""
        return str(self), self.at, self.kind, self.size


@dataclass(frozen=True, slots=True)
class Region:
    """The part of a text that is parsed speculatively.

    Attributes:
        start: the offset at which the region begins, between two tokens.
        states: the parser states at the start.
        error: the end of the region: the offset of the unexpected token; at an unexpected end, the
            length of the text.
    """

    text: str
    start: int
    states: tuple[int, ...]
    error: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a speculative parse.

    Attributes:
        count: the number of parsed tokens from `resume` on.
        resume: the offset of the first token that is after the last edit and not before the error.
        complete: whether the parse reached its limit or the end of the text, or stopped at an
            invalid token that is probably a separate error.
        next_line: whether a token on a later line than the error parsed.
        tokens: the tokens of the edited text before `resume`, with offsets in the original text.
        edited: the 0-based indexes in `tokens` of the tokens that the edits inserted or changed.
    """

    count: int
    resume: int
    complete: bool
    next_line: bool
    tokens: list[Token]
    edited: list[int]

    @property
    def promising(self) -> bool:
        """Whether the edits are probably right: enough text after them parsed."""
        return self.complete or self.next_line or self.count >= 4


def parse_with_edits(
    lexer: Lexer,
    automaton: Automaton,
    region: Region,
    edits: Sequence[Edit],
    max_tokens: int = MAX_TOKENS,
) -> Outcome | None:
    """Parse a region with edits, and up to `max_tokens` tokens after it.

    The edits must be in text order.

    Returns:
        The outcome; None if an error remains before the unexpected token.
    """
    text = region.text
    pieces = []
    places = []  # for each piece: offset in the edited text, offset in the original, is inserted
    spans: list[tuple[int, int]] = []  # the spans of the inserted texts in the edited text
    offset, size = region.start, 0
    for edit in edits:
        for piece, origin in (
            (text[offset : edit.span.start], offset),
            (edit.text, edit.span.start),
        ):
            pieces.append(piece)
            places.append((size, origin, piece is edit.text))
            size += len(piece)
        spans.append((size - len(edit.text), size))
        offset = edit.span.end
    touched = max(offset, region.error)
    limit = min(len(text), touched + _AHEAD)
    places.append((size, offset, False))
    pieces.append(text[offset:limit])
    changed = "".join(pieces)
    shift = offset - size  # converts offsets after the last edit to offsets in the original text
    line_end = text.find("\n", region.error)
    line_end = len(text) if line_end < 0 else line_end
    states = States(automaton, region.states)
    tokens: list[Token] = []
    edited: list[int] = []
    span = 0
    count = 0
    resume = -1
    next_line = False
    for kind, token, offset in lexer.read(changed, 0):
        end = offset + len(token)
        if end == len(changed) and limit < len(text) and resume >= 0:  # perhaps cut off
            return Outcome(count, resume, True, next_line, tokens, edited)
        after = offset >= size and offset + shift >= touched
        if after and resume < 0:
            resume = offset + shift
        if not states.feed(kind):
            # Far enough from the edits, a BAD token is a separate error.
            other = kind == BAD_KIND and 3 * count > max_tokens - MAX_TOKENS
            return Outcome(count, resume, other, next_line, tokens, edited) if resume >= 0 else None
        if after:
            count += 1
            next_line = next_line or offset + shift > line_end
            if count == max_tokens:
                return Outcome(count, resume, True, next_line, tokens, edited)
        else:
            while span < len(spans) and spans[span][1] <= offset:
                span += 1
            if span < len(spans) and spans[span][0] < end:
                if kind in _COARSE and _NO_COMMA.search(token):
                    return None
                edited.append(len(tokens))
            start = _origin(places, offset)
            tokens.append(EditedToken(token, start, kind, _end(places, end) - start))
    if limit < len(text):
        return Outcome(count, resume, True, next_line, tokens, edited) if resume >= 0 else None
    if resume < 0:
        resume = len(text)
    return Outcome(count, resume, states.feed(END_KIND), next_line, tokens, edited)


def _origin(places: list[tuple[int, int, bool]], offset: int) -> int:
    """Convert an offset in the edited text to an offset in the original text.

    `places` has for each piece of the edited text: its offset in the edited text, its
    offset in the original text, and whether it was inserted.
    """
    start, origin, inserted = places[bisect_right(places, offset, key=itemgetter(0)) - 1]
    return origin if inserted else origin + offset - start


def _end(places: list[tuple[int, int, bool]], end: int) -> int:
    """Convert the end of a token in the edited text to an offset in the original text.

    For `places`, see `_origin`.
    """
    index = bisect_right(places, end - 1, key=itemgetter(0)) - 1
    start, origin, inserted = places[index]
    return places[index + 1][1] if inserted else origin + end - start
