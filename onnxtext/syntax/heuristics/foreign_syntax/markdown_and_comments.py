# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for Markdown formatting, and for comments of other languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, rewritten
from onnxtext.syntax.heuristics.error_context import ErrorContext, begins_line, innermost_bracket

_EMPHASIS = re.compile(
    r"[ \t]*(?P<mark>\*\*|__|`)(?P<line>[^\s*`][^*`\n]*[^\s*`])(?P=mark)[ \t\r]*$"
)
_LONE_RETURN = re.compile(r"\r(?!\n)")
_IN_BACKTICKS = re.compile(r"`([^`\"\\\n]+)`")
_TRAILING = re.compile(
    r"(?:(?:--+|;+|%+|!+)[ \t]*(?![\d.]+[ \t\r]*(?:[-+*/%]|$))"
    r"(?P<words>[^\W_][^=(<{}\[\]\n]*?)"
    r"|(?:<!--|\(\*)[ \t]*(?P<inside>.*?)[ \t]*(?:-->|\*\))?)[ \t\r]*$"
)


def emphasis(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a line with Markdown emphasis: `**y = Relu (x)**`."""
    match = _EMPHASIS.match(context.text, context.line_start, context.line_limit)
    if match is not None and begins_line(context.text, context.at):
        mark, end = match["mark"], match.end("line")
        message = f"unexpected {'backtick' if mark == '`' else f'`{mark}`'} of Markdown"
        first = Span(*match.span("mark"))
        edits = (Edit(first, ""), Edit(Span(end, end + len(mark)), ""))
        yield Diagnosis("foreign-word", message, first, edits, "remove the marks")


def backticks(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a name or string in backticks: `` y = Relu (`x`) ``."""
    match = _IN_BACKTICKS.match(context.text, context.at, context.line_limit)
    if match is None:
        return
    span = Span(*match.span())
    if match[1].isidentifier():
        message, edits = "a name must not be in backticks", (Edit(span, match[1]),)
        yield Diagnosis("foreign-word", message, span, edits, "remove the backticks")
    message, written = "a string must be in double quotes", f'"{match[1]}"'
    yield rewritten("single-quotes", message, span, written, min_tokens=2)


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
