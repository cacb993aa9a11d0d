# SPDX-License-Identifier: Apache-2.0
"""Divide, round and bound symbolic sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import gcd

from onnxtext.checker.symbolic.sizes.polynomials import (
    MAX_TERMS,
    Extent,
    Factor,
    Monomial,
    SizeTerm,
    SymbolicSize,
    factor_order,
    minus,
    plus,
    sum_of_terms,
    symbol_plus,
    terms_of,
    text,
    times,
)

_HEAVIEST = 60
"""Maximum weight of a `SizeTerm`; without this limit, sizes grow exponentially."""


def exact_quotient(left: Extent, right: Extent) -> Extent:
    """Return `left / right`; None if unknown, if `right` is 0, or if there may be a remainder."""
    if left is None or right is None or right == 0:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return None if left % right else left // right
    rest, quotient = left, Counter[Monomial]()
    lead, divisor = next(iter(terms_of(right).items()))
    for _ in range(MAX_TERMS):
        if rest == 0:
            return sum_of_terms(quotient)
        first, coefficient = next(iter(terms_of(rest).items()))
        missing = Counter(lead) - Counter(first)
        if missing or coefficient % divisor:
            return None
        factors = tuple(sorted((Counter(first) - Counter(lead)).elements(), key=factor_order))
        quotient[factors] += coefficient // divisor
        step = times(sum_of_terms({factors: coefficient // divisor}), right)
        following = minus(rest, step)
        if following is None:
            return None
        rest = following
    return sum_of_terms(quotient) if rest == 0 else None


def _common_factors(size: int | SymbolicSize) -> tuple[Counter[Factor], int]:
    """Return the common factors of all terms, and the coefficients' greatest common divisor."""
    terms = terms_of(size)
    factors = Counter(next(iter(terms)))
    divisor = 0
    for product, coefficient in terms.items():
        factors &= Counter(product)
        divisor = gcd(divisor, coefficient)
    return factors, divisor


def quotient(left: Extent, right: Extent) -> Extent:
    """Return `left / right`, rounded down.

    Return None if a size is unknown or too large, or if the divisor is 0. Also return None if a
    size has symbols, the divisor may be negative, and there may be a remainder.
    """
    if left is None or right is None or right == 0:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    exact = exact_quotient(left, right)
    if exact is not None:
        return exact
    if not is_positive_or_zero(right):
        return None
    (mine, number), (its, other) = _common_factors(left), _common_factors(right)
    common = sum_of_terms(
        {tuple(sorted((mine & its).elements(), key=factor_order)): gcd(number, other)}
    )
    left, right = exact_quotient(left, common), exact_quotient(right, common)
    if left is None or right is None:
        return None
    if isinstance(right, int):
        return left // right if isinstance(left, int) else _by_number(left, right)
    return opaque_size("//", (left, right))


def _by_number(left: SymbolicSize, divisor: int) -> Extent:
    """Divide `left` by a positive number, rounded down: `(4*N + M) // 4` is `N + M // 4`."""
    factor = gcd(divisor, *[n for product, n in left.terms if product])
    terms = {product: n // factor for product, n in left.terms}
    divisor //= factor
    divided = sum_of_terms({product: n // divisor for product, n in terms.items()})
    rest = sum_of_terms({product: n % divisor for product, n in terms.items()})
    if divided is None or rest is None or isinstance(rest, int):
        return None if rest is None else divided
    nested = _nested_quotient(rest, divisor)
    return plus(divided, opaque_size("//", (rest, divisor)) if nested is None else nested)


def _nested_quotient(rest: SymbolicSize, divisor: int) -> Extent:
    """Return `((a // b) + k) // c` as `(a + b*k) // (b*c)`; None for other dividends.

    `rest` is the dividend, and `divisor` is `c`.
    """
    first, coefficient = rest.terms[0]
    inner = first[0] if len(first) == 1 and coefficient == 1 else None
    if not isinstance(inner, SizeTerm) or inner.kind != "//" or len(rest.terms) > 2:
        return None
    dividend, by = inner.parts
    if not isinstance(by, int) or (len(rest.terms) == 2 and rest.terms[1][0]):
        return None
    return quotient(plus(dividend, rest.constant * by), by * divisor)


def cancel_common_symbols(size: SymbolicSize) -> SymbolicSize:
    """Divide a size by the symbols that all its terms contain; assume that no symbol is 0.

    If the quotient is a number, return the size unchanged.
    """
    shared = [factor for factor in _common_factors(size)[0].elements() if isinstance(factor, str)]
    rest = exact_quotient(size, sum_of_terms({tuple(shared): 1}))
    return rest if isinstance(rest, SymbolicSize) else size


def quotient_rounded_up(left: Extent, right: Extent) -> Extent:
    """Return `left / right`, rounded up; None if unknown, or if `right` is 0 or may be negative."""
    if not is_positive_or_zero(right):
        return None
    return quotient(minus(plus(left, right), 1), right)


def opaque_size(kind: str, parts: tuple[int | SymbolicSize, ...]) -> Extent:
    """Return an unsimplified size: a single `SizeTerm` with the given kind and parts.

    Return None if the `SizeTerm` would contain too many symbols and other `SizeTerm`s.
    """
    weight = 1 + sum([_weight(part) for part in parts])
    return SymbolicSize((((SizeTerm(kind, parts, weight),), 1),)) if weight <= _HEAVIEST else None


def _weight(size: int | SymbolicSize) -> int:
    """Return the number of symbols and `SizeTerm`s in a size, also in nested sizes."""
    if isinstance(size, int):
        return 0
    factors = [factor for product, _ in size.terms for factor in product]
    return sum([factor.weight if isinstance(factor, SizeTerm) else 1 for factor in factors])


Bounds = tuple[int | None, int | None]
"""A lower and an upper bound of a size; each is None if it is unknown."""


def bounds(size: Extent) -> Bounds:
    """Return a lower and an upper bound of a size, in one walk over its terms."""
    if not isinstance(size, SymbolicSize):
        return size, size
    lower: int | None = 0
    upper: int | None = 0
    for product, coefficient in size.terms:
        low, high = 1, 1  # type: int, int | None
        for factor in product:
            least, most = _factor_bounds(factor)
            if least is None or least < 0:
                return None, None
            low, high = low * least, None if high is None or most is None else high * most
        first, last = (low, high) if coefficient > 0 else (high, low)
        lower = None if lower is None or first is None else lower + coefficient * first
        upper = None if upper is None or last is None else upper + coefficient * last
    return lower, upper


def _factor_bounds(factor: Factor) -> Bounds:
    """Return the bounds of a factor."""
    if isinstance(factor, str):
        return 0, None
    lows, highs = zip(*map(bounds, factor.parts), strict=True)
    known_lows = [low for low in lows if low is not None]
    known_highs = [high for high in highs if high is not None]
    if factor.kind == "min":
        return None if None in lows else min(known_lows), min(known_highs, default=None)
    if factor.kind == "max":
        return max(known_lows, default=None), None if None in highs else max(known_highs)
    (low, least), high = lows, highs[0]
    if isinstance(factor.parts[1], int):
        by = factor.parts[1]
        return None if low is None else low // by, None if high is None else high // by
    positive = low is not None and low >= 0 and least is not None and least >= 0
    return 0 if positive else None, high if positive else None


def is_positive_or_zero(size: Extent) -> bool:
    """Whether a size is certainly at least 0 if all its symbols are at least 0."""
    low, _ = bounds(size)
    return low is not None and low >= 0


def is_positive(size: Extent) -> bool:
    """Whether a size is certainly greater than 0 if all its symbols are greater than 0."""
    low, _ = bounds(substitute(size, lambda name: symbol_plus(name, 1)))
    return low is not None and low > 0


def minimum_of(left: Extent, right: Extent) -> Extent:
    """Return the minimum of two sizes: a `min` term if either may be smaller; None if unknown."""
    return _extreme("min", left, right)


def maximum_of(left: Extent, right: Extent) -> Extent:
    """Return the maximum of two sizes: a `max` term if either may be larger; None if unknown."""
    return _extreme("max", left, right)


def _extreme(kind: str, left: Extent, right: Extent) -> Extent:
    if left is None or right is None:
        return None
    if is_positive_or_zero(minus(left, right)):
        return right if kind == "min" else left
    if is_positive_or_zero(minus(right, left)):
        return left if kind == "min" else right
    parts = list(dict.fromkeys((*_parts(kind, left), *_parts(kind, right))))
    if len(parts) > MAX_TERMS:
        return None
    numbers = [part for part in parts if isinstance(part, int)]
    others = sorted([part for part in parts if not isinstance(part, int)], key=text)
    if numbers:
        others = [min(numbers) if kind == "min" else max(numbers), *others]  # type: ignore[list-item]
    return opaque_size(kind, tuple(others))


def _parts(kind: str, size: int | SymbolicSize) -> tuple[int | SymbolicSize, ...]:
    term = None if isinstance(size, int) else sole_factor(size)
    return term.parts if isinstance(term, SizeTerm) and term.kind == kind else (size,)


def sole_factor(size: SymbolicSize) -> Factor | None:
    """Return the factor if a size consists of a single factor; None for other sizes.

    `N` and `min(N, 4)` are single factors; `2*N`, `N*M` and `N + 1` are not.
    """
    ((first, coefficient), *others) = size.terms
    return first[0] if not others and coefficient == 1 and len(first) == 1 else None


def substitute(size: Extent, value: Callable[[str], Extent]) -> Extent:
    """Replace each symbol of a size by `value(symbol)`."""
    if not isinstance(size, SymbolicSize):
        return size
    result: Extent = 0
    for product, coefficient in size.terms:
        part: Extent = coefficient
        for factor in product:
            part = times(part, _substitute_in_factor(factor, value))
        result = plus(result, part)
    return result


def _substitute_in_factor(factor: Factor, value: Callable[[str], Extent]) -> Extent:
    if isinstance(factor, str):
        return value(factor)
    first, *rest = [substitute(part, value) for part in factor.parts]
    for other in rest:
        if factor.kind == "//":
            first = quotient(first, other)
        else:
            first = _extreme(factor.kind, first, other)
    return first
