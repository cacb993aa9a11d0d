# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for lists: brackets and separators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace as replace_fields
from itertools import pairwise
from math import inf

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.actions.number_list_commas import changed_commas, move_edits
from onnxtext.syntax.heuristics.constructs.node_errors import in_attributes
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, advice, removed, rewritten, unclosed
from onnxtext.syntax.heuristics.error_context import (
    CLOSING,
    ErrorContext,
    begins_line,
    indentation,
    innermost_bracket,
    insert,
)
from onnxtext.tensor.errors import LiteralError

_FARTHEST = 4000
_UNOPENED_ROW = re.compile(
    r"[\[\]],?[ \t\r]*(?:#[^\n#\[\]]*)?\n[ \t]*(?P<row>-?\d[^\n#\[\]]*(?=\]))"
)
"""Matches a row without its `[`, and the bracket that ends the line before it."""
_THOUSANDS = re.compile(
    r"[ \t]*(-?[1-9][0-9]{0,2}(?=[0-9,]*,0)(?:,[0-9]{3})+(?:\.[0-9]+)?)"
    r"(?![\w.]|[ \t]*,[ \t]*[-0-9])"
)
"""Matches a number such as `1,000`, but not a list such as `1,100`."""
_ROW = re.compile(r"#[^\n]*|[\[\]]|[^\s,#\[\]]+")


def thousands_separators(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a comma between the digits of a number: `a = 1,000`, `model_version: 1,000`."""
    if context.name(context.token) not in _NUMBERS:
        return
    start = max(context.text.rfind(mark, context.line_start, context.at) for mark in "=:") + 1
    match = _THOUSANDS.match(context.text, start) if start else None
    if match is not None and match.start(1) < context.at < match.end():
        span, message = Span(*match.span(1)), "a number cannot have `,` between its digits"
        written = match[1].replace(",", "")
        yield rewritten("number-separator", message, span, written)
        # The number may begin before the context. Then remove only the rest of it.
        comma = context.done[0] if context.done[:1] == [","] else None
        edits = [] if comma is None else [Edit(Span(comma.at, span.end), "")]
        result = advice("number-separator", message, span, f"write `{written}`", *edits)
        yield replace_fields(result, edit_cost=0 if edits else inf)


def list_without_brackets(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a list without brackets in an attribute: `pads = 1, 1, 1, 1`."""
    done, rest = context.done, context.rest
    number = context.name(context.token) in _NUMBERS
    if not number or done[-1:] != [","] or done[-3:-2] != ["="] or not in_attributes(context):
        return
    size = 1
    for comma, item in zip(rest[1::2], rest[2::2], strict=False):
        if comma != "," or context.name(item) not in _NUMBERS:
            break
        size += 2
    span = Span(done[-2].at, rest[size - 1].end)
    edits = (insert(span.start, "["), insert(span.end, "]"))
    message, help = "a list in an attribute must be in square brackets", None
    decimal = _DECIMAL_COMMA.fullmatch(context.text, *span)
    if decimal is not None:
        help = f"write `[{decimal[0]}]`, or `{decimal[0].replace(',', '.')}` for a fraction"
    result = rewritten("missing-bracket", message, span, "[…]", safe=decimal is None)
    yield replace_fields(result, edits=edits, help=help)


_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
_NUMBERS = frozenset(("INT", "FLOAT"))
_ELEMENTS = frozenset(("INT", "FLOAT", "HEX", "NUMBERS", "NESTED", "LSQB"))
_LIST_PIECE = re.compile(r"#[^\n]*|[][{}]|\"(?:[^\"\\\n]|\\.)*\"|[^][{}#\"]+")


def list_separators(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a list without commas or with `;`: `[true false]`, `[1; 2]`."""
    index = innermost_bracket(context.done)
    while index and context.done[index - 1] in {"[", ",", "]"}:  # a row of a nested list
        index = innermost_bracket(context.done[:index])
    if index is None or context.done[index] not in {"[", "{"} or context.token is None:
        return
    start = context.done[index].at
    end = _list_end(context.text, start)
    try:
        changes = changed_commas(context.text[start:end])
    except LiteralError:
        return
    added = [change for change in changes if change.text]
    edits = move_edits(added, start.__add__)
    span = context.token.span
    if context.token == ";" and (context.ahead[:1] in (["]"], ["}"]) or context.done[-1] in "[{"):
        return  # the `;` separates nothing
    if edits and context.token == ";":
        message, title = "expected `,`, found `;`", "write `,`"
        yield Diagnosis("semicolon", message, span, edits, title, safe=True, min_tokens=3)
    elif edits:
        message, title = "expected `,` between two elements", "add `,`"
        end = edits[0].span.start
        if "\n" in context.text[end : context.at]:
            span = Span(end - 1, end)
        yield Diagnosis("syntax-error", message, span, edits, title, min_tokens=3)


def _list_end(text: str, start: int) -> int:
    """Return the offset after the list that begins at `start`; `start` if no end is found."""
    depth, end = 0, start
    while end - start < _FARTHEST and (match := _LIST_PIECE.match(text, end)) is not None:
        depth += (match[0] in {"[", "{"}) - (match[0] in {"]", "}"})
        end = match.end()
        if not depth:
            return end
    return start


def unclosed_row(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a row of a tensor that lacks its `]` or has an extra `[`.

    To find the row, inspect the rank of the tensor and the indentation of rows and brackets.
    """
    text, done = context.text, context.done
    # A `[` that recovery inserted has the offset of another token: the text has no `[` there.
    starts = [
        index
        for index, (token, value) in enumerate(pairwise(done), 1)
        if value[0] == "[" and text.startswith("[", value.at) and token not in {"[", ",", "]"}
    ]
    if not starts:
        return
    types = [token for token in done[: starts[-1]][-3:] if context.name(token) == "TYPE"]
    rank = types[-1].count(",") + 1 if types else inf
    opened: list[int] = []
    last = done[starts[-1]].at
    for match in _ROW.finditer(text, last, context.at + 1):
        offset, token = match.start(), match[0]
        if token[0] == "#":
            continue
        if token == "[" and len(opened) == rank:
            twice = text[last - 1] == "["
            comma = "" if "," in text[last:offset] else ","
            edit = Edit(Span(last - 1, last), "") if twice else insert(last, f"]{comma}")
            yield _unclosed_row(opened[-1], edit)
            return
        if token in "[]" and opened and begins_line(text, offset) and begins_line(text, opened[-1]):
            deeper = indentation(text, offset) - indentation(text, opened[-1])
            if deeper < 0 or (not deeper and token == "["):
                yield _unclosed_row(opened[-1], insert(last, "]"))
                return
        last = match.end()
        if token == "[":
            opened.append(offset)
        elif token == "]":
            opened.pop()
            if not opened:
                return
    begins = begins_line(text, context.at) and text[context.previous_end - 1] != "["
    closed = bool(opened) and _list_end(text, opened[0]) > opened[0]
    if opened and begins and not closed and not context.after_attributes:
        comma = "" if context.token in CLOSING else ","
        yield _unclosed_row(opened[0], insert(context.previous_end, "]" * len(opened) + comma))


_EMPTY_PAIR = re.compile(
    r"(?:\(\)|\[\]|<>)(?=[\w\"](?:[^()\[\]<>\n]|\([^()\n]*\)|\[[^\]\n]*\])*([)\]>]))"
)


def empty_pair(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose brackets that an editor closed too early: `Relu ()x)` and `<>axis = 1>`."""
    for match in _EMPTY_PAIR.finditer(context.text, context.line_start, context.line_limit):
        span, bracket = Span(match.end() - 1, match.end()), match[0][1]
        if not span.start <= context.at < match.end(1) or match[1] != bracket:
            continue
        message, title = f"unexpected `{bracket}`: the list follows", f"remove `{bracket}`"
        if span.start >= context.region.start:
            yield removed("syntax-error", message, span, title, min_tokens=2)
        elif bracket == ")":  # the parser has completed the node
            yield advice("syntax-error", message, span, title, insert(span.end, "A = A ("))


def early_end(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a `]` before the last elements of a list: `[1, 2], 3, 4]`."""
    done = context.done
    if not {"value_info", "attribute"} & context.rules:
        return
    last = done[-2:-1] if done[-1:] == [","] else done[-1:]
    if not last or last[0][-1] != "]" or context.name(context.token) not in _ELEMENTS:
        return
    rows = any(context.name(token) == "TYPE" and "," in token for token in done)
    if rows and context.name(last[0]) == "NUMBERS":
        return  # the `[` before the first row is missing
    end = last[0].end
    span = Span(end - 1, end)
    for row in _UNOPENED_ROW.finditer(context.text, done[0].at, end) if rows else ():
        message, edits = "the `[` of this row is missing", (insert(row.start("row"), "["),)
        span = Span(row.start("row"), row.end() + 1)
        result = Diagnosis("missing-bracket", message, span, edits, "add `[`")
        yield replace_fields(result, replaces_errors=True)
    edits = (Edit(span, "" if last[0] is not done[-1] else ","),)
    if context.text[: end - 1].rstrip().endswith(","):
        edits = (Edit(Span(end - 1, done[-1].end), ""),)
    message, title = "unexpected `]`: more elements of the list follow", "remove `]`"
    result = Diagnosis("syntax-error", message, span, edits, title, min_tokens=4)
    yield replace_fields(result, replaces_errors=True)


def _unclosed_row(offset: int, edit: Edit) -> Diagnosis:
    opened, end = Span(offset, offset + 1), edit.span.start
    if not edit.text:
        message = "this bracket is never closed"
        return Diagnosis("unclosed-bracket", message, opened, (edit,), "remove it")
    return unclosed("expected `]`", Span(end - 1, end), edit, "add `]`", opened)
