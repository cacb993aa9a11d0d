# SPDX-License-Identifier: Apache-2.0
"""Verify the safe fixes of errors: apply them, and parse the text again.

The heuristics only test whether a fixed text is grammatical. If an action still finds an error in a
fixed text, the fix is not safe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from onnxtext.diagnostics import Diagnostic, Edit, Fix
from onnxtext.diagnostics.apply_edits import apply_edits
from onnxtext.source import Source

Parse = Callable[[Source], Sequence[Diagnostic]]
"""Parses a text and returns the diagnostics of its errors."""


def with_verified_fixes(
    source: Source, diagnostics: Sequence[Diagnostic], parse: Parse
) -> tuple[Diagnostic, ...]:
    """Mark a safe fix as unsafe if an error remains after it.

    If the text has other errors, only errors in the lines that the fix changes count.

    Args:
        source: the text.
        diagnostics: the diagnostics of the text, in text order.
        parse: parses a text. It is called at most once, with all safe fixes applied.
    """
    fixes = _safe_fixes(diagnostics)
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


def _safe_fixes(diagnostics: Sequence[Diagnostic]) -> list[Fix]:
    """Return the safe fixes, without those that overlap an earlier one."""
    chosen: list[Fix] = []
    end = -1
    for item in diagnostics:
        if item.fix is None or item.fix.applicability != "safe":
            continue
        spans = [edit.span for edit in item.fix.edits]
        if spans and min(spans).start > end:
            chosen.append(item.fix)
            end = max(span.end for span in spans)
    return chosen


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
