# SPDX-License-Identifier: Apache-2.0
"""Calculate with symbolic sizes in a normal form: polynomials with integer coefficients.

`2*seq`, `past + seq` and `batch*heads` are polynomials of symbols; all symbols are at least 0.
Quotients, minima and maxima are opaque factors: `(seq + 1) // 2`. Equal polynomials compare equal
with `==`. Results that are unknown or have too many terms are None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce
from typing import NamedTuple

MAX_TERMS = 12
_MAX_FACTORS = 8
_LARGEST = 1 << 63


class SizeTerm(NamedTuple):
    """A quotient rounded down, a minimum or a maximum of sizes.

    Attributes:
        kind: `//`, `min` or `max`.
        parts: for `//`, (dividend, divisor); for `min` and `max`, the sizes to compare, in a fixed
            order.
        weight: the number of symbols and `SizeTerm`s in this term, including the term itself.
    """

    kind: str
    parts: tuple[int | SymbolicSize, ...]
    weight: int


Factor = str | SizeTerm
Monomial = tuple[Factor, ...]
"""A product: its factors, sorted by `factor_order`; `N**2` is `("N", "N")`, and 1 is `()`."""


class SymbolicSize(NamedTuple):
    """A size that contains symbols; other sizes are plain integers.

    Attributes:
        terms: pairs (product, coefficient), in a fixed order: `2*N*M + 3` has the terms
            `(("M", "N"), 2)` and `((), 3)`. A constant term is last.
    """

    terms: tuple[tuple[Monomial, int], ...]

    @property
    def name_and_offset(self) -> tuple[str, int] | None:
        """(`N`, 2) for a size such as `N + 2`, and (`N`, 0) for `N`; None for other sizes."""
        first, coefficient = self.terms[0]
        if len(self.terms) > 2 or len(first) != 1 or coefficient != 1:
            return None
        if len(self.terms) == 2 and self.terms[1][0]:
            return None
        name = first[0]
        return (name, self.constant) if isinstance(name, str) else None

    @property
    def constant(self) -> int:
        """The constant term; 0 if there is none."""
        product, coefficient = self.terms[-1]
        return 0 if product else coefficient


Extent = int | SymbolicSize | None
"""A dimension or an integer; None if unknown."""
Extents = tuple[Extent, ...]
"""A shape whose rank is known."""


def symbol_plus(name: str, plus: int = 0) -> SymbolicSize:
    """Return the size `name + plus`, in which `name` is a symbol."""
    return SymbolicSize((((name,), 1), ((), plus))) if plus else SymbolicSize((((name,), 1),))


@lru_cache(1024)
def factor_order(factor: Factor) -> tuple[bool, str]:
    """Return the sort key of a factor in a product; symbols come first."""
    if isinstance(factor, str):
        return False, factor
    return True, text(SymbolicSize((((factor,), 1),)))


def terms_of(size: int | SymbolicSize) -> dict[Monomial, int]:
    """Return the terms of a size: map each product to its coefficient, in a fixed order."""
    return dict(size.terms) if isinstance(size, SymbolicSize) else {(): size}


def sum_of_terms(terms: Mapping[Monomial, int]) -> Extent:
    """Return the size that is the sum of terms; `terms` maps each product to its coefficient.

    Return None if there are too many terms or factors, or if a coefficient exceeds int64.
    """
    kept = [(product, coefficient) for product, coefficient in terms.items() if coefficient]
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][0]:
        return _int64_or_none(kept[0][1])
    if len(kept) > MAX_TERMS or any(len(product) > _MAX_FACTORS for product, _ in kept):
        return None
    if any(abs(coefficient) >= _LARGEST for _, coefficient in kept):
        return None
    kept.sort(key=lambda term: (-len(term[0]), list(map(factor_order, term[0]))))
    return SymbolicSize(tuple(kept))


def _int64_or_none(number: int) -> int | None:
    """Return `number`; None if it exceeds int64. This limit keeps numbers from growing forever."""
    return number if abs(number) < _LARGEST else None


def plus(left: Extent, right: Extent) -> Extent:
    """Return the sum of two sizes; None if unknown or too large."""
    if isinstance(left, int) and isinstance(right, int):
        return _int64_or_none(left + right)
    if left is None or right is None:
        return None
    terms = Counter(terms_of(left))
    for product, coefficient in terms_of(right).items():
        terms[product] += coefficient
    return sum_of_terms(terms)


def minus(left: Extent, right: Extent) -> Extent:
    """Return `left - right`; None if unknown or too large."""
    return plus(left, times(right, -1))


def times(left: Extent, right: Extent) -> Extent:
    """Return the product of two sizes; None if unknown or too large."""
    if isinstance(left, int) and isinstance(right, int):
        return _int64_or_none(left * right)
    if left is None or right is None:
        return None
    terms: Counter[Monomial] = Counter()
    for left_product, first in terms_of(left).items():
        for right_product, second in terms_of(right).items():
            terms[tuple(sorted(left_product + right_product, key=factor_order))] += first * second
    return sum_of_terms(terms)


def total(sizes: Sequence[Extent]) -> Extent:
    """Return the sum of sizes; None if unknown or too large."""
    return reduce(plus, (0, *sizes))


def product_of(sizes: Sequence[Extent]) -> Extent:
    """Return the product of sizes: 0 if any size is 0; otherwise None if unknown or too large."""
    if 0 in sizes:
        return 0
    return reduce(times, (1, *sizes))


def symbols(size: Extent) -> frozenset[str]:
    """Return the symbols in a size."""
    names: set[str] = set()
    if isinstance(size, SymbolicSize):
        for product, _ in size.terms:
            for factor in product:
                if isinstance(factor, str):
                    names.add(factor)
                else:
                    names.update(*[symbols(part) for part in factor.parts])
    return frozenset(names)


def text(size: int | SymbolicSize) -> str:
    """Return the text of a size: `2*seq`, `past + seq`, `(seq + 1) // 2`."""
    if isinstance(size, int):
        return str(size)
    if size.name_and_offset is not None and not size.constant:
        return size.name_and_offset[0]
    terms = sorted(size.terms, key=lambda item: (not item[0], item[1] < 0))
    if terms[0][1] < 0 and not terms[-1][0] and terms[-1][1] > 0:
        terms.insert(0, terms.pop())
    written = ""
    for product, coefficient in terms:
        sign = "-" if coefficient < 0 else "+"
        term_text = _product(product, abs(coefficient), alone=len(terms) == 1 and coefficient == 1)
        if written:
            written += f" {sign} {term_text}"
        else:
            written = term_text if sign == "+" else f"-{term_text}"
    return written


def _product(product: Monomial, coefficient: int, *, alone: bool) -> str:
    factors = [str(coefficient)] if coefficient != 1 or not product else []
    for factor in product:
        if isinstance(factor, str):
            # Without parentheses, a symbol such as `N+1` would look like two operands.
            factors.append(factor if factor.isidentifier() else f"({factor})")
        elif factor.kind == "//":
            dividend, divisor = factor.parts
            quotient = f"{_operand(dividend)} // {_operand(divisor)}"
            factors.append(quotient if alone and len(product) == 1 else f"({quotient})")
        else:
            factors.append(f"{factor.kind}({', '.join(map(text, factor.parts))})")
    return "*".join(factors)


def _operand(size: int | SymbolicSize) -> str:
    written = text(size)
    simple = size >= 0 if isinstance(size, int) else written.isidentifier()
    return written if simple else f"({written})"
