# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for parts of nodes in a wrong place or in wrong brackets."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.constructs.node_errors import NAMES, closing_index, inputs_bracket
from onnxtext.syntax.heuristics.error_context import (
    Diagnosis,
    ErrorContext,
    insert,
)
from onnxtext.syntax.heuristics.expected import found_words


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
    span = Span(token.at, context.rest[end].end)
    help = "write a node for it, such as `Gather` or `Slice`"
    edits = (Edit(span, "" if inputs else " ()"),)
    yield Diagnosis("not-a-name", "a value cannot have a subscript", span, edits, help=help)


def misplaced_comma(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a comma that is before a name instead of after it: `Add (,x y)`."""
    done, token = context.done, context.token
    index = inputs_bracket(context)
    if token is None or index is None or [*map(str, done[index:-1])] != ["(", ","]:
        return
    if context.name(token) in NAMES and context.name(done[-1]) in NAMES:
        comma, name = done[-2:]
        edits = (Edit(Span(comma.at, name.at), ""), insert(name.end, ","))
        message = f"`,` belongs after {found_words(name)}"
        yield Diagnosis("syntax-error", message, comma.span, edits, "move it there")
