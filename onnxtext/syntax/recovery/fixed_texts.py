# SPDX-License-Identifier: Apache-2.0
"""Apply fixes, and parse the text again.

`with_verified_fixes` verifies safe fixes. The heuristics only test whether a fixed text is
grammatical; if an action still finds an error in a fixed text, the fix is not safe.

`errors_after_mark` fixes wrong quotes, or marks that copying added to a text. The diagnostic of
such a mark has replaced all later errors. The function returns those of them that the fix leaves,
with their places in the original text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import itemgetter

from onnxtext.diagnostics import Diagnostic, Edit, Fix
from onnxtext.diagnostics.model import apply_edits, safe_fixes
from onnxtext.source import Source, Span

Parse = Callable[[Source], Sequence[Diagnostic]]
"""Parses a text and returns the diagnostics of its errors."""

_FEW = 3
"""Up to this number of errors may remain after the fix of a mark, even if it replaced fewer."""


def with_verified_fixes(
    source: Source, diagnostics: Sequence[Diagnostic], parse: Parse
) -> tuple[Diagnostic, ...]:
    """Return diagnostics in which a safe fix is marked as unsafe if an error remains after it.

    If the text has other errors, only errors in the lines that the fix changes count. A safe fix
    that overlaps an earlier one is not applied, and stays safe.

    Args:
        source: the text.
        diagnostics: the diagnostics of the text, in text order.
        parse: parses a text. It is called at most once, with the text after the safe fixes.
    """
    fixes = safe_fixes(diagnostics)
    if not fixes:
        return tuple(diagnostics)
    edits = sorted((edit for fix in fixes for edit in fix.edits), key=lambda edit: edit.span)
    fixed = Source(apply_edits(source.text, edits), source.name)
    starts = [item.labels[0].span.start for item in parse(fixed) if item.labels]
    wrong_lines = {fixed.position(start).line for start in starts}
    if not wrong_lines:
        return tuple(diagnostics)
    doubtful = fixes
    if len(diagnostics) > 1:
        lines = _lines_of_edits(fixed, edits)
        doubtful = [
            fix for fix in fixes if any(not wrong_lines.isdisjoint(lines[e]) for e in fix.edits)
        ]
    return tuple([_with_unsafe_fix(item) if item.fix in doubtful else item for item in diagnostics])


def _lines_of_edits(fixed: Source, edits: Sequence[Edit]) -> dict[Edit, range]:
    """Return the lines of the fixed text that each edit, in text order, changes."""
    lines: dict[Edit, range] = {}
    shift = 0
    for edit in edits:
        start = edit.span.start + shift
        end = start + len(edit.text)
        lines[edit] = range(fixed.position(start).line, fixed.position(end).line + 1)
        shift += len(edit.text) - (edit.span.end - edit.span.start)
    return lines


def _with_unsafe_fix(item: Diagnostic) -> Diagnostic:
    """Return a diagnostic with its fix marked as unsafe."""
    assert item.fix is not None
    return replace(item, fix=replace(item.fix, applicability="unsafe"))


def errors_after_mark(
    source: Source, mark: Diagnostic, replaced: int, parse: Parse
) -> list[Diagnostic]:
    """Return the errors behind a mark, such as a wrong quote, that remain if the mark is fixed.

    Args:
        source: the text.
        mark: the diagnostic of the mark.
        replaced: the number of errors that the diagnostic replaces. If more errors remain than
            this number and `_FEW`, or if one is on the line of the mark or the next line, the fix
            is probably wrong.
        parse: parses a text.

    Returns:
        The errors, in text order; [] if the mark has no fix, or if the fix is probably wrong.
    """
    if mark.fix is None:
        return []
    edits = sorted(mark.fix.edits, key=lambda edit: edit.span)
    fixed = Source(apply_edits(source.text, edits), source.name)
    found = [item for item in parse(fixed) if item.labels]
    offsets = _OffsetsBeforeEdits(edits)
    start = mark.labels[0].span.start
    later = [offsets.original(item, source) for item in found]
    later = [item for item in later if item.labels[0].span.start > start]
    near = later and source.text.count("\n", start, later[0].labels[0].span.start) < 2
    return later if not near and len(later) <= max(_FEW, replaced) else []


class _OffsetsBeforeEdits:
    """Converts offsets in an edited text to offsets in the text before the edits."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        """Prepare to convert offsets in the text after `edits`, which are in text order."""
        self._pieces = [(0, 0)]  # the offsets of each unedited piece in the edited and the old text
        size = end = 0
        for edit in edits:
            size += edit.span.start - end + len(edit.text)
            end = edit.span.end
            self._pieces.append((size, end))
        self._starts = [edit.span.start for edit in edits]

    def original(self, item: Diagnostic, source: Source) -> Diagnostic:
        """Return `item`, a diagnostic of the edited text, with its places in the original text.

        `source` is the original text. A fix that overlaps the edits is dropped.
        """
        labels = tuple([replace(label, span=self._span(label.span)) for label in item.labels])
        fix = None if item.fix is None else self._fix(item.fix)
        return replace(item, source=source, labels=labels, fix=fix)

    def _fix(self, fix: Fix) -> Fix | None:
        edits = [Edit(self._span(edit.span), edit.text) for edit in fix.edits]
        sizes = [edit.span.end - edit.span.start for edit in fix.edits]
        kept = all(e.span.end - e.span.start == size for e, size in zip(edits, sizes, strict=True))
        return replace(fix, edits=tuple(edits)) if kept else None

    def _span(self, span: Span) -> Span:
        start = self._offset(span.start)
        return Span(start, max(start, self._offset(span.end)))

    def _offset(self, offset: int) -> int:
        index = bisect_right(self._pieces, offset, key=itemgetter(0)) - 1
        size, original = self._pieces[index]
        place = original + offset - size
        return min(place, self._starts[index]) if index < len(self._starts) else place
