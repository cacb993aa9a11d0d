# SPDX-License-Identifier: Apache-2.0
"""Edits of two sides that are valid separately, but not together, are conflicts."""

from __future__ import annotations

import pytest

import onnxtext
from tests.merger.clean_merges import check_merge, merge
from tests.replacements import replaced

H = '<onnxtext: 1, ir_version: 10, opset_import: [21, "my": 1]>\n'
CALL = (
    H
    + """g (float[4] x) => (float[4] y) {
  a = my.F <k = 2.0> (x)
  y = Relu (a)
}

<domain: "my", opset_import: [21]>
F <k: float = 1.0> (x) => (y) {
  c = Constant <value_float: float = @k> ()
  y = Mul (x, c)
}
"""
)
TWO = CALL.replace("(x) => (y)", "(x, w) => (y)").replace("(x, c)", "(w, c)")
TWO = TWO.replace("<k = 2.0> (x)", "<k = 2.0> (x, x)")
RENAMED = CALL.replace("<k", "<kk").replace("@k", "@kk")
OLD = """<onnxtext: 1, ir_version: 10, opset_import: [12]>
g (float[1, 4] x) => (float[4] y) {
  a = Neg (x)
  y = Squeeze <axes = [0]> (a)
}
"""
CONVERTED = """<onnxtext: 1, ir_version: 10, opset_import: [13]>
g (float[1, 4] x) => (float[4] y) <
  int64[1] axes = {0},
> {
  a = Neg (x)
  y = Squeeze (a, axes)
}
"""
SPARSE = "sparse_tensor(float[4]) {} = sparse(float[1] [7], int64[1] [2])"
WEIGHTS = (
    H + f"g (float[4] x) => (float[4] y) <\n  {SPARSE.format('w')},\n> {{\n  y = Add (x, w)\n}}\n"
)
TRAINING = (
    H
    + """g (float x) => (float y) <
  float w = {0},
> {
  y = Mul (x, w)
}

training {
  algorithm: step () => (float t, float u) {
    t = Neg (w)
    u = Abs (w)
  }
  update_binding: ["w": "t"]
}
"""
)
NUMBERED = (
    H
    + """g (float[4] x) => (float[4] y, float[4] z) {
  "1" = Neg (x)
  "2" = Relu ("1")
  y = Sigmoid ("2")
  z = Exp ("1")
}
"""
)
RENUMBERED = NUMBERED.replace(
    """"2" = Relu ("1")
  y = Sigmoid ("2")
""",
    """"2" = Abs ("1")
  "3" = Relu ("2")
  y = Sigmoid ("3")
""",
)
TWO_INPUTS = CALL.replace("(x) => (y)", "(x, w) => (y)").replace("(x, c)", "(w, c)")
TWO_INPUTS = TWO_INPUTS.replace("<k = 2.0> (x)", "<k = 2.0> (x, a0)").replace(
    "  a = my", "  a0 = Neg (x)\n  a = my"
)
ORDER = "the node of `y` passes its arguments at the old positions of the parameters of `F`"

CONFLICTS = {
    "values renumbered, and a new use": (
        NUMBERED, RENUMBERED, NUMBERED.replace("z = Exp (", 'z = Tanh ("2")\n  e = Exp ('),
        "the node of `z` uses `2`, a value that the other side has renamed to `3`",
    ),
    "values renumbered, and a changed input": (
        NUMBERED, RENUMBERED, NUMBERED.replace('z = Exp ("1")', 'z = Exp ("2")'),
        "the node of `z` uses `2`, a value that the other side has renamed to `3`",
    ),
    "an input inserted, and a new call": (
        TWO_INPUTS,
        TWO_INPUTS.replace("(x, w) =>", "(x, v, w) =>").replace("(x, a0)", "(x, x, a0)"),
        TWO_INPUTS.replace("y = Relu (a)", "y = my.F <k = 3.0> (a, x)"),
        ORDER,
    ),
    "a parameter renamed, and a new call": (
        CALL, RENAMED, CALL.replace("y = Relu (a)", "y = my.F <k = 3.0> (a)"),
        "the function `F` has no attribute `k`",
    ),
    "a parameter renamed, and a new use": (
        CALL, RENAMED,
        CALL.replace("y = Mul (x, c)", "d = Elu <alpha = @k> (c)\n  y = Mul (x, d)"),
        "the function `F` has no attribute parameter `k`",
    ),
    "an input removed, and a new call": (
        TWO,
        TWO.replace("(x, w) =>", "(x) =>").replace("(w, c)", "(x, c)").replace("(x, x)", "(x)"),
        TWO.replace("y = Relu (a)", "y = my.F <k = 3.0> (a, x)"),
        "the call has 2 inputs, but the function `F` has 1",
    ),
    "a new opset version, and a node for the old one": (
        OLD, CONVERTED,
        OLD.replace("y) {", "y, z) {").replace("(a)\n", "(a)\n  z = Unsqueeze <axes = [0]> (y)\n"),
        "`Unsqueeze` is written for version 12 of `ai.onnx`, and does not fit version 13",
    ),
    "a training output renamed, and a new binding": (
        TRAINING,
        TRAINING.replace("float t", "float s").replace("t =", "s =").replace('"t"', '"s"'),
        TRAINING.replace('"w": "t"', '"w": "t", "v": "t"').replace(
            "float w = {0}", "float w = {0}, float v = {1}"
        ),
        "the `update_binding` uses `t`, which is not an output of",
    ),
}  # fmt: skip
"""For each case: the base, ours, theirs, and the beginning of the note."""


@pytest.mark.parametrize("name", CONFLICTS)
def test_edits_that_do_not_fit_together_are_a_conflict(name: str, *, binary: bool) -> None:
    *versions, note = CONFLICTS[name]
    for ours, theirs in (versions[1:], versions[:0:-1]):
        found = merge(versions[0], ours, theirs, binary=binary)
        assert found.conflicts
        assert any(text.startswith(note) for text in found.notes), found.notes


BRANCHES = """g (float[4] x, bool c) => (float[4] y) {
  y = If (c) <
    then_branch = a () => (float[4] p) {
      t = Neg (x)
      p = Relu (t)
    },
    else_branch = b () => (float[4] q) {
      t = Cos (x)
      q = Relu (t)
    },
  >
}
"""
IMPORTS = """<ir_version: 10, opset_import: [21, "com.microsoft": 1, "my": 1]>
g (float[4] x) => (float[4] y) {
  y = my.F (x)
}

<domain: "my", opset_import: [21, "com.microsoft": 1]>
F (p) => (q) {
  q = Relu (p)
}
"""
MERGED = {
    "equal names in two branches": (
        H + BRANCHES, ("      p = Relu", "      u = Sin (t)\n      p = Relu"),
        ("      t = Cos (x)", "      k = Cos (x)\n      t = Exp (k)"),
    ),
    "an import of a function": (
        IMPORTS, ('21, "com.microsoft": 1, "my"', '21, "my"'),
        ("  q = Relu (p)", "  r = com.microsoft.Gelu (p)\n  q = Relu (r)"),
    ),
}  # fmt: skip
"""For each case: the base, and the edits of ours and of theirs."""

SWAPPED = (
    H
    + """g (float[4] x) => (float[4] y) {
  [act] a = Elu <alpha = 0.5> (x)
  t = Sub (a, x)
  y = Tanh (t)
}
"""
)
SWAP = [("[act] a =", "[act] t ="), ("t = Sub (a, x)", "a = Sub (t, x)"), ("(t)\n", "(a)\n")]
EXPORT = (
    H
    + """g (float[4] x) => (float[4] y) {
  [fc1] "1" = Neg (x)
  [act1] "2" = Relu ("1")
  [fc2] "3" = Neg ("2")
  [act2] y = Relu ("3")
}
"""
)
INSERTED = [
    ('"3"', '"4"'),
    ('"2"', '"3"'),
    ('  [act1] "3" = Relu ("1")', '  "2" = Abs ("1")\n  [act1] "3" = Relu ("2")'),
]
TWICE = "  c = my.F <k = 2.0> (a0, a0)\n"
BOTH = """g (float[4] x) => (float[4] y, float[4] z) {
  a = Relu (x)
  b = Neg (a)
  y = Exp (b)
  z = Sin (x)
}
"""
SOFTMAX = "g (float[4] x) => (float[4] y) {\n  s = Softmax (x)\n  y = Neg (s)\n}\n"
RENAMED_BOTH = (
    BOTH.replace("a =", "c =").replace("(a)", "(c)").replace("b =", "d =").replace("(b)", "(d)")
)
KEPT = {
    "names swapped": (SWAPPED, SWAP, ("  [act]", '  @meta("k": "v")\n  [act]')),
    "names swapped, and an attribute": (SWAPPED, SWAP, ("alpha = 0.5", "alpha = 0.25")),
    "an export with another node": (EXPORT, INSERTED, ("  [act1]", '  @doc("d")\n  [act1]')),
    "a renamed node and another opset version": (
        H.replace("21", "12") + SOFTMAX,
        [("[12", "[13")], ("s =", "p =", "(s)", "(p)"),
    ),
    "inputs swapped, and a call with equal arguments": (
        TWO_INPUTS.replace("  y = Relu (a)", TWICE + "  y = Sum (a, c)"),
        [("(x, w) =>", "(w, x) =>"), ("(x, a0)", "(a0, x)")], ("c =", "d =", ", c)", ", d)"),
    ),
}  # fmt: skip
"""For each case: the base, the edits of ours, and one or two edits of theirs."""


@pytest.mark.parametrize("name", KEPT)
def test_edits_stay_at_their_nodes(name: str, *, binary: bool) -> None:
    base, ours, theirs = KEPT[name]
    others = [(theirs[i], theirs[i + 1]) for i in range(0, len(theirs), 2)]
    changed = replaced(base, *ours)
    wanted = replaced(changed, *others)
    check_merge(base, changed, replaced(base, *others), wanted, binary=binary, header="")


@pytest.mark.parametrize("edit", [("Sin", "Cos"), ("g (", "main ("), ("  z", "  # sine\n  z")])
def test_a_shared_rename_of_two_neighbors_merges_with_another_edit(edit: tuple[str, str]) -> None:
    ours = RENAMED_BOTH.replace(*edit)
    found = onnxtext.merge(H + BOTH, H + ours, H + RENAMED_BOTH)
    assert str(found) == H + ours


@pytest.mark.parametrize("name", MERGED)
def test_edits_of_different_scopes_merge(name: str, *, binary: bool) -> None:
    base, ours, theirs = MERGED[name]
    changed = base.replace(*ours)
    wanted = changed.replace(*theirs)
    check_merge(base, changed, base.replace(*theirs), wanted, binary=binary, header="")


def test_a_new_use_of_a_value_merges_if_its_computation_is_edited(*, binary: bool) -> None:
    used = NUMBERED.replace("z = Exp (", 'z = Tanh ("2")\n  e = Exp (')
    for edit in (
        ('"2" = Relu', '"2" = Abs'),
        ('"2" = Relu ("1")', '"3" = Relu ("1")\n  "2" = Abs ("3")'),
        ('"1" = Neg (x)', '"3" = Relu (x)\n  "1" = Neg ("3")'),
    ):
        changed, wanted = NUMBERED.replace(*edit), used.replace(*edit)
        check_merge(NUMBERED, changed, used, wanted, binary=binary, header="")


def test_a_new_node_that_fits_both_versions_merges() -> None:
    added = OLD.replace("y) {", "y, z) {").replace("(a)\n", "(a)\n  z = Relu (y)\n")
    found = onnxtext.merge(OLD, CONVERTED, added)
    assert not found.conflicts
    assert "  z = Relu (y)\n" in str(found)


def test_a_sparse_initializer_renamed_and_deleted_is_a_conflict(*, binary: bool) -> None:
    renamed = WEIGHTS.replace(") w =", ") mask =").replace("(x, w)", "(x, mask)")
    deleted = WEIGHTS.replace(f"<\n  {SPARSE.format('w')},\n> ", "").replace(
        "Add (x, w)", "Abs (x)"
    )
    assert merge(WEIGHTS, renamed, deleted, binary=binary).conflicts


APPENDED = """g (float[4] x) => (float[4] y) {
  a = Neg (x)
  [act] y = Elu <alpha = 0.5> (a)
}
"""
MOVED = {
    "an attribute, before the same operator": (
        "  [two] y = Elu <alpha = 0.5> (h)\n", ("alpha = 0.5", "alpha = 0.25"),
    ),
    "the operator": ("  y = Abs (h)\n", ("Elu <alpha = 0.5>", "Relu")),
    "a doc string, before two nodes": (
        "  m = Exp (h)\n  y = Abs (m)\n", ("  [act]", '  @doc("d")\n  [act]'),
    ),
}  # fmt: skip
"""For each edit of theirs: the nodes that ours adds after `[act]`, old and new text of the edit."""


@pytest.mark.parametrize("name", MOVED)
def test_an_edit_stays_at_its_node_if_a_new_node_takes_the_output(
    name: str, *, binary: bool
) -> None:
    new, (before, after) = MOVED[name]
    moved = APPENDED.replace("] y =", "] h =").replace("(a)\n", f"(a)\n{new}")
    wanted = moved.replace(before, after, 1)
    theirs = APPENDED.replace(before, after)
    check_merge(APPENDED, moved, theirs, wanted, binary=binary, header=H)


def test_a_note_names_a_renamed_dimension_that_the_other_side_uses() -> None:
    base = H + "g (float[N] x) => (float[N] y) {\n  y = Neg (x)\n}\n"
    renamed = base.replace("[N]", "[B]")
    added = base.replace("y) {", "y, float[N] z) {").replace("(x)\n", "(x)\n  z = Abs (y)\n")
    for ours, theirs in ((renamed, added), (added, renamed)):
        found = onnxtext.merge(base, ours, theirs)
        assert not found.conflicts
        (note,) = found.notes
        assert "no longer has the dimension `N`" in note
    assert not onnxtext.merge(base, renamed, base.replace("Neg", "Abs")).notes


def test_a_node_whose_inputs_the_other_side_renamed_can_be_deleted(*, binary: bool) -> None:
    base = (
        "g (float[4] x) => (float[4] y, float[4] z) {\n  t = Neg (x)\n  y = Relu (t)\n"
        "  z = Elu <alpha = 0.5> (t)\n}\n"
    )
    renamed = base.replace("t = Neg", "u = Neg").replace("(t)", "(u)")
    deleted = base.replace(", float[4] z", "").replace("  z = Elu <alpha = 0.5> (t)\n", "")
    wanted = renamed.replace(", float[4] z", "").replace("  z = Elu <alpha = 0.5> (u)\n", "")
    check_merge(base, renamed, deleted, wanted, binary=binary, header=H)
    changed = renamed.replace("0.5", "0.25")
    assert onnxtext.merge(*[H + text for text in (base, changed, deleted)]).conflicts
