# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for the label of a node, `[l]`, and for its place before the outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace as replace_fields
from itertools import takewhile

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.constructs.node_errors import NAMES, closing_index
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, removed, rewritten
from onnxtext.syntax.heuristics.error_context import ErrorContext, insert


def labels(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose wrong labels: `float[2] [l] t = …`, `t [l] = …`, `l] t = …`, `[[l]] t = …`."""
    if context.token is None or "node" not in context.rules or "=" in context.done:
        return
    context = replace_fields(context, done=_without_decorators(context))
    tokens = [*context.done, *context.rest]
    tokens.append(context.lexer.token(context.text, tokens[-1].end) or tokens[-1])
    head = list(takewhile("=".__ne__, tokens))
    if len(head) == len(tokens):
        return
    yield from _after_outputs(context, head)
    yield from _brackets(context, head)


def _without_decorators(context: ErrorContext) -> list[Token]:
    """Return the tokens from the start of the node to the error, without the decorators."""
    done = context.done
    start = depth = 0
    for index, token in enumerate(done):
        if not depth and context.name(token) != "DECORATOR":
            break
        depth += token.endswith("(") - (token == ")")
        start = index + 1
    return done[start:]


def _is_name(context: ErrorContext, tokens: list[Token]) -> bool:
    return len(tokens) == 1 and context.name(tokens[0]) in NAMES


def _after_outputs(context: ErrorContext, head: list[Token]) -> Iterator[Diagnosis]:
    """Diagnose a label after the first type or the outputs; `head` has the tokens before `=`."""
    index = len(context.done)
    if context.token != "[" or not index or context.done[0] == "[":
        return
    end = closing_index(head[index:])
    blank = context.text[context.at - 1].isspace()
    if end != 2 or not _is_name(context, head[index + 1 : index + 2]) or not blank:
        return
    span = Span(context.at, head[index + 2].end)
    label = context.text[slice(*span)]
    edits = (insert(head[0].at, f"{label} "), Edit(Span(context.previous_end, span.end), ""))
    message = "the label of a node belongs before its outputs"
    title = "move the label before the outputs"
    yield Diagnosis("syntax-error", message, span, edits, title, min_tokens=2)


def _brackets(context: ErrorContext, head: list[Token]) -> Iterator[Diagnosis]:
    """Diagnose a label in `head` with a missing bracket, or with two pairs of brackets."""
    end = next((index for index, token in enumerate(head) if token == "]"), None)
    if end is None:
        return
    while head[end + 1 : end + 2] == ["]"]:
        end += 1
    second = head[end + 1 : 2 * end + 2]
    if second and second == head[: end + 1]:
        span, message = Span(head[end].end, second[-1].end), "the label is written twice"
        yield removed("syntax-error", message, span, "remove it")
    inside = [token for token in head[: end + 1] if token not in {"[", "]"}]
    brackets = [token for token in head[: end + 1] if token in {"[", "]"}]
    names = all(context.name(token) in NAMES for token in inside)
    if not inside or not names or (head[end].at < context.at and head[end + 1 :] != []):
        return
    span = Span(head[0].at, head[end].end)
    if not _is_name(context, inside) or brackets == ["[", "]"]:
        return
    message = "the label of a node must be in one pair of brackets"
    yield rewritten("syntax-error", message, span, f"[{inside[0]}]", min_tokens=2)


_LABEL = re.compile(
    r"\[[ \t]*(?P<label>[^\s\]\[\"'=()<>,]+[ \t][^\]\[\"\n=()<>,]*?)[ \t]*\](?=[ \t]*[\w\"])"
)


def unquoted_label(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a label with blanks, which needs quotes: `[my label] y = Relu (x)`."""
    if "node" not in context.rules or not context.done or context.done[0] != "[":
        return
    match = _LABEL.match(context.text, context.done[0].at, context.line_limit)
    if match is None or not match.start("label") < context.at < match.end():
        return
    label = match["label"]
    if "\\" not in label:
        span = Span(*match.span("label"))
        message, edits = f"`{label}` needs quotes to be a label", (Edit(span, f'"{label}"'),)
        yield Diagnosis("unquoted-name", message, span, edits, "quote it", min_tokens=2)
