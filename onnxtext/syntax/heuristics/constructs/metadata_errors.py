# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for the heads of sections and of metadata blocks, and for metadata values."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import SECTIONS, Span, line_start
from onnxtext.syntax.actions.metadata_section import BLOCKS
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.constructs.section_errors import SECTION_TERMINALS
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, removed, rewritten, written_title
from onnxtext.syntax.heuristics.error_context import ErrorContext, begins_line, insert, line_end

_NEXT_LINE = 20
"""Maximum number of characters between the name of a section and a `{` on the next line."""
_WORD = rf'"?({"|".join(SECTIONS)})"?'
_SECTION_COLON = re.compile(
    rf"[ \t]*(?P<head>{_WORD}[ \t]*[:=]?)(?:\s*(?P<brace>\{{)|(?<=:)[ \t\r]*(?:#[^\n]*)?$)",
    re.MULTILINE,
)
_HEAD_LINE = re.compile(
    rf"^(?:(?P<name>{'|'.join(sorted({*SECTIONS} - {'configuration'}))})|resources[ \t]*<)"
    r"(?=[ \t\r]*(?:#[^\n]*)?$)",
    re.MULTILINE,
)
_END_LINE = re.compile(r"^[}>]", re.MULTILINE)
_BLOCK_COLON = re.compile(rf"[ \t]*((?:{'|'.join(BLOCKS)})\b[^\n#:]*)[ \t]*:[ \t\r]*$")
_CALLED = re.compile(r"[ \t]*\(([^()\n]+)\)[ \t]*\{")
KEY = r'(?:"(?:[^"\\\n]|\\.)*"|\b\w+)'
"""Matches the key of a metadata entry: a string or a whole word."""
_ENTRY = re.compile(rf"[ \t]*{KEY}[ \t]*:[ \t]*(?P<value>[\w\[/.-][^\n#]*?)[ \t\r]*$", re.MULTILINE)
_ONE_STRING = re.compile(r'\[[ \t]*"([^"\\]*)"[ \t]*\]')
_MAX_VALUE_LENGTH = 1000
_FUNCTION = re.compile(r'(?:<[ \t]*\n?[ \t]*\w+[ \t]*:|[\w."]+[ \t]*[<(][^\n]*=>)')


def section_colon(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `metadata: {`, `"metadata": {` and `metadata:`."""
    limit = context.line_limit + _NEXT_LINE
    match = _SECTION_COLON.match(context.text, context.line_start, limit)
    if match is None or not match.start("head") <= context.at < match.end():
        return
    word, span = match[2], Span(*match.span("head"))
    message = f"a section must begin with `{word} {{`"
    edits = (Edit(span, word if match["brace"] else f"{word} {{"),)
    yield Diagnosis("syntax-error", message, span, edits, f"write `{word} {{`", min_tokens=2)


def section_brace(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a first line `metadata` or `resources <` of a section."""
    text, opened = context.text, context.opened
    inside = opened is not None and "attribute" in context.rules
    start = context.region.start if opened is None else line_start(text, opened.start)
    head = _HEAD_LINE.match(text, start)
    if head is None or inside == (head["name"] is not None):
        return
    word, span = head["name"] or "resources", Span(*head.span())
    message, title = f"a section must begin with `{word} {{`", f"write `{word} {{`"
    if not inside:
        edits = (insert(head.end(), " {"),)
        yield Diagnosis("syntax-error", message, span, edits, title, min_tokens=2)
        return
    end = _END_LINE.search(text, context.line_limit)
    skip_to = len(text) + 1 if end is None else end.end()
    yield Diagnosis("syntax-error", message, span, help=title, skip_to=skip_to)


def block_head(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose the heads `value x: {`, `value x:` and `value(x) {` of metadata blocks."""
    token, done = context.token, context.done
    if "metadata_item" not in context.rules or not done or done[0] not in BLOCKS:
        return
    last = done[-1]
    line = line_start(context.text, done[0].at)
    head = _BLOCK_COLON.match(context.text, line, line_end(context.text, line))
    if head is not None and head.end() <= context.at:
        message = f"a metadata block must begin with `{head[1].strip()} {{`"
        edits, span = (Edit(Span(head.end(1), head.end()), " {"),), Span(done[0].at, head.end(1))
        yield Diagnosis("syntax-error", message, span, edits, "write `{`", min_tokens=2)
    if token == "{" and last == ":":
        message, title = "unexpected `:` before `{`", "remove `:`"
        yield removed("syntax-error", message, last.span, title, safe=True, min_tokens=2)
    elif token == "(" and len(done) == 1:
        match = _CALLED.match(context.text, last.end, context.line_limit)
        if match is not None:
            span, written = Span(last.at, match.end(1) + 1), f"{last} {match[1].strip()}"
            message = "the name of a metadata block must not be in brackets"
            yield rewritten("wrong-mark", message, span, written, safe=True, min_tokens=2)
    yield from _path(context, done[0])


_PATH = re.compile(r"[ \t]+(?P<path>[A-Za-z_\[][\w.\[\] \t]*?)[ \t]*(?=[:{])")
_BETWEEN_STEPS = re.compile(r"\.|(?<=\])(?=\w)")
_INDEXED = re.compile(r"(.*?\D)(\d+)")


def _path(context: ErrorContext, kind: Token) -> Iterator[Diagnosis]:
    """Diagnose a path with a wrong bracket, blank or `.`: `node y]`, `graph y.e l[0]`, `node y..z`.

    The fix writes a wrong step as a label if this label occurs earlier in the text. Otherwise, a
    number at the end of the step becomes an index in brackets.
    """
    match = _PATH.match(context.text, kind.end, context.line_end)
    if match is None or match.end("path") < context.at:
        return
    steps = []
    for step in filter(None, _BETWEEN_STEPS.split(match["path"])):
        word = re.sub(r"\W", "", step)
        if not word or (word != step and " " in step and word not in context.text[: kind.at]):
            return
        indexed = _INDEXED.fullmatch(word) if word != step else None
        if f"[{word}]" in context.text[: kind.at] and word != step:
            steps.append(f"[{word}]")
        else:
            steps.append(word if indexed is None else f"{indexed[1]}[{indexed[2]}]")
    message, span = f"`{match['path']}` is not a path", Span(*match.span("path"))
    if ".".join(steps) != match["path"]:
        yield rewritten("syntax-error", message, span, ".".join(steps), min_tokens=2)


def bare_metadata_value(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose metadata values that are not strings: `k: v"`, `k: two words`, `k: [1, 2]`."""
    if "metadata_item" not in context.rules:
        return
    match = _ENTRY.match(context.text, context.line_start, context.line_limit)
    if match is None or not match.start("value") <= context.at < match.end("value"):
        return
    written = quoted_value(match["value"])
    if written is None or match["value"] in BLOCKS or match.end() < context.line_end:
        return
    span = Span(*match.span("value"))
    message = "the value of a metadata entry must be a string or `above`"
    edits, title, help = (Edit(span, written),), written_title(written), None
    if '"' in written[1:-1]:  # it is unknown which quotes are right
        title, help = "", 'write `"…"`'
    yield Diagnosis("syntax-error", message, span, edits, title, help=help, replaces_errors=True)


def bare_value(text: str, offset: int) -> tuple[Span, str] | None:
    """Return the span of the metadata value that begins at an offset, and the value in quotes.

    The value is the rest of the line. Return None if no metadata value begins at the offset, or if
    quotes do not make it a string (see `quoted_value`).
    """
    start = line_start(text, offset)
    match = _ENTRY.match(text, start, min(line_end(text, offset), start + _MAX_VALUE_LENGTH))
    if match is None or match.start("value") != offset:
        return None
    written = quoted_value(match["value"])
    return None if written is None else (Span(*match.span("value")), written)


def quoted_value(value: str) -> str | None:
    """Return a metadata value in quotes; None if it begins with a quote, has a brace or is long."""
    if value[0] in "\"'" or "{" in value or "}" in value or len(value) > _MAX_VALUE_LENGTH:
        return None
    one = _ONE_STRING.fullmatch(value)
    plain = one[1] if one else value.removesuffix('"') if value.count('"') == 1 else value
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def function_after_sections(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a function after a section."""
    text = context.text
    if context.token is None or not begins_line(text, context.at) or context.token in SECTIONS:
        return
    if text[context.previous_end - 1 : context.previous_end] != "}":
        return
    if _FUNCTION.match(text, context.at, line_end(text, context.at) + 200) is None:
        return
    expected = set(context.expected())
    if not SECTION_TERMINALS & expected or "LESSTHAN" in expected or "WORD" in expected:
        return
    message = "the functions of a model belong before its sections"
    span, help = context.token.span, "move this function before the first section"
    yield Diagnosis("misplaced-section", message, span, help=help, skip_to=len(text) + 1)
