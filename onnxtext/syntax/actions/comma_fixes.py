# SPDX-License-Identifier: Apache-2.0
"""Find the edits that correct the commas of a list of numbers, such as `[[1. 2.] [3. 4.]]`.

numpy prints arrays without commas, so people paste such lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.literal_brackets import BLANKS, blank_comments

_MOST_EDITS = 1000
_LONGEST = 100_000
"""Maximum length in characters of a list to correct: the corrected list is parsed, too."""

_MISSING = re.compile(rf"(?<=[\w).\]])(?=[{BLANKS}]+[-+\w(\[])|(?<=\])(?=\[)")
_SURPLUS = re.compile(rf"(?<=[\[{{,])([{BLANKS}]*),")


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
    try:
        clean = blank_comments(text)
        edits = [Edit(Span(match.start(), match.start()), ",") for match in _MISSING.finditer(clean)]
        edits += [Edit(Span(match.end(1), match.end()), "") for match in _SURPLUS.finditer(clean)]
        if not 0 < len(edits) <= _MOST_EDITS:
            return ()
        parse(_apply(text, edits))
    except LiteralError:
        return ()
    start = text.at
    return tuple([Edit(Span(e.span.start + start, e.span.end + start), e.text) for e in edits])


def _apply(text: str, edits: list[Edit]) -> str:
    parts, end = [], 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        parts += [text[end : edit.span.start], edit.text]
        end = edit.span.end
    return "".join([*parts, text[end:]])
