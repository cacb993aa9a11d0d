# SPDX-License-Identifier: Apache-2.0
"""Symbolic arithmetic with sizes agrees with arithmetic with numbers."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from onnxtext.checker.symbolic.sizes import quotients
from onnxtext.checker.symbolic.sizes.parse_sizes import parse_size
from onnxtext.checker.symbolic.sizes.polynomials import (
    Extent,
    SymbolicSize,
    minus,
    plus,
    symbol_plus,
    text,
    times,
)
from onnxtext.checker.symbolic.sizes.quotients import (
    bounds,
    exact_quotient,
    maximum_of,
    minimum_of,
    quotient,
    quotient_rounded_up,
    substitute,
)
from tests.running import count_calls
from tests.seeds import draws, seeded

Numbers = dict[str, int]
Operation = Callable[[Extent, Extent], Extent]

OPERATIONS: tuple[tuple[Operation, Callable[[int, int], int]], ...] = (
    (plus, lambda a, b: a + b),
    (minus, lambda a, b: a - b),
    (times, lambda a, b: a * b),
    (quotient, lambda a, b: a // b),
    (quotient_rounded_up, lambda a, b: -(-a // b)),
    (minimum_of, min),
    (maximum_of, max),
)


def drawn(choose: random.Random, depth: int) -> tuple[Extent, Callable[[Numbers], int]]:
    """Return an expression, and a function that calculates it with numbers."""
    if depth == 0 or choose.random() < 0.25:
        if choose.random() < 0.5:
            number = choose.randint(-3, 9)
            return number, lambda numbers: number
        name = choose.choice("abc")
        return symbol_plus(name), lambda numbers: numbers[name]
    symbolic, plain = choose.choice(OPERATIONS)
    left, one = drawn(choose, depth - 1)
    right, other = drawn(choose, depth - 1)
    return symbolic(left, right), lambda numbers: plain(one(numbers), other(numbers))


def test_symbolic_results_equal_numeric_results() -> None:
    count = draws(3750)
    choose = seeded()
    known = spelled = 0
    for _ in range(count):
        size, calculate = drawn(choose, choose.randint(1, 4))
        if size is None:
            continue
        known += 1
        again = parse_size(text(size))
        spelled += isinstance(size, int) or again == size
        low, high = bounds(size)
        for _ in range(4):
            numbers = {name: choose.randint(0, 9) for name in "abc"}
            try:
                wanted = calculate(numbers)
            except ZeroDivisionError:
                continue
            assert substitute(size, numbers.__getitem__) in (None, wanted), (text(size), numbers)
            assert eval(text(size), {"min": min, "max": max}, dict(numbers)) == wanted
            assert low is None or low <= wanted, (text(size), numbers)
            assert high is None or high >= wanted, (text(size), numbers)
    assert known > 0.6 * count
    assert spelled > 0.95 * known


a, b, n = symbol_plus("a"), symbol_plus("b"), symbol_plus("n")

SPELLED = [
    (times(2, n), "2*n"),
    (plus(symbol_plus("past"), symbol_plus("seq")), "past + seq"),
    (times(symbol_plus("heads"), symbol_plus("batch")), "batch*heads"),
    (minus(plus(n, 3), 4), "n - 1"),
    (minus(5, n), "5 - n"),
    (times(n, n), "n*n"),
    (quotient(plus(n, 1), 2), "(n + 1) // 2"),
    (quotient_rounded_up(n, 2), "(n + 1) // 2"),
    (quotient(quotient(n, 2), 2), "n // 4"),
    (plus(quotient(minus(plus(quotient(minus(n, 1), 2), 1), 1), 2), 1), "(n + 3) // 4"),
    (quotient(plus(times(4, n), 2), 6), "(2*n + 1) // 3"),
    (times(2, quotient(n, b)), "2*(n // b)"),
    (minimum_of(n, 512), "min(512, n)"),
    (maximum_of(minus(n, 1), 0), "max(0, n - 1)"),
    (minimum_of(minimum_of(n, 3), 5), "min(3, n)"),
    (minimum_of(n, plus(n, b)), "n"),
    (symbol_plus("N+1"), "N+1"),
]


@pytest.mark.parametrize(("size", "written"), SPELLED)
def test_expressions_are_printed_and_read_back(size: Extent, written: str) -> None:
    assert size is not None
    assert text(size) == written
    assert parse_size(written) == size


def test_names_with_operators_are_in_parentheses() -> None:
    size = plus(times(2, symbol_plus("N+1")), n)
    assert size is not None
    assert text(size) == "2*(N+1) + n"


EQUAL = [
    (plus(a, b), plus(b, a)),
    (times(plus(a, b), 2), plus(times(2, a), times(b, 2))),
    (times(plus(a, 1), minus(a, 1)), minus(times(a, a), 1)),
    (quotient(times(times(a, b), 64), times(a, 16)), times(4, b)),
    (exact_quotient(times(plus(a, b), n), plus(b, a)), n),
    (quotient(times(3, n), 2), plus(n, quotient(n, 2))),
    (minus(plus(n, 5), n), 5),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_sizes_are_equal(one: Extent, other: Extent) -> None:
    assert one is not None
    assert one == other


@pytest.mark.parametrize("name", ["a.b", "N+1", "?", "past_len + ", "max", "2", "a b", "(n)", "0n"])
def test_other_names_are_symbols(name: str) -> None:
    assert parse_size(name) == symbol_plus(name)


def test_large_expressions_are_unknown() -> None:
    size: Extent = 1
    for index in range(20):
        size = times(size, plus(symbol_plus(f"x{index}"), 1))
    assert size is None


# ---- Bounds -------------------------------------------------------------------------------------


def test_repeated_squares_become_unknown() -> None:
    """The thirtieth square of 3 would have a billion bits."""
    for first in (3, -3, symbol_plus("n")):
        size: Extent = first
        for _ in range(12):
            size = times(size, size)
        assert size is None


def weight(size: Extent) -> int:
    """Return the number of symbols and terms in a size."""
    if not isinstance(size, SymbolicSize):
        return 0
    factors = [factor for product, _ in size.terms for factor in product]
    return sum(
        1 if isinstance(factor, str) else 1 + sum(map(weight, factor.parts)) for factor in factors
    )


@pytest.mark.parametrize("step", [quotient, minimum_of, maximum_of])
def test_terms_of_sums_of_terms_do_not_grow_exponentially(step: Operation) -> None:
    size: Extent = symbol_plus("n")
    weights = []
    for _ in range(5):
        parts = [step(size, number) for number in (2, 3, 5, 7, 11, 13)]
        size = 0
        for part in parts:
            size = plus(size, part)
        weights.append(weight(size))
    assert max(weights) < 1000, weights


@pytest.mark.parametrize("kind", ["//", "min", "max"])
def test_bounding_nested_terms_takes_linear_time(kind: str) -> None:
    def nested(depth: int) -> SymbolicSize:
        size = symbol_plus("n")
        for index in range(depth):
            result = quotients.opaque_size(kind, (plus(size, 1) or 0, index + 2))
            assert isinstance(result, SymbolicSize)
            size = result
        return size

    expected = {"//": (0, None), "min": (18, 19), "max": (19, None)}[kind]
    assert bounds(nested(18)) == expected
    shallow, deep = nested(6), nested(18)
    assert count_calls(lambda: bounds(deep)) < 5 * count_calls(lambda: bounds(shallow))
