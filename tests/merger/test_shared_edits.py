# SPDX-License-Identifier: Apache-2.0
"""Two sides that share an edit, such as after a cherry-pick, merge their other edits."""

from __future__ import annotations

import pytest

import onnxtext
from benchmarks.merge_trial import resolved
from tests.merger.clean_merges import HEADER, check_merge

RELU = "g (float[2] x) => (float[2] y) {\n  y = Relu (x)\n}\n"
OUTPUT = RELU.replace("[2] y", "[2] o").replace("y =", "o =")
INPUT = RELU.replace("[2] x", "[2] i").replace("(x)", "(i)")
TAKEN = RELU.replace("y = Relu (x)", "q = Relu (x)\n  y = Exp (q)")
FUNCTION = """g (float x) => (float y) {
  y = my.F (x)
}

<domain: "my", opset_import: [20]>
F (u) => (w) {
  e = Exp (u)
  w = Neg (e)
}
"""
CALLED = FUNCTION.replace("F (", "G (")
WEIGHT = """g (float[2] x) => (float[2] y) <
  float[2] W = {1, 2},
> {
  y = Add (x, W)
}
"""
WEIGHT_RENAMED = WEIGHT.replace("W", "V")
NODES = """g (float[2] x) => (float[2] y) {
  z = Abs (x)
  a = Neg (z)
  y = Elu <alpha = 0.5> (a)
}
"""
RENAMED = NODES.replace("a = Neg", "b = Neg").replace("(a)", "(b)")
CASES = {
    "output": (RELU, OUTPUT, ("float[2] x", "float[N] x"), ("Relu", "Tanh")),
    "input": (RELU, INPUT, ("float[2] i", "float[N] i"), ("Relu", "Tanh")),
    "new node before an output": (
        RELU, TAKEN, ("float[2] x", "float[N] x"), ("  q =", '  @doc("d")\n  q ='),
    ),
    "new node before an output, and the operator of the old one": (
        RELU, TAKEN, ("float[2] x", "float[N] x"), ("Relu", "Tanh"),
    ),
    "function": (
        FUNCTION, CALLED, ("y = my", "[l] y = my"), ("w = Neg (e)", "k = Abs (e)\n  w = Neg (k)"),
    ),
    "initializer": (WEIGHT, WEIGHT_RENAMED, ("{1, 2}", "{1, 3}"), ("Add", "Mul")),
    "value": (NODES, RENAMED, ("Neg (z)", "Neg (x)"), ("0.5", "0.25")),
}  # fmt: skip
"""For each case: the base, the shared edit, the edit of ours, the edit of theirs."""


@pytest.mark.parametrize("name", CASES)
def test_edits_after_a_shared_edit_merge(name: str, *, binary: bool) -> None:
    base, shared, *edits = CASES[name]
    ours, theirs = [shared.replace(*edit) for edit in edits]
    check_merge(base, ours, theirs, ours.replace(*edits[1]), binary=binary)


def test_a_shared_operator_merges_if_one_side_renames_the_output(*, binary: bool) -> None:
    ours, theirs = RENAMED.replace("Neg", "Sin"), NODES.replace("Neg", "Sin")
    check_merge(NODES, ours, theirs, ours, binary=binary)


def test_different_data_after_a_shared_rename_are_a_conflict_that_both_sides_resolve() -> None:
    ours, theirs = [HEADER + WEIGHT_RENAMED.replace("2}", f"{end}}}") for end in (3, 4)]
    found = onnxtext.merge(HEADER + WEIGHT, ours, theirs)
    assert found.conflicts == 1
    assert resolved(str(found), "ours") == ours
    assert resolved(str(found), "theirs") == theirs
