# SPDX-License-Identifier: Apache-2.0
'''Find wrong or missing quotes of a string of several lines, such as `""` in place of `"""`.

After wrong quotes, the lexer reads text as strings and strings as text. The errors there follow
from the quotes; one diagnostic replaces them.
'''

from __future__ import annotations

import re

from onnxtext.diagnostics import Diagnostic
from onnxtext.source import Source, Span, line_start
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, advice, removed, rewritten
from onnxtext.syntax.heuristics.error_context import line_end
from onnxtext.syntax.recovery.error_diagnostics import diagnosis_report

_QUOTES = re.compile(
    r'''^[ \t]*#[^\n]*|(?P<first>^[ \t]*)?(?P<quotes>"""+)(?P<last>[ \t\r]*$)?''', re.MULTILINE
)
"""Matches a comment on a line of its own, or three or more quotes.

The group `first` matches if the quotes begin their line, and `last` if they end it.
"""
_OPENING = re.compile(
    r"""(?:[:=(,\[]|\bbase64)[ \t]*("{1,2}|'{3})(?=[ \t\r]*$)|(?::| =|\bbase64)[ \t]*(?=\r?$)""",
    re.MULTILINE,
)
"""Matches the end of a line that should end with the opening quotes of a string."""
_CLOSING = re.compile(r"""^[ \t]*("{1,2}|'{3})(?=[ \t\r,>)\]}]*$)""", re.MULTILINE)
"""Matches the start of a line that should begin with the closing quotes of a string."""


def without_cascade(source: Source, diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Replace the errors that follow from wrong quotes of a string of several lines.

    The diagnostics must be in text order.

    Returns:
        The diagnostics before the string, and one diagnostic about its quotes. If all quotes are
        right, if it is unknown which are wrong, or if no error follows the wrong quotes, returns
        `diagnostics` unchanged.
    """
    text = source.text
    if text.count('"""') % 2 == 0 and '""""' not in text:
        return diagnostics
    wrong = _wrong_quotes(text, diagnostics)
    if wrong is None:
        return diagnostics
    start, span, verb = wrong
    line = line_start(text, start)
    kept = [item for item in diagnostics if item.labels[0].span.start < line]
    if len(kept) == len(diagnostics):
        return diagnostics
    if verb == "lost":
        message = "the first line of this string is missing"
        result = advice("unclosed-string", message, span, 'write `KEY: """` before this line')
        return [*kept, diagnosis_report(source, result)]
    exact = next((item for item in diagnostics if item.labels[0].span.start == span.start), None)
    if exact is not None and not verb:
        return [*kept, exact]
    code, message = "unclosed-string", "this string is never closed"
    result = Diagnosis(code, message, span, help='add `"""` on a line of its own')
    if not verb and text[span.end :].lstrip(" \t")[:1] in {":", ","}:
        extra, title = Span(span.end - 1, span.end), 'remove the third `"`'
        result = removed(code, 'a string of one line must begin with `"`', extra, title)
    if verb:
        message = f'a string of several lines must {verb} with `"""`'
        result = rewritten(code, message, span, '"""')
    return [*kept, diagnosis_report(source, result)]


def _wrong_quotes(text: str, diagnostics: list[Diagnostic]) -> tuple[int, Span, str] | None:
    """Find the first wrong quotes.

    Returns:
        The start of the string, the span of the wrong quotes, and a word: "begin" or "end" if the
        string must begin or end with other quotes, "" if no closing quotes were found, "lost" if
        the line with the opening quotes is missing: then the span is that of the first error in
        the string. None if all quotes are right, or if it is unknown which quotes are wrong.
    """
    opened: int | None = None
    before = 0
    for match in _QUOTES.finditer(text):
        if match["quotes"] is None:
            continue
        offset, end = match.span("quotes")
        first, last = match["first"] is not None, match["last"] is not None
        if opened is None:
            if first and (place := _find_opening_quotes(text, before, offset)) is not None:
                return place.start, place, "begin"
            ends = first and not text[end : line_end(text, end)].strip(" \t,)]}>")
            spans = (item.labels[0].span for item in diagnostics if item.code != "smart-quotes")
            inside = next((span for span in spans if before < span.start < offset), None)
            if ends and inside is not None:
                return inside.start, inside, "lost"
            opened = offset
        elif last and not first:  # these quotes begin another string
            return _find_closing_quotes(text, opened, offset)
        elif end - offset > 3:
            return opened, Span(offset, end), "end"
        else:
            opened = None
        before = end
    return None if opened is None else _find_closing_quotes(text, opened, len(text))


def _find_closing_quotes(text: str, opened: int, end: int) -> tuple[int, Span, str]:
    """Find the wrong closing quotes of the string at `opened`, which must end before `end`.

    Return a tuple like `_wrong_quotes`.
    """
    close = _CLOSING.search(text, opened + 3, end)
    if close is not None:
        return opened, Span(*close.span(1)), "end"
    return opened, Span(opened, opened + 3), ""


def _find_opening_quotes(text: str, start: int, end: int) -> Span | None:
    """Return the place of the wrong or missing opening quotes of a string; None if unknown.

    `start` is the end of the previous triple quotes, or 0; `end` is the start of the closing
    quotes.
    """
    end = line_start(text, end)
    places = [
        Span(match.end() - len(match[1] or ""), match.end())
        for match in _OPENING.finditer(text, start, end)
    ]
    return places[-1] if places and text[places[-1].end : end].strip() else None
