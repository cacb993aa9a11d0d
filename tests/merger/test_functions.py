# SPDX-License-Identifier: Apache-2.0
"""Both sides edit a function, its name or its parameters."""

from __future__ import annotations

import pytest

from tests.merger.laws import merged
from tests.replacements import replaced

BASE = """<onnxtext: 1, ir_version: 10, opset_import: [20]>
g (float x) => (float y) {
  y = l.F <k = 1.0> (x)
}

<domain: "l", opset_import: [20]>
F <k> (p) => (q) { # body
  c = Constant <value_float: float = @k> ()
  r = Abs (p)
  q = Mul (r, c)
}
"""
RENAMED = (("l.F", "l.G"), ("F <", "G <"))


@pytest.mark.parametrize(
    ("ours", "theirs", "count"),
    [
        # The call must fit the parameter that is chosen.
        ((("F <k>", "F <k = 2.0>"),), (("F <k>", "F <m>"), ("@k", "@m"), ("<k =", "<m =")), 2),
        ((("F <k>", "F <k, m>"),), (("F <k>", "F <k, m = 1.0>"),), 1),
        ((("F <k>", "F <k = 2.0>"),), (("F <k>", "F <k = 3.0>"),), 1),
    ],
    ids=["default and renamed", "added with and without default", "two defaults"],
)
def test_a_parameter_that_both_sides_change_is_a_conflict(
    ours: tuple[tuple[str, str], ...], theirs: tuple[tuple[str, str], ...], count: int
) -> None:
    for sides in ((ours, theirs), (theirs, ours)):
        found = str(merged(BASE, replaced(BASE, *sides[0]), replaced(BASE, *sides[1])))
        assert found.count("<<<<<<<") == count
        assert found.endswith("\n  r = Abs (p)\n  q = Mul (r, c)\n}\n")


def test_parameters_of_both_sides_merge() -> None:
    found = merged(
        BASE, replaced(BASE, ("F <k>", "F <k = 2.0>")), replaced(BASE, ("F <k>", "F <k, m>"))
    )
    assert not found.conflicts
    assert "F <k = 2.0, m> (p)" in str(found)


@pytest.mark.parametrize(
    "edit",
    [
        (("Abs (p)", "Abs <a = 1> (p)"),),
        (("(p) =>", "(p, s) =>"), ("(x)", "(x, x)")),
        (("F <k>", "F <k, m>"),),
        (("[20]>\nF", "[21]>\nF"),),
    ],
    ids=["node", "input", "parameter", "opset"],
)
@pytest.mark.parametrize("both", [(("Mul (r, c)", "Div (r, c)"),), ()])
def test_a_function_that_one_side_renamed_and_edited_keeps_the_edits_of_the_other(
    edit: tuple[tuple[str, str], ...], both: tuple[tuple[str, str], ...]
) -> None:
    mine = (*edit, *RENAMED)
    others = both or (("q = Mul", '@doc("d") q = Mul'),)
    for first, second in ((mine, others), (others, mine)):
        found = merged(BASE, replaced(BASE, *first), replaced(BASE, *second))
        assert not found.conflicts
        assert str(found) == replaced(BASE, *edit, *RENAMED, *others)


def test_a_list_with_equal_keys_is_a_conflict_of_its_own() -> None:
    base = BASE.replace("[20]>\ng", '["": 20, "": 14]>\ng')
    ours, theirs = [base.replace('"": 20', f'"": {number}') for number in (21, 22)]
    found = merged(base, ours, theirs.replace("Abs", "Neg"))
    assert found.conflicts == 1
    head = '<\n  onnxtext: 1,\n  ir_version: 10,\n<<<<<<< ours\n  opset_import: ["": 21, "": 14]\n'
    assert str(found).startswith(head)
    assert str(found).endswith(base.replace("Abs", "Neg")[base.index("\ng") :])
