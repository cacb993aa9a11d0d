# SPDX-License-Identifier: Apache-2.0
"""A merge keeps the layout and comments of a text, wherever the sides edit it."""

from __future__ import annotations

import pytest

import onnxtext

HEADED = """# Licence
<
  onnxtext: 1,
  ir_version: 10,
  opset_import: [20],
>
g (float x) => (float y) {
  y  =  Neg (x)
}
"""
DECORATED = HEADED.replace("<\n  onnx", '@doc("d")\n<\n  onnx')
ENTRIES = HEADED.replace("<\n  onnx", '@meta("k": "v")\n<\n  onnx')


def check_text(base: str, ours: str, theirs: str, wanted: str) -> None:
    """Check the text of a merge without conflicts, in both directions."""
    for sides in ((ours, theirs), (theirs, ours)):
        found = onnxtext.merge(base, *sides)
        assert not found.conflicts
        assert str(found) == wanted


@pytest.mark.parametrize("decorated", [DECORATED, ENTRIES], ids=["doc", "meta"])
@pytest.mark.parametrize(
    "edit", [("[20]", "[21]"), ("  opset", '  producer_name: "p",\n  opset')], ids=["new", "added"]
)
def test_a_header_edit_and_a_decorator_keep_the_layout(
    decorated: str, edit: tuple[str, str]
) -> None:
    wanted = decorated.replace(*edit)
    check_text(HEADED, decorated, HEADED.replace(*edit), wanted)
    check_text(decorated, HEADED, wanted, HEADED.replace(*edit))


def test_comments_at_the_end_of_a_file_without_a_last_line_end_are_merged() -> None:
    ours, theirs = [f"{HEADED}  # {side}" for side in ("ours", "theirs")]
    check_text(HEADED, ours, theirs, f"{ours}\n  # theirs")
    # One side has removed the last line end.
    check_text(HEADED, ours, f"{theirs}\n", f"{ours}\n  # theirs")
