# SPDX-License-Identifier: Apache-2.0
"""Find edits that add or remove commas in a list of numbers, such as `[[1. 2.] [3. 4.]]`.

numpy prints arrays without commas, so people paste such lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from onnxtext.diagnostics import Edit, Fix
from onnxtext.source import Span
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.literal_brackets import BLANKS, blank_comments

_MAX_EDITS = 1000
_MAX_TEXT_LENGTH = 100_000
"""Maximum number of characters of a list to correct: testing a correction parses the whole list."""

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_MISSING = re.compile(rf"(?<=[\w).\]])(?=[{BLANKS}]+[-+\w(\[])|(?<=\])(?=\[)")
_SURPLUS = re.compile(rf"(?<=[\[{{,])([{BLANKS}]*),")


def changed_commas(text: str) -> list[Edit]:
    """Return the edits that add missing commas, remove extra commas, and replace `;` by `,`.

    The text is a list of numbers, words and strings.

    Raises:
        LiteralError: a character outside of strings and comments is not ASCII.
    """
    clean = blank_comments(_STRING.sub(lambda match: "x" * len(match[0]), text))
    edits = [Edit(Span(match.start(), match.start()), ",") for match in _MISSING.finditer(clean)]
    edits += [Edit(Span(match.end(1), match.end()), "") for match in _SURPLUS.finditer(clean)]
    edits += [Edit(Span(*match.span()), ",") for match in re.finditer(";", clean)]
    return sorted(edits, key=lambda edit: edit.span)


def comma_edits(text: str, parse: Callable[[str], object]) -> list[Edit]:
    """Return the edits that correct the commas of an invalid list.

    `parse` parses a list; it raises `LiteralError` if the list is invalid.

    Returns:
        The edits; [] if none are found, or if the list is too long.
    """
    for edits in _candidates(text) if len(text) <= _MAX_TEXT_LENGTH else ():
        try:
            parse(Fix("", tuple(edits)).apply(text))
        except LiteralError:
            continue
        return edits
    return []


def _candidates(text: str) -> Iterator[list[Edit]]:
    """Yield alternative edits of a list: for `0. 1`, first `0., 1` and then `0, 1`.

    The last alternative removes the second of two equal rows without a comma between them.
    """
    try:
        edits = changed_commas(text)
    except LiteralError:
        return
    if 0 < len(edits) <= _MAX_EDITS:
        yield edits
        yield [
            Edit(Span(edit.span.start - 1, edit.span.end), ",")
            if text[edit.span.start - 1] == "."
            else edit
            for edit in edits
        ]
        at = edits[0].span.start
        row = text[text.rfind("[", 0, at) : at]
        if len(edits) == 1 and text[at:].lstrip().startswith(row):
            yield [Edit(Span(at, text.find(row, at) + len(row)), "")]


def move_edits(edits: list[Edit], source_offset: Callable[[int], int | None]) -> tuple[Edit, ...]:
    """Convert edits of a list to edits of the source; () if an offset in the source is unknown.

    `source_offset` converts an offset in the list to one in the source, or returns None.
    """
    moved = []
    for (start, end), text in [(edit.span, edit.text) for edit in edits]:
        offset = source_offset(start)
        if offset is None:
            return ()
        moved.append(Edit(Span(offset, offset + end - start), text))
    return tuple(moved)
