# SPDX-License-Identifier: Apache-2.0
"""Recognize marks that copying adds to a text: line numbers, diffs, Markdown, HTML, Python.

The marks cause an error in nearly every line. One diagnostic replaces all these errors. For each
kind of marks, a function in `_RECOGNIZERS` returns this diagnostic, given the source and the
offsets of the errors. It returns None if the text does not have these marks.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from itertools import islice

from onnxtext.diagnostics import Diagnostic, Edit
from onnxtext.source import COMMENT, LINE_STRING, Source, Span, line_start
from onnxtext.syntax.heuristics.diagnosis import Diagnosis
from onnxtext.syntax.heuristics.foreign_syntax.markdown_and_comments import FENCE
from onnxtext.syntax.recovery.error_diagnostics import diagnosis_report

_MIN_LINES = 3
"""A mark at the start of each line is recognized only if at least this number of lines have it."""
_LINE = re.compile(r"^[^\S\n]*\S[^\n]*", re.MULTILINE)
_LINE_NUMBER = re.compile(r"\s*([0-9]+)([ \t]*[:|│→.)] ?|\t| )")
_ADDED = re.compile(r"\+")
_QUOTE = re.compile(r"> ?")
_QUOTED = re.compile(r"[ \t]{0,20}(?:>[ \t]?){1,8}")
_STRING_OR_COMMENT = re.compile(rf"{LINE_STRING}|{COMMENT}", re.DOTALL)
_DIFF_HEADER = re.compile(
    r"^(?:diff --git [^\n]*|index [0-9a-f]+\.\.[^\n]*|(?:---|\+\+\+) [^\n]*"
    r"|(?:new file|deleted file|old|new) mode [0-7]+|(?:dis)?similarity index [0-9]+%"
    r"|(?:rename|copy) (?:from|to) [^\n]*"
    r"|@@ -[0-9,]+ \+[0-9,]+ @@[^\n]*|\\ No newline at end of file)\r?$\n?",
    re.MULTILINE,
)
_DIFF_LINE = re.compile(
    r"^(?:(-)(?!-|>(?![ \t\r]*\{?[ \t\r]*$)|\.?[0-9]|(?i:inf|nan))[^\n]*\n?"
    r"|(\+)(?!\.?[0-9]|(?i:inf|nan)))",
    re.MULTILINE,
)
_DIFF_STATEMENT = re.compile(
    r"[-+](?:[^\n]*(?:[={}<:]|,[ \t\r]*$)|[ \t\r]*(?:[>#]|$"
    r"|(?:b?float|double|u?int|complex|bool|string|seq|map|optional|sparse)[^\n]* [\"\w]))",
    re.MULTILINE,
)
_ESCAPE = re.compile(
    r"&(?:amp;)*(?:lt|gt|quot|amp|apos|nbsp|(?P<number>#(?:[0-9]{1,7}|[xX][0-9A-Fa-f]{1,6})));"
)
_PYTHON_HEAD = re.compile(
    r"\s*(?:[A-Za-z_]\w*[ \t]*=[ \t]*(?:[A-Za-z_][\w.]*\()*|(?:[A-Za-z_][\w.]*\()+)\s*"
    r"(?P<prefix>[A-Za-z]{0,2})(?P<quotes>\"\"\"|''')\\?[ \t]*\n?"
)
_PART_OF_MODEL = re.compile(r"=>|\bir_version\b|\"\"\"|'''|^[ \t]*@\w", re.MULTILINE)


def replace_errors_of_marks(source: Source, diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Replace the errors that follow from marks which copying added, such as line numbers or `>`.

    The diagnostics must be in text order.

    Returns:
        The diagnostics before the first mark, then one diagnostic for all marks. `diagnostics`
        itself if there are no marks.
    """
    if not diagnostics:
        return diagnostics
    error_offsets = [item.labels[0].span.start for item in diagnostics]
    for recognizer in _RECOGNIZERS:
        found = recognizer(source, error_offsets)
        if found is not None:
            start = line_start(source.text, found.labels[0].span.start)
            return [*(item for item in diagnostics if item.labels[0].span.start < start), found]
    return diagnostics


def _diagnostic(
    source: Source,
    message: str,
    span: Span,
    title: str,
    edits: list[Edit],
    code: str = "foreign-word",
) -> Diagnostic:
    return diagnosis_report(source, Diagnosis(code, message, span, tuple(edits), title))


def _line_numbers(source: Source, error_offsets: list[int]) -> Diagnostic | None:
    """Recognize a number before each line, as in the output of `cat -n`.

    One line may have no number or a wrong number, because a user may have edited it.
    """
    first_lines = islice(_LINE.finditer(source.text), 2)
    numbers = (_LINE_NUMBER.match(source.text, line.start()) for line in first_lines)
    one = next((number for number in numbers if number is not None), None)
    if one is None:
        return None
    after = re.escape(one[2])  # equal in all lines, but an empty line may lack the blank
    empty = re.escape(one[2].rstrip(" "))
    pattern = re.compile(rf"[ \t]*([0-9]+)(?:{after}|{empty}(?=\r?$))")
    edits: list[Edit] = []
    last = last_line = wrong = 0
    for match in _LINE.finditer(source.text):
        number = pattern.match(source.text, match.start(), match.end())
        if number is None:
            wrong += 1
            if wrong > 1:
                return None
            continue
        value = int(number[1][:9])
        if edits:
            between = source.text.count("\n", last_line, match.start())
            wrong += value not in (last + 1, last + between)
            if wrong > 1:
                return None
        edits.append(Edit(Span(match.start(), number.end()), ""))
        last, last_line = value, match.start()
    if len(edits) < _MIN_LINES + 2 * wrong:
        return None
    span = Span(edits[0].span.start, len(source.text[: edits[0].span.end].rstrip()))
    return _diagnostic(
        source, "the lines begin with line numbers", span, "remove the line numbers", edits
    )


def _marked_lines(source: Source, mark: re.Pattern[str], message: str) -> Diagnostic | None:
    """Recognize a mark at the start of each line."""
    edits: list[Edit] = []
    for match in _LINE.finditer(source.text):
        marked = mark.match(source.text, match.start())
        if marked is None:
            return None
        edits.append(Edit(Span(*marked.span()), ""))
    if len(edits) < _MIN_LINES:
        return None
    start = edits[0].span.start
    title = "remove the marks"
    return _diagnostic(source, message, Span(start, start + 1), title, edits)


def _added_lines(source: Source, error_offsets: list[int]) -> Diagnostic | None:
    return _marked_lines(source, _ADDED, "the lines begin with the mark `+` of a diff")


def _quoted_lines(source: Source, error_offsets: list[int]) -> Diagnostic | None:
    first = _QUOTED.match(source.text)
    if first is None:
        return None
    mark = re.compile(rf"{first[0]}|{first[0].rstrip()}(?=\s*$)", re.MULTILINE)
    message = "the lines begin with the quotation mark `>`"
    return _marked_lines(source, mark, message) or _marked_lines(source, _QUOTE, message)


def _diff(source: Source, error_offsets: list[int]) -> Diagnostic | None:
    """Recognize removed and added lines of a diff, and its headers."""
    text = source.text
    lines_with_errors = [line_start(text, start) for start in error_offsets]
    if not any(
        _DIFF_HEADER.match(text, line) or _DIFF_LINE.match(text, line) for line in lines_with_errors
    ):
        return None
    headers = [Span(*match.span()) for match in _outside_strings(text, _DIFF_HEADER)]
    inside = {span.start for span in headers}
    lines = [m for m in _outside_strings(text, _DIFF_LINE) if m.start() not in inside]
    if not _is_diff_header(text, headers):
        headers = []
    removed = [Span(*match.span()) for match in lines if match[1]]
    added = [Span(*match.span()) for match in lines if match[2]]
    if not headers and (not added or len(lines) == 1 or not _are_statements(text, removed, added)):
        return None  # a Markdown list, or list items such as `-x`
    edits = [Edit(span, "") for span in sorted([*headers, *removed, *added])]
    start = edits[0].span.start
    end = len(text[start : edits[0].span.end].rstrip()) + start if headers else start + 1
    title = "remove the headers, the removed lines and the marks `+`"
    if not headers:
        title = "remove the lines that begin with `-`, and the marks `+`"
    if not headers and not removed:
        title = "remove the marks `+`"
    return _diagnostic(source, "the text has marks of a diff", Span(start, end), title, edits)


def _are_statements(text: str, *lines: list[Span]) -> bool:
    """Whether one of the lists is not empty and has only lines that seem to be statements."""
    return any(
        spans and all(_DIFF_STATEMENT.match(text, span.start) for span in spans) for spans in lines
    )


def _is_diff_header(text: str, headers: list[Span]) -> bool:
    """Whether the lines at the spans `headers` are the head of a diff.

    A line that begins with `---` is not enough: it may be a comment.
    """
    found = {text[span.start : span.start + 3] for span in headers}
    return bool(found & {"dif", "@@ "}) or found >= {"---", "+++"}


def _outside_strings(text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern that are not in strings or comments."""
    skipped = _STRING_OR_COMMENT.finditer(text)
    current = next(skipped, None)
    for match in pattern.finditer(text):
        while current is not None and current.end() <= match.start():
            current = next(skipped, None)
        if current is None or match.start() < current.start():
            yield match


def _prose(source: Source, error_offsets: list[int]) -> Diagnostic | None:
    """Recognize prose around models in Markdown fences."""
    text = source.text
    fences = [found for found in _outside_strings(text, FENCE) if found[0].lstrip()[0] != "-"]
    if not fences or len(fences) % 2 or error_offsets[0] >= fences[0].end():
        return None
    ends = [0, *(fence.end() for fence in fences)]
    parts = [Span(start, fence.start()) for start, fence in zip(ends, fences, strict=False)]
    parts.append(Span(ends[-1], len(text)))
    outside = [text[slice(*part)] for part in parts[::2]]
    models = [part for part in parts[1::2] if text.find("=>", *part) >= 0]
    if not models or not any(prose.strip() for prose in outside):
        return None
    if any(_PART_OF_MODEL.search(prose) for prose in outside):
        return None
    before = outside[0]
    start = len(before) - len(before.lstrip()) if before.strip() else fences[0].start()
    end = text.find("\n", start)
    code, message = "syntax-error", "this line is neither a statement nor a comment"
    if not before.strip():
        code, message = "foreign-word", "unexpected Markdown fence"
    title = "remove the fences and everything outside of them"
    span = Span(start, len(text[:end].rstrip()))
    if len(models) > 1:
        help = "keep one of the models in fences, and remove everything else"
        return diagnosis_report(source, Diagnosis(code, message, span, help=help))
    removed = (Span(0, models[0].start), Span(models[0].end, len(text)))
    edits = [Edit(part, "") for part in removed if part.start < part.end]
    return _diagnostic(source, message, span, title, edits, code)


def _html(source: Source, error_offsets: list[int]) -> Diagnostic | None:
    """Recognize escapes of HTML, such as `&lt;`."""
    text = source.text
    line = line_start(text, error_offsets[0])
    end = text.find("\n", error_offsets[0])
    if _ESCAPE.search(text, line, len(text) if end < 0 else end) is None:
        return None
    outside = next(_outside_strings(text, _ESCAPE), None)
    if outside is None or outside.start() > (len(text) if end < 0 else end):
        return None
    found = list(_outside_strings(text, _ESCAPE))
    # If the whole text is escaped, also replace the escapes in strings and comments. The rest of a
    # line after `&#60;` seems to be a comment, because of the `#`.
    if "<" not in text or any("quot" in match[0] or match["number"] for match in found):
        found = list(_ESCAPE.finditer(text))
    edits = [Edit(Span(*match.span()), _unescape(match[0])) for match in found]
    message = f"`{outside[0]}` is an HTML escape"
    title = f"write `{_unescape(outside[0])}`" if len(edits) == 1 else "replace the HTML escapes"
    return _diagnostic(source, message, Span(*outside.span()), title, edits)


def _unescape(escape: str) -> str:
    """Return the character of an escape, which may be escaped more than once: `&amp;lt;`."""
    name = escape.rpartition("&")[2].rpartition("amp;")[2] or "amp;"
    return html.unescape(f"&{name}").replace("\xa0", " ")


def _python_string(source: Source, error_offsets: list[int]) -> Diagnostic | None:
    """Recognize a string of Python around the text, such as `text = \"\"\"…\"\"\"`."""
    text = source.text
    head = _PYTHON_HEAD.match(text)
    if head is None:
        return None
    end = text.find(head["quotes"], head.end())
    tail = len(text[end:].rstrip()) + end
    if end < 0 or not re.fullmatch(r"\)*;?", text[end + 3 : tail].strip()):
        return None
    start = len(text) - len(text.lstrip())
    edits = [Edit(Span(0, head.end()), ""), Edit(Span(end, tail), "")]
    if "f" in head["prefix"].lower():
        doubled = re.compile(r"\{\{|\}\}").finditer(text, head.end(), end)
        edits += [Edit(Span(*match.span()), match[0][0]) for match in doubled]
    span = Span(start, len(text[: head.end()].rstrip()))
    message = "the text is in a string of Python"
    return _diagnostic(source, message, span, "remove the Python around the text", edits)


_RECOGNIZERS: tuple[Callable[[Source, list[int]], Diagnostic | None], ...] = (
    _line_numbers, _added_lines, _quoted_lines, _diff, _prose, _html, _python_string,
)  # fmt: skip
