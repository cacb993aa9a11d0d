# SPDX-License-Identifier: Apache-2.0
"""The items of long lists, read many at a time.

What stands between two commas of a list does the same whenever it has the same kinds of tokens,
as statements do (`shapes`). So where many plain items follow one another, wherever lines end,
their tokens are found at once, and each item is added by what was recorded for its kinds.
"""

from __future__ import annotations

import re

from onnxtext.syntax.faults import Fault
from onnxtext.syntax.known import Shape, Shapes, known_shapes, make_shape
from onnxtext.syntax.lexer import Lexer, Token
from onnxtext.syntax.machine import Machine
from onnxtext.syntax.shapes import record

_WINDOW = 1 << 15
_MOST_TOKENS = 24
"""An item with more tokens than this is none of those of which there are many."""

_PLAIN = r"[-+\w.:=? \t\n\v\f\r]*"
_STRING = r'"(?:[^"\\\n]+"|"(?!"))'
_NUMBERS = r"\[[-+0-9.eE, ]*\]"
_SERIES = re.compile(rf"(?:{_PLAIN}(?:(?:{_STRING}|{_NUMBERS}){_PLAIN})*,){{8,}}", re.ASCII)
"""Items with their commas: no other brackets and no comments, so that tokens do not depend on
what is around them."""

_DOTTED = re.compile(r"(?:[ \t\n\v\f\r]*[A-Za-z_]\w*[ \t\n\v\f\r]*\.(?![0-9])){8,}", re.ASCII)

_FLAT = r"[-+\w.,:=?<> \t\v\f\r]*"
_PART = rf"{_FLAT}(?:{_STRING}{_FLAT})*"
_NODES = re.compile(rf"(?:{_PART}\({_PART}\)){{8,}}", re.ASCII)
"""Nodes in one line: those in several lines are chunks, which `run` reads faster."""


class SeriesReader:
    """Reads the items that follow one in a list.

    Attributes:
        tried: the offset before which there is nothing to read in this way.
    """

    __slots__ = ("_close", "_comma", "_lexer", "_machine", "_patterns", "_text", "tried")

    def __init__(self, text: str, machine: Machine, lexer: Lexer) -> None:
        self._text = text
        self._machine = machine
        self._lexer = lexer
        self._comma = lexer.kinds["COMMA"]
        self._close = lexer.kinds["RPAR"]
        self._patterns = {
            self._comma: _SERIES,
            lexer.kinds["DOT"]: _DOTTED,
            self._close: _NODES,
        }
        self.tried = 0

    def follows(self, kind: str) -> bool:
        """Whether more items may follow a token of this kind."""
        return kind in self._patterns

    def read(self, kind: str, at: int) -> int:
        """Add items to the list at hand.

        Args:
            kind: of the comma, dot or bracket that has just been fed.
            at: where the text goes on behind it.

        Returns:
            Where it goes on behind the last item that was read; `at` if there is none.
        """
        machine = self._machine
        pattern = self._patterns[kind]
        series = pattern.match(self._text, at, at + _WINDOW)
        while series is not None:
            if kind == self._close:
                behind = self._add_nodes(series.group(), at)
            elif len(machine.values) > 1 and type(machine.values[-2]) is list:
                behind = self._add(series.group(), at, kind)
            else:
                behind = at
            if behind < series.end():
                self.tried = series.end()
                return behind
            at = behind
            series = pattern.match(self._text, at, at + _WINDOW)
        return at

    def _add(self, series: str, at: int, separator: str) -> int:
        """Add the items of a series, as far as that is possible; where the next one begins."""
        machine = self._machine
        tokens, kinds = self._tokens(series)
        count, offsets = self._build(series, at, tokens, kinds[:-1].split(separator), separator, 2)
        if count == 0:
            return at
        if count == len(tokens):
            last = at + len(series) - 1
        else:
            last = (offsets or self._offsets(series, at))[count - 1]
        machine.values[-1] = Token(self._text[last], last)
        machine.where[-1] = last
        return last + 1

    def _add_nodes(self, series: str, at: int) -> int:
        """Add the nodes of a series but the last one, of which attributes may follow."""
        machine = self._machine
        tokens, kinds = self._tokens(series)
        machine.settle(kinds[0], at + len(series) - len(series.lstrip()))
        state = machine.automaton.list_states.get(machine.states[-1])
        if state is None or state.depth != 1 or type(machine.values[-1]) is not list:
            return at
        row = machine.automaton.rows[machine.states[-1]]
        nodes = kinds[:-1].split(self._close)
        # What follows a node must begin another one: it may be the attributes of this one.
        whole = next((n for n, node in enumerate(nodes) if node[:1] not in row), len(nodes)) - 1
        comma = next((n for n, node in enumerate(nodes) if node[:1] == self._comma), whole)
        count, offsets = self._build(
            series, at, tokens, nodes[: max(min(whole, comma), 0)], self._close, 1
        )
        return (offsets or self._offsets(series, at))[count] if count else at

    def _tokens(self, series: str) -> tuple[list[str], str]:
        tokens = self._lexer.token_pattern.findall(series)
        kind_of = self._lexer.short_kinds
        return tokens, "".join([kind_of[token] for token in tokens])

    def _build(
        self, series: str, at: int, tokens: list[str], items: list[str], separator: str, depth: int
    ) -> tuple[int, list[int] | None]:
        """Add items by their kinds; how many tokens they have, and the offsets of all if known."""
        machine = self._machine
        shapes = known_shapes(machine.states[-1])
        by_kinds = shapes.by_kinds
        made = machine.values[-depth]
        add = made.append
        offsets: list[int] | None = None
        start = 0
        for item in items:
            key = item + separator
            shape = by_kinds[key] if key in by_kinds else self._record(shapes, key, depth)
            if shape is None:
                break
            end = start + len(key)
            if shape.places and offsets is None:
                offsets = self._offsets(series, at)
            count = len(made)
            try:
                shape.builder(tokens[start:end], offsets and offsets[start:end], add)
            except (Fault, ValueError):
                del made[count:]
                break
            start = end
        return start, offsets

    def _offsets(self, series: str, at: int) -> list[int]:
        """Where the tokens of a series begin in the text."""
        return [at + found.start(1) for found in self._lexer.token_pattern.finditer(series)]

    def _record(self, shapes: Shapes, kinds: str, depth: int) -> Shape | None:
        """Find out what an item of these kinds does, with the comma behind it."""
        shapes.bound()
        recorded = record(self._machine, kinds, depth) if len(kinds) <= _MOST_TOKENS else None
        shapes.by_kinds[kinds] = shape = make_shape(recorded, len(kinds))
        return shape
