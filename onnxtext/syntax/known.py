# SPDX-License-Identifier: Apache-2.0
"""The shapes of statements that were met in each list state; they last as long as the process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from onnxtext.syntax.builders import Builder, compile_tokens
from onnxtext.syntax.shapes import places

MOST_SHAPES = 20_000
"""When more shapes than this are known in one list state, all are forgotten."""


@dataclass(slots=True)
class Shape:
    """What a statement with certain kinds of tokens does.

    Attributes:
        builder: makes its items of its tokens.
        recorded: what the automaton would do.
        places: the tokens whose offsets the builder needs.
        made: how many texts outside the strings have a builder of their own.
    """

    builder: Builder
    recorded: list[Any]
    places: frozenset[int]
    made: int = 0

    @property
    def needs_offsets(self) -> bool:
        """Whether the builder needs the offsets of more tokens than the first."""
        return not self.places <= {0}


_MOST_TOKENS = 256
"""Statements of more tokens are parsed as they are met: builders are made by recursion."""


def make_shape(recorded: list[Any] | None, count: int) -> Shape | None:
    """The shape of a statement; None if it has none.

    Args:
        recorded: what the automaton would do, if anything can be said of it.
        count: how many tokens the statement has.
    """
    if recorded is None or count > _MOST_TOKENS:
        return None
    builder = compile_tokens(recorded, count)
    return None if builder is None else Shape(builder, recorded, frozenset(places(recorded)))


class Shapes:
    """What is known of the statements that may stand in one list state.

    Attributes:
        by_text: the text outside the strings to a builder.
        by_kinds: the kinds of the tokens to a shape; None where no jump is possible.
        seen: kinds that were met once.
    """

    __slots__ = ("by_kinds", "by_text", "seen")

    def __init__(self) -> None:
        self.by_text: dict[str, Builder | None] = {}
        self.by_kinds: dict[str, Shape | None] = {}
        self.seen: set[str] = set()

    def bound(self) -> None:
        """Forget everything when there is too much of it."""
        if len(self.by_text) + len(self.by_kinds) + len(self.seen) > MOST_SHAPES:
            self.by_text.clear()
            self.by_kinds.clear()
            self.seen.clear()


@cache
def known_shapes(state: int) -> Shapes:
    """The shapes of a list state; they last as long as the process."""
    return Shapes()
