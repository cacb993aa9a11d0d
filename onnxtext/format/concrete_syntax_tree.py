# SPDX-License-Identifier: Apache-2.0
"""Parse a text to a concrete syntax tree, with the same tables as the AST parser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from onnxtext.format.tokens_with_comments import CommentedToken
from onnxtext.syntax.grammar.table_cache import load_tables
from onnxtext.syntax.grammar.tables import GrammarRule
from onnxtext.syntax.parser.lalr import Automaton, Machine, Reduction


@dataclass(slots=True, eq=False)
class Tree:
    """A construct and its parts, including all tokens.

    Attributes:
        origin: the name of the grammar rule.
        alias: the name of the rule's alternative.
        parts: trees and tokens in order; items of a left-recursive rule are one flat list.
        commented: whether comments are between the brackets of the construct. Then its list has one
            item per line.
    """

    origin: str
    alias: str
    parts: list[Tree | CommentedToken] = field(default_factory=list)
    commented: bool = False

    def trees(self) -> list[Tree]:
        """Return the parts that are trees."""
        return [part for part in self.parts if isinstance(part, Tree)]

    def child(self, *origins: str) -> Tree | None:
        """Return the first child tree with one of these grammar rules; None if there is none."""
        for part in self.parts:
            if isinstance(part, Tree) and part.origin in origins:
                return part
        return None

    def required(self, *origins: str) -> Tree:
        """Return the first child tree with one of these grammar rules, which must exist."""
        result = self.child(*origins)
        assert result is not None
        return result

    def tokens(self) -> Iterator[CommentedToken]:
        """Yield all tokens in order."""
        for part in self.parts:
            if isinstance(part, CommentedToken):
                yield part
            else:
                yield from part.tokens()

    def first(self) -> CommentedToken | None:
        """Return the first token; None if there is none."""
        return next(self.tokens(), None)

    def last(self) -> CommentedToken | None:
        """Return the last token; None if there is none."""
        for part in reversed(self.parts):
            result = part if isinstance(part, CommentedToken) else part.last()
            if result is not None:
                return result
        return None


def _growing(rule: GrammarRule) -> Reduction:
    """Return a reduction that makes a `Tree` of all symbols of a grammar rule."""

    def grow(*parts: Tree | CommentedToken) -> Tree:
        first = parts[0] if parts else None
        if isinstance(first, Tree) and first.origin == rule.origin:  # the rule appends an item
            first.parts += parts[1:]
            return first
        return Tree(rule.origin, rule.action, list(parts))

    return Reduction(rule._replace(take=tuple(range(len(rule.symbols)))), grow)


@cache
def _automaton() -> Automaton:
    return Automaton(load_tables(), _growing)


def build_tree(tokens: list[CommentedToken], start: str = "model") -> Tree:
    """Build the concrete syntax tree of a valid text, given its tokens and its start rule."""
    automaton = _automaton()
    machine = Machine(automaton, [automaton.starts[start]])
    machine.feed_all((token.terminal, token, token.at) for token in tokens[:-1])
    tree: Tree = machine.finish(tokens[-1].at)
    return tree


def top_level(model: Tree) -> list[Tree]:
    """Return the top-level constructs of a model; a header forms one tree with its decorators."""
    trees: list[Tree] = []
    for part in model.trees():
        if part.origin in ("functions", "sections"):
            trees += part.trees()
        elif part.origin == "header" and trees:  # decorators precede the header
            trees = [Tree("head", "", [*trees, part])]
        else:
            trees.append(part)
    return trees
