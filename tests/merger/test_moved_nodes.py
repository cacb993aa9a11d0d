# SPDX-License-Identifier: Apache-2.0
"""An edit stays at its node if the other side moves an output of the node to a new node."""

from __future__ import annotations

import pytest

from tests.merger.clean_merges import HEADER, check_merge, merge

SPLIT = """g (float[4] x) => (float[2] r, float[2] s) {
  @doc("d")
  r, s = Split <axis = 0, num_outputs = 2> (x)
}
"""
FIRST_TAKEN = SPLIT.replace("  r, s", "  q, s").replace("(x)\n", "(x)\n  r = Relu (q)\n")
SECOND_TAKEN = SPLIT.replace("  r, s", "  r, q").replace("(x)\n", "(x)\n  s = Relu (q)\n")
DOC = '  @doc("d")\n'
EDITS = {
    "a metadata entry": (DOC, f'{DOC}  @meta("k": "v")\n'),
    "a deleted doc string": (DOC, ""),
    "an attribute": ("axis = 0", "axis = -1"),
    "a comment": (DOC, f"  # splits\n{DOC}"),
}


@pytest.mark.parametrize("taken", [FIRST_TAKEN, SECOND_TAKEN], ids=["first", "second"])
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_stays_if_one_of_two_outputs_is_taken(
    edit: str, taken: str, *, binary: bool
) -> None:
    edited = SPLIT.replace(*EDITS[edit])
    check_merge(SPLIT, edited, taken, taken.replace(*EDITS[edit]), binary=binary)


def test_a_label_stays_if_one_of_two_outputs_is_taken(*, binary: bool) -> None:
    edited = SPLIT.replace("  r, s", "  [n] r, s")
    check_merge(
        SPLIT, edited, FIRST_TAKEN, FIRST_TAKEN.replace("  q, s", "  [n] q, s"), binary=binary
    )


def test_a_node_is_not_merged_with_one_that_shares_only_its_first_output(*, binary: bool) -> None:
    replaced = SPLIT.replace(DOC, "").replace("r, s = Split <axis = 0, num_outputs = 2> (x)", (
        "r = Slice (x, a, b)\n  s = Slice (x, b, c)"
    )).replace("(float[4] x", "(float[4] x, int64[1] a, int64[1] b, int64[1] c")  # fmt: skip
    edited = SPLIT.replace("  r, s", "  [n] r, s")
    versions = [HEADER + text for text in (SPLIT, replaced, edited)]
    assert merge(*versions, binary=binary).conflicts


ELU = """g (float[2] x) => (float[2] y) {
  a = Neg (x)
  y = Elu <alpha = 0.5> (a)
}
"""
LINE = "  y = Elu <alpha = 0.5> (a)\n"
EDITED = {
    "an attribute against a label": (
        "  [n] y = Elu <alpha = 0.5> (a)\n",
        "  q = Elu <alpha = 0.75> (a)\n  y = Relu (q)\n",
        "  [n] q = Elu <alpha = 0.75> (a)\n  y = Relu (q)\n",
    ),
    "an attribute against a doc string": (
        f'  @doc("d")\n{LINE}',
        "  q = Elu <alpha = 0.75> (a)\n  y = Relu (q)\n",
        '  @doc("d")\n  q = Elu <alpha = 0.75> (a)\n  y = Relu (q)\n',
    ),
    "the same label": (
        "  [n] y = Elu <alpha = 0.5> (a)\n",
        "  [n] q = Elu <alpha = 0.5> (a)\n  y = Relu (q)\n",
        "  [n] q = Elu <alpha = 0.5> (a)\n  y = Relu (q)\n",
    ),
    "the same doc string": (
        f'  @doc("d")\n{LINE}',
        '  @doc("d")\n  q = Elu <alpha = 0.5> (a)\n  y = Relu (q)\n',
        '  @doc("d")\n  q = Elu <alpha = 0.5> (a)\n  y = Relu (q)\n',
    ),
    "an input, before the same operator with another attribute": (
        f'  @doc("d")\n{LINE}',
        "  q = Elu <alpha = 0.5> (x)\n  r = Elu <alpha = 1.0> (q)\n  y = Elu <alpha = 0.5> (r)\n",
        '  q = Elu <alpha = 0.5> (x)\n  r = Elu <alpha = 1.0> (q)\n  @doc("d")\n'
        "  y = Elu <alpha = 0.5> (r)\n",
    ),
    "a node added before an edited one": (
        f'  @doc("d")\n{LINE}',
        "  q = Elu <alpha = 1.0> (a)\n  y = Elu <alpha = 0.5> (q)\n",
        '  q = Elu <alpha = 1.0> (a)\n  @doc("d")\n  y = Elu <alpha = 0.5> (q)\n',
    ),
}  # fmt: skip
"""For each edit: the line of `y` in ours, the lines in theirs and in the merge."""


@pytest.mark.parametrize("name", EDITED)
def test_an_edit_stays_if_the_other_side_moves_and_edits_the_node(
    name: str, *, binary: bool
) -> None:
    ours, theirs, wanted = [ELU.replace(LINE, lines) for lines in EDITED[name]]
    check_merge(ELU, ours, theirs, wanted, binary=binary)


TWICE = """g (float[2] x) => (float[2] y) {
  t = Elu <alpha = 0.5> (x)
  y = Elu <alpha = 0.25> (t)
}
"""


def test_a_new_operator_is_not_mistaken_for_a_moved_node(*, binary: bool) -> None:
    theirs = TWICE.replace("0.5", "1.0").replace("Elu <alpha = 0.25>", "Relu")
    ours = TWICE.replace("  t =", '  @doc("t")\n  t =').replace("  y =", '  @doc("y")\n  y =')
    wanted = ours.replace("0.5", "1.0").replace("Elu <alpha = 0.25>", "Relu")
    check_merge(TWICE, ours, theirs, wanted, binary=binary)


def test_a_copy_is_not_mistaken_for_a_node_that_keeps_its_first_output(*, binary: bool) -> None:
    copied = ELU.replace(LINE, "  [n] y, z = Neg <alpha = 0.5> (a)\n  c = Elu <alpha = 0.5> (a)\n")
    versions = [HEADER + text for text in (ELU, copied, ELU.replace(" (a)", " (x)"))]
    assert merge(*versions, binary=binary).conflicts


def test_a_copy_is_not_mistaken_for_an_original_with_a_new_operator_and_label(
    *, binary: bool
) -> None:
    base = ELU.replace("  y =", "  [n] y =")
    copied = ELU.replace(LINE, "  [new] y = Selu (a)\n  [n] copy = Elu <alpha = 0.5> (a)\n")
    check_merge(
        base,
        base.replace("  [n]", '  @doc("d")\n  [n]'),
        copied,
        copied.replace("  [new]", '  @doc("d")\n  [new]'),
        binary=binary,
    )
    versions = [HEADER + text for text in (base, copied, base.replace("Elu", "Abs"))]
    assert merge(*versions, binary=binary).conflicts


def test_a_label_added_by_both_sides_stays_if_a_copy_follows(*, binary: bool) -> None:
    labelled = ELU.replace("  a =", "  [n] a =")
    copied = labelled.replace("  y =", "  b = Neg (a)\n  y =").replace("0.5> (a)", "0.5> (b)")
    check_merge(ELU, labelled, copied, copied, binary=binary)


def test_a_labelled_node_without_uses_is_found_after_a_new_node_takes_its_output(
    *, binary: bool
) -> None:
    base = ELU.replace("  y =", "  [n] y =")
    taken = base.replace("  [n] y =", "  [n] h =").replace("}\n", "  y = Relu (x)\n}\n")
    edit = ("0.5", "0.25")
    check_merge(base, base.replace(*edit), taken, taken.replace(*edit), binary=binary)
