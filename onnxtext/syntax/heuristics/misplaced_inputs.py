# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for inputs in the wrong place: a misplaced comma, inputs in `<…>`."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.error_context import Diagnosis, ErrorContext, insert
from onnxtext.syntax.heuristics.expected import found_words
from onnxtext.syntax.heuristics.node_errors import NAMES, closing_index, inputs_bracket


def misplaced_comma(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a comma before a name that belongs after it: `Add (,x y)`."""
    done, token = context.done, context.token
    index = inputs_bracket(context)
    if token is None or index is None or [*map(str, done[index:-1])] != ["(", ","]:
        return
    if context.name(token) in NAMES and context.name(done[-1]) in NAMES:
        comma, name = done[-2:]
        edits = (Edit(Span(comma.at, name.at), ""), insert(name.end, ","))
        message = f"`,` belongs after {found_words(name)}"
        yield Diagnosis(
            "syntax-error", message, comma.span, edits, "move it there", "unsafe", min_tokens=1
        )


def swapped_lists(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose inputs in `<…>` and attributes in `(…)`: `TopK <x, k> (axis = 0)`."""
    tokens = [*context.done, *context.rest]
    start = next((i for i, token in enumerate(tokens) if token == "<"), 0)
    if not start or tokens[start - 2 : start - 1] not in (["="], ["."]):
        return
    if "node" not in context.rules or context.token not in {",", ">"}:
        return
    end = closing_index(tokens[start:])
    names = [] if end is None else tokens[start + 1 : start + end]
    attributes = [] if end is None else tokens[start + end + 1 :]
    if any(token != "," and context.name(token) not in NAMES for token in names):
        return
    close = closing_index(attributes) if attributes[:1] == ["("] else None
    if close is None or attributes[2:3] not in (["="], [":"]):
        return
    text, last = context.text, attributes[close]
    inputs = text[tokens[start].at + 1 : attributes[0].at].rstrip().removesuffix(">")
    values = text[attributes[0].at + 1 : last.at]
    edits = (
        Edit(Span(tokens[start].at, attributes[0].at), f"<{values}> "),
        Edit(Span(attributes[0].at, last.end), f"({inputs})"),
    )
    message = "the attributes of a node must be in `<…>` and its inputs in `(…)`"
    span = Span(tokens[start].at, last.end)
    yield Diagnosis("wrong-mark", message, span, edits, "swap the lists", "unsafe", min_tokens=1)
