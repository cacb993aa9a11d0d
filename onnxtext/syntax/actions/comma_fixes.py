# SPDX-License-Identifier: Apache-2.0
"""Find the edits that correct the commas of a list of numbers, such as `[[1. 2.] [3. 4.]]`.

numpy prints arrays without commas, so people paste such lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.literal_brackets import BLANKS, blank_comments

_MOST_EDITS = 1000
_LONGEST = 100_000
"""Maximum length in characters of a list to correct: the corrected list is parsed, too."""

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_MISSING = re.compile(rf"(?<=[\w).\]])(?=[{BLANKS}]+[-+\w(\[])|(?<=\])(?=\[)")
_SURPLUS = re.compile(rf"(?<=[\[{{,])([{BLANKS}]*),")


def changed_commas(text: str, start: int) -> list[Edit]:
    """Return the edits that add missing commas, remove repeated ones, and replace `;` by `,`.

    Args:
        text: a list of numbers, words and strings.
        start: the offset of the list in the source.

    Raises:
        LiteralError: a character outside of strings and comments is not ASCII.
    """
    clean = blank_comments(_STRING.sub(lambda match: "x" * len(match[0]), text))
    edits = [(match.start(), match.start(), ",") for match in _MISSING.finditer(clean)]
    edits += [(match.end(1), match.end(), "") for match in _SURPLUS.finditer(clean)]
    edits += [(match.start(), match.end(), ",") for match in re.finditer(";", clean)]
    return [Edit(Span(start + first, start + last), new) for first, last, new in sorted(edits)]


def comma_edits(text: str, parse: Callable[[str], object]) -> tuple[Edit, ...]:
    """Return the edits of the source that add missing commas and remove repeated ones.

    Args:
        text: an invalid list.
        parse: parses a list; raises `LiteralError` if it is invalid.

    Returns:
        The edits; () if the list stays invalid, is long, or its offset in the source is unknown.
    """
    if not isinstance(text, Token) or len(text) > _LONGEST:
        return ()
    for edits in _candidates(text):
        try:
            parse(_apply(text, text.at, edits))
        except LiteralError:
            continue
        return tuple(edits)
    return ()


def _candidates(text: Token) -> Iterator[list[Edit]]:
    """Yield the possible edits of a list: in `0. 1`, a comma is missing, or the point is one."""
    try:
        edits = changed_commas(text, text.at)
    except LiteralError:
        return
    if 0 < len(edits) <= _MOST_EDITS:
        yield edits
        points = [edit.span.start - 1 for edit in edits]
        if any(text[point - text.at] == "." for point in points):
            yield [
                Edit(Span(point, edit.span.end), ",") if text[point - text.at] == "." else edit
                for point, edit in zip(points, edits, strict=True)
            ]


def _apply(text: str, start: int, edits: list[Edit]) -> str:
    """Return a text that begins at an offset of the source, with sorted edits applied."""
    parts, end = [], 0
    for edit in edits:
        parts += [text[end : edit.span.start - start], edit.text]
        end = edit.span.end - start
    return "".join([*parts, text[end:]])
