# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for parts of nodes in a wrong place or in wrong brackets."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.constructs.node_errors import closing_index, inputs_bracket
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, advice
from onnxtext.syntax.heuristics.error_context import CLOSER, ErrorContext, begins_line


def line_in_brackets(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a line in brackets: `(y = Relu (x))`, `[y = Relu (x)]` and `(y = If (c) <)`."""
    first, text = context.first, context.text
    if first is None or first not in CLOSER or first.at < context.line_start:
        return
    tokens = context.lexer.tokens(text, first.at, context.line_limit)
    if tokens[-1:] != [CLOSER[first]] or not begins_line(text, first.at):
        return
    edits = (Edit(first.span, ""), Edit(tokens[-1].span, ""))
    if context.is_certain(edits):
        message = f"a {'node' if 'node' in context.rules else 'line'} cannot be in brackets"
        yield Diagnosis("wrong-mark", message, first.span, edits, "remove the brackets")


def trailing_decorator(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a decorator after the last node: `y = Relu (x) @doc("a")`, then `}`."""
    done = context.done
    if context.token != "}" or not done or context.name(done[0]) != "DECORATOR":
        return
    if done[-1] == ")" and "node" in context.rules and not begins_line(context.text, done[0].at):
        span = Span(done[0].at, done[-1].end)
        message = "a decorator belongs before its node"
        yield advice("syntax-error", message, span, "move it before the node", Edit(span, ""))


def subscript(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a value with a subscript: `y = x[0]` and `Relu (x[0])`."""
    token, done = context.token, context.done
    if token is None or not done or token.at != done[-1].end or "node" not in context.rules:
        return
    name = context.name(done[-1])
    if token[0] != "[" or name not in {"WORD", "STRING"} or "=" not in done:
        return
    end = closing_index(context.rest) if token == "[" else 0
    inputs = inputs_bracket(context) is not None
    if end is None or (not inputs and context.rest[end + 1 :]):
        return
    help = "write a node for it, such as `Gather` or `Slice`"
    message, span = "a value cannot have a subscript", Span(token.at, context.rest[end].end)
    yield advice("not-a-name", message, span, help, Edit(span, "" if inputs else " ()"))
