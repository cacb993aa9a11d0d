# SPDX-License-Identifier: Apache-2.0
"""Compute the lines that a fix removes from a text and adds to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onnxtext.diagnostics.model import Edit, Fix, apply_edits
from onnxtext.sequences import common_prefix
from onnxtext.source import Source

MAX_FIX_LINES = 8
"""Maximum number of lines to show per fix."""

MAX_CHANGED_LENGTH = 100_000
"""Maximum length of a change in characters: adjacent changed lines plus their replacement."""


@dataclass(frozen=True, slots=True)
class FixLine:
    """A line that a fix removes or adds.

    Attributes:
        added: whether the fix adds the line; False if it removes the line.
        number: 1-based line number in the old text; for an added line, in the old text after this
            change alone.
        line: the text of the line, without its line end.
        column: 0-based column at which the first removed line and the first added line begin to
            differ; 0 if lines are only removed or only added.
    """

    added: bool
    number: int
    line: str
    column: int


def changed_lines(source: Source, fix: Fix) -> list[FixLine]:
    """Return the lines that a fix removes and adds.

    Returns:
        The lines in text order; where lines are replaced, the removed lines precede the added
        ones. The list is cut to `MAX_FIX_LINES + 1` lines, so that the caller can recognize that
        there are more than `MAX_FIX_LINES`. It is empty if adjacent changed lines and their edits
        exceed `MAX_CHANGED_LENGTH`.
    """
    result: list[FixLine] = []
    for edits in _groups(source, sorted(fix.edits, key=lambda edit: edit.span)):
        first = source.position(edits[0].span.start).line
        last = source.position(edits[-1].span.end).line
        starts = source.line_starts
        start = starts[first - 1]
        end = starts[last] - 1 if last < len(starts) else len(source.text)
        if end - start + sum(len(edit.text) for edit in edits) > MAX_CHANGED_LENGTH:
            return []
        result += _lines(first, source.text[start:end], apply_edits(source.text, edits, start, end))
        if len(result) > MAX_FIX_LINES:
            return result[: MAX_FIX_LINES + 1]
    return result


def _groups(source: Source, edits: list[Edit]) -> Iterator[list[Edit]]:
    """Group the edits that touch the same lines."""
    group: list[Edit] = []
    last = 0
    for edit in edits:
        if group and source.position(edit.span.start).line > last:
            yield group
            group = []
        group.append(edit)
        last = source.position(edit.span.end).line
    if group:
        yield group


def _lines(first: int, old_text: str, new_text: str) -> list[FixLine]:
    """Return the removed and added lines: all lines from the first to the last difference.

    `first` is the number of the first line of `old_text`.
    """
    old = [line.removesuffix("\r") for line in old_text.split("\n")]
    new = [line.removesuffix("\r") for line in new_text.split("\n")]
    common_lines = common_prefix(old, new)
    old, new = old[common_lines:], new[common_lines:]
    below = common_prefix(old[::-1], new[::-1])
    old, new = old[: len(old) - below], new[: len(new) - below]
    first_line = first + common_lines
    column = common_prefix(old[0], new[0]) if old and new else 0
    return [
        *(FixLine(False, first_line + index, line, column) for index, line in enumerate(old)),
        *(FixLine(True, first_line + index, line, column) for index, line in enumerate(new)),
    ]
