# SPDX-License-Identifier: Apache-2.0
"""The LALR(1) loop over the grammar's tables.

A machine keeps a stack of states, and a value for each state after the first. The row of the state
on top has an entry for each valid kind of token. A shift pushes the token and the next state. A
reduction pops the symbols of a rule, calls the action of the rule with their values, and pushes the
result.
`grammar/SPEC.md`, chapter 18, shows an example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from operator import itemgetter
from typing import Any

from onnxtext.syntax import actions
from onnxtext.syntax.actions.semantic_error import MAX_SEMANTIC_ERRORS, SemanticError
from onnxtext.syntax.actions.strings import plain
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.grammar.table_cache import load_tables
from onnxtext.syntax.grammar.tables import END_KIND, GrammarRule, ParserTables

Action = Callable[..., Any]

MAX_PARSER_STACK = 1000
"""Maximum number of states on the stack. Protobuf reads 33 nested graphs, which need about 700."""

LIST_ACTIONS = ("list_more", "more_nodes")
"""The actions that add an item to a list."""

_WITHOUT_OFFSET = (str, plain)
"""Actions that do not use the offset of their token."""


def _identity(child: Any) -> Any:
    return child


def _selection(indexes: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Make a function that picks the items at the given negative indexes."""
    if len(indexes) > 1:
        return itemgetter(*indexes)
    return itemgetter(slice(indexes[0], indexes[0] + 1 or None) if indexes else slice(0))


class Reduction:
    """A rule of the grammar with its action.

    Attributes:
        take: for each child (an argument of the action), the 0-based index of its symbol in
            `symbols`. The index is -1 if the child is None because an optional `[x]` is absent.
        action: the function that returns the value of the rule, given the children. None if the
            value of the rule is its only child.
        call: `action`, or a function that returns its argument if `action` is None.
        located: whether the action has an additional first argument: the offset of the first token.
        unit: whether the rule has one symbol and no action, so it only renames the symbol.
        tokens: the negative indexes in `symbols` of the tokens whose offsets the action may need.
        simple: whether the rule has one symbol, its value is the only child, and the action needs
            no offset.
        select: a function that picks the children from a list that ends with the values of all
            symbols and None.
        rest: the slice of a stack with the entries of all symbols but the first.
    """

    __slots__ = (
        "action", "call", "located", "name", "origin", "rest", "select", "simple", "size",
        "symbols", "take", "tokens", "unit",
    )  # fmt: skip

    def __init__(self, rule: GrammarRule, action: Action | None, *, located: bool = False) -> None:
        self.name = rule.action
        self.origin = rule.origin
        self.symbols = rule.symbols
        self.size = len(rule.symbols)
        self.take = rule.take
        self.action = action
        self.call = action or _identity
        self.located = located
        self.unit = self.action is None and self.size == 1
        self.tokens = [  # only names of rules are lowercase
            index - self.size
            for index in rule.take
            if index >= 0 and not rule.symbols[index].islower()
        ]
        if action is None or action in _WITHOUT_OFFSET:
            self.tokens = []
        takes_all = rule.take == tuple(range(self.size))
        self.simple = takes_all and self.size == 1 and not located and not self.tokens
        # The None after the values has the index -1, like an absent `[x]` in `take`.
        self.select = _selection([at if at < 0 else at - self.size - 1 for at in rule.take])
        self.rest = slice(1 - self.size, None)
        if self.action is None and len(rule.take) != 1:
            raise LookupError(f"the grammar's rule {rule.action} has no action")

    def make(self, offset: int, children: Sequence[Any]) -> Any:
        """Return the value of the construct at an offset, given the children (see `take`)."""
        return self.call(offset, *children) if self.located else self.call(*children)


def _tree_reduction(rule: GrammarRule) -> Reduction:
    """Return the reduction of a rule with the action that builds its part of the syntax tree."""
    action = actions.ACTIONS.get(rule.action)
    return Reduction(rule, action, located=rule.action in actions.LOCATED)


class Automaton:
    """Immutable parser tables, with a reduction for each rule.

    Attributes:
        starts: maps each start symbol to its first state.
        ends: maps each start symbol to its accepting state.
        accepting: the set of accepting states.
    """

    def __init__(
        self, tables: ParserTables, reduction: Callable[[GrammarRule], Reduction] = _tree_reduction
    ) -> None:
        self._tables = tables
        self.reductions = [reduction(rule) for rule in tables.rules]
        self.starts = tables.starts
        self.ends = tables.ends
        self.accepting = frozenset(tables.ends.values())

    @cached_property
    def rows(self) -> tuple[dict[str, int], ...]:
        """For each state, a dict from token kind to the next state (>= 0) or to a reduction `~i`.

        `i` is the index of the reduction in `reductions`.
        """
        return self._tables.action_matrix.rows

    @cached_property
    def gotos(self) -> list[dict[str, int]]:
        """For each state, a dict from the name of a reduced rule to the next state.

        If the only action of the next state is to reduce by a unit rule, the dict has the state
        after this reduction instead. (A unit rule only renames a symbol, see `Reduction`.)
        """
        units = [self._only_unit(row) for row in self.rows]

        def after_units(gotos: dict[str, int], state: int) -> int:
            while (origin := units[state]) is not None:
                state = gotos[origin]
            return state

        return [
            {name: after_units(row, state) for name, state in row.items()}
            for row in self._tables.goto_matrix.rows
        ]

    def _only_unit(self, row: dict[str, int]) -> str | None:
        """If a state can only reduce by one unit rule, return the rule's origin; otherwise None."""
        targets = set(row.values())
        target = targets.pop() if len(targets) == 1 else 0
        if target >= 0:
            return None
        rule = self.reductions[~target]
        return rule.origin if rule.unit else None


@cache
def load_automaton() -> Automaton:
    """Return the automaton of the grammar, built once per process."""
    return Automaton(load_tables())


class ErrorNode:
    """The placeholder for a value that could not be built because of an error."""

    def __repr__(self) -> str:
        return "ERROR_NODE"


ERROR_NODE = ErrorNode()

ITEMS = frozenset((
    "node", "value_info", "attribute", "parameter", "header_entry", "header_item", "function",
    "section", "metadata_item", "annotation", "training_item", "resource",
))  # fmt: skip
"""The rules of statements and list items: recovery may drop a single statement or item."""

_MODELS = frozenset(("model", "headless_model"))


class Unexpected(Exception):
    """The next token is unexpected.

    Attributes:
        at: the offset of the token; at an unexpected end, the length of the text.
    """

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.at = offset


class Machine:
    """A parse in progress: stacks of states, of values, and of the offsets of the values.

    `states[0]` is the start state. `values[i]` led to `states[i + 1]` and begins at `where[i]`. So
    there is always one state more than values and offsets.

    There are two kinds of errors. `Unexpected`, a syntax error, ends `feed_all`. A `SemanticError`
    of an action does not: `keep` appends it to `semantic_errors`. If the action should have added
    an item to a list, the value of the rule is then the list without the item. Otherwise it is the
    error's `partial_value`, or `ERROR_NODE` (which lists leave out) if that is None. The error is
    raised only if `semantic_errors` is None or has too many errors, or if constructs are nested too
    deeply.

    Attributes:
        has_error_nodes: whether a value on the stack may be `ERROR_NODE`.
        max_errors: the maximum number of errors; then parsing stops.
        semantic_errors: the list to which errors of actions are appended. If it is None, the first
            error is raised.
    """

    __slots__ = (
        "automaton", "has_error_nodes", "max_errors", "semantic_errors",
        "states", "values", "where",
    )  # fmt: skip

    def __init__(self, automaton: Automaton, states: list[int]) -> None:
        self.automaton = automaton
        self.states = states
        self.values: list[Any] = []
        self.where: list[int] = []
        self.has_error_nodes = False
        self.max_errors = MAX_SEMANTIC_ERRORS
        self.semantic_errors: list[SemanticError] | None = None

    def feed(self, kind: str, value: Any, offset: int) -> None:
        """Feed one token, as `feed_all` does."""
        self.feed_all(((kind, value, offset),))

    def feed_all(self, tokens: Iterable[tuple[str, Any, int]]) -> None:
        """For each token, reduce the rules that end before it, then shift it.

        A token is given by its kind, value and offset. A value of type `str` becomes a `Token` if
        an action may need its offset.

        Raises:
            Unexpected: a token is unexpected.
            SemanticError: an action failed and `semantic_errors` is None, there are too many
                errors, or constructs are nested too deeply.
        """
        automaton = self.automaton
        rows, gotos, reductions = automaton.rows, automaton.gotos, automaton.reductions
        states, values, where = self.states, self.values, self.where
        row = rows[states[-1]]
        for kind, value, offset in tokens:
            while True:
                try:
                    target = row[kind]
                except KeyError:
                    if kind == END_KIND and states[-1] in automaton.accepting:
                        return
                    raise Unexpected(offset) from None
                if target >= 0:
                    break
                rule = reductions[~target]
                if rule.simple and not self.has_error_nodes:  # most rules: replace the value on top
                    if not rule.unit:
                        try:
                            values[-1] = rule.call(values[-1])
                        except SemanticError as error:
                            values[-1] = self.keep(error, rule, where[-1], values[-1:])
                else:
                    size = rule.size
                    if not size:  # make room for the value
                        states.append(target)
                        values.append(None)
                        where.append(offset)
                    for index in rule.tokens:
                        if type(values[index]) is str:
                            values[index] = Token(values[index], where[index])
                    values.append(None)
                    taken = rule.select(values)
                    values.pop()
                    begin = where[-size or -1]
                    if self.has_error_nodes:
                        result = self.run_action(rule, begin, taken)
                    else:
                        try:
                            call = rule.call
                            result = call(begin, *taken) if rule.located else call(*taken)
                        except SemanticError as error:
                            result = self.keep(error, rule, begin, taken)
                    if size > 1:
                        rest = rule.rest
                        del states[rest], values[rest], where[rest]
                    values[-1] = result
                states[-1] = state = gotos[states[-2]][rule.origin]
                row = rows[state]
            states.append(target)
            values.append(value)
            where.append(offset)
            row = rows[target]
            if len(states) > MAX_PARSER_STACK:
                raise SemanticError(
                    "the text is nested too deeply here", at=offset, code="too-deep"
                )

    def finish(self, offset: int) -> Any:
        """Return the value of the start rule, at the end of the text.

        Raises:
            Unexpected: the text cannot end here.
            SemanticError: an action failed.
        """
        self.feed(END_KIND, "", offset)
        return self.values[-1]

    def run_action(self, reduction: Reduction, offset: int, children: Sequence[Any]) -> Any:
        """Return the value of a rule, given its children, which may be error nodes.

        Raises:
            SemanticError: the action failed, and `semantic_errors` is None or has too many errors.
        """
        try:
            if self.has_error_nodes and any(child is ERROR_NODE for child in children):
                return self._patch(reduction, offset, children)
            return reduction.make(offset, children)
        except SemanticError as error:
            return self.keep(error, reduction, offset, children)

    def keep(
        self, error: SemanticError, reduction: Reduction, offset: int, children: Sequence[Any]
    ) -> Any:
        """Keep the error of an action in `semantic_errors`; return a value to use instead.

        Raises:
            SemanticError: `semantic_errors` is None; or it is full, and `error.partial_value` is
                None.
        """
        if error.at is None:  # the error concerns the construct as a whole
            error.at = offset
        if self.semantic_errors is None:
            raise error
        self.semantic_errors += (error, *error.others)
        if len(self.semantic_errors) >= self.max_errors and error.partial_value is None:
            raise error
        self.has_error_nodes = True
        if reduction.name in LIST_ACTIONS:
            return children[0]
        return ERROR_NODE if error.partial_value is None else error.partial_value

    def _patch(self, reduction: Reduction, offset: int, children: Sequence[Any]) -> Any:
        """Return the value of a rule if some children are error nodes.

        Lists, and models with a graph, omit these children. The value of other rules is an error
        node.
        """
        if reduction.symbols[-1] in ITEMS and reduction.name in (*LIST_ACTIONS, "list_first"):
            return children[0] if len(children) > 1 else []
        if reduction.name in _MODELS:
            filled = [None if child is ERROR_NODE else child for child in children]
            if filled[-3] is not None:  # the graph
                return reduction.make(offset, [*filled[:-2], filled[-2] or [], filled[-1]])
        return ERROR_NODE
