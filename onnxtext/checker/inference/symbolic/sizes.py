# SPDX-License-Identifier: Apache-2.0
"""Solve equations between symbolic dimensions such as `N` and `N + 2`.

Equations join names into groups (a union-find whose links carry differences), and a group may get
a number. A broadcast dimension leaves two numbers: 1, or the size of the other dimension.
"""

from __future__ import annotations

from typing import NamedTuple

from onnxtext.checker.context.finding import Place


class Size(NamedTuple):
    """A symbolic dimension plus a number: `N + 2`.

    Attributes:
        name: the symbol; a suffix after a NUL distinguishes bodies and calls.
        plus: the number.
    """

    name: str
    plus: int = 0


Extent = int | Size | None
"""A dimension; None if unknown."""
Extents = tuple[Extent, ...]
"""A shape whose rank is known."""


class Conflict(NamedTuple):
    """A symbol that would have to be two different numbers.

    Attributes:
        name: the symbol.
        sizes: the two contradictory sizes as text: `4`, `1 or 5`.
        places: the origins of the two sizes.
        joined: the origins of the equations in between.
    """

    name: str
    sizes: tuple[str, str]
    places: tuple[Place, Place]
    joined: tuple[Place, ...]


class Forced(NamedTuple):
    """A symbol that can only be one number.

    Attributes:
        number: the number.
        place: the origin of the restriction.
        joined: the origins of equations with other symbols.
    """

    number: int
    place: Place
    joined: tuple[Place, ...]


class _Link(NamedTuple):
    """The equation `name = other + plus` and its origin."""

    other: str
    plus: int
    place: Place


class _Choice(NamedTuple):
    """The numbers that a symbol can still be, and the origin of the restriction.

    Attributes:
        exact: whether one place alone leaves one number, without broadcasting.
    """

    numbers: frozenset[int]
    place: Place
    exact: bool


class Sizes:
    """The equations of a graph and its outer graphs.

    A branch of an `If` may only run for some sizes, so a nested graph has its own system of
    equations on top of the outer one, which does not change.

    Attributes:
        conflicts: the contradictions, one for each symbol.
        learned: how many new equations or restrictions were found in this graph.
    """

    def __init__(self, outer: Sizes | None = None) -> None:
        self.conflicts: list[Conflict] = outer.conflicts if outer is not None else []
        self.learned = 0
        self._outer = outer
        self._links: dict[str, _Link] = {}
        self._weights: dict[str, int] = {}
        self._choices: dict[str, _Choice] = {}
        self._reported: set[str] = outer._reported if outer is not None else set()

    @property
    def knows(self) -> bool:
        """Whether any symbol must be a number, or another symbol."""
        return self.learned > 0

    @property
    def state(self) -> tuple[int, ...]:
        """A key that changes with everything that is learned here or in outer graphs."""
        outer = self._outer.state if self._outer is not None else ()
        return (*outer, id(self), self.learned) if self.learned else outer

    def number(self, extent: Extent) -> int | None:
        """Return the number that a dimension must be; None if unknown."""
        if not isinstance(extent, Size):
            return extent
        root, plus, _ = self._find(extent.name)
        choice = self._choice(root)
        if choice is None or len(choice.numbers) != 1:
            return None
        return next(iter(choice.numbers)) + plus + extent.plus

    def forced(self, name: str) -> Forced | None:
        """Return the single restriction of a symbol to one number; None without one."""
        root, _, joined = self._find(name)
        choice = self._choice(root)
        number = self.number(Size(name))
        if choice is None or number is None or not choice.exact or root in self._reported:
            return None
        return Forced(number, choice.place, joined)

    def root(self, extent: Extent) -> Extent:
        """Return a dimension in terms of the representative symbol of its group."""
        if not isinstance(extent, Size):
            return extent
        root, plus, _ = self._find(extent.name)
        return Size(root, plus + extent.plus)

    def equal(self, left: Extent, right: Extent, place: Place) -> None:
        """Add the equation of two dimensions."""
        if left is right or left is None or right is None:
            return
        if isinstance(left, Size) and isinstance(right, Size):
            self._join(left, right, place)
        elif isinstance(left, Size) and isinstance(right, int):
            self._restrict(left, {right}, place)
        elif isinstance(right, Size) and isinstance(left, int):
            self._restrict(right, {left}, place)

    def one_or(self, extent: Size, size: int, place: Place) -> None:
        """Restrict a dimension to 1 or a size, against which it is broadcast."""
        self._restrict(extent, {1, size}, place)

    def _find(self, name: str) -> tuple[str, int, tuple[Place, ...]]:
        """Return the representative of a symbol's group, the difference, and its origins."""
        plus = 0
        places: list[Place] = []
        if self._outer is not None:
            name, plus, known = self._outer._find(name)
            places += known
        while name in self._links:
            name, more, place = self._links[name]
            plus += more
            places.append(place)
        return name, plus, tuple(places)

    def _choice(self, root: str) -> _Choice | None:
        known = self._choices.get(root)
        if known is None and self._outer is not None:
            return self._outer._choice(root)
        return known

    def _weight(self, root: str) -> int:
        """Return the number of symbols in a group."""
        known = self._weights.get(root)
        if known is None:
            return self._outer._weight(root) if self._outer is not None else 1
        return known

    def _join(self, left: Size, right: Size, place: Place) -> None:
        one, plus, joined = self._find(left.name)
        other, more, _ = self._find(right.name)
        difference = right.plus + more - left.plus - plus  # one = other + difference
        if one == other:
            if difference and one not in self._reported:
                self._reported.add(one)
                sizes = _shifted(left.name, left.plus), _shifted(right.name, right.plus)
                self.conflicts.append(Conflict(left.name, sizes, (place, place), joined))
            return
        if self._weight(one) > self._weight(other):  # keeps chains of links short
            one, other, difference = other, one, -difference
        self._weights[other] = self._weight(other) + self._weight(one)
        choice = self._choice(one)
        self._links[one] = _Link(other, difference, place)
        self.learned += 1
        if choice is not None:
            numbers = {number - difference for number in choice.numbers}
            self._restrict(Size(other), numbers, choice.place, reported_as=left.name)

    def _restrict(
        self, extent: Size, numbers: set[int], place: Place, *, reported_as: str | None = None
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
        name = reported_as or extent.name
        if known is None or root in self._reported:
            return
        self._reported.add(root)
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
    """Return a symbol as it is written."""
    return name.partition("\0")[0]
