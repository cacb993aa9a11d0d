# SPDX-License-Identifier: Apache-2.0
"""A text as a tree of its tokens, by the same grammar and tables as the AST."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from onnxtext.format.trivia import Piece
from onnxtext.syntax.lexer import load_lexer
from onnxtext.syntax.machine import Machine, Reduction, load_automaton


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


class _Grower(Machine):
    """A machine whose values are trees."""

    __slots__ = ()

    def reduce(self, reduction: Reduction, at: int) -> None:
        """Replace a rule's symbols on the stacks by their tree."""
        size = reduction.size
        parts = self.values[-size:] if size else []
        if size:
            del self.values[-size:]
            del self.states[-size:]
            del self.where[-size:]
        first = parts[0] if parts else None
        if isinstance(first, Tree) and first.origin == reduction.origin:  # one item more
            first.parts += parts[1:]
            tree = first
        else:
            tree = Tree(reduction.origin, reduction.name, parts)
        self.states.append(self.automaton.gotos[self.states[-1]][reduction.origin])
        self.values.append(tree)
        self.where.append(at)


def grow(pieces: list[Piece], start: str = "model") -> Tree:
    """The tree of a text that parses.

    Args:
        pieces: its tokens, with the piece for its end.
        start: the start rule.
    """
    automaton = load_automaton()
    kinds = load_lexer().kinds
    machine = _Grower(automaton, [automaton.starts[start]])
    for piece in pieces[:-1]:
        machine.feed(kinds[piece.terminal], piece, piece.at)
    tree: Tree = machine.finish(automaton.ends[start], pieces[-1].at)
    return tree
