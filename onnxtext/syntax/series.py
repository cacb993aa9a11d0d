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
_MOST_TOKENS = 12
"""An item with more tokens than this is none of those of which there are many."""

_PLAIN = r"[-+\w.:=? \t\n\v\f\r]*"
_STRING = r'"(?:[^"\\\n]+"|"(?!"))'
_SERIES = re.compile(rf"(?:{_PLAIN}(?:{_STRING}{_PLAIN})*,){{8,}}", re.ASCII)
"""Items with their commas: no brackets and comments, so that tokens do not depend on what is
around them, and each comma between strings is a token."""


class SeriesReader:
    """Reads the items that follow a comma in a list.

    Attributes:
        tried: the offset before which there is nothing to read in this way.
    """

    __slots__ = ("_comma", "_lexer", "_machine", "_text", "tried")

    def __init__(self, text: str, machine: Machine, lexer: Lexer) -> None:
        self._text = text
        self._machine = machine
        self._lexer = lexer
        self._comma = lexer.kinds["COMMA"]
        self.tried = 0

    def read(self, at: int) -> int:
        """Add items to the list at hand, whose comma has just been fed.

        Args:
            at: where the text goes on behind that comma.

        Returns:
            Where it goes on behind the last comma that was read, which may be the same one.
        """
        machine = self._machine
        if len(machine.values) < 2 or type(machine.values[-2]) is not list:
            return at
        series = _SERIES.match(self._text, at, at + _WINDOW)
        while series is not None:
            behind = self._add(series.group(), at)
            if behind < series.end():
                self.tried = series.end()
                return behind
            at = behind
            series = _SERIES.match(self._text, at, at + _WINDOW)
        return at

    def _add(self, series: str, at: int) -> int:
        """Add the items of a series, as far as that is possible; where the next one begins."""
        machine = self._machine
        comma = self._comma
        tokens = self._lexer.token_pattern.findall(series)
        kind_of = self._lexer.short_kinds
        kinds = "".join([kind_of[token] for token in tokens])
        shapes = known_shapes(machine.states[-1])
        by_kinds = shapes.by_kinds
        offsets: list[int] | None = None
        items = machine.values[-2]
        add = items.append
        start = 0
        for item in kinds[:-1].split(comma):
            key = item + comma
            shape = by_kinds[key] if key in by_kinds else self._record(shapes, key)
            if shape is None:
                break
            end = start + len(key)
            if shape.places and offsets is None:
                offsets = self._offsets(series, at)
            count = len(items)
            try:
                shape.builder(tokens[start:end], offsets and offsets[start:end], add)
            except (Fault, ValueError):
                del items[count:]
                break
            start = end
        if start == 0:
            return at
        if start == len(tokens):
            last = at + len(series) - 1
        else:
            last = (offsets or self._offsets(series, at))[start - 1]
        machine.values[-1] = Token(",", last)
        machine.where[-1] = last
        return last + 1

    def _offsets(self, series: str, at: int) -> list[int]:
        """Where the tokens of a series begin in the text."""
        return [at + found.start(1) for found in self._lexer.token_pattern.finditer(series)]

    def _record(self, shapes: Shapes, kinds: str) -> Shape | None:
        """Find out what an item of these kinds does, with the comma behind it."""
        shapes.bound()
        recorded = record(self._machine, kinds, depth=2) if len(kinds) <= _MOST_TOKENS else None
        shapes.by_kinds[kinds] = shape = make_shape(recorded, len(kinds))
        return shape
