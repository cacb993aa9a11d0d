# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for the types and values of attributes and parameters, and for references."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.constructs.node_errors import in_attributes
from onnxtext.syntax.heuristics.error_context import (
    Diagnosis,
    ErrorContext,
    insert,
    replace,
    rewritten,
)

ATTRIBUTE_TYPES = frozenset((
    "int", "float", "string", "tensor", "graph", "sparse_tensor", "type_proto", "ints", "floats",
    "strings", "tensors", "graphs", "sparse_tensors", "type_protos",
))  # fmt: skip
_NO_STRINGS = ATTRIBUTE_TYPES - {"string", "strings", "graph", "graphs"}
_PARAMETERS = 20_000
"""Number of characters to search for a parameter before a reference to it."""


def _in_list(context: ErrorContext) -> bool:
    """Whether the unexpected token is among attributes of a node or parameters of a function."""
    parameters = "parameter" in context.rules or "function" in context.rules
    return in_attributes(context) or parameters


def called_number(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `axis = int(0)`: the parser reads `int(` as the beginning of a graph."""
    done, token = context.done, context.token
    if token is None or done[-3:] != ["=", "int", "("] or context.ahead[:1] != [")"]:
        return
    if context.name(token) in {"INT", "FLOAT"}:
        span = Span(done[-2].at, context.ahead[0].end)
        message = "a number must not be in a call such as `int(…)`"
        safe = context.name(token) == "INT"
        yield rewritten("misplaced-type", message, span, str(token), safe=safe)


def missing_value(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an attribute without a value: `alpha: float = >`."""
    done, token = context.done, context.token
    if token is None or token not in {">", ","} or done[-1:] != ["="] or not _in_list(context):
        return
    if context.ahead and context.accepts([replace(token, "")]):
        return  # the value follows: the unexpected token is superfluous
    message = "incomplete statement: expected a value after `=`"
    edits, help = (insert(done[-1].end, " 0"),), "write the value, or remove the attribute"
    yield Diagnosis("incomplete-statement", message, done[-1].span, edits, help=help)


def blank_after_minus(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a blank between `-` and a number: `axis = - 1`."""
    if context.token != "-" or not context.ahead or "INT" not in context.expected():
        return
    number = context.ahead[0]
    if context.name(number) not in {"INT", "FLOAT"} or number[0] == "-":
        return
    span = Span(context.at, number.end)
    message = "a number cannot have a blank after its minus sign"
    edits, title = (Edit(span, f"-{number}"),), f"write `-{number}`"
    # In `=- 1`, the `-` may be a typo.
    safe = context.text[context.at - 1] in " \t\n[({,"
    yield Diagnosis("syntax-error", message, span, edits, title, safe=safe)


def references(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a reference to a parameter without its `@`: `alpha: float = alpha`."""
    done, token = context.done, context.token
    if token is None or not in_attributes(context) or "parameter" in context.rules:
        return
    if len(done) > 2 and token in {",", ">"} and done[-2] == "=":
        name, span = done[-1], done[-1].span
        if context.name(name) != "WORD" or not _is_parameter(context, name):
            return
        if done[-3] not in _NO_STRINGS and done[-3] != name:
            return
        yield rewritten(
            "syntax-error", f"expected `@` before the parameter `{name}`", span, f"@{name}"
        )


def _is_parameter(context: ErrorContext, name: str) -> bool:
    """Whether a function before the error has a parameter of this name."""
    pattern = rf"<[^<>\n]*\b{re.escape(name)}\b[^<>\n]*>[ \t]*\([^()\n]*\)[ \t]*=>"
    start = max(0, context.at - _PARAMETERS)
    return re.compile(pattern).search(context.text, start, context.at) is not None
