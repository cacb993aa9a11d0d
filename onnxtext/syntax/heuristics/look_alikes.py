# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for look-alike and invisible characters, as in text copied from web pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import COMMENT, STRING, Span
from onnxtext.syntax.heuristics.error_context import Diagnosis, ErrorContext

_BLANKS = dict.fromkeys("\u00a0\u1680\u202f\u205f\u3000", " ") | {
    chr(code): " " for code in range(0x2000, 0x200B)
}
_INVISIBLE = dict.fromkeys("\u00ad\u061c\u180e\u2060\ufeff", "") | {
    chr(code): ""
    for first, last in ((0x200B, 0x200F), (0x202A, 0x202E), (0x2066, 0x2069))
    for code in range(first, last + 1)
}
_MARKS = (
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}  # full-width forms
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63", "-")
    | {"\u2026": "...", "\u2192": "=>", "\u21d2": "=>", "\u3001": ",", "\u2236": ":"}
)
_MEANT = _BLANKS | _INVISIBLE | _MARKS
_RUN = re.compile(f"[{re.escape(''.join(_MEANT))}]+")
_SKIPPED = re.compile(f"{STRING}|{COMMENT}|{_RUN.pattern}", re.DOTALL)


def lookalikes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose characters such as `（`, a no-break space, U+2212 or a byte order mark."""
    text = context.text
    found = _RUN.match(text, context.at)
    if found is None:
        return
    runs = [found.span()]
    runs += [
        other.span()
        for other in _SKIPPED.finditer(text, found.end(), context.line_end)
        if other[0][0] in _MEANT
    ]
    edits = tuple(
        Edit(Span(*run), "".join(_MEANT[character] for character in text[slice(*run)]))
        for run in runs
    )
    character = text[context.at]
    name = f"U+{ord(character):04X}"
    if character in _BLANKS:
        message, title = f"the character {name} is not a plain space", "write plain spaces"
    elif character in _INVISIBLE:
        message, title = f"the character {name} is invisible", "remove it"
    else:
        message = f"`{character}` is the character {name}, not `{_MEANT[character]}`"
        title = f"write `{edits[0].text}`"
    # First try to replace all look-alikes of the line, as they probably have one origin; then one.
    for some in (edits, edits[:1]):
        span = some[0].span
        yield Diagnosis("lookalike-character", message, span, some, title, least=0)
