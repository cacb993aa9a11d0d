# SPDX-License-Identifier: Apache-2.0
"""One side renames or reorders, and the edits of the other side follow if that is certain."""

from __future__ import annotations

import pytest

import onnxtext
from benchmarks.merge_trial import resolved
from tests.merger.clean_merges import HEADER, check_merge, merges
from tests.replacements import replaced

Edits = tuple[tuple[str, str], ...]

GRAPH = """g (float[4] x) => (float[4] y) <
  float[4] w = {1, 2, 3, 4}, # weight
> {
  # first
  h = Mul (x, w)
  k = Neg (h) # second
  y = Relu (k)
}
"""
FUNCTION = """g (float[4] x, float[4] z) => (float[4] y) {
  y = my.F (x, z)
}

<domain: "my", opset_import: [20]>
F (a, b) => (c) {
  d = Neg (b) # negated
  c = Sub (a, d)
}
"""
BRANCHES = """g (float[4] x, bool c) => (float[4] y) {
  h = Abs (x)
  y = If (c) <
    then_branch = a () => (float[4] p) {
      t = Neg (h)
      p = Relu (t)
    },
    else_branch = b () => (float[4] q) {
      q = Relu (h)
    },
  >
}
"""
METADATA = (
    GRAPH.replace("  k =", "  [two] k =")
    + """
metadata {
  node k {
    key: "value"
  }
}
"""
)
OUTPUTS = """g (float[4] x, float[4] z) => (float[4] y) {
  h, k = my.F (x, z)
  y = Add (h, k)
}

<domain: "my", opset_import: [20]>
F (a, b) => (c, d) {
  c = Neg (b) # negated
  d = Sub (a, c)
}
"""
NODES = """g (float[4] x) => (float[4] y) {
  a = Abs (x)
  b = Neg (x)
  y = Sub (a, b)
}
"""
INPUTS = """g (float[4] x, float[4] z) => (float[4] y) {
  y = Sub (x, z)
}
"""
TRAINING = (
    GRAPH
    + """
training {
  algorithm: step () => (float[4] v) {
    v = Add (w, k)
  }
  update_binding: ["w": "v"]
}
"""
)
VALUE = (("k =", "kk ="), ("(k)", "(kk)"))
SWAPPED_NAMES = (("F (a, b)", "F (b, a)"), ("Neg (b)", "Neg (a)"), ("Sub (a, d)", "Sub (b, d)"))
NEW_NAMES = (
    ("my.F", "my.K"),
    ("F (a, b)", "K (p, q)"),
    ("Neg (b)", "Neg (q)"),
    ("(a, d)", "(p, d)"),
)
REORDERED = (("F (a, b)", "F (b, a)"), ("F (x, z)", "F (z, x)"))
NEW_ORDER = (
    ("F (a, b)", "F (q, p)"),
    ("Neg (b)", "Neg (q)"),
    ("(a, d)", "(p, d)"),
    ("F (x, z)", "F (z, x)"),
)
"""Rename and reorder the inputs of the function."""
NEW_OUTPUTS = (("=> (c, d)", "=> (d, c)"), ("h, k =", "k, h ="))
CASES: dict[str, tuple[str, Edits, Edits, Edits]] = {
    "a new node": (
        GRAPH, VALUE, (("  y =", "  n = Exp (k) # new\n  y ="),),
        (("  y =", "  n = Exp (kk) # new\n  y ="),),
    ),
    "a graph output": (
        GRAPH, VALUE, (("y) <", "y, float[4] k) <"),), (("y) <", "y, float[4] kk) <"),),
    ),
    "a value info": (
        GRAPH, VALUE, (("> {", "  float[4] k,\n> {"),), (("> {", "  float[4] kk,\n> {"),),
    ),
    "an initializer": (
        GRAPH, (("4] w", "4] v"), (", w)", ", v)")),
        (("  y =", "  n = Add (k, w)\n  y ="),), (("  y =", "  n = Add (k, v)\n  y ="),),
    ),
    "an input": (
        GRAPH, (("4] x", "4] xx"), ("(x,", "(xx,")),
        (("  y =", "  n = Add (k, x)\n  y ="),), (("  y =", "  n = Add (k, xx)\n  y ="),),
    ),
    "a value in a branch": (
        BRANCHES, (("t =", "tt ="), ("(t)", "(tt)")),
        (("  p =", "  s = Exp (t)\n      p ="),), (("  p =", "  s = Exp (tt)\n      p ="),),
    ),
    "a branching node, and a graph output": (
        BRANCHES.replace("y)", "z)").replace("  >\n}", "  >\n  z = Exp (y)\n}"),
        (("y =", "yy ="), ("(y)", "(yy)")), (("z) {", "z, float[4] y) {"),),
        (("z) {", "z, float[4] yy) {"),),
    ),
    "a value with metadata at its output": (
        METADATA, (*VALUE, ("node k", "node kk")), (("  y =", "  n = Exp (k)\n  y ="),),
        (("  y =", "  n = Exp (kk)\n  y ="),),
    ),
    "a function and its inputs, and a node": (
        FUNCTION, NEW_NAMES, (("Neg", "Exp"),), (("Neg", "Exp"),),
    ),
    "a function and its inputs, and a new node": (
        FUNCTION, NEW_NAMES,
        (("  c =", "  e = Max (d, a)\n  c ="),), (("  c =", "  e = Max (d, p)\n  c ="),),
    ),
    "a function, and a new call": (
        FUNCTION, NEW_NAMES,
        (("  y =", "  w = my.F (z, z)\n  y ="),), (("  y =", "  w = my.K (z, z)\n  y ="),),
    ),
    "swapped names, and an operator": (
        FUNCTION, SWAPPED_NAMES, (("Neg", "Exp"),), (("Neg", "Exp"),),
    ),
    "swapped names, and an input": (
        FUNCTION, SWAPPED_NAMES, (("(a, d)", "(a, b)"),), (("(b, d)", "(b, a)"),),
    ),
    "swapped names of nodes, and an input": (
        NODES, (("a =", "t ="), ("b =", "a ="), ("t =", "b ="), ("(a, b)", "(b, a)")),
        (("(a, b)", "(a, a)"),), (("(b, a)", "(b, b)"),),
    ),
    "reordered inputs, and an argument": (
        FUNCTION, REORDERED, (("F (x, z)", "F (x, x)"),), (("F (z, x)", "F (x, x)"),),
    ),
    "reordered inputs, and another argument": (
        FUNCTION, REORDERED,
        (("  y = my.F (x", "  w = Abs (x)\n  y = my.F (w"),),
        (("  y = my.F (z, x", "  w = Abs (x)\n  y = my.F (z, w"),),
    ),
    "reordered inputs, and a new call": (
        FUNCTION, REORDERED,
        (("  y =", "  w = my.F (x, z)\n  y ="),),
        (("  y =", "  w = my.F (z, x)\n  y ="),),
    ),
    "a value that a training uses": (
        TRAINING, (*VALUE, (", k)", ", kk)")), (("  y =", "  n = Exp (k)\n  y ="),),
        (("  y =", "  n = Exp (kk)\n  y ="),),
    ),
    "a value, and a new node of a training": (
        TRAINING, (*VALUE, (", k)", ", kk)")),
        (("    v = Add (w, k)", "    e = Exp (k)\n    v = Add (w, e)"),),
        (("    v = Add (w, kk)", "    e = Exp (kk)\n    v = Add (w, e)"),),
    ),
    "an initializer that a training updates": (
        TRAINING, (("4] w", "4] u"), (", w)", ", u)"), ("(w,", "(u,"), ('"w"', '"u"')),
        (("  y =", "  n = Exp (w)\n  y ="),), (("  y =", "  n = Exp (u)\n  y ="),),
    ),
    "renamed and reordered inputs, and a new call": (
        FUNCTION, NEW_ORDER,
        (("  y =", "  w = my.F (x, x)\n  v = my.F (w, z)\n  y ="),),
        (("  y =", "  w = my.F (x, x)\n  v = my.F (z, w)\n  y ="),),
    ),
    "renamed and reordered inputs, and a new node": (
        FUNCTION, NEW_ORDER,
        (("  c =", "  e = Max (d, a)\n  c ="),), (("  c =", "  e = Max (d, p)\n  c ="),),
    ),
    "a renamed function with reordered inputs, and a new call": (
        FUNCTION, (("F (a, b)", "K (b, a)"), ("my.F (x, z)", "my.K (z, x)")),
        (("  y =", "  w = my.F (x, z)\n  y ="),), (("  y =", "  w = my.K (z, x)\n  y ="),),
    ),
    "reordered inputs, a renamed argument, and a new call": (
        FUNCTION, (REORDERED[0], ("[4] z", "[4] zz"), ("F (x, z)", "F (zz, x)")),
        (("  y =", "  w = my.F (x, z)\n  y ="),), (("  y =", "  w = my.F (zz, x)\n  y ="),),
    ),
    "reordered outputs, and a new call": (
        OUTPUTS, NEW_OUTPUTS,
        (("  y =", "  m, n = my.F (z, x)\n  y ="),), (("  y =", "  n, m = my.F (z, x)\n  y ="),),
    ),
    "reordered outputs, one renamed, and a new call": (
        OUTPUTS, (NEW_OUTPUTS[0], ("h, k =", "kk, h ="), ("(h, k)", "(h, kk)")),
        (("  y =", "  m, n = my.F (z, x)\n  y ="),), (("  y =", "  n, m = my.F (z, x)\n  y ="),),
    ),
    "reordered outputs, and an argument": (
        OUTPUTS, NEW_OUTPUTS, (("F (x, z)", "F (x, x)"),), (("F (x, z)", "F (x, x)"),),
    ),
    "reordered outputs, and another name of one": (
        OUTPUTS, NEW_OUTPUTS, (("h, k =", "hh, k ="), ("(h, k)", "(hh, k)")),
        (("k, h =", "k, hh ="), ("(h, k)", "(hh, k)")),
    ),
}  # fmt: skip
"""For each case: the base, the edits of ours and of theirs, and what theirs become in the merge."""


@pytest.mark.parametrize("name", CASES)
def test_edits_follow_a_certain_rename(name: str, *, binary: bool) -> None:
    base, ours, theirs, followed = CASES[name]
    renamed = replaced(base, *ours)
    check_merge(base, renamed, replaced(base, *theirs), replaced(renamed, *followed), binary=binary)


NEW_USE = (("  y =", "  n = Exp (k)\n  y ="),)
NEW_CALL = (("  y =", "  w = my.F (z, z)\n  y ="),)
UNCERTAIN: dict[str, tuple[str, Edits, Edits]] = {
    "another computation": (GRAPH, (*VALUE, ("Neg", "Exp")), NEW_USE),
    "another input": (GRAPH, (*VALUE, ("(h)", "(x)")), NEW_USE),
    "two new names": (GRAPH, VALUE, (("k =", "kx ="), ("(k)", "(kx)"))),
    "a new name that the other side uses": (
        GRAPH, VALUE, (("  y =", "  kk = Abs (x)\n  n = Exp (k)\n  y ="),),
    ),
    "a function that is called with another body": (
        FUNCTION, (*NEW_NAMES, ("Sub", "Add")), NEW_CALL,
    ),
    "a call that still has the old name": (
        FUNCTION.replace("  y =", "  v = my.F (z, x)\n  y ="),
        (*NEW_NAMES[1:], ("y = my.F", "y = my.K")),
        NEW_CALL,
    ),
    "an old operator with the new name": (
        FUNCTION.replace("  y =", "  v = my.K (z, x)\n  y ="), NEW_NAMES, NEW_CALL,
    ),
    "reordered inputs without a call": (
        FUNCTION.replace("my.F (x, z)", "Sub (x, z)"), REORDERED[:1],
        (("  y =", "  w = my.F (x, z)\n  y ="),),
    ),
    "reordered inputs of one call": (
        FUNCTION.replace("  y =", "  v = my.F (z, x)\n  y ="),
        (REORDERED[0], ("y = my.F (x, z)", "y = my.F (z, x)")),
        (("  y =", "  w = my.F (x, z)\n  y ="),),
    ),
    "reordered inputs of an edited function, and an argument": (
        FUNCTION, (*REORDERED, ("Neg", "Exp")), (("F (x, z)", "F (x, x)"),),
    ),
    "a new name that a training uses": (
        TRAINING, (("k =", "v ="), ("(k)", "(v)"), ("v = Add (w, k)", "t = Add (w, v)"),
        ("[4] v)", "[4] t)"), (': "v"', ': "t"')), NEW_USE,
    ),
    "renamed and reordered inputs of an edited function": (
        FUNCTION, (*NEW_ORDER, ("Sub", "Add")), (("  y =", "  w = my.F (z, x)\n  y ="),),
    ),
    "renamed and reordered inputs without calls": (
        FUNCTION, NEW_ORDER[:3], (("  y =", "  w = my.F (z, x)\n  y ="),),
    ),
    "a renamed function with reordered inputs without calls": (
        FUNCTION, (("F (a, b)", "K (b, a)"), ("my.F", "my.K")),
        (("  y =", "  w = my.F (z, x)\n  y ="),),
    ),
    "reordered outputs without calls": (
        OUTPUTS, NEW_OUTPUTS[:1], (("  y =", "  m, n = my.F (z, x)\n  y ="),),
    ),
    "reordered outputs, and a call with one": (
        OUTPUTS, NEW_OUTPUTS, (("  y =", "  m = my.F (z, x)\n  y ="),),
    ),
    "swapped names of graph inputs": (
        INPUTS,
        (("Sub (x, z)", "Sub (z, x)"), ("4] x", "4] t"), ("4] z", "4] x"), ("4] t", "4] z")),
        (("Sub (x, z)", "Add (x, x)"),),
    ),
}  # fmt: skip
"""For each case: the base, and the edits of ours and of theirs."""


@pytest.mark.parametrize("name", UNCERTAIN)
def test_an_uncertain_rename_is_a_conflict_with_edits_of_the_other_side(
    name: str, *, binary: bool
) -> None:
    base, ours, theirs = UNCERTAIN[name]
    assert merges(base, replaced(base, *ours), replaced(base, *theirs), binary=binary) is None


def test_a_conflict_shows_each_side_as_its_own_if_a_rename_is_followed() -> None:
    """Also if the renamed version is larger than the other one only before the rename."""
    changed = replaced(GRAPH, ("Mul", "Add"), ("  y =", "  n = Abs (k)\n  y ="))
    longer = "a_name_that_is_longer_than_the_new_node"
    renamed = replaced(GRAPH, ("k =", f"{longer} ="), ("(k)", f"({longer})"), ("Mul", "Div"))
    for ours, theirs in ((changed, renamed), (renamed, changed)):
        found = onnxtext.merge(*[HEADER + text for text in (GRAPH, ours, theirs)])
        assert found.conflicts == 1
        for side, text in (("ours", ours), ("theirs", theirs)):
            operator = "Add" if text == changed else "Div"
            assert f"h = {operator} (x, w)" in resolved(str(found), side)
