# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for decorators: wrong brackets and punctuation, and arguments without quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.suggestions import nearest_name
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, advice
from onnxtext.syntax.heuristics.error_context import ErrorContext

_TITLE = "correct the decorator"
_NAMES = (
    "doc", "meta", "denotation", "segment", "device", "set", "unset", "value_info", "initializers",
)  # fmt: skip
_WRONG = re.compile(
    r"""@[ \t]*(?P<name>\w+)[ \t]*(?:
        \[(?P<list>[^\]\[\n]*)\]
        | \{(?P<record>[^}{\n]*)\}
        | [=:]?[ \t]*(?P<string>"(?:[^"\\\n]|\\.)*"(?:[ \t]*:[ \t]*"(?:[^"\\\n]|\\.)*")?)
        | (?P<call>\()
        | (?P<words>\w+(?:[ \t]*,[ \t]*\w+)*)[ \t]*(?=\r?$)
        | (?P<nothing>[ \t]*(?=\r?$))
    )""",
    re.VERBOSE | re.MULTILINE,
)
_UNQUOTED = re.compile(r'@doc\([ \t]*(?P<text>[^\s"()][^"()\n]*?)[ \t]*\)')
_MAX_DECORATORS = 10


def wrong_decorator(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `@doc["…"]`, `@doc = "…"`, `@ doc("…")` and `@value_info initializers`."""
    if context.token is None or context.token[0] != "@":
        return
    match = _WRONG.match(context.text, context.at, context.line_limit)
    if match is None:
        return
    name = match["name"]
    if name not in _NAMES and nearest_name(name, _NAMES) is None:
        return
    if match["words"] is not None and name not in {"value_info", "initializers"}:
        return
    span = Span(*match.span())
    message = f"write `@{name}(…)`: the arguments of a decorator must be in `(…)`"
    if match["nothing"] is not None:
        message = f"the arguments of `@{name}` are missing"
        help = f"write them in parentheses, such as `@{name}(…)`"
        yield advice("syntax-error", message, span, help, Edit(span, ""), min_tokens=2)
        return
    if match["call"] is not None:
        message = f"write `@{name}(…)`: a decorator has no blanks between `@`, its name and `(`"
    edits = tuple(_corrections(context, match))
    for some in (edits, edits[:1]):
        yield Diagnosis("syntax-error", message, span, some, _TITLE, min_tokens=2)


def _corrections(context: ErrorContext, match: re.Match[str] | None) -> Iterator[Edit]:
    """Yield edits that correct the decorator of a match, and wrong decorators directly after it."""
    for _ in range(_MAX_DECORATORS):
        if match is None:
            return
        given = match.group("list", "record", "string", "words")
        arguments = next((text.strip() for text in given if text is not None), None)
        written = f"@{match['name']}(" if arguments is None else f"@{match['name']}({arguments})"
        yield Edit(Span(*match.span()), written)
        token = None if arguments is None else context.lexer.token(context.text, match.end())
        match = None if token is None else _WRONG.match(context.text, token.at, token.at + 1000)


def unquoted_doc(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `@doc(some text)`: the text lacks its quotes."""
    for match in _UNQUOTED.finditer(context.text, context.line_start, context.line_limit):
        if match.start("text") <= context.at <= match.end("text") and "\\" not in match["text"]:
            span, message = Span(*match.span("text")), "the text of `@doc` must be a string"
            edits = (Edit(span, f'"{match["text"]}"'),)
            yield Diagnosis("syntax-error", message, span, edits, "quote it", min_tokens=2)
