# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for Markdown formatting, and for comments of other languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.error_context import Diagnosis, ErrorContext, begins_line

_EMPHASIS = re.compile(
    r"[ \t]*(?P<mark>\*\*|__|`)(?P<line>[^\s*`][^*`\n]*[^\s*`])(?P=mark)[ \t\r]*$"
)
_IN_BACKTICKS = re.compile(r"`([A-Za-z_]\w*)`")
_TRAILING = re.compile(r"(?:--+|;+|%+)[ \t]*(?P<words>[^\W\d_][^=(<{}\[\]\n]*?)[ \t\r]*$")


def emphasis(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a line with Markdown emphasis: `**y = Relu (x)**`."""
    match = _EMPHASIS.match(context.text, context.line_start, context.line_limit)
    if match is None or not begins_line(context.text, context.at):
        return
    first = Span(*match.span("mark"))
    last = Span(match.end("line"), match.end("line") + len(match["mark"]))
    mark = "backtick" if match["mark"] == "`" else f"`{match['mark']}`"
    message = f"unexpected {mark} of Markdown"
    edits = (Edit(first, ""), Edit(last, ""))
    yield Diagnosis(
        "foreign-word", message, first, edits, "remove the marks", "unsafe", min_tokens=1
    )


def backticks(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a name in backticks: `` y = Relu (`x`) ``."""
    match = _IN_BACKTICKS.match(context.text, context.at, context.line_limit)
    if match is not None:
        span = Span(*match.span())
        message, edits = "a name must not be in backticks", (Edit(span, match[1]),)
        yield Diagnosis(
            "foreign-word", message, span, edits, "remove the backticks", "unsafe", min_tokens=1
        )


def trailing_comment(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a comment of another language after a node or on its own line, such as `% bias`."""
    if context.token is None or context.done or "node" not in context.rules:
        return
    match = _TRAILING.match(context.text, context.at, context.line_limit)
    if match is None:
        return
    span = Span(*match.span())
    edits = (Edit(span, f"# {match['words']}"),)
    message = "a comment must start with `#`"
    yield Diagnosis("slash-comment", message, span, edits, "write `#`", "unsafe", min_tokens=0)
