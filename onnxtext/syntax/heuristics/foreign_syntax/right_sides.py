# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for values and expressions of other languages after the `=` of a node."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span, line_start
from onnxtext.syntax.heuristics.error_context import (
    Diagnosis,
    ErrorContext,
    innermost_bracket,
    line_end,
)

_MAX_LINE = 300
"""Maximum number of characters of a line to inspect."""
_NEAR = 20_000
"""Number of characters before a name to search for its definition or use."""
_SHORT = 30
"""A message quotes a value only if the value has fewer characters."""
_NAME = r"[A-Za-z_]\w*"
_FILLED = r"\([^()#]*\)"
_CONSTRUCTORS = (
    r"(?:(?:np|numpy|torch|tf|jnp|onnx)\.)?"
    r"(?:[Tt]ensor|array|asarray|constant|from_array|make_tensor|zeros|ones|full|arange|eye|int|"
    r"float|str|bool|list|tuple|dict|range)\b"
)
_END = r"[ \t]*;?[ \t\r]*(?:#.*)?"
_FORMS = re.compile(
    r"(?:None|null|nil|NULL|nullptr"
    r"|(?P<constant>True|False|true|false|\"[^\"\n]*\"|'[^'\n]*'"
    r"|\{[ \t]*(?:[\"'\w][^\n]*)?\}|\[[^\n]*\bfor\b[^\n]*\]"
    rf"|{_CONSTRUCTORS}[ \t]*\((?=[^\n]*[\d\[\"'])[^\n]*\))"
    rf"|{_NAME}(?:[ \t]*,[ \t]*{_NAME})+|{_NAME}(?:\[[^][\n]*\]){{2,}}"
    rf"|(?P<object>{_NAME})\.{_NAME}(?:[ \t]*{_FILLED})?|[^?:\n]+\?[^?:\n]+:[^?:\n]+"
    rf")(?={_END}$)"
)
_REST_OF_LINE = re.compile(_END)
_CONSTANT = "write an initializer in the `<…>` of the graph, or a node `Constant`"
_NODE = "write `OUTPUTS = OPERATOR <ATTRIBUTES> (INPUTS)`, such as `y = Relu (x)`"


def right_sides(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a right side that is not a node: `y = a, b`, `y = x.T` or `y = c ? a : b`."""
    done = context.done
    equals = next((token for token in done if token == "="), None)
    if equals is None or "node" not in context.rules:
        return
    if equals.at < line_start(context.text, done[-1].at):
        return
    if context.name(done[0]) in {"TYPE", "PRIM"}:  # probably a tensor among the nodes
        return
    text, start = context.text, equals.end
    limit = min(line_end(text, start), start + _MAX_LINE)
    start += len(text[start:limit]) - len(text[start:limit].lstrip(" \t"))
    match = _FORMS.match(text, start, limit)
    ended = context.token is None or context.next_statement == context.at
    if match is None or (not ended and context.at >= match.end()):
        return
    if match["object"] and not is_defined(context, match["object"], match.start()):
        return  # probably a node without its inputs
    span, help = Span(*match.span()), _CONSTANT if match["constant"] else _NODE
    message = f"`{match[0]}` is not a node" if len(match[0]) < _SHORT else "this is not a node"
    edits = (Edit(Span(start, max(match.end(), done[-1].end)), "A ()"),)
    yield Diagnosis("not-a-name", message, span, edits, help=help)


def computed_values(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an expression in place of a number: `axis = 3 * 4` and `W = [0] * 3`."""
    done, ahead, token = context.done, context.ahead, context.token
    if token is None or not done or not ahead or token not in {"+", "-", "*", "/", "%"}:
        return
    index = innermost_bracket(done)
    if index and context.name(done[index - 1]) == "PRIM":  # a dimension
        return
    list = done[-1] == "]" or context.name(done[-1]) in {"NUMBERS", "NESTED"}
    if not list and context.name(done[-1]) not in {"INT", "FLOAT"}:
        return
    last = ahead[1] if ahead[0] == token and len(ahead) > 1 else ahead[0]  # `//` and `**`
    if context.name(last) not in {"INT", "FLOAT", "WORD"}:
        return
    message = "a value cannot be an expression"
    help = "write the result"
    if list and token == "*":
        help = "write `...` after the last element to repeat it, such as `[0, ...]`"
    edits = (Edit(Span(token.at, last.end), ""),)
    yield Diagnosis("not-a-name", message, token.span, edits, help=help)


def values_as_nodes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a value in place of a node: `y = x` and `y = 1`."""
    done, token = context.done, context.token
    if "node" not in context.rules or innermost_bracket(done) is not None or "=" not in done:
        return
    names = [name for name in done if name != "="]
    if done[-2:-1] == ["="] and (token is None or context.next_statement == context.at):
        value, help = done[-1], f"write `{names[0]} = Identity ({done[-1]})`"
        if value[0] == '"' or not is_defined(context, value, value.at):
            return
    elif done[-1] == "=" and context.name(token) in {"INT", "FLOAT", "NUMBERS", "NESTED"}:
        if token is None or not _REST_OF_LINE.fullmatch(
            context.text, token.end, line_end(context.text, token.end)
        ):
            return
        value, help = token, _CONSTANT
    else:
        return
    message = f"`{value}` is a value, not a node" if len(value) < _SHORT else "this is not a node"
    yield Diagnosis("not-a-name", message, value.span, (Edit(value.span, "A ()"),), help=help)


def is_defined(context: ErrorContext, name: str, at: int) -> bool:
    """Whether text before an offset probably defines or uses a value of this name."""
    used = rf"(?<![\w.@\"]){re.escape(name)}[ \t]*[,)]|^[ \t]*{re.escape(name)}[ \t]*="
    near = context.text[max(0, at - _NEAR) : at]
    return re.search(used, near, re.MULTILINE) is not None
