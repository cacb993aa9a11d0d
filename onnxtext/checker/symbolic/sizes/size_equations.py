# SPDX-License-Identifier: Apache-2.0
"""Solve equations between symbolic dimensions such as `N` and `N + 2`, or `4*N` and 8.

Equations join symbols into groups: a union-find whose links store differences, as in `N = M + 2`. A
group may be restricted to one number. If a dimension is broadcast against a number such as 8, its
group is restricted to two numbers: 1 and 8.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping, Sequence, Set
from math import gcd
from typing import NamedTuple, TypeVar

from onnxtext.ast.model import Node
from onnxtext.checker.context.finding import Place
from onnxtext.checker.symbolic.sizes.polynomials import (
    Extent,
    Extents,
    SymbolicSize,
    minus,
    symbol_plus,
    symbols,
    terms_of,
    text,
)
from onnxtext.checker.symbolic.sizes.quotients import cancel_common_symbols, substitute
from onnxtext.checker.symbolic.sizes.shape_mismatches import (
    PassedShape,
    ShapeContradiction,
    ShapeMismatch,
)

_Shifted = tuple[str, int]
"""A symbol plus a number: `("N", 2)` for `N + 2`."""


class SizeConflict(NamedTuple):
    """A contradiction between two restrictions or equations of a symbol.

    Attributes:
        sizes: the two contradictory sizes as text: `4`, `1 or 5`, `N + 2`.
        places: for each of the two sizes, the place in the model that requires it. A single place
            if the node there accepts no size of the symbol.
        joined: the places of the equations that connect the symbol to the representative of its
            group.
    """

    name: str
    sizes: tuple[str, str]
    places: tuple[Place] | tuple[Place, Place]
    joined: tuple[Place, ...]


class SizeRestriction(NamedTuple):
    """The restriction of a symbol to one size, or to two sizes because it is broadcast.

    The sizes (`numbers`) are in ascending order. `place` is the place in the model that restricts
    the symbol, or another symbol of its group. `joined` are the places of the equations that
    connect the symbol to the representative of the group.
    """

    numbers: tuple[int, ...]
    place: Place
    joined: tuple[Place, ...]


class _Link(NamedTuple):
    """An equation `symbol = other + plus`, in which `symbol` is the key of the link in `_links`.

    `place` is the place in the model that requires the equation.
    """

    other: str
    plus: int
    place: Place


class _Choice(NamedTuple):
    """The numbers that a symbol can be, after all restrictions so far.

    `place` is the place in the model that adds the latest restriction. `exact` tells whether this
    restriction alone allows only one number.
    """

    numbers: frozenset[int]
    place: Place
    exact: bool


V = TypeVar("V")
BySymbol = MutableMapping[str, V]


class SizeEquations:
    """The equations between the symbols of a graph, including the equations of its outer graphs.

    A branch of an `If` may run only for some sizes. Therefore, the equations of a nested graph are
    kept separate: they do not change the equations of its outer graphs.

    Attributes:
        conflicts: the contradictions between symbol sizes, at most one for each group of symbols.
        mismatches: the nodes that do not fit their operators, and the wrong declarations.
        learned: the number of equations and restrictions that this graph has added.
        broadcasts: (sizes, place) of each broadcast of symbols whose numbers were unknown; later
            equations may determine them.
    """

    def __init__(self, outer: SizeEquations | None = None) -> None:
        self.conflicts: list[SizeConflict] = outer.conflicts if outer is not None else []
        self.mismatches: list[ShapeMismatch | ShapeContradiction | PassedShape]
        self.mismatches = outer.mismatches if outer is not None else []
        self.learned = 0
        self.broadcasts: list[tuple[tuple[Extent, ...], Place]] = []
        self._outer = outer
        # Each symbol that is not the representative of its group has a link. The other maps have
        # entries for representatives: the number of symbols in the group, the least size for which
        # no symbol of the group is negative, and the numbers that are possible. Missing keys are
        # looked up in the maps of the outer graph. While the equations of a nested graph are used,
        # the outer graph must get no equations: links of both could form a cycle.
        self._links: BySymbol[_Link] = {} if outer is None else ChainMap({}, outer._links)
        self._weights: BySymbol[int] = {} if outer is None else ChainMap({}, outer._weights)
        self._minimums: BySymbol[int] = {} if outer is None else ChainMap({}, outer._minimums)
        self._choices: BySymbol[_Choice] = {} if outer is None else ChainMap({}, outer._choices)
        self._reported: set[str] = outer._reported if outer is not None else set()

    @property
    def state(self) -> tuple[int, ...]:
        """A key that changes with each new equation or restriction, in this or an outer graph."""
        outer = self._outer.state if self._outer is not None else ()
        return (*outer, id(self), self.learned) if self.learned else outer

    @property
    def trivial(self) -> bool:
        """False if shapes contradict each other, or if a node equates or restricts symbols.

        A node that requires `N = M` equates two symbols. A node restricts a symbol if it allows
        only one or two numbers for it, for example only 4, or only 1 and 8.
        """
        return not (self.learned or self.mismatches or self.conflicts)

    def number(self, extent: Extent) -> int | None:
        """Return the only number that a dimension can be; None if unknown."""
        if not isinstance(extent, SymbolicSize):
            return extent
        if not self._choices:
            return None
        shifted = extent.name_and_offset
        if shifted is not None:
            root_size = self._number(shifted[0])
            return None if root_size is None else root_size + shifted[1]
        found = self.resolved(extent)
        return found if isinstance(found, int) else None

    def _number(self, name: str) -> int | None:
        root, offset, _ = self.representative(name)
        choice = self._choices.get(root)
        if choice is None or len(choice.numbers) != 1:
            return None
        return next(iter(choice.numbers)) + offset

    def forced(self, name: str) -> SizeRestriction | None:
        """Return the restriction of a symbol to one or two numbers.

        Return None if the symbol is not restricted, or if it has a conflict. Also return None if
        only several restrictions together leave a single number: `1 or 4` and `1 or 8` leave 1.
        """
        root, offset, joined = self.representative(name)
        choice = self._choices.get(root)
        if choice is None or root in self._reported:
            return None
        numbers = tuple(sorted([number + offset for number in choice.numbers]))
        if len(numbers) == 1 and not choice.exact:
            return None
        return SizeRestriction(numbers, choice.place, joined)

    def representative(self, name: str) -> tuple[str, int, tuple[Place, ...]]:
        """Find the representative of a symbol's group.

        Returns:
            A triple (representative, difference, places). The symbol equals `representative +
            difference`; `places` are the places in the model that require the equations.
        """
        total = 0
        places: list[Place] = []
        while name in self._links:
            name, offset, place = self._links[name]
            total += offset
            places.append(place)
        return name, total, tuple(places)

    def root(self, extent: Extent) -> Extent:
        """Replace each symbol of a dimension by `representative + difference`."""
        if not isinstance(extent, SymbolicSize) or not self._links:
            return extent
        return substitute(extent, self._representative)

    def resolved(self, extent: Extent) -> Extent:
        """Replace each symbol of a dimension by its number, or by `representative + difference`."""

        def value(name: str) -> Extent:
            size = self._number(name)
            return self._representative(name) if size is None else size

        return substitute(extent, value)

    def _representative(self, name: str) -> Extent:
        root, offset, _ = self.representative(name)
        return symbol_plus(root, offset)

    def reject(
        self, node: Node, message: str, shapes: Sequence[Extents | None], *, specified: bool
    ) -> None:
        """Record a `ShapeMismatch`: a node does not fit its operator."""
        nested = self._outer is not None
        self.mismatches.append(ShapeMismatch(node, message, tuple(shapes), specified, nested))

    def contradict(self, node: Node, index: int, declared: Extents, computed: Extents) -> None:
        """Record that the declared shape of output `index` contradicts its computed shape."""
        self.mismatches.append(ShapeContradiction(node, index, declared, computed))

    def equal(self, left: Extent, right: Extent, place: Place) -> None:
        """Add the equation `left = right`; record a conflict if it cannot hold with earlier ones.

        Ignore an equation with an unknown dimension, and an equation that determines neither the
        size of a symbol nor the difference between two symbols.
        """
        if left is right or left is None or right is None or left == right:
            return
        first = left.name_and_offset if isinstance(left, SymbolicSize) else None
        second = right.name_and_offset if isinstance(right, SymbolicSize) else None
        if first is not None and second is not None:
            self._join(first, second, place)
        elif first is not None and isinstance(right, int):
            self._restrict(first, {right}, place, exact=True)
        elif second is not None and isinstance(left, int):
            self._restrict(second, {left}, place, exact=True)
        else:
            zero = minus(self.root(left), self.root(right))
            if len(symbols(zero)) > 1:
                zero = self.resolved(zero)
            self._solve(zero, place)

    def _solve(self, zero: Extent, place: Place) -> None:
        """Add the equation `zero = 0` if it gives the size of a symbol, or relates two symbols.

        Record a conflict if no size of a symbol fits.
        """
        if not isinstance(zero, SymbolicSize):
            return
        terms = terms_of(cancel_common_symbols(zero))
        constant = terms.pop((), 0)
        if not all(isinstance(factor, str) for product in terms for factor in product):
            return
        if len(terms) == 1:
            ((product, factor),) = terms.items()
            rest, size = -constant % factor, -constant // factor
            names = list(map(str, product))
            if rest:  # `2*N` is never 5
                left = "*".join([str(abs(factor)), *map(base_symbol, names)])
                self._never(names[0], left, str(-constant if factor > 0 else constant), place)
            elif len(product) == 1 or size == 1:
                for name in dict.fromkeys(names):
                    self._restrict((name, 0), {size}, place, exact=True)
        elif len(terms) == 2:
            (one, first), (other, second) = terms.items()
            if len(one) == len(other) == 1 and first == -second and not constant % first:
                self._join((str(one[0]), constant // first), (str(other[0]), 0), place)

    def _never(self, name: str, left: str, right: str, place: Place) -> None:
        """Record that the sizes `left` and `right` must be equal, but no size of `name` fits."""
        root, _, joined = self.representative(name)
        if root not in self._reported:
            self._reported.add(root)
            self.conflicts.append(SizeConflict(name, (left, right), (place,), joined))

    def one_or(self, extent: SymbolicSize, size: int, place: Place) -> None:
        """Restrict a dimension to 1 or `size`, because it is broadcast against `size`.

        Only a symbol plus a number is restricted. A size that is never 1 must equal `size`.
        """
        if extent.name_and_offset is not None:
            self._restrict(extent.name_and_offset, {1, size}, place, exact=size == 1)
            return
        terms = terms_of(extent)
        constant = terms.pop((), 0)
        if (1 - constant) % gcd(*terms.values()):  # `2*N` is never 1
            self.equal(extent, size, place)

    def defer_broadcast(self, extents: Sequence[Extent], place: Place) -> None:
        """Add `extents`, the sizes that a node broadcasts, to `broadcasts`."""
        self.broadcasts.append((tuple(extents), place))

    def _join(self, left: _Shifted, right: _Shifted, place: Place) -> None:
        """Add the equation `left = right`, or record a conflict with earlier equations."""
        first, left_offset, joined = self.representative(left[0])
        second, right_offset, _ = self.representative(right[0])
        difference = right[1] + right_offset - left[1] - left_offset  # first = second + difference
        if first == second:
            if difference and first not in self._reported:
                self._reported.add(first)
                sizes = _spell_shifted(*left), _spell_shifted(*right)
                self.conflicts.append(SizeConflict(left[0], sizes, (place,), joined))
            return
        weights, minimums = self._weights, self._minimums
        if weights.get(first, 1) > weights.get(second, 1):  # keeps chains of links short
            first, second, difference = second, first, -difference
        weights[second] = weights.get(second, 1) + weights.get(first, 1)
        minimums[second] = max(minimums.get(second, 0), minimums.get(first, 0) - difference)
        choices = self._choices.get(first), self._choices.get(second)
        self._links[first] = _Link(second, difference, place)
        self.learned += 1
        if first in self._reported:
            self._reported.add(second)
        for root, choice in zip((first, second), choices, strict=True):
            if choice is not None:
                self._restrict(
                    (root, 0), choice.numbers, choice.place, exact=choice.exact, name=left[0]
                )

    def _restrict(
        self, extent: _Shifted, numbers: Set[int], place: Place, *, exact: bool, name: str = ""
    ) -> None:
        """Restrict `extent` to `numbers`; record a conflict if none of the numbers is possible.

        A number is impossible if it makes a symbol negative or contradicts an earlier restriction.
        `exact` is as in `_Choice`. The conflict is reported for the symbol `name`; by default for
        the symbol of `extent`.
        """
        root, offset, _ = self.representative(extent[0])
        offset += extent[1]
        least = self._minimums.get(root, 0)
        allowed = frozenset(number - offset for number in numbers if number - offset >= least)
        if not allowed:
            self._never(name or extent[0], _spell_shifted(*extent), _words(numbers), place)
            return
        exact = exact or len(allowed) == 1 < len(numbers)
        choice = self._choices.get(root)
        left = allowed if choice is None else allowed & choice.numbers
        if left:
            if choice is None or left != choice.numbers or (exact and not choice.exact):
                self._choices[root] = _Choice(left, place, exact)
                self.learned += 1
            return
        if choice is None or root in self._reported:
            return
        self._reported.add(root)
        name = name or extent[0]
        _, offset, joined = self.representative(name)
        before = frozenset(number + offset for number in choice.numbers)
        remaining = frozenset(number + offset for number in allowed)
        texts = _words(before), _words(remaining)
        self.conflicts.append(SizeConflict(name, texts, (choice.place, place), joined))


def _words(numbers: Set[int]) -> str:
    return " or ".join(map(str, sorted(numbers)))


def _spell_shifted(name: str, offset: int) -> str:
    return text(symbol_plus(base_symbol(name), offset))


def base_symbol(name: str) -> str:
    """Return the name of a symbol without the suffix that it has in a loop body or function."""
    return name.partition("\0")[0]
