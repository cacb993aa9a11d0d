# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for parts of nodes in a wrong place or in wrong brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace as replace_fields

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.constructs.node_errors import NAMES, closing_index, inputs_bracket
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, advice, removed
from onnxtext.syntax.heuristics.error_context import CLOSER, ErrorContext, begins_line, insert
from onnxtext.syntax.heuristics.expected import found_words

_ONE_NODE = re.compile(
    r"\n[ \t]*(?P<node>[^=(<\n]+=[^=(<\n]+(?:<[^<>\n]*>[ \t]*)?\([^()\n]*\))(?P<blanks>[ \t]*)"
)


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
        message, title = "a decorator belongs before its node", "move it before the node"
        found = removed("syntax-error", message, span, title)
        line = context.text.rfind("\n", 0, span.start)
        node = _ONE_NODE.fullmatch(context.text, line, span.start)
        if node is None:
            yield replace_fields(found, title="", help=title)
        else:
            moved = insert(node.start("node"), context.text[slice(*span)] + "\n")
            yield replace_fields(found, edits_before=(moved, Edit(Span(*node.span("blanks")), "")))


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
