# SPDX-License-Identifier: Apache-2.0
"""Convert the grammar to plain tables: terminals, rules, and the LALR automaton built by Lark.

Only this module uses Lark. It reads Lark's `ParseTable`, `Rule` and patterns of terminals, which
are not public. So pyproject.toml pins the version of Lark, and tests check this module.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from onnxtext.syntax.grammar.dfa import Scanner, make_scanner
from onnxtext.syntax.grammar.matrix import Matrix

STARTS = (
    "model",
    "graph_fragment",
    "function_fragment",
    "node_fragment",
    "nodes_fragment",
    "value_info_fragment",
    "attribute_fragment",
    "type_fragment",
    "tensor_fragment",
    "entry_fragment",
    "record_fragment",
    "schema_fragment",
)
END = "$END"


class Terminal(NamedTuple):
    """A terminal of the grammar.

    Attributes:
        name: the name in the grammar; for punctuation Lark's name, such as `LPAR`.
        pattern: the regular expression.
        priority: terminals of higher priority are tried first; special words have 1.
        literal: the text of punctuation, such as `(`; None for other terminals.
    """

    name: str
    pattern: str
    priority: int
    literal: str | None


class Rule(NamedTuple):
    """One alternative of a grammar rule.

    Attributes:
        origin: the name of the rule: the left-hand side.
        symbols: the names of the symbols on the right-hand side, which a reduction pops.
        action: the name of the alternative's action: its alias, or the name of the rule.
        take: for each argument of the action, the index of its symbol in `symbols`; -1 if the
            argument is None because an optional `[x]` is absent.
    """

    origin: str
    symbols: tuple[str, ...]
    action: str
    take: tuple[int, ...]


class Tables(NamedTuple):
    """The LALR(1) automaton, and the terminals and rules of its grammar.

    Attributes:
        terminals: all terminals of the grammar.
        rules: all rules of the grammar.
        action_matrix: for each state and terminal: the state to shift to (>= 0), or `~index` of the
            rule to reduce by.
        goto_matrix: for each state and rule name: the state after the reduction by this rule.
        starts: maps each start symbol to its first state.
        ends: maps each start symbol to its accepting state.
        scanner: the automaton that reads tokens.
    """

    terminals: tuple[Terminal, ...]
    rules: tuple[Rule, ...]
    action_matrix: Matrix
    goto_matrix: Matrix
    starts: dict[str, int]
    ends: dict[str, int]
    scanner: Scanner

    @property
    def actions(self) -> tuple[dict[str, int], ...]:
        """The content of `action_matrix`: for each state, a dict from terminal to cell."""
        return self.action_matrix.rows

    @property
    def gotos(self) -> tuple[dict[str, int], ...]:
        """The content of `goto_matrix`: for each state, a dict from rule name to cell."""
        return self.goto_matrix.rows


def grammar_path() -> Path:
    """Return the path of the grammar file: in the package (wheel) or beside it (checkout).

    Raises:
        FileNotFoundError: the file is in neither place.
    """
    package = Path(__file__).resolve().parent.parent.parent
    for directory in (package / "grammar", package.parent / "grammar"):
        path = directory / "onnxtext.lark"
        if path.is_file():
            return path
    raise FileNotFoundError(f"the grammar onnxtext.lark is neither in nor beside {package}")


def build_tables(grammar: str) -> Tables:
    """Build the tables with Lark.

    Args:
        grammar: the text of a Lark grammar with the start rules `STARTS`.

    Raises:
        lark.exceptions.GrammarError: the grammar is wrong or not LALR(1).
    """
    import lark

    made: Any = lark.Lark(
        grammar, parser="lalr", lexer="basic", start=list(STARTS), maybe_placeholders=True
    )
    table = made.parser.parser._parse_table
    rules = {rule: index for index, rule in enumerate(made.rules)}
    actions: list[dict[str, int]] = []
    gotos: list[dict[str, int]] = []
    for number in range(len(table.states)):
        row = table.states[number]
        actions.append({})
        gotos.append({})
        for symbol, (act, target) in row.items():
            if act.name == "Reduce":
                actions[-1][symbol] = ~rules[target]
            elif _is_rule(symbol):
                gotos[-1][symbol] = target
            else:
                actions[-1][symbol] = target
    names = {rule.origin.name for rule in made.rules}
    return Tables(
        terminals=tuple(_terminal(terminal) for terminal in made.terminals),
        rules=tuple(_rule(rule) for rule in made.rules),
        action_matrix=Matrix.of(actions, sorted({name for row in actions for name in row})),
        goto_matrix=Matrix.of(gotos, sorted(names.union(*gotos))),
        starts=dict(table.start_states),
        ends=dict(table.end_states),
        scanner=make_scanner(_scanned(tuple(_terminal(terminal) for terminal in made.terminals))),
    )


BAD = "BAD"
"""The kind of a token that matches no terminal of the grammar."""


def _scanned(terminals: tuple[Terminal, ...]) -> list[tuple[str, str]]:
    """Return the names and patterns of all terminals and of BAD, in order of precedence."""
    found = [(terminal.name, terminal.pattern) for terminal in order_terminals(terminals)]
    word = next(pattern for name, pattern in found if name == "WORD")
    return [*found, (BAD, f"-{word}")]


def _is_rule(symbol: str) -> bool:
    return symbol.islower()


def _terminal(terminal: Any) -> Terminal:
    pattern = terminal.pattern
    literal = pattern.value if pattern.type == "str" else None
    return Terminal(terminal.name, pattern.to_regexp(), terminal.priority, literal)


def _rule(rule: Any) -> Rule:
    """Convert a rule of Lark; keep the children that Lark keeps with `maybe_placeholders`."""
    kept = [
        index
        for index, symbol in enumerate(rule.expansion)
        if not (symbol.is_term and symbol.filter_out)
    ]
    take: list[int] = []
    empty = rule.options.empty_indices
    if empty:
        # In the order of the children, `empty` has True for an absent [x], False for a symbol.
        position = 0
        for absent in empty:
            if absent:
                take.append(-1)
            else:
                if position in kept:
                    take.append(position)
                position += 1
    else:
        take = kept
    return Rule(
        str(rule.origin.name),
        tuple(str(symbol.name) for symbol in rule.expansion),
        str(rule.alias or rule.origin.name),
        tuple(take),
    )


def order_terminals(terminals: tuple[Terminal, ...]) -> list[Terminal]:
    """Return terminals in the order of the lexer: by priority, then by length of the literal."""
    return sorted(
        terminals,
        key=lambda terminal: (-terminal.priority, -len(terminal.literal or ""), terminal.name),
    )


def compile_pattern(pattern: str) -> re.Pattern[str]:
    r"""Compile the pattern of a terminal; `\w` matches only ASCII, as in the official lexer."""
    return re.compile(pattern, re.ASCII)
