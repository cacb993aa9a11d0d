# SPDX-License-Identifier: Apache-2.0
"""The cheapest change of a few tokens near an error after which parsing continues.

`mistakes` knows what people usually get wrong. This search knows only the grammar: it leaves out,
adds, replaces and exchanges a few tokens, the smallest change first, until what follows fits for
long. Where that is found, the state behind the diagnosis is certain, and no error follows from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count, pairwise

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.grammar.lexer import END_KIND, Token
from onnxtext.syntax.heuristics.error_context import ErrorContext
from onnxtext.syntax.heuristics.expected import SAMPLES
from onnxtext.syntax.heuristics.speculative_parse import States

_MAX_BACK = 12
"""So many tokens before the one that fits nowhere may be changed."""
_MAX_LINES = 2
_MAX_REMOVED = 5
_MAX_ADDED = 5
_LONGEST = 200
"""Statements with more tokens than this are not searched."""
_MAX_ATTEMPTS = 1500
_MIN_ATTEMPTS = 100
_SHARE = 4
"""So many attempts are made for one diagnosis: this part of what is left for the text."""
_MAX_STACKS = 500
BUDGET = 6000
"""So many attempts are made for the mistakes of a text together, and for each a few."""
_COSTS = {
    **dict.fromkeys(("COMMA", "RPAR", "RSQB", "MORETHAN", "RBRACE", "COLON", "EQUAL"), 0.8),
    **dict.fromkeys(("_ARROW", "LPAR", "LSQB", "LESSTHAN", "LBRACE", "WORD", "INT", "TYPE"), 1.0),
    **dict.fromkeys(("NUMBERS", "STRING", "DOT"), 1.2),
}
"""What may be added, and how far-fetched it is."""
_PHRASES = {
    "() => () {": 2.2,
    "> () => () {": 2.6,
    ") => () {": 2.2,
    "=> () {": 2.0,
    ") {": 1.6,
    "> {": 1.6,
}
_BACK = 0.25
_BREAK = 0.3
_SWAP = 1.5
_LINE = 2.0
_ACROSS = 1.0
_WITHIN = 1.5
_WHOLE = 0.5
"""The cost of each token further back, but at most at the end of a line; of exchanging two tokens;
of leaving out a line; of changing tokens in two lines; of a graph that begins within a line;
of changing a line that is whole."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A change of a few tokens.

    Attributes:
        cost: how far-fetched it is.
        at: where it begins.
        edit: the change.
        added: what is added; empty if nothing is.
        removed: the tokens that it leaves out or replaces.
        swapped: whether it only exchanges two tokens.
    """

    cost: float
    at: int
    edit: Edit
    added: str
    removed: tuple[Token, ...]
    swapped: bool = False


class Budget:
    """How many attempts are left for a text.

    Attributes:
        left: so many; less than none if the last mistakes got the few that each gets.
        additions: for stacks, what may be added, with the stack behind it.
    """

    def __init__(self) -> None:
        self.left = BUDGET
        self.additions: dict[tuple[int, ...], list[tuple[str, list[int], float]]] = {}


def find_correction(
    context: ErrorContext, budget: Budget, limit: float, far: int
) -> Correction | None:
    """The smallest change near a token that fits nowhere.

    Args:
        context: the surroundings of the token.
        budget: of the search.
        limit: what it may cost.
        far: how many tokens must fit behind it.

    Returns:
        None if no change costs less.
    """
    if len(context.done) > _LONGEST:
        return None
    search = _Search(context, far, budget)
    found = search.run(limit)
    budget.left -= search.attempts
    return found


class _Search:
    """A search among the changes near one token; the tokens are known by their indexes."""

    def __init__(self, context: ErrorContext, far: int, budget: Budget) -> None:
        self.context = context
        self.additions = budget.additions
        self.most = min(_MAX_ATTEMPTS, max(_MIN_ATTEMPTS, budget.left // _SHARE))
        self.end_costs: dict[tuple[int, int], list[tuple[int, float]]] = {}
        self.far = far
        self.attempts = 0
        self.rows = context.automaton.rows
        first = max(0, len(context.done) - _MAX_BACK)
        self.tokens = [*context.done, *_ahead(context, far + _MAX_REMOVED)]
        self.error = len(context.done)
        kinds = [context.lexer.kind(token) for token in self.tokens]
        self.kinds = kinds
        self.ends = len(self.tokens) < self.error + far + _MAX_REMOVED
        self.stacks: dict[int, list[int]] = {}
        self.breaks = {index for index in range(1, len(self.tokens)) if self._follows_break(index)}
        self.lines = self._lines()
        self.line = (
            max(self.breaks & {*range(self.error + 1)}, default=0)
            if context.previous_line_complete
            else 0
        )
        states = States(context.automaton, context.region.states)
        for index in range(self.error + 1):
            if index >= first or index in self.lines:
                self.stacks[index] = list(states.stack)
            if index < self.error:
                states.feed(kinds[index])
        self.marks = [(name, SAMPLES[name], cost) for name, cost in _COSTS.items()]
        self.phrases = [
            ([kind for kind, _, _ in context.lexer.read(phrase, 0)], phrase, cost)
            for phrase, cost in _PHRASES.items()
        ]

    def run(self, limit: float) -> Correction | None:
        """The change that costs least, and less than a limit."""
        order = count()
        heap: list[tuple[float, int, int, list[int], str, int, int | None]] = []
        seen: set[tuple[int, tuple[int, ...]]] = set()

        def add(
            cost: float, start: int, stack: list[int], added: str, size: int, end: int | None
        ) -> None:
            if cost < limit:
                heappush(heap, (cost, next(order), start, stack, added, size, end))

        for start, stack in self.stacks.items():
            back = _BACK * (self.error - start) + _WHOLE * (start < self.line)
            add(min(back, _BREAK) if start in self.breaks else back, start, stack, "", 0, None)
            for cost, swapped, text in self._swaps(start, stack):
                across = _ACROSS * (start + 1 in self.breaks)
                add(cost + back + across, start, swapped, text, -1, start + 2)
        while heap and self.attempts < self.most:
            cost, _, start, stack, added, size, end = heappop(heap)
            if end is not None:
                self.attempts += 1
                if self._fits(stack, end):
                    made = self._made(cost, start, end, added, swapped=size < 0)
                    # Deleting punctuation may join the tokens around it.
                    if self.context.is_certain([made.edit], self.far):
                        return made
                continue
            key = (start, tuple(stack))
            if key in seen or len(seen) > _MAX_STACKS:
                continue
            seen.add(key)
            row = self.rows[stack[-1]]
            for last, more in self._ends(start, size):
                if last == len(self.kinds) or self.kinds[last] in row:
                    within = _WITHIN * (added[-1:] == "{" and last not in self.breaks)
                    add(cost + more + within, start, stack, added, size, last)
            if size < _MAX_ADDED:
                for text, longer, more in self._added(key[1]):
                    add(cost + more, start, longer, f"{added} {text}", size + 1, None)
        return None

    def _follows_break(self, index: int) -> bool:
        """Whether a line ends before a token."""
        last = self.tokens[index - 1]
        return self.context.text.find("\n", last.end, self.tokens[index].at) >= 0

    def _swaps(self, start: int, stack: list[int]) -> Iterator[tuple[float, list[int], str]]:
        """The stack behind two tokens that have changed places."""
        if start + 1 >= len(self.tokens) or self.kinds[start] == self.kinds[start + 1]:
            return
        states = States(self.context.automaton, stack)
        if states.feed(self.kinds[start + 1]) and states.feed(self.kinds[start]):
            yield _SWAP, states.stack, f"{self.tokens[start + 1]} {self.tokens[start]}"

    def _ends(self, start: int, added: int) -> list[tuple[int, float]]:
        """Where what is left out may end, and what that costs."""
        found = self.end_costs.get((start, added))
        if found is None:
            found = self.end_costs[start, added] = list(self._all_ends(start, added))
        return found

    def _all_ends(self, start: int, added: int) -> Iterator[tuple[int, float]]:
        line = self.lines.get(start, 0)
        for end in range(start if added else start + 1, len(self.tokens) + 1):
            number = end - start
            cost = 1.0 * number - 0.4 * min(number, added)
            if end == self.lines.get(start) and not added:
                cost = min(cost, _LINE)
            elif number > _MAX_REMOVED:
                if end > max(line, start + _MAX_REMOVED):
                    return
                continue
            elif not self.breaks.isdisjoint(range(start + 1, end)):
                cost += _ACROSS
            yield end, cost

    def _lines(self) -> dict[int, int]:
        """The lines up to that of the error: their first token, and the one behind their last."""
        found: dict[int, int] = {}
        start, number = 0, self.error
        starts = [index for index in range(len(self.tokens)) if not index or index in self.breaks]
        for start, end in pairwise([*starts, len(self.tokens)]):
            if start > number:
                break
            found[start] = end
        return dict(list(found.items())[-_MAX_LINES:])

    def _added(self, stack: tuple[int, ...]) -> list[tuple[str, list[int], float]]:
        """What may be added, with the stack behind it."""
        found = self.additions.get(stack)
        if found is None:
            found = self.additions[stack] = list(self._all_added(stack))
        return found

    def _all_added(self, stack: tuple[int, ...]) -> Iterator[tuple[str, list[int], float]]:
        row = self.rows[stack[-1]]
        for kind, text, cost in self.marks:
            if kind in row:
                states = States(self.context.automaton, stack)
                if states.feed(kind):
                    yield text, states.stack, cost
        for kinds, text, cost in self.phrases:
            if kinds[0] in row:
                states = States(self.context.automaton, stack)
                if all(states.feed(kind) for kind in kinds):
                    yield text, states.stack, cost

    def _fits(self, stack: list[int], start: int) -> bool:
        """Whether parsing accepts the tokens from an index on to `far` tokens beyond the error."""
        kinds = self.kinds
        states = States(self.context.automaton, stack)
        last = max(start, self.error) + self.far
        for kind in kinds[start:last]:
            if not states.feed(kind):
                return False
        return last <= len(kinds) or not self.ends or states.feed(END_KIND)

    def _made(self, cost: float, start: int, end: int, added: str, *, swapped: bool) -> Correction:
        tokens = self.tokens
        removed = tuple(tokens[start:end])
        at = tokens[start].at if start < len(tokens) else len(self.context.text)
        behind = removed[-1].end if removed else at
        text = f" {added.strip()} " if added else ""
        return Correction(cost, at, Edit(Span(at, behind), text), added, removed, swapped)


def _ahead(context: ErrorContext, most: int) -> list[Token]:
    """The token that fits nowhere and those behind it."""
    found: list[Token] = []
    token = context.token
    while token is not None and len(found) < most:
        found.append(token)
        token = context.lexer.token(context.text, token.end)
    return found
