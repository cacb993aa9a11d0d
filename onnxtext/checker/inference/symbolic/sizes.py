# SPDX-License-Identifier: Apache-2.0
"""Sizes of dimensions as unknowns: `N`, `N + 2`, and what has to be equal.

Equations join names into groups (a union-find whose links carry differences), and a group may get
a number. A broadcast dimension does not fix a size, but leaves two: 1, or that of the other value.
"""

from __future__ import annotations

from typing import NamedTuple

from onnxtext.checker.context.finding import Place


class Size(NamedTuple):
    """A symbolic dimension and a number: `N + 2`.

    Attributes:
        name: the symbol; what stands behind a NUL tells apart those of bodies and calls.
        plus: what is added.
    """

    name: str
    plus: int = 0


Extent = int | Size | None
"""A dimension; None if it is not known."""
Extents = tuple[Extent, ...]
"""A shape whose rank is known."""


class Conflict(NamedTuple):
    """A symbol that would have to be two numbers.

    Attributes:
        name: the symbol.
        sizes: the numbers it would have to be, in words: `4`, `1 or 5`.
        places: where it has to be each of them.
        joined: where symbols were found to be equal on the way to that.
    """

    name: str
    sizes: tuple[str, str]
    places: tuple[Place, Place]
    joined: tuple[Place, ...]


class Forced(NamedTuple):
    """A symbol that can only be one number.

    Attributes:
        number: that number.
        place: what restricts it.
        joined: where other symbols were found to be equal to it.
    """

    number: int
    place: Place
    joined: tuple[Place, ...]


class _Link(NamedTuple):
    """`name = other + plus`, and where that is said."""

    other: str
    plus: int
    place: Place


class _Choice(NamedTuple):
    """The numbers that a symbol can still be, and where that is said.

    Attributes:
        exact: whether one place alone leaves one number, without broadcasting.
    """

    numbers: frozenset[int]
    place: Place
    exact: bool


class Sizes:
    """What is known of symbols in a graph and those around it.

    A branch of an `If` may hold only for some sizes: what is found in a nested graph is kept in a
    system of its own on top of the outer one, which is not changed.

    Attributes:
        conflicts: what contradicts itself, one for each symbol.
        learned: how often something new was found out here.
    """

    def __init__(self, around: Sizes | None = None) -> None:
        self.conflicts: list[Conflict] = around.conflicts if around is not None else []
        self.learned = 0
        self._around = around
        self._links: dict[str, _Link] = {}
        self._weights: dict[str, int] = {}
        self._choices: dict[str, _Choice] = {}
        self._told: set[str] = around._told if around is not None else set()

    @property
    def knows(self) -> bool:
        """Whether any symbol is known to be a number, or another symbol."""
        return self.learned > 0

    @property
    def state(self) -> tuple[int, ...]:
        """What tells apart all that is known at different times and in different graphs."""
        outer = self._around.state if self._around is not None else ()
        return (*outer, id(self), self.learned) if self.learned else outer

    def number(self, extent: Extent) -> int | None:
        """The number that a dimension is known to be."""
        if not isinstance(extent, Size):
            return extent
        root, plus, _ = self._find(extent.name)
        choice = self._choice(root)
        if choice is None or len(choice.numbers) != 1:
            return None
        return next(iter(choice.numbers)) + plus + extent.plus

    def forced(self, name: str) -> Forced | None:
        """What alone restricts a symbol to one number; None if nothing does, or it contradicts."""
        root, _, joined = self._find(name)
        choice = self._choice(root)
        number = self.number(Size(name))
        if choice is None or number is None or not choice.exact or root in self._told:
            return None
        return Forced(number, choice.place, joined)

    def root(self, extent: Extent) -> Extent:
        """A dimension by the symbol that stands for all that are equal to it."""
        if not isinstance(extent, Size):
            return extent
        root, plus, _ = self._find(extent.name)
        return Size(root, plus + extent.plus)

    def equal(self, left: Extent, right: Extent, place: Place) -> None:
        """Two dimensions are one size."""
        if left is right or left is None or right is None:
            return
        if isinstance(left, Size) and isinstance(right, Size):
            self._join(left, right, place)
        elif isinstance(left, Size) and isinstance(right, int):
            self._restrict(left, {right}, place)
        elif isinstance(right, Size) and isinstance(left, int):
            self._restrict(right, {left}, place)

    def one_or(self, extent: Size, size: int, place: Place) -> None:
        """A dimension is broadcast against one of a size: it is 1 or that."""
        self._restrict(extent, {1, size}, place)

    def _find(self, name: str) -> tuple[str, int, tuple[Place, ...]]:
        """The symbol of a group, what to add to it, and where that is said."""
        plus = 0
        places: list[Place] = []
        if self._around is not None:
            name, plus, known = self._around._find(name)
            places += known
        while name in self._links:
            name, more, place = self._links[name]
            plus += more
            places.append(place)
        return name, plus, tuple(places)

    def _choice(self, root: str) -> _Choice | None:
        known = self._choices.get(root)
        if known is None and self._around is not None:
            return self._around._choice(root)
        return known

    def _weight(self, root: str) -> int:
        """How many symbols a group has."""
        known = self._weights.get(root)
        if known is None:
            return self._around._weight(root) if self._around is not None else 1
        return known

    def _join(self, left: Size, right: Size, place: Place) -> None:
        one, plus, joined = self._find(left.name)
        other, more, _ = self._find(right.name)
        difference = right.plus + more - left.plus - plus  # one = other + difference
        if one == other:
            if difference and one not in self._told:
                self._told.add(one)
                sizes = _shifted(left.name, left.plus), _shifted(right.name, right.plus)
                self.conflicts.append(Conflict(left.name, sizes, (place, place), joined))
            return
        if self._weight(one) > self._weight(other):  # so that no chain of links gets long
            one, other, difference = other, one, -difference
        self._weights[other] = self._weight(other) + self._weight(one)
        choice = self._choice(one)
        self._links[one] = _Link(other, difference, place)
        self.learned += 1
        if choice is not None:
            numbers = {number - difference for number in choice.numbers}
            self._restrict(Size(other), numbers, choice.place, told_as=left.name)

    def _restrict(
        self, extent: Size, numbers: set[int], place: Place, *, told_as: str | None = None
    ) -> None:
        root, plus, joined = self._find(extent.name)
        offset = plus + extent.plus
        wanted = frozenset(number - offset for number in numbers)
        known = self._choice(root)
        left = wanted if known is None else wanted & known.numbers
        if left:
            if known is None or left != known.numbers:
                self._choices[root] = _Choice(left, place, len(wanted) == 1)
                self.learned += 1
            return
        name = told_as or extent.name
        if known is None or root in self._told:
            return
        self._told.add(root)
        before = frozenset(number + plus for number in known.numbers)
        now = frozenset(number + plus for number in wanted)
        self.conflicts.append(
            Conflict(name, (_words(before), _words(now)), (known.place, place), joined)
        )


def _words(numbers: frozenset[int]) -> str:
    return " or ".join(map(str, sorted(numbers)))


def _shifted(name: str, plus: int) -> str:
    if not plus:
        return symbol(name)
    return f"{symbol(name)} {'+' if plus > 0 else '-'} {abs(plus)}"


def symbol(name: str) -> str:
    """A symbol as it is written."""
    return name.partition("\0")[0]
