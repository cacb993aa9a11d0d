# SPDX-License-Identifier: Apache-2.0
"""Resynchronization: skip invalid text up to a token at which parsing can continue."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from onnxtext.source import Span
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.corrections import Budget
from onnxtext.syntax.heuristics.error_context import (
    CLOSING,
    OPENING,
    ErrorContext,
    begins_line,
    indentation,
)
from onnxtext.syntax.heuristics.speculative_parse import Region, States, parse_with_edits
from onnxtext.syntax.parser.lalr import ERROR_NODE, ITEMS, Machine, load_automaton

_LISTS = frozenset(("value_infos", "attribute_items", "parameter_items", "header_entries"))
_MAX_SKIPPED = 2000
_MAX_EARLIER = 30


@cache
def _synchronous() -> frozenset[int]:
    """Return the parser states in which a list item may begin or has just ended."""
    gotos = load_automaton().gotos
    begin = {state for state, goto in enumerate(gotos) if not ITEMS.isdisjoint(goto)}
    end = {target for goto in gotos for name, target in goto.items() if name in _LISTS}
    return frozenset(begin | end)


def is_synchronous(state: int) -> bool:
    """Whether a list item may begin or has just ended in a parser state."""
    return state in _synchronous()


def sync_positions(machine: Machine) -> Iterator[int]:
    """Yield the stack indexes of the states for which `is_synchronous` holds, innermost first."""
    sync_states = _synchronous()
    states = machine.states
    return (index for index in range(len(states) - 1, -1, -1) if states[index] in sync_states)


def open_bracket(machine: Machine, position: int) -> Span | None:
    """Return the span of the innermost open bracket below a stack position, or None."""
    for index in range(min(position, len(machine.where)) - 1, -1, -1):
        value = machine.values[index]
        if isinstance(value, str) and value in {"(", "[", "{", "<"}:
            return Span(machine.where[index], machine.where[index] + 1)
    return None


def rewind(machine: Machine, position: int) -> None:
    """Pop all states above the stack index `position`, and their values."""
    del machine.states[position + 1 :]
    del machine.values[position:]
    del machine.where[position:]


class Resynchronization:
    """A search for the token at which parsing can continue after an error.

    Attributes:
        early: the offset at which parsing continues, if that is before the error. The statement
            before this offset is then incomplete. None if parsing continues after the error.
    """

    def __init__(
        self,
        context: ErrorContext,
        machine: Machine,
        innermost: int,
        skip_to: int | None,
        budget: Budget,
    ) -> None:
        self.context = context
        self.machine = machine
        self.skip_to = skip_to
        self.budget = budget
        self.early: int | None = None
        self.positions = [offset for offset in sync_positions(machine) if offset <= innermost]

    def find(self, min_offset: int) -> int | None:
        """Repair the stack, and return the offset at which to continue; None to give up.

        `min_offset` is the minimum offset at which to continue after the error. It is ignored if
        parsing continues before the error, or if the diagnosis has an offset `skip_to`.
        """
        unfinished = self.context.next_statement is not None
        if not self.positions or (self.context.token is None and not unfinished):
            return None
        if self.skip_to is None and not unfinished:
            resume = self._within_line(min_offset)
            if resume is not None:
                return resume
        return self._next_line(min_offset)

    def _within_line(self, min_offset: int) -> int | None:
        """Drop a list item; return the offset of the comma or bracket after it; None on failure."""
        context = self.context
        machine = self.machine
        position = self.positions[0]
        state = machine.states[position]
        gotos = machine.automaton.gotos[state]
        targets = [gotos[name] for name in gotos if name in ITEMS]
        base = machine.states[: position + 1]
        stacks = [[*base, target] for target in targets] or [base]
        stacks = [s for s in stacks if States(machine.automaton, s).takes("COMMA")]
        if not stacks or (not context.done and position < len(machine.where)):
            return None
        depth = sum((token in OPENING) - (token in CLOSING) for token in context.done)
        indent = indentation(context.text, context.region.start)
        offset = context.at
        for _ in range(_MAX_SKIPPED):
            token = context.lexer.token(context.text, offset)
            if token is None or (
                token.at > context.line_end
                and begins_line(context.text, token.at)
                and indentation(context.text, token.at) <= indent
            ):
                return None
            if token in OPENING:
                depth += 1
            elif depth <= 0 and token.at >= min_offset and token in {",", ")", ">", "]", "}"}:
                kind = context.lexer.kind(token)
                for stack in stacks:
                    if States(machine.automaton, stack).feed(kind):
                        start = self._start(position)
                        _replace_top(machine, position, stack[position + 1 :], start)
                        return token.at
                if token != ",":
                    return None
            elif token in CLOSING:
                depth -= 1
            offset = token.end
        return None

    def _start(self, position: int) -> int:
        """Return the offset of the item that begins at a stack position."""
        where = self.machine.where
        return where[position] if position < len(where) else self.context.at

    def _next_line(self, min_offset: int) -> int | None:
        """Drop a statement; return the offset of a statement that can follow it; None on failure.

        The following statement begins its line, and is not indented deeper than the dropped one. It
        may also begin before the error.
        """
        context = self.context
        text = context.text
        start = self._start(self.positions[0])
        limit = indentation(context.text, start) if begins_line(context.text, start) else None
        offset = text.find("\n", self.skip_to - 1 if self.skip_to is not None else start) + 1
        levels = [(p, self._level(self._start(p))) for p in self.positions]
        possible: tuple[int, int] | None = None
        earlier = 0
        while offset:
            token = context.lexer.token(text, offset)
            if token is None:
                break
            offset = text.find("\n", token.at) + 1
            indent = indentation(context.text, token.at)
            if not begins_line(context.text, token.at) or (limit is not None and indent > limit):
                continue
            before = token.at <= context.at and self.skip_to is None
            if not before and possible is not None:
                break
            earlier += before
            if earlier > _MAX_EARLIER or (
                token.at < min_offset and self.skip_to is None and not before
            ):
                continue
            for position in self._candidates(token, indent, levels):
                if not before or self._parses_from(position, token):
                    return self._resume_at(position, token.at, before)
                possible = possible or (position, token.at)
        return None if possible is None else self._resume_at(*possible, True)

    def _resume_at(self, position: int, offset: int, early: bool) -> int:
        rewind(self.machine, position)
        self.machine.has_error_nodes = True
        if early:
            self.early = offset
        return offset

    def _candidates(
        self, token: Token, indent: int, levels: list[tuple[int, float]]
    ) -> Iterator[int]:
        """Yield the stack positions at which `token` may begin a statement, the likeliest first.

        `levels` has (stack position, result of `_level`) of the statements that are open.
        """
        kind = self.context.lexer.kind(token)
        automaton = self.machine.automaton
        closing = token in CLOSING
        fitting = [
            (position, level)
            for position, level in levels
            if (closing or level >= indent or level % 1)
            and States(automaton, self.machine.states[: position + 1]).feed(kind)
        ]
        yield from (p for p, level in fitting if closing or level == indent)
        yield from (p for p, level in fitting if not closing and level % 1 and level < indent)
        yield from (p for p, level in fitting if not closing and level > indent)

    def _level(self, offset: int) -> float:
        """Return the indentation of a statement, plus 0.5 if it does not begin its line."""
        text = self.context.text
        return indentation(text, offset) + (0 if begins_line(text, offset) else 0.5)

    def _parses_from(self, position: int, token: Token) -> bool:
        """Whether the text from `token` parses beyond the error, as a new statement.

        `token` precedes the error. The statement is parsed with the stack cut after the index
        `position`. False if the budget is used up.
        """
        context = self.context
        if self.budget.reread < 0:
            return False
        self.budget.reread -= context.at - token.at
        states = tuple(self.machine.states[: position + 1])
        region = Region(context.text, token.at, states, context.at)
        outcome = parse_with_edits(context.lexer, context.automaton, region, ())
        return outcome is not None and (outcome.promising or outcome.count >= 2)


def drop_item(machine: Machine) -> bool:
    """Replace the innermost item on the stack by an error node; return False if there is none."""
    for position in sync_positions(machine):
        if position < len(machine.values):
            gotos = machine.automaton.gotos[machine.states[position]]
            states = [gotos[name] for name in gotos if name in ITEMS]
            _replace_top(machine, position, states[:1], machine.where[position])
            return True
    return False


def _replace_top(machine: Machine, position: int, states: list[int], offset: int) -> None:
    """Pop all states above the stack index `position`, then push states with error nodes."""
    rewind(machine, position)
    for state in states:
        machine.states.append(state)
        machine.values.append(ERROR_NODE)
        machine.where.append(offset)
    machine.has_error_nodes = True
