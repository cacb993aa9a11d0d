# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for Markdown formatting, and for comments of other languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.error_context import (
    Diagnosis,
    ErrorContext,
    begins_line,
    innermost_bracket,
    line_end,
)

_EMPHASIS = re.compile(
    r"[ \t]*(?P<mark>\*\*|__|`)(?P<line>[^\s*`][^*`\n]*[^\s*`])(?P=mark)[ \t\r]*$"
)
_BULLET = re.compile(r"([ \t]*)(?P<mark>[-*+•][ \t]+)(?=[^\s])")
_MAX_LINES = 200
"""Maximum number of adjacent marked lines to collect."""
_LONE_RETURN = re.compile(r"\r(?!\n)")
_IN_BACKTICKS = re.compile(r"`([A-Za-z_]\w*)`")
_TRAILING = re.compile(
    r"(?:(?:--+|;+|%+|!+)[ \t]*(?![\d.]+[ \t\r]*(?:[-+*/%]|$))"
    r"(?P<words>[^\W_][^=(<{}\[\]\n]*?)"
    r"|(?:<!--|\(\*)[ \t]*(?P<inside>.*?)[ \t]*(?:-->|\*\))?)[ \t\r]*$"
)


def emphasis(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose adjacent lines with Markdown emphasis: `**y = Relu (x)**`."""
    if not begins_line(context.text, context.at):
        return
    marks: list[Span] = []
    mark = ""
    for match in _adjacent_lines(context, _EMPHASIS):
        if mark and match["mark"] != mark:
            break
        mark = match["mark"]
        marks += [Span(*match.span("mark")), Span(match.end("line"), match.end("line") + len(mark))]
    if marks:
        message = f"unexpected {'backtick' if mark == '`' else f'`{mark}`'} of Markdown"
        edits = tuple([Edit(span, "") for span in marks])
        yield Diagnosis("foreign-word", message, marks[0], edits, "remove the marks")


def bullets(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose adjacent lines with bullets of Markdown: `- y = Relu (x)`."""
    if context.done or not begins_line(context.text, context.at):
        return
    marks: list[Span] = []
    first = ""
    for match in _adjacent_lines(context, _BULLET):
        if first and match[1] != first:
            break
        first = match[1]
        marks.append(Span(*match.span("mark")))
    if len(marks) > 1:
        edits = tuple([Edit(span, "") for span in marks])
        message, span = "the lines begin with bullets of a list", Span(context.at, context.at + 1)
        yield Diagnosis("foreign-word", message, span, edits, "remove the bullets")


def _adjacent_lines(context: ErrorContext, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield the match of a pattern in the error's line and in each next line, while they match."""
    start = context.line_start
    for _ in range(_MAX_LINES):
        match = pattern.match(context.text, start, min(line_end(context.text, start), start + 1000))
        if match is None:
            return
        yield match
        start = context.text.find("\n", match.end()) + 1
        if not start:
            return


def backticks(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a name in backticks: `` y = Relu (`x`) ``."""
    match = _IN_BACKTICKS.match(context.text, context.at, context.line_limit)
    if match is not None:
        span = Span(*match.span())
        message, edits = "a name must not be in backticks", (Edit(span, match[1]),)
        yield Diagnosis("foreign-word", message, span, edits, "remove the backticks")


def carriage_return(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a carriage return in a comment: it ends lines only in old editors."""
    comment = context.text.find("#", context.previous_end, context.at)
    found = _LONE_RETURN.search(context.text, comment, context.at) if comment >= 0 else None
    if found is not None:
        message = "a carriage return without a line feed does not end the comment"
        help = "end all lines with line feeds"
        yield Diagnosis("syntax-error", message, Span(*found.span()), help=help)


def trailing_comment(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a comment of another language after a node or on its own line, such as `% bias`."""
    start = context.at - context.text.startswith("<!--", context.at - 1)
    done = [token for token in context.done if token.at < start]
    complete = not done or (done[-1] in {")", ">"} and innermost_bracket(done) is None)
    match = _TRAILING.match(context.text, start, context.line_limit)
    if match is None or not complete or "node" not in context.rules:
        return
    span = Span(*match.span())
    edits = (Edit(span, f"# {match['words'] or match['inside']}"),)
    message, title = "a comment must start with `#`", "write `#`"
    ends = match[0].rstrip().endswith("-->") and "-->" not in match["inside"]
    safe = ends and begins_line(context.text, start)
    yield Diagnosis("slash-comment", message, span, edits, title, safe=safe, min_tokens=0)
