# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for types: their brackets and dimensions, and types of other languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.actions.attributes import list_type_of
from onnxtext.syntax.heuristics.constructs.node_errors import closing_index
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, Safe, removed, rewritten
from onnxtext.syntax.heuristics.error_context import ErrorContext, innermost_bracket, replace
from onnxtext.tensor.element_types import ELEMENTS

_WITH_SIZE = re.compile(r"(bfloat16|float(?:16)?|u?int(?:64|32|16|8|4|2)|bool|string|double)(\d+)")
# Without the tensor in `value: float[2] [1, 2]`, where the `:` is wrong.
_LIST_TYPE = re.compile(r" *((\w+) *\[ *(?:\]|\d+ *\](?! *[\[{]))|\w+ *[\[<(] *(\w+) *[\]>)])")
_TENSOR = re.compile(r": *((\w+) *\[[\d, ]+\]) *=(?= *(?:\{|\[\[))")
_SIZES_IN_BRACES = re.compile(r"\{(\s*\d+(?:\s*,\s*\d+)*)(?:\s*,)?\s*\}")


def list_types(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose wrong attribute types: `a: list[int]`, `a: int[]`, `a: float[2] = {1, 2}`."""
    colon = next((token for token in reversed(context.done[-6:]) if token == ":"), None)
    if colon is None or ("attribute" not in context.rules and "node" not in context.rules):
        return
    tensor = _TENSOR.match(context.text, colon.at)
    if tensor is not None and tensor[2] in ELEMENTS:
        span, message = Span(*tensor.span()), "the type of a tensor belongs after the `=`"
        edits = (Edit(span, f" = {tensor[1]}"),)
        yield Diagnosis("misplaced-type", message, span, edits, f"write `= {tensor[1]}`")
    match = _LIST_TYPE.match(context.text, colon.end)
    if match is None or context.text[match.end() : context.at].strip():
        return
    written = list_type_of(match[2] or match[3])
    if written is not None:
        span = Span(*match.span(1))
        message = f"`{match[1]}` is not an attribute type"
        yield rewritten("unknown-type", message, span, written, safe=True)


def dimensions(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose wrong dimensions: `[*]` for an unknown one, `[N×3]`, `[N + 1]`, `[N][M]`, `2[]`."""
    token, done, last = context.token, context.done, context.last
    if token is None or last is None:
        return
    index = innermost_bracket(done)
    if index and done[index] == "[" and context.name(done[index - 1]) == "PRIM":
        yield from _other_separators(context, done[index].end)
        yield from _unquoted_expression(context, done[index].end)
        alone = context.ahead[:1] in ([","], ["]"])
        unknown = token in {"*", ":"}
        if last in {"[", ","} and alone and (unknown or not token.isalnum()):
            message = f"`{token}` is not a dimension"
            yield rewritten("wrong-mark", message, token.span, "?", safe=unknown)
    sized = _WITH_SIZE.fullmatch(last)
    if token == "[" and sized is not None and context.ahead[:1] in (["]"], [","]):
        span = Span(last.at, token.end)
        message = f"the `[` of this type belongs after `{sized[1]}`"
        written = f"{sized[1]}[{sized[2]}"
        yield rewritten("wrong-mark", message, span, written, min_tokens=2)
    is_type = context.name(last) == "TYPE" or (last == "]" and "PRIM" in map(context.name, done))
    if (token == "[" or context.name(token) == "NUMBERS") and is_type:
        message = "the dimensions of a type must be in one pair of brackets"
        if context.text.endswith("[]", 0, last.end):
            span = Span(last.end - 2, last.end)
            yield removed("wrong-mark", message, span, "remove `[]`", min_tokens=2)
        spans = [Span(last.end - 1, context.at + 1)]
        for before, after in pairwise(context.rest):
            if context.name(before) != "NUMBERS" or context.name(after) != "NUMBERS":
                break
            spans.append(Span(before.end - 1, after.at + 1))
        joined = tuple([Edit(span, ", ") for span in spans])
        written = context.text[context.text.rfind("[", 0, last.end) : last.end]
        doubled = context.text.startswith(written, context.at)  # `[2][2]` may be written twice
        safe: Safe = "evident" if doubled else True
        title = "write `,`"
        yield Diagnosis("wrong-mark", message, spans[0], joined, title, safe=safe, min_tokens=2)


_EXPRESSION = re.compile(r"[\w?]+(?:[ \t]*[-+*/%][ \t]*[\w?]+)+")
_SEPARATED = re.compile(r"[\w?]+(?:[ \t]*\u00d7[ \t]*[\w?]+)+|\b[0-9]+(?:[ \t]*:[ \t]*[0-9]+)+\b")
_MAX_DIMS_LENGTH = 500


def _other_separators(context: ErrorContext, start: int) -> Iterator[Diagnosis]:
    """Diagnose wrong separators between dimensions: `float[N×3]` and `float[2:3]`."""
    end = context.text.find("]", start, start + _MAX_DIMS_LENGTH)
    for match in _SEPARATED.finditer(context.text, start, max(end, start)):
        written = ", ".join(re.findall(r"[\w?]+", match[0]))
        message, edits = "dimensions are separated by `,`", (Edit(Span(*match.span()), written),)
        yield Diagnosis("wrong-mark", message, edits[0].span, edits, f"write `{written}`")


_DOUBTFUL = re.compile(r"\?|\w[^\w\s] |^[^A-Za-z_]+$")
"""Matches `?`, a mark that may have been typed instead of a comma, as in `N/ 3`, or a number."""


def _unquoted_expression(context: ErrorContext, start: int) -> Iterator[Diagnosis]:
    """Diagnose an expression among the dimensions that begin at an offset: `float[N + 1]`."""
    end = context.text.find("]", start, start + _MAX_DIMS_LENGTH)
    found = list(_EXPRESSION.finditer(context.text, start, max(end, start)))
    if found:
        edits = tuple([Edit(Span(*match.span()), f'"{match[0]}"') for match in found])
        message = f"`{found[0][0]}` needs quotes to be a dimension"
        safe = not any(_DOUBTFUL.search(edit.text) for edit in edits)
        yield Diagnosis("unquoted-name", message, edits[0].span, edits, "quote it", safe=safe)


def brackets_of_types(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose types with wrong brackets: `float<3>`, `float(1, 3)`, `float{3} x`, `seq<float>`."""
    if context.token is None or not context.done:
        return
    kind, rest = context.name(context.done[-1]), context.rest
    match = _SIZES_IN_BRACES.fullmatch(context.token)
    if kind == "PRIM" and match is not None and context.name("".join(rest[1:2])) == "WORD":
        message = "dimensions must be in `[…]`"
        # In `<float {1} w>`, the numbers may be the data.
        safe: Safe = "evident" if context.bracket == "<" else True
        yield rewritten("wrong-mark", message, context.token.span, f"[{match[1]}]", safe=safe)
    if context.token not in {"<", "("}:
        return
    end, is_type = closing_index(rest), kind in {"PRIM", "CONTAINER"}
    if end is None or not is_type or (kind, context.token) == ("CONTAINER", "("):
        return
    span = Span(context.at, rest[end].end)
    if end == 1 and kind == "PRIM":
        message = "a scalar type must not have brackets"
        yield removed("wrong-mark", message, span, "remove the brackets")
    left, right = "[]" if kind == "PRIM" else "()"
    problem = "dimensions must be in `[…]`" if kind == "PRIM" else "inner types must be in `(…)`"
    marks = (replace(rest[0], left), replace(rest[end], right))
    listed = context.innermost == "["
    # In `a = float<1>` and `a = [float<1>]`, the brackets may stand for `(…)`, as in `float(1)`.
    safe = kind == "CONTAINER" or not (listed or context.done[-2:-1] == ["="])
    yield Diagnosis("wrong-mark", problem, span, marks, f"write `{left}…{right}`", safe=safe)
