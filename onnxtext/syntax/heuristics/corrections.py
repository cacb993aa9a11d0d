# SPDX-License-Identifier: Apache-2.0
"""Find the cheapest change of a few tokens that lets the text after an error parse.

The other heuristics match common errors. This search uses only the grammar: it removes, inserts,
replaces and swaps a few tokens, the cheapest change first, until many tokens after the error parse.
Then the parser state after the error is certain, and no error cascades.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count, pairwise

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.grammar.tables import END_KIND
from onnxtext.syntax.heuristics.error_context import ErrorContext, begins_line, removal
from onnxtext.syntax.heuristics.expected import SAMPLES
from onnxtext.syntax.heuristics.speculative_parse import States

_MAX_CHANGED_TOKENS = 12
"""Maximum number of tokens before the unexpected token that may change."""
_MAX_LINES = 2
_MAX_REMOVED = 5
_MAX_INSERTED = 5
_MAX_TOKENS = 200
"""If more tokens of its statement precede an error, no correction is searched."""
_MAX_ATTEMPTS = 1500
_MIN_ATTEMPTS = 40
_SHARE = 4
"""Each error may use 1 / `_SHARE` of the remaining attempts."""
_MAX_STACKS = 500
BUDGET = 6000
"""Number of attempts for all errors of a text; each error gets at least `_MIN_ATTEMPTS`."""
_MAX_REREAD = 200_000
"""Number of characters for all errors of a text (see `Budget.reread`)."""
_COSTS = {
    **dict.fromkeys(("COMMA", "RPAR", "RSQB", "MORETHAN", "RBRACE", "COLON", "EQUAL"), 0.8),
    **dict.fromkeys(("_ARROW", "LPAR", "LSQB", "LESSTHAN", "LBRACE", "WORD", "INT", "TYPE"), 1.0),
    **dict.fromkeys(("NUMBERS", "STRING", "DOT"), 1.2),
}
"""The terminals that may be inserted, and their costs."""
_PHRASES = {
    "() => () {": 2.2, "> () => () {": 2.6, ") => () {": 2.2, ") => ()": 2.0, "=> () {": 2.0,
    ") {": 1.6, "> {": 1.6,
}  # fmt: skip
"""Texts of several tokens that may be inserted together, and their costs."""
_BACK = 0.25  # the added cost of each token between a change and the error
_MAX_BACK_AT_LINE_START = 0.3  # its maximum total for a change at the start of a line
_SWAP = 1.5  # the cost of swapping two tokens
_LINE = 2.0  # the cost of removing a line
_TWO_LINES = 1.0  # the added cost of changing tokens on two lines
_BRACE_IN_LINE = 1.5  # the added cost of inserting `{` before a token on the same line
_COMPLETE_LINE = 0.5  # the added cost of changing a seemingly complete line before the error


@dataclass(frozen=True, slots=True)
class Correction:
    """A change of a few tokens.

    Attributes:
        cost: the lower the cost, the likelier it is that the user meant this change.
        removed: the removed or replaced tokens.
        swapped: whether the change only swaps two tokens.
    """

    cost: float
    edit: Edit
    removed: tuple[Token, ...]
    swapped: bool = False


class Budget:
    """The number of attempts that are left to correct the errors of a text.

    An attempt tests whether the text parses after one change.

    Attributes:
        left: the number of attempts left. It may be negative, because each error may use
            `_MIN_ATTEMPTS` attempts in any case.
        reread: the number of characters that resynchronization may still parse again to find a
            line before an error at which parsing can continue.
        insertions: a cache; maps a stack of parser states to the insertions that it allows.
    """

    def __init__(self) -> None:
        self.left = BUDGET
        self.reread = _MAX_REREAD
        self.insertions: dict[tuple[int, ...], list[tuple[str, list[int], float]]] = {}


def find_correction(
    context: ErrorContext, budget: Budget, limit: float, far: int
) -> Correction | None:
    """Return the cheapest change near an unexpected token that lets the text after it parse.

    The change must cost less than `limit`, and `far` tokens after the error must parse. `budget`
    has the attempts left for the text; this function subtracts those that it uses.

    Returns:
        The change; None if no change was found that costs less than `limit`.
    """
    if len(context.done) > _MAX_TOKENS:
        return None
    search = _Search(context, far, budget)
    result = search.find(limit)
    budget.left -= search.attempts
    return result


class _Search:
    """A search for changes near one error.

    Attributes:
        tokens: the tokens that may change, and the tokens after them that must parse.
        kinds: the kinds of `tokens`.
        error: the index of the unexpected token. All indexes in this class refer to `tokens`.
        far: the number of tokens after the error that must parse.
        reaches_end: whether the text ends after `tokens`.
        line_starts: the indexes of the tokens after a line break.
        complete_until: changes before this index are in a line that seems complete.
        stacks: maps each index at which a change may begin to the parser states at this index.
    """

    def __init__(self, context: ErrorContext, far: int, budget: Budget) -> None:
        self.context = context
        self.insertions = budget.insertions
        self.max_attempts = min(_MAX_ATTEMPTS, max(_MIN_ATTEMPTS, budget.left // _SHARE))
        self.end_costs: dict[tuple[int, int], list[tuple[int, float]]] = {}
        self.far = far
        self.attempts = 0
        self.rows = context.automaton.rows
        first = max(0, len(context.done) - _MAX_CHANGED_TOKENS)
        self.tokens = [*context.done, *_ahead(context, far + _MAX_REMOVED)]
        self.error = len(context.done)
        kinds = [context.lexer.kind(token) for token in self.tokens]
        self.kinds = kinds
        self.reaches_end = len(self.tokens) < self.error + far + _MAX_REMOVED
        self.stacks: dict[int, list[int]] = {}
        self.line_starts = {
            index
            for index, (last, token) in enumerate(pairwise(self.tokens), 1)
            if context.text.find("\n", last.end, token.at) >= 0
        }
        self.lines = self._lines()
        self.complete_until = 0
        if context.previous_line_complete:
            self.complete_until = max(self.line_starts & {*range(self.error + 1)}, default=0)
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

    def find(self, limit: float) -> Correction | None:
        """Return the cheapest correction that costs less than `limit`; None if none is found."""
        order = count()
        # The items are: cost, order, start, states, inserted text, number of insertions (-1 for a
        # swap), and end of the removal (None while more tokens may be inserted).
        heap: list[tuple[float, int, int, list[int], str, int, int | None]] = []
        seen: set[tuple[int, tuple[int, ...]]] = set()

        def add(
            cost: float, start: int, stack: list[int], inserted: str, size: int, end: int | None
        ) -> None:
            if cost < limit:
                heappush(heap, (cost, next(order), start, stack, inserted, size, end))

        for start, stack in self.stacks.items():
            back = _BACK * (self.error - start) + _COMPLETE_LINE * (start < self.complete_until)
            cost = min(back, _MAX_BACK_AT_LINE_START) if start in self.line_starts else back
            add(cost, start, stack, "", 0, None)
            swap = self._swap(start, stack)
            if swap is not None:
                across = _TWO_LINES * (start + 1 in self.line_starts)
                add(_SWAP + back + across, start, *swap, -1, start + 2)
        while heap and self.attempts < self.max_attempts:
            cost, _, start, stack, inserted, size, end = heappop(heap)
            if end is not None:
                self.attempts += 1
                if self._fits(stack, end):
                    correction = self._make(cost, start, end, inserted, swapped=size < 0)
                    # Test the edited text, too: deleting punctuation may join the tokens around it.
                    if self.context.is_certain([correction.edit], self.far):
                        return correction
                continue
            key = (start, tuple(stack))
            if key in seen or len(seen) > _MAX_STACKS:
                continue
            seen.add(key)
            row = self.rows[stack[-1]]
            for last, end_cost in self._ends(start, size):
                if last == len(self.kinds) or self.kinds[last] in row:
                    in_line = inserted[-1:] == "{" and last not in self.line_starts
                    add(
                        cost + end_cost + _BRACE_IN_LINE * in_line,
                        start,
                        stack,
                        inserted,
                        size,
                        last,
                    )
            if size < _MAX_INSERTED:
                for text, longer, end_cost in self._insertions(key[1]):
                    add(cost + end_cost, start, longer, f"{inserted} {text}", size + 1, None)
        return None

    def _swap(self, start: int, stack: list[int]) -> tuple[list[int], str] | None:
        """Swap the token at `start`, where the states are `stack`, and the token after it.

        Returns:
            The states after both tokens, and the swapped text; None if the swap is invalid.
        """
        if start + 1 >= len(self.tokens) or self.kinds[start] == self.kinds[start + 1]:
            return None
        states = States(self.context.automaton, stack)
        if not states.feed(self.kinds[start + 1]) or not states.feed(self.kinds[start]):
            return None
        return states.stack, f"{self.tokens[start + 1]} {self.tokens[start]}"

    def _ends(self, start: int, inserted: int) -> list[tuple[int, float]]:
        """Return (end, cost) of each removal [start, end) after `inserted` insertions."""
        result = self.end_costs.get((start, inserted))
        if result is None:
            result = self.end_costs[start, inserted] = list(self._find_ends(start, inserted))
        return result

    def _find_ends(self, start: int, inserted: int) -> Iterator[tuple[int, float]]:
        line = self.lines.get(start, 0)
        for end in range(start if inserted else start + 1, len(self.tokens) + 1):
            removed, number = self.tokens[start:end], end - start
            cost = 1.0 * number - 0.4 * min(number, inserted)
            if end == self.lines.get(start) and not inserted:
                cost = min(cost, _LINE)
            elif number > _MAX_REMOVED:
                if end > max(line, start + _MAX_REMOVED):
                    return
                continue
            elif not self.line_starts.isdisjoint(range(start + 1, end)):
                cost += _TWO_LINES
            elif number > 1 and len("".join(removed)) == number and len({*removed}) == 1:
                cost = 1.0  # a repeated mark, such as three backticks
            yield end, cost

    def _lines(self) -> dict[int, int]:
        """Map the starts of the last `_MAX_LINES` lines, up to the error's line, to their ends.

        Starts and ends are indexes of tokens. A line that begins before the first token is left
        out: it cannot be removed as a whole.
        """
        lines: dict[int, int] = {}
        for start, end in pairwise([0, *sorted(self.line_starts), len(self.tokens)]):
            if start > self.error:
                break
            if start or not self.tokens or begins_line(self.context.text, self.tokens[0].at):
                lines[start] = end
        return dict(list(lines.items())[-_MAX_LINES:])

    def _insertions(self, stack: tuple[int, ...]) -> list[tuple[str, list[int], float]]:
        """Return (text, stack after the text, cost) of each text that may be inserted."""
        result = self.insertions.get(stack)
        if result is None:
            result = self.insertions[stack] = list(self._find_insertions(stack))
        return result

    def _find_insertions(self, stack: tuple[int, ...]) -> Iterator[tuple[str, list[int], float]]:
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
        """Whether the tokens from `start` on parse after the states in `stack`.

        The last token that must parse is `far` tokens after the error, or after `start` if `start`
        follows the error. If the text has fewer tokens, it must be complete.
        """
        kinds = self.kinds
        states = States(self.context.automaton, stack)
        last = max(start, self.error) + self.far
        for kind in kinds[start:last]:
            if not states.feed(kind):
                return False
        return last <= len(kinds) or not self.reaches_end or states.feed(END_KIND)

    def _make(
        self, cost: float, start: int, end: int, inserted: str, *, swapped: bool
    ) -> Correction:
        tokens = self.tokens
        if end > start and inserted.endswith(f" {tokens[end - 1]}"):  # the token stays
            inserted, end = inserted.removesuffix(f" {tokens[end - 1]}"), end - 1
        removed = tuple(tokens[start:end])
        offset = tokens[start].at if start < len(tokens) else len(self.context.text)
        stop = removed[-1].end if removed else offset
        edit = removal(self.context.text, Span(offset, stop))
        if inserted:
            edit = Edit(edit.span, f" {inserted.strip()} ")
        return Correction(cost, edit, removed, swapped)


def _ahead(context: ErrorContext, max_tokens: int) -> list[Token]:
    """Return the unexpected token and the tokens after it, at most `max_tokens` tokens in total."""
    result: list[Token] = []
    token = context.token
    while token is not None and len(result) < max_tokens:
        result.append(token)
        token = context.lexer.token(context.text, token.end)
    return result
