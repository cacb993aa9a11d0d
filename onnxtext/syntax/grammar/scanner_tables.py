# SPDX-License-Identifier: Apache-2.0
"""Build one deterministic finite automaton (DFA) from the grammar's terminals.

The native lexer uses the DFA, which reads the longest possible token. If several terminals match
the token, the first in the lexer's order wins. Two kinds of tokens differ from the patterns in the
grammar. A NESTED token ends at the bracket that closes its first bracket, so the native lexer
counts brackets. A minus sign with a word, such as `-x`, is one BAD token, except for numbers
such as `-inf`.
"""

from __future__ import annotations

import importlib
import re
import sys
from array import array
from base64 import b64encode
from collections.abc import Iterable
from typing import Any, NamedTuple

_PARSER = "re._parser" if sys.version_info >= (3, 11) else "sre_parse"
_OTHER = 128
_CHARACTERS = frozenset(range(_OTHER + 1))
"""The alphabet of the DFA: the ASCII codes, and `_OTHER` for all other characters."""

IGNORED = "__IGNORE"
"""The prefix of the names that Lark gives to ignored terminals."""


class ScannerTables(NamedTuple):
    """The tables of the DFA. State 0 is the start state.

    Two characters belong to the same class if they lead from every state to the same next state.

    Attributes:
        classes: the class number of each ASCII character, then one number for all other characters.
        moves: for each state, a row with the next state for each class, or -1. The
            rows are little-endian 16-bit integers in base64, which load fast. (The native core
            reads them as they are: it runs only on little-endian machines.)
        accepts: for each state, the name of the terminal that it accepts; "" if it accepts none.
    """

    classes: list[int]
    moves: str
    accepts: list[str]


def make_scanner(terminals: list[tuple[str, str]]) -> ScannerTables:
    """Build the DFA that reads one token, by subset construction.

    `terminals` has (name, regular expression) of each terminal, in order of precedence.

    Raises:
        NotImplementedError: an expression has an item that is not supported, such as a lookahead.
    """
    nfa = _Nfa([pattern for _, pattern in terminals])
    classes, samples = nfa.classes()
    rows, accepts = _merge(*nfa.subsets(samples))
    moves = array("h", [target for row in rows for target in row])
    if sys.byteorder == "big":
        moves.byteswap()
    names = [terminals[number][0] if number >= 0 else "" for number in accepts]
    return ScannerTables(classes, b64encode(moves.tobytes()).decode(), names)


class _Nfa:
    """A nondeterministic automaton (NFA) for several regular expressions. State 0 is the start.

    Attributes:
        epsilon: for each state, the targets of its epsilon transitions.
        moves: for each state, its other transitions: a set of characters and the next state.
        finals: for each final state, the index of the expression that it accepts.
    """

    def __init__(self, patterns: list[str]) -> None:
        self.epsilon: list[list[int]] = []
        self.moves: list[list[tuple[frozenset[int], int]]] = []
        self.finals: dict[int, int] = {}
        self._parser: Any = importlib.import_module(_PARSER)
        start = self._state()
        for index, pattern in enumerate(patterns):
            parsed = self._parser.parse(pattern, re.ASCII)
            flags = parsed.state.flags & (re.IGNORECASE | re.DOTALL)
            self.finals[self._sequence(parsed, self._state(start), flags)] = index

    def _state(self, before: int | None = None) -> int:
        """Add a state, with an epsilon transition from `before` if given; return its number."""
        self.epsilon.append([])
        self.moves.append([])
        if before is not None:
            self.epsilon[before].append(len(self.epsilon) - 1)
        return len(self.epsilon) - 1

    def _sequence(self, items: Any, at: int, flags: int) -> int:
        """Add the items of a parsed regular expression after state `at`; return the last state."""
        for operator, argument in items:
            at = self._item(str(operator), argument, at, flags)
        return at

    def _item(self, operator: str, argument: Any, at: int, flags: int) -> int:
        """Add one item of a parsed regular expression after state `at`; return the last state."""
        match operator:
            case "LITERAL":
                return self._characters(at, {argument}, flags)
            case "NOT_LITERAL":
                return self._characters(at, _CHARACTERS - {argument}, flags)
            case "ANY":
                return self._characters(
                    at, _CHARACTERS - (set() if flags & re.DOTALL else {ord("\n")}), flags
                )
            case "IN":
                return self._characters(at, _characters_in(argument), flags)
            case "SUBPATTERN":
                _, added, removed, items = argument
                return self._sequence(items, at, (flags | added) & ~removed)
            case "BRANCH":
                end = self._state()
                for items in argument[1]:
                    self.epsilon[self._sequence(items, self._state(at), flags)].append(end)
                return end
            case "MAX_REPEAT":
                minimum, maximum, items = argument
                return self._repeat(minimum, maximum, items, at, flags)
        raise NotImplementedError(f"{operator} is not regular")

    def _characters(self, at: int, characters: Iterable[int], flags: int) -> int:
        chosen = {min(character, _OTHER) for character in characters}
        if flags & re.IGNORECASE:
            chosen |= {ord(chr(code).swapcase()) for code in chosen if code < _OTHER}
        end = self._state()
        self.moves[at].append((frozenset(chosen), end))
        return end

    def _repeat(self, minimum: int, maximum: Any, items: Any, at: int, flags: int) -> int:
        for _ in range(minimum):
            at = self._sequence(items, at, flags)
        if maximum == self._parser.MAXREPEAT:
            loop = self._state(at)
            self.epsilon[self._sequence(items, loop, flags)].append(loop)
            return loop
        end = self._state(at)
        for _ in range(maximum - minimum):
            at = self._sequence(items, at, flags)
            self.epsilon[at].append(end)
        return end

    def classes(self) -> tuple[list[int], list[int]]:
        """Return the equivalence class of each character, and one character of each class."""
        sets = list({characters for moves in self.moves for characters, _ in moves})
        numbers: dict[tuple[bool, ...], int] = {}
        classes = []
        samples = []
        for character in sorted(_CHARACTERS):
            key = tuple([character in characters for characters in sets])
            if key not in numbers:
                numbers[key] = len(numbers)
                samples.append(character)
            classes.append(numbers[key])
        return classes, samples

    def subsets(self, samples: list[int]) -> tuple[list[list[int]], list[int]]:
        """Build the DFA, whose states are sets of states of this NFA.

        `samples` has one character of each class.

        Returns:
            For each state a row with the next state for each class, or -1; and for each state the
            index of the expression that it accepts, or -1.
        """
        first = self._closure(frozenset({0}))
        numbers = {first: 0}
        subsets = [first]
        closures: dict[frozenset[int], frozenset[int]] = {}
        rows: list[list[int]] = []
        for subset in subsets:  # grows in the loop
            row = []
            for sample in samples:
                raw = frozenset(
                    end for state in subset for chars, end in self.moves[state] if sample in chars
                )
                if raw not in closures:
                    closures[raw] = self._closure(raw)
                target = closures[raw]
                if target and target not in numbers:
                    numbers[target] = len(subsets)
                    subsets.append(target)
                row.append(numbers[target] if target else -1)
            rows.append(row)
        finals = self.finals
        accepts = [
            min((finals[s] for s in subset if s in finals), default=-1) for subset in subsets
        ]
        return rows, accepts

    def _closure(self, states: frozenset[int]) -> frozenset[int]:
        """Follow epsilon transitions; return the reached states that are final or have `moves`."""
        seen = set(states)
        left = list(states)
        while left:
            new = [state for state in self.epsilon[left.pop()] if state not in seen]
            seen.update(new)
            left += new
        return frozenset(state for state in seen if self.moves[state] or state in self.finals)


def _characters_in(items: Any) -> set[int]:
    """Return the characters that a parsed class such as `[^a-z_]` matches."""
    chosen: set[int] = set()
    negated = False
    for operator, argument in items:
        match str(operator):
            case "LITERAL":
                chosen.add(argument)
            case "RANGE":
                chosen |= set(range(argument[0], argument[1] + 1))
            case "NEGATE":
                negated = True
            case other:
                raise NotImplementedError(f"{other} in a class of characters")
    return set(_CHARACTERS - chosen) if negated else chosen


def _merge(rows: list[list[int]], accepts: list[int]) -> tuple[list[list[int]], list[int]]:
    """Merge the equivalent states of a DFA (Moore's algorithm); state 0 stays first.

    `rows` and `accepts`, and the results, have the form of the results of `_Nfa.subsets`.
    """
    groups = [accept + 1 for accept in accepts]
    count = 0
    while True:
        keys: dict[tuple[int, ...], int] = {}
        refined = []
        for state, row in enumerate(rows):
            key = (groups[state], *[groups[to] if to >= 0 else -1 for to in row])
            refined.append(keys.setdefault(key, len(keys)))
        groups = refined
        if len(keys) == count:
            break
        count = len(keys)
    merged = [rows[groups.index(group)] for group in range(count)]
    kept = [accepts[groups.index(group)] for group in range(count)]
    return [[groups[to] if to >= 0 else -1 for to in row] for row in merged], kept
