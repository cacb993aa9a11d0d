# SPDX-License-Identifier: Apache-2.0
"""The LALR(1) loop over the grammar's tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from onnxtext.syntax import actions
from onnxtext.syntax.faults import MOST_FAULTS, Fault
from onnxtext.syntax.lexer import END_KIND, Lexer, load_lexer
from onnxtext.syntax.tables import Rule, Tables, load_tables

Action = Callable[..., Any]

MAX_STACK = 1000
"""Deepest stack of unfinished constructs. Thirty-three graphs inside one another, which is all
that protobuf can read, need some seven hundred of these."""

LIST_ACTIONS = ("list_more", "more_nodes")
"""The actions that add an item to a list."""


class Reduction:
    """A rule, ready to be run.

    Attributes:
        name: of the action.
        origin: the rule's name.
        symbols: the names of the symbols it takes off the stack.
        size: how many they are.
        take: for each child its index among them, -1 for None.
        action: the function that makes the value; None to pass the only child on.
        located: the action takes the offset of the first token as its first argument.
        unit: it only gives its one symbol another name.
        whole: its children are its symbols.
    """

    __slots__ = ("action", "located", "name", "origin", "size", "symbols", "take", "unit", "whole")

    def __init__(self, rule: Rule) -> None:
        self.name = rule.action
        self.origin = rule.origin
        self.symbols = rule.symbols
        self.size = len(rule.symbols)
        self.take = rule.take
        self.action: Action | None = actions.ACTIONS.get(rule.action)
        self.located = rule.action in actions.LOCATED
        self.unit = self.action is None and self.size == 1
        self.whole = rule.take == tuple(range(self.size))
        if self.action is None and len(rule.take) != 1:
            raise LookupError(f"the grammar's rule {rule.action} has no action")


class ListState(NamedTuple):
    """A state in which the next item of a list may begin.

    Attributes:
        depth: where the list is on the stack of values, from the top: 1 or, after a comma, 2.
    """

    depth: int


class Automaton:
    """The tables with kinds for terminals and reductions for rules; immutable once made.

    Attributes:
        rows: for each state: kind to a state to shift to (>= 0) or ~reduction.
        gotos: for each state: rule name to the state after that rule was reduced.
        reductions: all of them.
        list_states: the states in which the next item of a long list may begin.
    """

    def __init__(self, tables: Tables, lexer: Lexer) -> None:
        kinds = lexer.kinds
        self.rows = [
            {kinds[name]: target for name, target in row.items()} for row in tables.actions
        ]
        self.gotos = tables.gotos
        self.reductions = [Reduction(rule) for rule in tables.rules]
        self.starts = tables.starts
        self.ends = tables.ends
        self.list_states = dict(_list_states(tables))


STATEMENTS = ("node", "value_info", "attribute", "metadata_item")
"""The items of the lists that become long."""


def _list_states(tables: Tables) -> list[tuple[int, ListState]]:
    """The states before the last symbol of `list: list item` and `list: list "," item`."""
    found = []
    for rule in tables.rules:
        if rule.action in LIST_ACTIONS and rule.symbols[-1] in STATEMENTS:
            for goto in tables.gotos:
                state = goto.get(rule.origin)
                for symbol in rule.symbols[1:-1]:
                    state = None if state is None else tables.actions[state].get(symbol)
                if state is not None and rule.symbols[0] == rule.origin:
                    found.append((state, ListState(len(rule.symbols) - 1)))
    return found


@cache
def load_automaton() -> Automaton:
    """The automaton of the grammar, made once a process."""
    return Automaton(load_tables(), load_lexer())


class Hole:
    """What stands for a value that could not be made, because the text is wrong there."""

    def __repr__(self) -> str:
        return "HOLE"


HOLE = Hole()

ITEMS = frozenset(
    [
        "node",
        "value_info",
        "attribute",
        "parameter",
        "header_entry",
        "header_item",
        "function",
        "section",
        "metadata_item",
        "annotation",
        "training_item",
        "resource",
    ]
)
"""The rules without which what they stand in still means something: statements and the like."""

_MODELS = frozenset(("model", "headless_model"))


class Unexpected(Exception):
    """The next token fits nowhere.

    Attributes:
        state: the automaton's state, whose row has the kinds that would fit.
    """

    def __init__(self, state: int) -> None:
        super().__init__(state)
        self.state = state


class Machine:
    """A parse in progress: stacks of states, of values, and of where each value begins.

    Attributes:
        holes: whether a value may be `HOLE`.
        faults: where the mistakes go that actions find; None to raise the first one.
    """

    __slots__ = ("automaton", "faults", "holes", "states", "values", "where")

    def __init__(self, automaton: Automaton, states: list[int]) -> None:
        self.automaton = automaton
        self.states = states
        self.values: list[Any] = []
        self.where: list[int] = []
        self.holes = False
        self.faults: list[Fault] | None = None

    def feed(self, kind: str, value: Any, at: int) -> None:
        """Reduce what the token completes, then shift it.

        Args:
            kind: the token's kind.
            value: the token.
            at: where it begins.

        Raises:
            Unexpected: the token fits nowhere.
            Fault: an action found a mistake.
        """
        rows = self.automaton.rows
        states = self.states
        while True:
            target = rows[states[-1]].get(kind)
            if target is None:
                raise Unexpected(states[-1])
            if target >= 0:
                states.append(target)
                self.values.append(value)
                self.where.append(at)
                if len(states) > MAX_STACK:
                    raise Fault("nested too deeply", code="too-deep")
                return
            self.reduce(self.automaton.reductions[~target], at)

    def settle(self, kind: str, at: int) -> None:
        """Reduce what the next token completes, until a list expects its next item.

        Args:
            kind: the next token's kind; it is not shifted.
            at: where it begins.
        """
        rows = self.automaton.rows
        states = self.states
        lists = self.automaton.list_states
        while states[-1] not in lists:
            target = rows[states[-1]].get(kind)
            if target is None or target >= 0:
                return
            self.reduce(self.automaton.reductions[~target], at)

    def finish(self, end: int, at: int) -> Any:
        """Reduce at the end of the text, until the accepting state; the value of the whole."""
        while self.states[-1] != end:
            target = self.automaton.rows[self.states[-1]].get(END_KIND)
            if target is None or target >= 0:
                raise Unexpected(self.states[-1])
            self.reduce(self.automaton.reductions[~target], at)
        return self.values[-1]

    def reduce(self, reduction: Reduction, at: int) -> None:
        """Replace a rule's symbols on the stacks by its value."""
        states = self.states
        gotos = self.automaton.gotos
        if reduction.unit:
            states[-1] = gotos[states[-2]][reduction.origin]
            return
        size = reduction.size
        values = self.values
        if size:
            children = values[-size:]
            at = self.where[-size]
            del values[-size:]
            del states[-size:]
            del self.where[-size:]
        else:
            children = []
        if reduction.whole:
            taken = children
        else:
            taken = [children[index] if index >= 0 else None for index in reduction.take]
        value = self.value(reduction, at, taken)
        states.append(gotos[states[-1]][reduction.origin])
        values.append(value)
        self.where.append(at)

    def value(self, reduction: Reduction, at: int, children: list[Any]) -> Any:
        """The value of a rule; what its action finds wrong is kept, if somebody takes it.

        Raises:
            Fault: nobody takes it, or there are too many of them.
        """
        try:
            if self.holes and any(child is HOLE for child in children):
                return self._patch(reduction, at, children)
            return self.evaluate(reduction, at, children)
        except Fault as fault:
            return self.keep(fault, reduction, at, children)

    def keep(self, fault: Fault, reduction: Reduction, at: int, children: list[Any]) -> Any:
        """Keep what an action found wrong; what stands for the value of its rule.

        Raises:
            Fault: nobody takes it, or there are too many of them.
        """
        if fault.at is None:  # about the construct as a whole
            fault.at = at
        if self.faults is None:
            raise fault
        self.faults += (fault, *fault.others)
        if len(self.faults) >= MOST_FAULTS and fault.made is None:
            raise fault
        self.holes = True
        if reduction.name in LIST_ACTIONS:
            return children[0]
        return HOLE if fault.made is None else fault.made

    def _patch(self, reduction: Reduction, at: int, children: list[Any]) -> Any:
        """The value of a rule with a hole in it: lists of statements go without, as do models."""
        if reduction.symbols[-1] in ITEMS and reduction.name in (*LIST_ACTIONS, "list_first"):
            return children[0] if len(children) > 1 else []
        if reduction.name in _MODELS:
            filled = [None if child is HOLE else child for child in children]
            if filled[-3] is not None:  # the graph
                return self.evaluate(reduction, at, [*filled[:-2], filled[-2] or [], filled[-1]])
        return HOLE

    def evaluate(self, reduction: Reduction, at: int, children: list[Any]) -> Any:
        """The value of a rule."""
        if reduction.action is None:
            return children[0]
        return reduction.action(at, *children) if reduction.located else reduction.action(*children)
