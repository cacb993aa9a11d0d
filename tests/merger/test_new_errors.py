# SPDX-License-Identifier: Apache-2.0
"""A merge of two valid versions is valid, or a conflict."""

from __future__ import annotations

import pytest

import onnxtext
from tests.merger.clean_merges import merge
from tests.replacements import replaced

H = "<onnxtext: 1, ir_version: 10, opset_import: [20]>\n"
BASE = (
    H
    + """g (float[2, 3] x, float[2, 4] z, bool c) => (float[2, 4] y) <
  float[3, 4] W = [1, ...],
> {
  a = MatMul (x, W)
  b = Elu <alpha = 0.5> (a)
  i = If (c) <
    then_branch = t () => (float[2, 4] p) {
      p = Neg (a)
    },
    else_branch = e () => (float[2, 4] q) {
      q = Abs (a)
    },
  >
  y = Sum (a, b, i, z)
}
"""
)


def edited(*edits: tuple[str, str]) -> str:
    return replaced(BASE, *edits)


CASES = {
    "a field that the IR version lacks": (
        [("ir_version: 10", "ir_version: 9")],
        [("  b = Elu", '  @meta("k": "v")\n  b = Elu')],
        "metadata of a part of the model needs IR version 10",
    ),
    "metadata of a value info, which the IR version lacks": (
        [("ir_version: 10", "ir_version: 9")],
        [("a = MatMul", "float[2, 4] a = MatMul"),
         ("i, z)\n}\n", 'i, z)\n}\n\nmetadata {\n  value a {\n    k: "v"\n  }\n}\n')],
        "metadata of a part of the model needs IR version 10",
    ),
    "a shape": (
        [("float[3, 4] W", "float[4, 3] W"),
         ("a = MatMul (x, W)", "V = Transpose (W)\n  a = MatMul (x, V)")],
        [("  b = Elu", "  d = MatMul (x, W)\n  b = Elu")],
        "the inputs of `MatMul` do not fit: the last dimension of the left matrix is 3",
    ),
    "a type": (
        [("float[2, 3] x", "double[2, 3] x"),
         ("a = MatMul (x, W)", "f = Cast <to = 1> (x)\n  a = MatMul (f, W)")],
        [("  b = Elu", "  d = MatMul (x, W)\n  b = Elu")],
        "the inputs `A` and `B` of `MatMul` must have the same type",
    ),
}  # fmt: skip
"""For each case: the edits of ours and of theirs, and the beginning of the note."""


@pytest.mark.parametrize("name", CASES)
def test_an_error_that_only_the_merge_has_is_a_conflict(name: str, *, binary: bool) -> None:
    ours, theirs, note = CASES[name]
    sides = [edited(*ours), edited(*theirs)]
    for text in (BASE, *sides):
        assert not [item for item in onnxtext.check(text) if item.severity == "error"]
    for pair in (sides, sides[::-1]):
        found = merge(BASE, *pair, binary=binary)
        assert found.conflicts
        assert any(text.startswith(note) for text in found.notes), found.notes


def test_an_error_that_a_side_has_is_merged(*, binary: bool) -> None:
    invalid = edited(("b = Elu <alpha = 0.5> (a)", "b = Elu <beta = 0.5> (a)"))
    renamed = edited(("MatMul (x, W)", "MatMul (X, W)"), ("3] x,", "3] X,"))
    assert not merge(BASE, invalid, renamed, binary=binary).conflicts


INVALID = ("b = Elu <alpha = 0.5> (a)", "b = Elu <alpha = 1> (a)")


@pytest.mark.parametrize("name", CASES)
def test_an_older_error_hides_no_new_error(name: str, *, binary: bool) -> None:
    *edits, note = CASES[name]
    texts = [edited(*edit).replace(*INVALID) for edit in ([], *edits)]
    for text in texts:
        assert [item for item in onnxtext.check(text) if item.severity == "error"]
    found = merge(*texts, binary=binary)
    assert found.conflicts
    assert any(text.startswith(note) for text in found.notes), found.notes


def test_an_older_error_with_another_message_is_merged(*, binary: bool) -> None:
    wrong = ("float[3, 4] W", "float[5, 4] W")
    base = edited(wrong)
    ours = base.replace("MatMul (x, W)", "MatMul (X, W)").replace("3] x,", "3] X,")
    theirs = base.replace("W", "V")
    for text in (base, ours, theirs):
        assert [item for item in onnxtext.check(text) if "rows" in item.message]
    found = merge(base, ours, theirs, binary=binary)
    assert not found.conflicts, found.notes
