# SPDX-License-Identifier: Apache-2.0
"""The changed lines of a fix, which are shown below a finding."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from onnxtext.diagnostics import Diagnostic, Edit, Fix, Label
from onnxtext.diagnostics.fix_lines import MAX_FIX_LINES, changed_lines
from onnxtext.diagnostics.full import render
from onnxtext.source import Source, Span
from tests.running import limited


def fix_of(text: str, *edits: tuple[int, int, str]) -> tuple[Source, Fix]:
    result = tuple([Edit(Span(start, end), new) for start, end, new in edits])
    return Source(text, "m"), Fix("mend it", result)


@given(st.text("ab\n", max_size=12), st.data())
def test_shown_lines_equal_the_fixed_text(text: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=4)))
    pairs = zip(places[::2], places[1::2], strict=False)
    edits = [(start, end, data.draw(st.text("ab\n", max_size=3))) for start, end in pairs]
    source, fix = fix_of(text, *edits)
    found = changed_lines(source, fix)
    if len(found) > MAX_FIX_LINES:
        return
    lines = text.split("\n")
    for change in found:
        if not change.added:
            assert lines[change.number - 1] == change.line
    kept = [(n, 0, line) for n, line in enumerate(lines, 1)]
    gone = {change.number for change in found if not change.added}
    kept = [item for item in kept if item[0] not in gone]
    if not any(change.added and change.number not in gone for change in found):
        assert len(kept) <= len(fix.apply(text).split("\n"))
    assert found or fix.apply(text) == text  # edits of different lines may cancel each other


def shown(text: str, *edits: tuple[int, int, str]) -> list[str]:
    source, fix = fix_of(text, *edits)
    label = Label(fix.edits[0].span)
    finding = Diagnostic("a-code", "wrong", source=source, labels=(label,), fix=fix)
    lines = render(finding, columns=60).split("\n")
    return lines[lines.index(next(line for line in lines if "= help: mend it" in line)) + 1 :]


def test_a_changed_line_is_shown_before_and_after() -> None:
    assert shown("a\nb x\nc", (2, 3, "y")) == ["2 - b x", "2 + y x"]


def test_lines_that_are_added_or_removed() -> None:
    assert shown("a\nb\nc", (2, 2, "new\n")) == ["2 + new"]
    assert shown("a\nb\nc", (2, 4, "")) == ["2 - b"]
    assert shown("a\nb\nc\nd", (0, 1, "A"), (6, 7, "D")) == ["1 - a", "1 + A", "4 - d", "4 + D"]


def test_controls_are_visible() -> None:
    first, second = shown("a \u202e b", (0, 1, "\x1b[2J\u2066"))
    assert first == "1 - a \ufffd b"
    assert second == "1 + ␛[2J\ufffd \ufffd b"


def test_long_lines_are_shown_in_part() -> None:
    before, after = shown("x " * 500 + "here" + " x" * 500, (1000, 1004, "there"))
    assert len(before) <= 60
    assert len(after) <= 60
    assert "here" in before
    assert "there" in after


def test_large_fixes_are_shown_in_part() -> None:
    text = "a\n" * 1000
    rows = shown(text, (0, len(text), "b\n" * 1000))
    assert len(rows) == MAX_FIX_LINES + 1
    assert rows[-1] == "..."
    with limited(2):
        huge = "a" * 1_000_000
        assert changed_lines(*fix_of(huge + "b", (5, 6, "c"))) == []
