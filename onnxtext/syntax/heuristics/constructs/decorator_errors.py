# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for decorators: wrong brackets and punctuation, and arguments without quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import LINE_STRING, Span
from onnxtext.suggestions import nearest_name
from onnxtext.syntax.heuristics.error_context import Diagnosis, ErrorContext, begins_line

_TITLE = "correct the decorator"
_NAMES = (
    "doc", "meta", "denotation", "segment", "device", "set", "unset", "value_info", "initializers",
)  # fmt: skip
_WRONG = re.compile(
    r"""@[ \t]*(?P<name>\w+)[ \t]*(?:
        \[(?P<list>[^\]\[\n]*)\]
        | \{(?P<record>[^}{\n]*)\}
        | =?[ \t]*(?P<string>"(?:[^"\\\n]|\\.)*"(?:[ \t]*:[ \t]*"(?:[^"\\\n]|\\.)*")?)
        | (?P<call>\()
        | (?P<words>\w+(?:[ \t]*,[ \t]*\w+)*)[ \t]*(?=\r?$)
        | (?P<nothing>[ \t]*(?=\r?$))
    )""",
    re.VERBOSE | re.MULTILINE,
)
_UNQUOTED = re.compile(r'@doc\([ \t]*(?P<text>[^\s"()][^"()\n]*?)[ \t]*\)')
_OPENING = re.compile(r"@[A-Za-z_][\w.]*\(")
_ARGUMENT = re.compile(rf"{LINE_STRING}|(?P<equals>=)|(?P<end>\))", re.DOTALL)
_MAX_DECORATORS = 10
_MAX_LENGTH = 400
"""Maximum number of characters to inspect before and after an error in a decorator."""


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
    code, message = (
        "syntax-error",
        f"write `@{name}(…)`: the arguments of a decorator must be in `(…)`",
    )
    if match["nothing"] is not None:
        message = f"the arguments of `@{name}` are missing"
        help = f"write them in parentheses, such as `@{name}(…)`"
        yield Diagnosis(code, message, span, (Edit(span, ""),), help=help, min_tokens=2)
        return
    if match["call"] is not None:
        message = f"write `@{name}(…)`: a decorator has no blanks between `@`, its name and `(`"
    edits = tuple(_corrections(context, match))
    for some in (edits, edits[:1]):
        yield Diagnosis(code, message, span, some, _TITLE, min_tokens=2)


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


def decorated_output(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a decorator of an output after the first: `y, @meta("k": "v") z = Split (x)`."""
    done, token = context.done, context.token
    if token is None or token[0] != "@" or done[-1:] != [","] or "node" not in context.rules:
        return
    if "=" in done:
        return
    depth = 0
    for last in context.rest:
        depth += last.endswith("(") - (last == ")")
        if not depth:
            span = Span(context.at, last.end)
            message = "an output of a node cannot have decorators"
            help = (
                "write the decorator before the node; write metadata of a typed output in the "
                "section `metadata`, in a block such as `value y { … }`"
            )
            yield Diagnosis("syntax-error", message, span, (Edit(span, ""),), help=help)
            return


def unquoted_doc(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `@doc(some text)`: the text lacks its quotes."""
    for match in _UNQUOTED.finditer(context.text, context.line_start, context.line_limit):
        if match.start("text") <= context.at <= match.end("text") and "\\" not in match["text"]:
            span = Span(*match.span("text"))
            message, edits = (
                "the text of `@doc` must be a string",
                (Edit(span, f'"{match["text"]}"'),),
            )
            yield Diagnosis("syntax-error", message, span, edits, "quote it", min_tokens=2)


def equals_in_decorator(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `=` between keys and values of a decorator: `@meta("k" = "v")`."""
    if context.token != "=":
        return
    text, earliest = context.text, max(0, context.at - _MAX_LENGTH)
    start = next(
        (m.end() for m in reversed(list(_OPENING.finditer(text, earliest, context.at)))), None
    )
    if start is None:
        return
    equals = []
    for match in _ARGUMENT.finditer(text, start, context.at + _MAX_LENGTH):
        if match["end"] is not None:
            break
        if match["equals"] is not None:
            equals.append(Span(*match.span()))
    if not any(span.start == context.at for span in equals):
        return
    edits = tuple(
        [Edit(_with_blank(text, span), ":") for span in equals if span.start >= context.at]
    )
    message = "expected `:` between a key and its value, found `=`"
    yield Diagnosis(
        "wrong-mark", message, context.token.span, edits, "write `:`", safe=True, min_tokens=2
    )


def _with_blank(text: str, span: Span) -> Span:
    """Extend a span to include the blank before it, except at the start of a line."""
    before = span.start - (text[span.start - 1] == " " and not begins_line(text, span.start))
    return Span(before, span.end)
