# SPDX-License-Identifier: Apache-2.0
"""A text as a tree of its tokens, by the same grammar and tables as the AST."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache

from onnxtext.format.trivia import Piece
from onnxtext.syntax.machine import Automaton, Machine, Reduction
from onnxtext.syntax.tables import Rule, load_tables


@dataclass(slots=True, eq=False)
class Tree:
    """A construct and its parts, all tokens included.

    Attributes:
        origin: the grammar rule.
        alias: which of its alternatives.
        parts: trees and tokens in order; what a left-recursive rule repeats is one flat list.
        commented: whether there are comments between its brackets, which breaks it.
    """

    origin: str
    alias: str
    parts: list[Tree | Piece] = field(default_factory=list)
    commented: bool = False

    def trees(self) -> list[Tree]:
        """The parts that are trees."""
        return [part for part in self.parts if isinstance(part, Tree)]

    def child(self, *origins: str) -> Tree | None:
        """The first part that is one of these constructs."""
        for part in self.parts:
            if isinstance(part, Tree) and part.origin in origins:
                return part
        return None

    def pieces(self) -> Iterator[Piece]:
        """All tokens in order."""
        for part in self.parts:
            if isinstance(part, Piece):
                yield part
            else:
                yield from part.pieces()

    def first(self) -> Piece | None:
        """The first token; None if there is none."""
        for part in self.parts:
            found = part if isinstance(part, Piece) else part.first()
            if found is not None:
                return found
        return None

    def last(self) -> Piece | None:
        """The last token; None if there is none."""
        for part in reversed(self.parts):
            found = part if isinstance(part, Piece) else part.last()
            if found is not None:
                return found
        return None


def _growing(rule: Rule) -> Reduction:
    """A rule that makes a tree of all its symbols."""

    def grow(*parts: Tree | Piece) -> Tree:
        first = parts[0] if parts else None
        if isinstance(first, Tree) and first.origin == rule.origin:  # one item more
            first.parts += parts[1:]
            return first
        return Tree(rule.origin, rule.action, list(parts))

    return Reduction(replace(rule, take=tuple(range(len(rule.symbols)))), grow)


@cache
def _automaton() -> Automaton:
    return Automaton(load_tables(), _growing)


def grow(pieces: list[Piece], start: str = "model") -> Tree:
    """The tree of a text that parses.

    Args:
        pieces: its tokens, with the piece for its end.
        start: the start rule.
    """
    automaton = _automaton()
    machine = Machine(automaton, [automaton.starts[start]])
    machine.feed_all((piece.terminal, piece, piece.at) for piece in pieces[:-1])
    tree: Tree = machine.finish(pieces[-1].at)
    return tree
