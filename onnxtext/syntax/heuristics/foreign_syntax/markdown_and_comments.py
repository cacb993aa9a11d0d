# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for Markdown formatting, and for comments of other languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.constructs.node_errors import NAMES
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, rewritten
from onnxtext.syntax.heuristics.error_context import (
    ErrorContext,
    begins_line,
    indentation,
    innermost_bracket,
    line_end,
)

_EMPHASIS = re.compile(
    r"[ \t]*(?P<mark>\*\*|__|```|`)[ \t]*(?P<line>[^\s*`][^*`\n]*[^\s*`])[ \t]*(?P=mark)[ \t\r]*$"
)
_LONE_RETURN = re.compile(r"\r(?!\n)")
_IN_BACKTICKS = re.compile(r"`([^`\"\\\n]+)`")
_TRAILING = re.compile(
    r"(?:(?:--+|;+|%+|!+)[ \t]*(?![\d.]+[ \t\r]*(?:[-+*/%]|$))"
    r"(?P<words>[^\W_][^=(<{}\[\]\n]*?)"
    r"|(?:<!--|\(\*)[ \t]*(?P<inside>.*?)[ \t]*(?:-->|\*\))?)[ \t\r]*$"
)
FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w.+= \t-]*\r?$\n?|^---+[ \t\r]*$\n?", re.MULTILINE)
"""Matches the line that begins or ends a block of code in Markdown."""
_OTHER_COMMENT = re.compile(r"--(?![->])|;+(?=[ \t]*\w)|<!--")
_MARKED_ATTRIBUTE = re.compile(r"--\w+[ \t]*=")
_BLOCK = re.compile(r"/\*(.*?)\*/|'''(.*?)'''", re.DOTALL)
_NUMBERS = frozenset(("INT", "FLOAT", "FLOAT_WORD", "NEGATIVE_WORD", "NUMBERS"))
_DIVISION = re.compile(r"//[ \t]*-?\d[\d.]*[ \t\r]*(?:(?:,.*)?[>\])}]|,?[ \t\r]*(?:#|$))")
_WORDS = re.compile(r"//[ \t]*\w+[ \t]+(?!(?:and|if|or)\b)\w")


def emphasis(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a line with Markdown emphasis: `**y = Relu (x)**`."""
    match = _EMPHASIS.match(context.text, context.line_start, context.line_limit)
    if match is not None and begins_line(context.text, context.at):
        mark, end = match["mark"], match.end("line")
        message = f"unexpected {'backtick' if mark[0] == '`' else f'`{mark}`'} of Markdown"
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
    if not match[1].lstrip("+-").replace(".", "").isdigit():  # a number may need no quotes
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


def code_as_comment(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a `#` before code on the line above, as in `Relu #(x)`, if the code parses."""
    above = [token.end for token in context.done if token.end <= context.line_start]
    end = above[-1] if above else context.previous_end
    start = context.text.find("#", end, context.line_start)
    remark = context.text.startswith("# ", start) and context.text[end - 1 : end] == ","
    if start >= 0 and not remark and not context.text[end:start].strip(" \t"):
        edits = (Edit(Span(start, start + 1), ""),)
        if context.is_certain(edits):
            message = "this `#` turns code into a comment"
            yield Diagnosis("syntax-error", message, edits[0].span, edits, "remove `#`")


def trailing_comment(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a comment of another language after a node or on its own line, such as `% bias`."""
    start = context.at - context.text.startswith("<!--", context.at - 1)
    done = [token for token in context.done if token.at < start]
    complete = not done or (done[-1] in {")", ">"} and innermost_bracket(done) is None)
    match = _TRAILING.match(context.text, start, context.line_limit)
    if match is None or not complete:
        return
    words = match["words"] is not None and context.text[match.start("words") - 1] in " \t"
    if "node" not in context.rules and (done or not words or begins_line(context.text, start)):
        return
    span = Span(*match.span())
    edits = (Edit(span, f"# {match['words'] or match['inside']}"),)
    message, title = "a comment must start with `#`", "write `#`"
    ends = match[0].rstrip().endswith("-->") and "-->" not in match["inside"]
    safe = ends and begins_line(context.text, start)
    yield Diagnosis("slash-comment", message, span, edits, title, safe=safe, min_tokens=0)


def other_comments(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `-- comment`, `; comment` and `<!-- comment -->` on their own lines."""
    start = context.line_start + indentation(context.text, context.at)
    match = _OTHER_COMMENT.match(context.text, start)
    if match is None or context.at > match.end():
        return
    if "attribute" in context.rules and _MARKED_ATTRIBUTE.match(context.text, start):
        return  # probably an attribute that is written like an option: `--axis = 1`
    span = Span(start, context.line_end)
    words = context.text[match.end() : context.line_end].strip().removesuffix("-->").strip()
    message = "a comment must start with `#`"
    edits = (Edit(span, f"# {words}"),)
    safe = match[0][0] != ";" and "-->" not in words
    yield Diagnosis("slash-comment", message, span, edits, "write `#`", safe=safe, min_tokens=0)


def slashes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `// comment` and `/* comment */`, but not `axis = 8 // 2`."""
    offset, text = context.at, context.text
    divides = _DIVISION.match(text, offset, context.line_limit) is not None
    kind = context.name(context.done[-1]) if context.done else ""
    listed = [token for token in context.done if token in {"[", "]"}][-1:] == ["["]
    named = kind in NAMES and (listed or context.done[-2:-1] in (["@"], ["="]))
    is_operand = kind in _NUMBERS or named
    if divides and is_operand:
        return
    if text.startswith("//", offset):
        span = Span(offset, context.line_end)
        edits = (Edit(Span(offset, offset + 2), "#"),)
        is_input = "node" in context.rules and context.done[-2:-1] in (["("], [","])
        after_node = text[context.previous_end - 1] == ")" and not begins_line(text, offset)
        words = _WORDS.match(text, offset, context.line_limit)
        safe = words is not None or not (is_operand or is_input or (after_node and divides))
        message, title = "a comment must start with `#`", "write `#`"
        yield Diagnosis("slash-comment", message, span, edits, title, safe=safe, min_tokens=0)
    elif text.startswith(("/*", "'''") if not context.done else "/*", offset):
        match = _BLOCK.match(text, offset, offset + 2000)
        if match is not None:
            span = Span(*match.span())
            body = (match[1] or match[2] or "").strip(" *")
            tail = text[span.end : line_end(text, span.end)]
            lines = [] if tail.strip() or not body else body.replace("\r", "").split("\n")
            newline = "\r\n" if "\r\n" in body else "\n"
            edits = (Edit(span, newline.join(f"# {line.strip(' *')}" for line in lines)),)
            message = "a comment must start with `#`, and ends at the end of the line"
            safe = bool(lines) or not body
            title = "write `#`" if lines else "remove the comment"
            yield Diagnosis("slash-comment", message, span, edits, title, safe=safe, min_tokens=0)
        elif not is_operand:
            span, message = Span(offset, offset + 2), "a comment must start with `#`"
            yield rewritten("slash-comment", message, span, "#", min_tokens=0)


def fences(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose Markdown fences, such as three backticks, around the text."""
    match = FENCE.match(context.text, context.line_start)
    if match is None or context.text[context.line_start : context.at].strip("`~- \t"):
        return
    edits = [Edit(Span(max(match.start(), context.region.start), match.end()), "")]
    last = FENCE.search(context.text, match.end())
    if last is not None:
        edits.append(Edit(Span(*last.span()), ""))
    span = Span(context.at, len(context.text[: match.end()].rstrip()))
    message = f"unexpected {'line of dashes' if match[0][0] == '-' else 'Markdown fence'}"
    yield Diagnosis("foreign-word", message, span, tuple(edits), "remove it")
    yield Diagnosis("foreign-word", message, span, tuple(edits[:1]), "remove it", min_tokens=0)
