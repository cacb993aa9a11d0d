# SPDX-License-Identifier: Apache-2.0
"""`safe_fixes` chooses fixes that do not overlap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from onnxtext.diagnostics import Diagnostic, Edit, Fix
from onnxtext.diagnostics.model import safe_fixes
from onnxtext.source import Span


def overlap(left: Span, right: Span) -> bool:
    return left == right or (left.start < right.end and right.start < left.end)


@st.composite
def fixes(draw: st.DrawFn) -> Fix:
    """A fix whose edits are in order and do not overlap."""
    ends = sorted(draw(st.lists(st.integers(0, 14), min_size=2, max_size=6)))
    spans = {Span(*ends[index : index + 2]) for index in range(0, len(ends) - 1, 2)}
    edits = tuple([Edit(span, "x") for span in sorted(spans)])
    return Fix("t", edits, "unsafe" if draw(st.integers(0, 3)) == 3 else "safe")


@given(st.lists(fixes(), max_size=7))
def test_the_first_of_overlapping_safe_fixes_is_chosen(offered: list[Fix]) -> None:
    expected: list[Fix] = []
    for fix in offered:
        taken = [edit.span for other in expected for edit in other.edits]
        if fix.applicability == "safe" and not any(
            overlap(edit.span, span) for edit in fix.edits for span in taken
        ):
            expected.append(fix)
    assert safe_fixes([Diagnostic("x", "m", "error", fix=fix) for fix in offered]) == expected
