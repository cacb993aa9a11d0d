# SPDX-License-Identifier: Apache-2.0
"""A merge keeps the layout and comments of a text, for edits at all places."""

from __future__ import annotations

import pytest

import onnxtext
from tests.merger.clean_merges import check_merge

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


TWO = HEADED.replace("  y ", '  @meta("a": "1", "b": "2")\n  y ')
ENTRY_EDITS = {
    "values": (('"1"', '"9"'), ('"2"', '"3"')),
    "value and deletion": (('"1"', '"9"'), (', "b": "2"', "")),
    "value and insertion": (('"1"', '"9"'), ('"2"', '"2", "c": "3"')),
    "insertion and deletion": (('"1",', '"1", "c": "3",'), (', "b": "2"', "")),
    "header": (('"1"', '"9"'), ("[20]", "[21]")),
}


@pytest.mark.parametrize("name", ENTRY_EDITS)
@pytest.mark.parametrize("broken", [False, True], ids=["line", "lines"])
def test_entries_of_one_decorator_are_merged_one_by_one(name: str, *, broken: bool) -> None:
    base = TWO.replace('("a": "1", "b": "2")', '(\n    "a": "1", "b": "2"\n  )') if broken else TWO
    ours, theirs = [base.replace(*edit) for edit in ENTRY_EDITS[name]]
    check_text(base, ours, theirs, ours.replace(*ENTRY_EDITS[name][1]))


def test_a_decorator_whose_entries_both_sides_delete_is_deleted() -> None:
    ours, theirs = TWO.replace('"a": "1", ', ""), TWO.replace(', "b": "2"', "")
    check_text(TWO, ours, theirs, HEADED)


def test_different_values_of_an_entry_are_a_conflict() -> None:
    ours, theirs = TWO.replace('"1"', '"8"'), TWO.replace('"1"', '"9"')
    found = onnxtext.merge(TWO, ours, theirs)
    assert found.conflicts == 1
    assert "  y  =  Neg" in str(found)


SHARED_LINE = """g (float[2] x) => (float[2] y) {
  a = Abs (x) b = Neg (a)
  y = Exp (b)
}
"""


@pytest.mark.parametrize(("old", "new"), [("Exp", "Cos"), ("  y =", "  c = Relu (b)\n  y =")])
def test_two_statements_on_a_line_stay_on_it(old: str, new: str) -> None:
    ours, theirs = SHARED_LINE.replace("Abs", "Sin"), SHARED_LINE.replace(old, new)
    check_merge(SHARED_LINE, ours, theirs, theirs.replace("Abs", "Sin"), binary=False)


FUNCTIONS = f"""{HEADED}
<domain: "my", opset_import: [20]>
F (a) => (b) {{
  b = Neg (a)
  # last
}}
# end
"""
ADDED = '\n<domain: "my", opset_import: [20]>\nH (u) => (v) {\n  v = Abs (u)\n}\n'


@pytest.mark.parametrize(
    ("comment", "added"),
    [("# end\n", ADDED), ("  # last\n", "  c = Abs (a)\n")],
    ids=["file", "function"],
)
def test_a_deleted_comment_stays_deleted_if_an_item_is_added_after_it(
    comment: str, added: str
) -> None:
    deleted = FUNCTIONS.replace(comment, "")
    extended = FUNCTIONS.replace(comment, comment + added)
    check_text(FUNCTIONS, deleted, extended, FUNCTIONS.replace(comment, added))
