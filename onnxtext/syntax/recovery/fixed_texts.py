# SPDX-License-Identifier: Apache-2.0
"""Apply fixes, and parse the text again.

`with_verified_fixes` verifies fixes. The heuristics only test whether a fixed text is grammatical;
if an action still finds an error in a fixed text, the fix is not safe. A fix that leaves an error
at its place is not offered.

`with_swapped_lines` swaps two lines if their order causes several errors.

`errors_after_mark` fixes wrong quotes, or marks that copying added to a text. The diagnostic of
such a mark has replaced all later errors. The function returns the later errors that remain after
the fix, with their places in the original text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter

from onnxtext.diagnostics import Diagnostic, Edit, Fix
from onnxtext.diagnostics.model import apply_edits, safe_fixes
from onnxtext.source import Source, Span, line_start
from onnxtext.syntax.heuristics.diagnosis import Diagnosis
from onnxtext.syntax.recovery.error_diagnostics import diagnosis_report

Parse = Callable[[Source], Sequence[Diagnostic]]
"""Parses a text and returns the diagnostics of its errors."""

_MAX_VERIFIED = 10
"""If a text has more errors, its unsafe fixes are not verified and no lines are swapped."""
_MAX_PARSED = 500_000
"""Maximum number of characters to parse to find swapped lines, or to verify unsafe fixes."""
_MAX_LINES = 4
"""All errors that two swapped lines cause must be within this number of adjacent lines."""
_BLANKS = re.compile(r"\s*")
_FEW = 3
"""This number of errors may remain after the fix of a mark that has replaced fewer."""


def with_swapped_lines(
    source: Source, diagnostics: Sequence[Diagnostic], parse: Parse
) -> tuple[Diagnostic, ...]:
    """Replace errors on adjacent lines by one diagnostic if swapping two lines mends them all.

    At least two errors must vanish, all of them near the swapped lines. All other errors must
    remain, all of them after these lines (an earlier one may hide errors), and no new error may
    appear.

    The diagnostics are in text order. With more than `_MAX_VERIFIED`, nothing is replaced.
    """
    keys = [_line_and_message(item) for item in diagnostics]
    pairs = [pair for pair in pairwise(keys) if 0 < pair[1][0] - pair[0][0] + 1 <= _MAX_LINES]
    if not pairs or len(keys) > _MAX_VERIFIED:
        return tuple(diagnostics)
    firsts = range(pairs[0][0][0] - 1, pairs[0][1][0] + 1)
    if len(firsts) * len(source.text) > _MAX_PARSED:
        return tuple(diagnostics)
    texts = source.text.split("\n")
    for first in firsts:
        two = texts[first - 1 : first + 1]
        if first < 1 or len(two) < 2 or not all(line.strip() for line in two):
            continue
        swapped = [*texts[: first - 1], *reversed(two), *texts[first + 1 :]]
        fixed = Source("\n".join(swapped), source.name)
        left = [_line_and_message(item) for item in parse(fixed)]
        others = [item for item, key in zip(diagnostics, keys, strict=True) if key in left]
        mended = [line for line, message in keys if (line, message) not in left]
        near = all(first + 1 - _MAX_LINES < line < first + _MAX_LINES for line in mended)
        later = all(line > first + 1 for line, _ in left)
        if near and later and len(mended) >= 2 and len(left) == len(others):
            found = _swapped(source, len("\n".join(["", *texts[: first - 1]])), two)
            return tuple(sorted([found, *others], key=lambda item: item.labels[0].span))
    return tuple(diagnostics)


def _line_and_message(item: Diagnostic) -> tuple[int, str]:
    return (0 if item.position is None else item.position.line), item.message


def _swapped(source: Source, start: int, lines: list[str]) -> Diagnostic:
    """Return the diagnostic of two lines in the wrong order; `start` is the offset of the first."""
    first, second = (line.removesuffix("\r") for line in lines)
    below, end = start + len(lines[0]) + 1, start + len(first)
    edits = Edit(Span(start, end), second), Edit(Span(below, below + len(second)), first)
    span = Span(end - len(first.lstrip()), start + len(first.rstrip()))
    message, title = "this line and the next line are in the wrong order", "swap the lines"
    return diagnosis_report(source, Diagnosis("syntax-error", message, span, edits, title))


def with_verified_fixes(
    source: Source, diagnostics: Sequence[Diagnostic], parse: Parse, *, unsafe: bool
) -> tuple[Diagnostic, ...]:
    """Return diagnostics in which fixes that leave an error are marked as unsafe or removed.

    A safe fix is marked as unsafe if an error remains after it. If the text has other errors, only
    errors in the lines that the fix changes count. A safe fix that overlaps an earlier one is not
    applied, and stays safe. With `unsafe`, an unsafe fix is removed if `_is_useless` holds for it;
    this is not tested in long texts, or in texts with more than `_MAX_VERIFIED` errors.

    The diagnostics are in text order.
    """
    doubtful = _doubtful_fixes(source, diagnostics, parse)
    verified = [_with_unsafe_fix(d) if d.fix in doubtful else d for d in diagnostics]
    fixes = [d.fix for d in verified if d.fix is not None and d.fix.applicability == "unsafe"]
    many = len(diagnostics) > _MAX_VERIFIED or len(fixes) * len(source.text) > _MAX_PARSED
    if many or not unsafe:
        return tuple(verified)
    count = sum(item.code != "metadata-dangling" for item in diagnostics)
    useless = [fix for fix in fixes if _is_useless(source, fix, count, parse)]
    return tuple([_without_fix(item) if item.fix in useless else item for item in verified])


def _doubtful_fixes(
    source: Source, diagnostics: Sequence[Diagnostic], parse: Parse
) -> Sequence[Fix]:
    """Apply all safe fixes; return those that are not certain, because errors remain.

    These are the fixes with an error on a line that they have changed. If the text has only one
    error, its fix is not certain if any error remains.
    """
    fixes = safe_fixes(diagnostics)
    if not fixes:
        return ()
    edits = sorted((edit for fix in fixes for edit in fix.edits), key=lambda edit: edit.span)
    fixed = Source(apply_edits(source.text, edits), source.name)
    starts = [item.labels[0].span.start for item in parse(fixed) if item.labels]
    wrong_lines = {fixed.position(start).line for start in starts}
    if not wrong_lines or len(diagnostics) == 1:
        return fixes if wrong_lines else ()
    lines = {
        edit: range(fixed.position(start).line, fixed.position(start + len(edit.text)).line + 1)
        for edit, start in _with_starts(edits)
    }
    return [fix for fix in fixes if any(not wrong_lines.isdisjoint(lines[e]) for e in fix.edits)]


def _is_useless(source: Source, fix: Fix, count: int, parse: Parse) -> bool:
    """Whether a fix leaves an error at its place, and at least `count` errors in all.

    Dangling metadata does not count: syntax errors elsewhere may cause it. The place of an edit
    extends to the first token after it; that of the first edit begins at the start of the line. An
    error that lists the expected tokens counts for its whole line: before the fix it was perhaps
    not reported, because it might have followed from the error that the fix corrects.
    """
    edits = sorted(fix.edits, key=lambda edit: edit.span)
    fixed = apply_edits(source.text, edits)
    errors = [e for e in parse(Source(fixed, source.name)) if e.code != "metadata-dangling"]
    if len(errors) < count:
        return False
    whole = Span(edits[0].span.start, edits[-1].span.end + len(fixed) - len(source.text))
    spans = [item.labels[0].span for item in errors if item.labels]
    # An error about a whole list that contains all edits, such as its length, is at another place.
    starts = [s.start for s in spans if not (s.start < whole.start and whole.end < s.end)]
    listings = [e.labels[0].span.start for e in errors if e.labels and e.lists_tokens]
    later = [start for start in listings if start >= whole.start]
    starts += [line_start(fixed, offset) for offset in later]
    for edit, start in _with_starts(edits):
        match = _BLANKS.match(fixed, start + len(edit.text))
        end = len(fixed) if match is None else match.end()
        first = line_start(fixed, start) if edit is edits[0] else start
        if any(first <= offset <= end for offset in starts):
            return True
    return False


def _with_starts(edits: Sequence[Edit]) -> Iterator[tuple[Edit, int]]:
    """Yield (edit, offset of its new text in the edited text) for edits in text order."""
    shift = 0
    for edit in edits:
        yield edit, edit.span.start + shift
        shift += len(edit.text) - (edit.span.end - edit.span.start)


def _with_unsafe_fix(item: Diagnostic) -> Diagnostic:
    """Return a diagnostic with its fix marked as unsafe."""
    assert item.fix is not None
    return replace(item, fix=replace(item.fix, applicability="unsafe"))


def _without_fix(item: Diagnostic) -> Diagnostic:
    """Return a diagnostic without its fix, and without the help that describes the fix."""
    described = item.fix is not None and item.help == item.fix.title
    return replace(item, fix=None, help=None if described else item.help)


def errors_after_mark(
    source: Source, mark: Diagnostic, replaced: int, parse: Parse
) -> list[Diagnostic]:
    """Return the errors after a mark, such as a wrong quote, that remain if the mark is fixed.

    `mark` is the diagnostic of the mark; `replaced` is the number of errors that it replaces.

    Returns:
        The errors, in text order; [] if the mark has no fix. Also [] if the fix is probably wrong:
        many errors remain, or one is on the line of the mark or the next line.
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
