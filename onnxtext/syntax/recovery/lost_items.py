# SPDX-License-Identifier: Apache-2.0
"""Drop errors about section entries that name a lost item, and about literals with lost rows.

An item or row is lost if it probably is not in the tree because of another error.
"""

from __future__ import annotations

from collections.abc import Collection

from onnxtext.diagnostics import Diagnostic
from onnxtext.source import Source
from onnxtext.suggestions import nearest_name
from onnxtext.syntax.actions.section_binding import DANGLING
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.heuristics.error_context import line_of
from onnxtext.syntax.recovery.error_diagnostics import semantic_error_report

_MAX_LITERAL_LENGTH = 8000
"""Maximum number of characters of a literal in which to search for its syntax error."""
_MAX_PARTS = 1000
"""Maximum number of matches to test for a whole name; then the name counts as found."""


def without_errors_of_lost_items(
    source: Source, errors: list[SemanticError], diagnostics: list[Diagnostic]
) -> list[SemanticError]:
    """Return `errors` without those that follow from a lost item or row.

    `errors` are the errors of actions; `diagnostics` are the syntax errors.
    """
    starts = [error.at or 0 for error in errors if error.code != DANGLING]
    starts += [item.labels[0].span.start for item in diagnostics]
    if not starts:
        return errors
    lines = {line_of(source.text, start) for start in starts}
    places = [item.labels[0].span.start for item in diagnostics]
    return [
        error
        for error in errors
        if not _is_lost(source, error, lines) and not _lacks_rows(source.text, error, places)
    ]


def _lacks_rows(text: str, error: SemanticError, places: Collection[int]) -> bool:
    """Whether an error marks the end of a literal that has a syntax error at one of `places`."""
    end = -1 if error.at is None else error.at
    if "]" not in text[max(end - 1, 0) : end + 1]:
        return False
    start = text.rfind("=", max(0, end - _MAX_LITERAL_LENGTH), end)
    return any(start < place < end for place in places)


def _is_lost(source: Source, error: SemanticError, lines: Collection[str]) -> bool:
    """Whether an error is about a section entry whose item is lost due to another error.

    `lines` are the texts of the lines with other errors.
    """
    if error.code != DANGLING or error.at is None:
        return False
    text = source.text
    name = text[slice(*semantic_error_report(source, error).labels[0].span)]
    similar = None if error.instead is None else error.instead.strip('"[]')
    if similar is not None and any(similar in line for line in lines):
        return True
    if error.step:  # the earlier steps match an item, whose parts may be lost
        return similar is None or nearest_name(name, [similar]) is None
    # The block to which the entry `key: above` refers may be lost.
    return name == "above" or _occurs(text, name, error.at)


def _occurs(text: str, name: str, end: int) -> bool:
    """Whether a whole name, quoted or not, occurs in a text before an offset."""
    place = -1
    for _ in range(_MAX_PARTS):
        place = text.find(name, place + 1, end)
        if place < 0:
            return False
        around = text[max(place - 1, 0) : place], text[place + len(name) : place + len(name) + 1]
        if not any(character.isalnum() or character == "_" for character in around):
            return True
    return True
