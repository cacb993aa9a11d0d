# SPDX-License-Identifier: Apache-2.0
"""Equations between symbols have the same solution in every order."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

import onnxtext
from onnxtext.ast.model import ValueInfo
from onnxtext.checker.context.finding import Place
from onnxtext.checker.symbolic.sizes.polynomials import symbol_plus
from onnxtext.checker.symbolic.sizes.size_equations import SizeEquations
from tests.checker.models import text

Equation = tuple[int, int, int | None, int]
"""A requirement for symbol `i`, in the form (i, plus, j, number).

`i + plus` equals `j + number`. If `j` is None, it equals `number`; if `j` is -1, it is 1 or
`number`.
"""
_NAMES = ["K", "L", "M", "N"]
_PLACE = Place(ValueInfo("x"), ("type",))


def _drawn(choose: random.Random) -> list[Equation]:
    """Return equations that hold if each symbol has a chosen size; a few hold for no sizes."""
    sizes = [choose.choice([1, 1, 1, 2, 4]) for _ in _NAMES]
    equations: list[Equation] = []
    for _ in range(choose.randint(2, 8)):
        index, plus = choose.randrange(len(sizes)), choose.choice([0, 0, 0, 1, 2])
        size = sizes[index] + (choose.random() < 0.03)
        kind = choose.choice(["equal", "number", "broadcast", "broadcast"])
        if kind == "equal":
            other = choose.randrange(len(sizes))
            equations.append((index, plus, other, size + plus - sizes[other]))
        elif kind == "number":
            equations.append((index, plus, None, size + plus))
        else:
            equations.append((index, 0, -1, size if size != 1 else choose.choice([4, 5, 8])))
    return equations


def _solved(equations: list[Equation], names: list[str]) -> SizeEquations:
    sizes = SizeEquations()
    for index, plus, other, number in equations:
        left = symbol_plus(names[index], plus)
        if other == -1:
            assert not isinstance(left, int | None)
            sizes.one_or(left, number, _PLACE)
        else:
            right = number if other is None else symbol_plus(names[other], number)
            sizes.equal(left, right, _PLACE)
    return sizes


def _sizes(sizes: SizeEquations, names: list[str]) -> list[object]:
    """Return the sizes that each symbol can have; `["conflict"]` if equations conflict."""
    if sizes.conflicts:
        return ["conflict"]
    restrictions = [sizes.forced(name) for name in names]
    numbers = [None if item is None else item.numbers for item in restrictions]
    return [*numbers, *[sizes.number(symbol_plus(name)) for name in names]]


def test_the_order_of_equations_and_names_does_not_change_sizes() -> None:
    conflicts = 0
    for seed in range(600):
        choose = random.Random(seed)
        equations, names = _drawn(choose), list(_NAMES)
        expected = _sizes(_solved(equations, names), names)
        conflicts += expected == ["conflict"]
        for _ in range(4):
            choose.shuffle(equations)
            choose.shuffle(names)
            assert _sizes(_solved(equations, names), names) == expected, (seed, equations, names)
    assert 20 < conflicts < 300


INPUTS = "float[N] n, float[K] k, float[4] a, float[8] b"


def _found(source: str) -> list[onnxtext.Diagnostic]:
    codes = "dim-forced", "dim-variable-conflict"
    return [item for item in onnxtext.check(source) if item.code in codes]


ONE = "the dimension `{}` must be 1: the declared type of `r` allows no other size"
DECLARED_TWICE = ("float[4] z = Relu (n)", "float[8] r = Neg (n)", "float[N] q = Relu (k)")


@pytest.mark.parametrize(
    ("nodes", "messages"),
    [
        # Each `Add` allows 1 and another size; together, they allow only 1.
        (("y = Add (n, a)", "z = Add (n, b)", "float[N] q = Relu (k)"), []),
        (
            ("y = Add (n, a)", "z = Add (n, b)", "float[K] q = Mul (n, n)", "float[N] r = Neg (k)"),
            [],
        ),
        (
            ("y = Add (n, a)", "z = Add (n, b)", "float[1] r = Relu (n)", "float[N] q = Relu (k)"),
            [ONE.format("K"), ONE.format("N")],
        ),
    ],
)
def test_the_order_of_nodes_does_not_change_findings(
    nodes: tuple[str, ...], messages: list[str]
) -> None:
    for order in permutations(nodes):
        source = text("\n".join(order), inputs=INPUTS, outputs="float[?] q")
        assert sorted([item.message for item in _found(source)]) == messages, order


def test_a_conflict_has_one_finding_in_every_order() -> None:
    for order in permutations(DECLARED_TWICE):
        source = text("\n".join(order), inputs=INPUTS, outputs="float[?] q")
        (finding,) = _found(source)
        assert finding.code == "dim-variable-conflict"


def test_a_conflict_shows_the_sizes_of_the_symbol_that_it_names() -> None:
    """`M` is `N + 2`, and `N` is 4."""
    source = text(
        "u = MatMul (n, w4)\nv = MatMul (m, w7)\nr = Pad (n, pads)\nfloat[3, M] y = Relu (r)",
        inputs="float[3, N] n, float[3, M] m",
        outputs="float[?, ?] u, float[?, ?] v, y",
        values="float[4, 2] w4 = [0, ...],\nfloat[7, 2] w7 = [0, ...],\n"
        "int64[4] pads = {0, 2, 0, 0},",
    )
    (finding,) = _found(source)
    assert finding.message == "the dimension `M` is 6 in one place and 7 in another"
    labels = [label.message for label in finding.labels]
    assert labels == ["`M` is 7 here", "`M` is 6 here", "these sizes are equal"]


@pytest.mark.parametrize(
    ("copies", "size", "message"),
    [
        (2, 5, ["`2*N` must equal `5`, but no size of `N` allows it"]),
        (3, 7, ["`3*N` must equal `7`, but no size of `N` allows it"]),
        (3, 6, ["the dimension `N` must be 2: the declared type of `y` allows no other size"]),
    ],
)
def test_a_product_that_no_integer_gives_is_a_conflict(
    copies: int, size: int, message: list[str]
) -> None:
    nodes = f"y = Concat <axis = 0> ({', '.join(['x'] * copies)})"
    source = text(nodes, inputs="float[N] x", outputs=f"float[{size}] y")
    assert [item.message for item in onnxtext.check(source)] == message


@pytest.mark.parametrize(
    ("nodes", "codes"),
    [
        (["a = Add (x, z)", "b = Reshape (x, four)"], ["dim-forced", "dim-forced"]),
        (["a = Add (x, z)", "b = Reshape (x, four)", "c = Reshape (z, six)"],
         ["dim-forced", "dim-variable-conflict"]),
    ],
)  # fmt: skip
def test_broadcasts_use_sizes_that_later_nodes_determine(
    nodes: list[str], codes: list[str]
) -> None:
    for order in permutations(nodes):
        source = text("\n".join(order), inputs="float[N] x, float[M] z",
                      outputs=", ".join("abc"[: len(nodes)]),
                      values="int64[2] four = {2, 2}, int64[2] six = {2, 3}")  # fmt: skip
        found = [item.code for item in onnxtext.check(source) if item.code.startswith("dim-")]
        assert sorted(found) == codes, order
