# SPDX-License-Identifier: Apache-2.0
"""An edit stays at its node if the other side gives an output of the node to a new node."""

from __future__ import annotations

import pytest

import onnxtext

H = "<onnxtext: 1, ir_version: 10, opset_import: [20]>\n"
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


def check(base: str, ours: str, theirs: str, wanted: str, *, binary: bool) -> None:
    """Check a merge without conflicts, in both directions."""
    for sides in ((ours, theirs), (theirs, ours)):
        versions = [H + text for text in (base, *sides)]
        found = onnxtext.merge(*[onnxtext.to_binary(t) if binary else t for t in versions])
        assert not found.conflicts
        if binary:
            assert found.content == onnxtext.to_binary(H + wanted)
        else:
            assert str(found) == H + wanted


@pytest.mark.parametrize("taken", [FIRST_TAKEN, SECOND_TAKEN], ids=["first", "second"])
@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_an_edit_stays_if_one_of_two_outputs_is_taken(
    edit: str, taken: str, *, binary: bool
) -> None:
    edited = SPLIT.replace(*EDITS[edit])
    check(SPLIT, edited, taken, taken.replace(*EDITS[edit]), binary=binary)


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_a_label_stays_if_one_of_two_outputs_is_taken(*, binary: bool) -> None:
    edited = SPLIT.replace("  r, s", "  [n] r, s")
    check(SPLIT, edited, FIRST_TAKEN, FIRST_TAKEN.replace("  q, s", "  [n] q, s"), binary=binary)


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_a_node_is_not_merged_with_one_that_shares_only_its_first_output(*, binary: bool) -> None:
    replaced = SPLIT.replace(DOC, "").replace("r, s = Split <axis = 0, num_outputs = 2> (x)", (
        "r = Slice (x, a, b)\n  s = Slice (x, b, c)"
    )).replace("(float[4] x", "(float[4] x, int64[1] a, int64[1] b, int64[1] c")  # fmt: skip
    edited = SPLIT.replace("  r, s", "  [n] r, s")
    versions = [H + text for text in (SPLIT, replaced, edited)]
    assert onnxtext.merge(*[onnxtext.to_binary(t) if binary else t for t in versions]).conflicts
