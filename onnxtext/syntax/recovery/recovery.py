# SPDX-License-Identifier: Apache-2.0
"""Error recovery: parsing continues after an error, and no error cascades.

A rejected value becomes an error node (`lalr.ERROR_NODE`). An unexpected token is corrected
(`heuristics`) or skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

from onnxtext.diagnostics import Diagnostic, Edit
from onnxtext.source import Source, Span
from onnxtext.syntax.actions.section_binding import DANGLING
from onnxtext.syntax.actions.semantic_error import MOST_SEMANTIC_ERRORS, SemanticError
from onnxtext.syntax.grammar.lexer import END_KIND, Token
from onnxtext.syntax.heuristics.corrections import Budget
from onnxtext.syntax.heuristics.error_context import ErrorContext, Mistake, indentation
from onnxtext.syntax.heuristics.search import correct, ends_too_soon, find_mistake
from onnxtext.syntax.heuristics.speculative_parse import Outcome, Region, States
from onnxtext.syntax.heuristics.tokens import CONFLICT_MARKERS
from onnxtext.syntax.parser.lalr import ERROR_NODE, ITEMS, Machine, Unexpected
from onnxtext.syntax.parser.parser import Parser
from onnxtext.syntax.recovery.cascades import Echoes
from onnxtext.syntax.recovery.reports import faulty, first_of_lines, told
from onnxtext.syntax.recovery.resynchronization import Panic, is_synchronous, sync_positions

_CLOSING = frozenset(")]}>")
_DOUBTFUL = 2.5
"""A correction more far-fetched than this may lie further back."""
_MOST_WIDER = 3
_LONGEST_WIDER = 80
"""So many places on the stack are gone back to, and so many tokens."""

LONGEST_STATEMENT = 4000
"""A statement with more characters before its mistake is not read again to find the mistake."""

MOST_TRIES = 20
"""So many changes are made at one place of a text before what stands there is left out."""


_MOST_RECOVERIES = 300
"""How often parsing goes on after an error; errors that follow from others are not reported."""


class Recovery:
    """Mends the machine of a run after each mistake, and collects the diagnostics.

    Attributes:
        diagnostics: what was wrong so far.
    """

    def __init__(self, run: Parser, source: Source, faults: list[SemanticError]) -> None:
        """Start.

        Args:
            run: the parse.
            source: its text.
            faults: what actions have found wrong, to which more is added.
        """
        self.run = run
        self.source = source
        self.text = run.text
        self.diagnostics: list[Diagnostic] = []
        self._faults = faults
        self._last = self._skipped = -1
        self._made: list[Edit] = []
        self._guesses: list[tuple[int, int, int]] = []
        self._stopped = False
        self._at = -1
        self._tries = 0
        self._recoveries = 0
        self._echoes = Echoes()
        self._budget = Budget()
        run.recover = self.recover

    def stop(self, fault: SemanticError) -> None:
        """Keep a mistake after which parsing ended."""
        if not any(fault is other for other in self._faults):
            self._faults.append(fault)
        self._stopped = len(self._faults) >= MOST_SEMANTIC_ERRORS

    def finish(self) -> list[Diagnostic]:
        """All diagnostics, in the order of the text."""
        kept = [fault for number, fault in enumerate(self._faults) if not self._echo(number, fault)]
        if self.diagnostics or any(fault.code != DANGLING for fault in kept):
            kept = [fault for fault in kept if not self._names_what_was_left_out(fault)]
        known = {(fault.code, fault.at): fault for fault in reversed(kept)}
        faulted = [faulty(self.source, fault) for fault in known.values()]
        found = first_of_lines(self.text, self.diagnostics, faulted)
        if self._stopped:
            found = found[:MOST_SEMANTIC_ERRORS]
            last = found[-1]
            note = "there are too many mistakes: the text was not read further"
            found[-1] = replace(last, notes=(*last.notes, note))
        return found

    def _echo(self, number: int, fault: SemanticError) -> bool:
        """Whether what an action found wrong may come from a change that was only guessed."""
        at = -1 if fault.at is None else fault.at
        return any(start <= at <= end and number >= count for start, end, count in self._guesses)

    def _names_what_was_left_out(self, fault: SemanticError) -> bool:
        """Whether metadata names what stands in the text before it: its statement is wrong."""
        if fault.code != DANGLING or fault.at is None:
            return False
        name = self.text[slice(*faulty(self.source, fault).labels[0].span)]
        return self.text.find(name, 0, fault.at) >= 0

    def recover(self, unexpected: Unexpected) -> int | None:
        """Tell a mistake and mend the machine; where to go on, or None to give up."""
        run = self.run
        machine = run.machine
        at = unexpected.at
        token = run.lexer.token(self.text, at)
        self._recoveries += 1
        found = len(self.diagnostics) + len(self._faults)
        if found >= MOST_SEMANTIC_ERRORS or (found and self._recoveries > _MOST_RECOVERIES):
            self._stopped = True
            return None
        context, position = self._scene(token, at)
        self._tries = self._tries + 1 if at == self._at else 0
        self._at = at
        if self._tries > MOST_TRIES:  # nothing that was tried leads on
            self._last = max(self._last, at)
        mistake = find_mistake(context, self._budget) if at > self._last else None
        certain = mistake is not None and mistake.code == "wrong-mark" and not mistake.doubt
        echo = self._echoes.is_echo(context) or (not certain and self._closes_wrong_list(context))
        doubt = inf if mistake is None else mistake.doubt
        if at > self._last and doubt > _DOUBTFUL and not ends_too_soon(context):
            for wider, outer in self._wider(context, position):
                before = self.text.rfind("\n", 0, context.end) + 1
                if self._is_faulty(max(wider.region.start, before), at):
                    echo = True  # what is wrong there may be the reason
                    break
                other = correct(wider, self._budget, limit=doubt)
                if other is not None:
                    context, position, mistake, doubt = wider, outer, other, other.doubt
        if mistake is not None and mistake.edits:
            if not echo:
                self._tell(mistake)
            outcome = context.attempt(*mistake.edits)
            count = len(self._faults)
            if outcome is None and context.fresh is not None:
                outcome = context.until(context.fresh).attempt(*mistake.edits)
            assert outcome is not None
            # What is missing from the statement before may have hidden another mistake here.
            self._last = at if context.fresh is None else context.fresh - 1
            if context.region.start < at or context.done:
                rewind(machine, position)
            if self._feed(outcome, guessed=not mistake.title):
                self._made = [*context.made, *mistake.edits]
                self._guesses.append((context.region.start, outcome.resume, count))
                if not mistake.title:
                    added = "".join([edit.text for edit in mistake.edits])
                    self._echoes.guessed(at, outcome.resume, added=added)
                elif not echo:
                    self._echoes.certain()
                return outcome.resume
            mistake = None
        panic = Panic(context, machine, position, mistake.skip_to if mistake else None)
        resume = panic.find(at if at > self._last else at + 1)
        if at > self._last and not echo:
            self._tell(mistake or panic.mistake())
        # What was told of an earlier place may have hidden another mistake here.
        self._last = at if panic.early is None else panic.early - 1
        if mistake is not None and self._skipped < (mistake.skip_to or 0) <= at:
            self._last = self._skipped = (mistake.skip_to or 0) - 1
        if resume is None:
            return self._close()
        if mistake is not None and mistake.skip_to is not None:
            self._echoes.certain()
        else:
            start = context.region.start
            near = resume - start < LONGEST_STATEMENT
            left_out = self.run.lexer.tokens(self.text, start, resume) if near else []
            self._echoes.guessed(at, resume, left_out)
        return resume

    def _tell(self, mistake: Mistake) -> None:
        if mistake.instead:
            place = range(*mistake.span)
            self._faults[:] = [fault for fault in self._faults if fault.at not in place]
        self.diagnostics.append(told(self.source, mistake))

    def _scene(self, token: Token | None, at: int) -> tuple[ErrorContext, int]:
        """The surroundings of a mistake, and where on the stack its statement begins."""
        machine = self.run.machine
        self._complete(at)
        line = self.text.rfind("\n", 0, at) + 1
        first = not self.text[line:at].strip()
        marked = self.text.startswith(CONFLICT_MARKERS, line)
        position, start = 0, at
        for position in sync_positions(machine):
            start = machine.where[position] if position < len(machine.where) else at
            # A line after `Conv <` that is not indented deeper than that belongs to no list.
            if start < line or (start == at and not self._hangs(position, at, first)):
                break
            if not marked and start < at:
                break
        else:
            if position == 0:  # before the first list: the line is what can be told of
                after = (index for index, where in enumerate(machine.where) if where >= line)
                position = next(after, len(machine.where))
                start = machine.where[position] if position < len(machine.where) else at
        opened = _innermost(machine, position)
        if at - start > LONGEST_STATEMENT:
            region = Region(self.text, at, tuple(machine.states), at)
            return ErrorContext(region, token, [], (), opened), position
        region = Region(self.text, start, tuple(machine.states[: position + 1]), at)
        made = tuple(edit for edit in self._made if edit.span.start >= start)
        if made:
            outcome = ErrorContext(region, token, [], made).attempt()
            if outcome is None:
                region = Region(self.text, at, tuple(machine.states), at)
                return ErrorContext(region, token, [], (), opened), position
            return ErrorContext(region, token, outcome.tokens, made, opened), position
        tokens = self.run.lexer.tokens(self.text, start, at)
        return ErrorContext(region, token, tokens, (), opened), position

    def _wider(self, context: ErrorContext, position: int) -> Iterator[tuple[ErrorContext, int]]:
        """The context with what the statement stands in, if that was read without a mistake."""
        machine = self.run.machine
        outer = [place for place in sync_positions(machine) if place < position]
        for place in [*outer, 0][:_MOST_WIDER]:
            start = machine.where[place] if place < len(machine.where) else context.at
            if context.at - start > LONGEST_STATEMENT:
                return
            region = Region(self.text, start, tuple(machine.states[: place + 1]), context.at)
            tokens = self.run.lexer.tokens(self.text, start, context.at)
            states = States(machine.automaton, region.states)
            if len(tokens) > _LONGEST_WIDER:
                return
            if place < position and all(states.feed(self.run.lexer.kind(t)) for t in tokens):
                opened = _innermost(machine, place)
                yield ErrorContext(region, context.token, tokens, (), opened), place

    def _closes_wrong_list(self, context: ErrorContext) -> bool:
        """Whether a bracket closes a list with faulty items; it may be another kind of list."""
        if context.token not in _CLOSING or context.opened is None:
            return False
        return self._is_faulty(context.opened.start, context.at)

    def _is_faulty(self, start: int, end: int) -> bool:
        """Whether an action found something wrong in a part of the text."""
        return any(start <= (fault.at or 0) < end for fault in self._faults)

    def _hangs(self, position: int, at: int, first: bool) -> bool:
        """Whether a list was opened just before a line that is too little indented for it."""
        machine = self.run.machine
        opened = machine.where[position - 1] if position else at
        return (
            first
            and 0 < position == len(machine.where)
            and machine.values[position - 1] in ("<", "(")
            and indentation(self.text, at) <= indentation(self.text, opened)
        )

    def _complete(self, at: int) -> None:
        """Finish the statement before a mistake, if nothing is missing from it."""
        machine = self.run.machine
        states = States(machine.automaton, machine.states)
        if states.feed("WORD") and is_synchronous(states.stack[-2]):
            machine.feed("WORD", "", at)
            rewind(machine, len(machine.values) - 1)

    def _feed(self, outcome: Outcome, *, guessed: bool) -> bool:
        """Feed tokens that were changed in thought; what was only guessed leaves a hole."""
        machine = self.run.machine
        kind_of = self.run.lexer.kind
        machine.holes = machine.holes or guessed
        try:
            for index, token in enumerate(outcome.tokens):
                value = ERROR_NODE if guessed and index in outcome.made else token
                machine.feed(kind_of(token), value, token.at)
        except Unexpected:
            return False
        return True

    def _close(self) -> int | None:
        """Close all that is open, as far as that is possible, to deliver what was read."""
        machine = self.run.machine
        machine.holes = True
        end = len(self.text)
        told = len(self._faults)
        try:
            return self._close_all(end)
        finally:
            del self._faults[told:]  # what is wrong with what was cut off is only its end

    def _close_all(self, end: int) -> int | None:
        machine = self.run.machine
        for _ in range(3 * len(machine.states)):
            if States(machine.automaton, machine.states).feed(END_KIND):
                return end
            for name in ("RBRACE", "MORETHAN", "RPAR", "RSQB"):
                if States(machine.automaton, machine.states).feed(name):
                    machine.feed(name, Token("", end), end)
                    break
            else:
                if not leave_out(machine):
                    return None
        return None


def _innermost(machine: Machine, position: int) -> Span | None:
    """Where the innermost open bracket on the stack stands, before a position."""
    for index in range(min(position, len(machine.where)) - 1, -1, -1):
        value = machine.values[index]
        if isinstance(value, str) and value in {"(", "[", "{", "<"}:
            return Span(machine.where[index], machine.where[index] + 1)
    return None


def rewind(machine: Machine, position: int) -> None:
    """Forget what stands on the stack behind a position."""
    del machine.states[position + 1 :]
    del machine.values[position:]
    del machine.where[position:]


def leave_out(machine: Machine) -> bool:
    """Put a hole in the place of the item at hand; False if there is none."""
    for position in sync_positions(machine):
        gotos = machine.automaton.gotos[machine.states[position]]
        if position == len(machine.values):
            continue
        item = next((name for name in gotos if name in ITEMS), None)
        if item is None:
            rewind(machine, position)
            return True
        at = machine.where[position]
        rewind(machine, position)
        machine.states.append(gotos[item])
        machine.values.append(ERROR_NODE)
        machine.where.append(at)
        return True
    return False
