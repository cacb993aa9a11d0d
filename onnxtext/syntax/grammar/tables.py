# SPDX-License-Identifier: Apache-2.0
"""Convert the grammar to plain tables: terminals, rules, and the LALR automaton built by Lark.

Only this module uses Lark. It reads Lark's `ParseTable`, `Rule` and patterns of terminals. Their
API is not public, so pyproject.toml limits the version of Lark, and tests check this module.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from onnxtext.quick_dataclass import dataclass
from onnxtext.syntax.grammar.scanner_tables import ScannerTables, make_scanner

STARTS = (
    "model", "graph_fragment", "function_fragment", "node_fragment", "nodes_fragment",
    "value_info_fragment", "attribute_fragment", "type_fragment", "tensor_fragment",
    "entry_fragment", "record_fragment", "schema_fragment",
)  # fmt: skip
END_KIND = "$END"
"""The kind of the end of the text."""

BAD_KIND = "BAD"
"""The kind of a token that matches no terminal of the grammar."""


_EMPTY = -(1 << 15)
"""The number that marks an empty cell."""


@dataclass(frozen=True)
class Matrix:
    """A table with a row for each state and a column for each symbol.

    Attributes:
        names: the symbol of each column.
        data: the cells, row by row, as little-endian 16-bit integers.
    """

    names: tuple[str, ...]
    data: bytes

    @classmethod
    def of(cls, rows: Sequence[dict[str, int]], names: Sequence[str]) -> Matrix:
        """Return the matrix with the columns `names`.

        Each row is a dict from symbol to number; the cells of missing symbols are empty.
        """
        cells = array("h", [row.get(name, _EMPTY) for row in rows for name in names])
        if sys.byteorder == "big":
            cells.byteswap()
        return cls(tuple(names), cells.tobytes())

    @property
    def height(self) -> int:
        """The number of rows.

        Raises:
            ValueError: the last row is incomplete.
        """
        height, rest = divmod(len(self.data), 2 * len(self.names) or 1)
        if rest:
            raise ValueError("damaged parse tables")
        return height

    @cached_property
    def rows(self) -> tuple[dict[str, int], ...]:
        """The rows, each a dict from symbol to number; empty cells are left out."""
        cells = array("h", self.data)
        if sys.byteorder == "big":
            cells.byteswap()
        width = len(self.names)
        return tuple(
            [
                {
                    name: cell
                    for name, cell in zip(self.names, cells[index : index + width], strict=True)
                    if cell != _EMPTY
                }
                for index in range(0, self.height * width, width)
            ]
        )


class Terminal(NamedTuple):
    """A terminal of the grammar.

    Attributes:
        name: the name in the grammar; for unnamed punctuation, Lark's name, such as `LPAR`.
        priority: terminals of higher priority are tried first; special words have priority 1.
        literal: the text of punctuation, such as `(`; None for other terminals.
    """

    name: str
    pattern: str
    priority: int
    literal: str | None


class GrammarRule(NamedTuple):
    """One alternative of a grammar rule.

    Attributes:
        symbols: the names of the symbols on the right-hand side, which a reduction pops.
        action: the name of the alternative's action: its alias, or the name of the rule.
        take: for each argument of the action, the index of its symbol in `symbols`; -1 if the
            argument is None because an optional `[x]` is absent.
    """

    origin: str
    symbols: tuple[str, ...]
    action: str
    take: tuple[int, ...]


class ParserTables(NamedTuple):
    """The LALR(1) automaton, and the terminals and rules of its grammar.

    Attributes:
        action_matrix: for each state and terminal: the state to shift to (>= 0), or `~i` to reduce
            by the rule `rules[i]`.
        goto_matrix: for each state and rule name: the state after the reduction by this rule.
        starts: maps each start symbol to its first state.
        ends: maps each start symbol to its accepting state.
    """

    terminals: tuple[Terminal, ...]
    rules: tuple[GrammarRule, ...]
    action_matrix: Matrix
    goto_matrix: Matrix
    starts: dict[str, int]
    ends: dict[str, int]
    scanner: ScannerTables


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


def build_tables(grammar: str) -> ParserTables:
    """Build the tables of a Lark grammar with the start rules `STARTS`.

    Raises:
        lark.exceptions.GrammarError: the grammar is wrong or not LALR(1).
    """
    import lark

    parser: Any = lark.Lark(
        grammar, parser="lalr", lexer="basic", start=list(STARTS), maybe_placeholders=True
    )
    table = parser.parser.parser._parse_table
    rules = {rule: index for index, rule in enumerate(parser.rules)}
    actions: list[dict[str, int]] = [{} for _ in table.states]
    gotos: list[dict[str, int]] = [{} for _ in table.states]
    for state, row in table.states.items():
        for symbol, (act, target) in row.items():
            if act.name == "Reduce":
                actions[state][symbol] = ~rules[target]
            elif symbol.islower():  # the name of a rule
                gotos[state][symbol] = target
            else:
                actions[state][symbol] = target
    names = {rule.origin.name for rule in parser.rules}
    terminals = tuple(_terminal(terminal) for terminal in parser.terminals)
    return ParserTables(
        terminals=terminals,
        rules=tuple(_rule(rule) for rule in parser.rules),
        action_matrix=Matrix.of(actions, sorted({name for row in actions for name in row})),
        goto_matrix=Matrix.of(gotos, sorted(names.union(*gotos))),
        starts=dict(table.start_states),
        ends=dict(table.end_states),
        scanner=make_scanner(_named_patterns(terminals)),
    )


def _named_patterns(terminals: tuple[Terminal, ...]) -> list[tuple[str, str]]:
    """Return the names and patterns of all terminals and of BAD, in order of precedence."""
    patterns = [(terminal.name, terminal.pattern) for terminal in order_terminals(terminals)]
    word = next(pattern for name, pattern in patterns if name == "WORD")
    return [*patterns, (BAD_KIND, f"-{word}")]


def _terminal(terminal: Any) -> Terminal:
    pattern = terminal.pattern
    literal = pattern.value if pattern.type == "str" else None
    return Terminal(terminal.name, pattern.to_regexp(), terminal.priority, literal)


def _rule(rule: Any) -> GrammarRule:
    """Convert a rule of Lark; `take` omits symbols that Lark filters out, such as punctuation."""
    symbols = rule.expansion
    # In text order: True for an absent [x], False for a symbol.
    absent = rule.options.empty_indices or [False] * len(symbols)
    numbers = iter(range(len(symbols)))
    indexes = [-1 if is_absent else next(numbers) for is_absent in absent]
    dropped = {
        index for index, symbol in enumerate(symbols) if symbol.is_term and symbol.filter_out
    }
    return GrammarRule(
        str(rule.origin.name),
        tuple(str(symbol.name) for symbol in symbols),
        str(rule.alias or rule.origin.name),
        tuple(at for at in indexes if at not in dropped),
    )


def order_terminals(terminals: tuple[Terminal, ...]) -> list[Terminal]:
    """Return terminals in the lexer's order: highest priority first, then longest literal first."""
    return sorted(
        terminals,
        key=lambda terminal: (-terminal.priority, -len(terminal.literal or ""), terminal.name),
    )
