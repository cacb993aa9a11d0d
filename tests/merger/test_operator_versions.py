# SPDX-License-Identifier: Apache-2.0
"""One side changes the version of an operator set, the other side a node that depends on it."""

from __future__ import annotations

import pytest

import onnxtext
from onnxtext.merger import MergeResult
from tests.merger.clean_merges import merge

H = '<onnxtext: 1, ir_version: 10, opset_import: [12, "my": 1]>\n'
SQUEEZE = "g (float[1, 3] x) => (float[3] y) {\n  y = Squeeze (x)\n}\n"
FUNCTION = """g (float[1, 3] x) => (float[1, 3] y) {
  y = my.F (x)
}

<domain: "my", opset_import: [12]>
F (u) => (w) {
  w = Neg (u)
}
"""
SOFTMAX = "g (float[2, 3] x) => (float[2, 3] y) {\n  a = Neg (x)\n  y = Relu (a)\n}\n"
UNFIT = "does not fit version 13"
CONFLICTS = {
    "an attribute added": (SQUEEZE, ("Squeeze", "Squeeze <axes = [0]>"), UNFIT),
    "a node in a function": (FUNCTION, ("Neg", "Squeeze <axes = [0]>"), UNFIT),
    "a node whose default has changed": (
        SOFTMAX, ("y = Relu (a)", "s = Softmax (a)\n  y = Relu (s)"),
        "has another default of `axis` in version 13",
    ),
    "an operator whose default has changed": (
        SOFTMAX, ("Relu", "Hardmax"), "has another default of `axis` in version 13",
    ),
}  # fmt: skip
"""For each case: the base, the edit of theirs, and the end of the note."""
FITTING = {
    "the attribute is set": (SOFTMAX, ("Relu", "Softmax <axis = 1>")),
    "the converted side has the node too": (
        SOFTMAX.replace("Relu", "Softmax"), ("  y =", '  @doc("d")\n  y ='),
    ),
    "the function imports the old version still": (
        FUNCTION.replace("[12]", "[11]"), ("Neg", "Squeeze <axes = [0]>"),
    ),
}  # fmt: skip
"""For each case: the base, and the edit of theirs."""


def merged(base: str, theirs: str, *, binary: bool) -> list[MergeResult]:
    """Merge an edit with the conversion to version 13, in both orders."""
    converted = (H + base).replace("[12", "[13")
    orders = ((converted, H + theirs), (H + theirs, converted))
    return [merge(H + base, *sides, binary=binary) for sides in orders]


@pytest.mark.parametrize("name", CONFLICTS)
def test_an_edit_for_the_old_version_is_a_conflict(name: str, *, binary: bool) -> None:
    base, edit, note = CONFLICTS[name]
    for found in merged(base, base.replace(*edit), binary=binary):
        assert found.conflicts
        assert any(note in text for text in found.notes), found.notes


@pytest.mark.parametrize("name", FITTING)
def test_an_edit_that_fits_both_versions_merges(name: str, *, binary: bool) -> None:
    base, edit = FITTING[name]
    for found in merged(base, base.replace(*edit), binary=binary):
        assert not found.conflicts, found.notes


@pytest.mark.parametrize("node", ["Clip (a)", "Split (a)"])
def test_a_default_that_the_other_version_lacks_is_no_other_default(node: str) -> None:
    before = (H + SOFTMAX).replace("[12", "[6")
    theirs = before.replace("y = Relu (a)", f"s = {node}\n  y = Relu (s)")
    found = onnxtext.merge(before, before.replace("[6", "[1"), theirs)
    assert not found.conflicts, found.notes
