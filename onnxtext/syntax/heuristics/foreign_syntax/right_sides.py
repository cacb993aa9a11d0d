# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for values and expressions of other languages after the `=` of a node."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span, line_start
from onnxtext.syntax.heuristics.constructs.token_errors import NOTHING
from onnxtext.syntax.heuristics.diagnosis import Diagnosis
from onnxtext.syntax.heuristics.error_context import ErrorContext, innermost_bracket, line_end

_MAX_LINE = 300
"""Maximum number of characters of a line to inspect."""
_NEAR = 20_000
"""Number of characters before a name to search for its definition or use."""
_SHORT = 30
"""A message quotes a value only if the value has fewer characters."""
_NAME = r"[A-Za-z_]\w*"
_PATH = rf"{_NAME}(?:\.{_NAME})*"
_FILLED = r"\([^()#]*\)"
_CONSTRUCTORS = (
    r"(?:(?:np|numpy|torch|tf|jnp|onnx)\.)?"
    r"(?:[Tt]ensor|array|asarray|constant|from_array|make_tensor|zeros|ones|full|arange|eye|int|"
    r"float|str|bool|list|tuple|dict|range)\b"
)
_END = r"[ \t]*;?[ \t\r]*(?:#.*)?"
_FORMS = re.compile(
    rf"(?:(?P<names>{_NAME}(?:[ \t]*,[ \t]*{_NAME})+)(?:\.(?P<of>{_NAME})[ \t]*\([ \t]*\))?"
    r"|(?P<value>None|True|False|true|false|null|nil|NULL|nullptr|\"[^\"\n]*\"|'[^'\n]*'"
    r"|\{[ \t]*(?:[\"'\w][^\n]*)?\}|\[[^\n]*\bfor\b[^\n]*\]"
    rf"|{_CONSTRUCTORS}[ \t]*\((?=[^\n]*[\d\[\"'])[^\n]*\))"
    rf"|(?P<subscript>(?P<array>{_NAME})(?:\[[^][\n]*\]){{2,}})"
    rf"|(?P<property>(?P<object>{_NAME})\.(?P<field>{_NAME}))"
    rf"|(?P<layer>{_PATH}[ \t]*\((?=[^()#]*[\d\"'])(?![^()#]*=)[^()#]*\)[ \t]*{_FILLED})"
    rf"|(?P<method>(?P<self>{_NAME})\.(?P<called>{_NAME})[ \t]*{_FILLED})"
    r"|(?P<ternary>(?P<condition>[^?:\n]+)\?(?P<yes>[^?:\n]+):(?P<no>[^?:\n]+))"
    rf")(?={_END}$)"
)
_REST_OF_LINE = re.compile(_END)
_PROPERTIES = {
    "T": "Transpose", "mT": "Transpose", "H": "Transpose", "shape": "Shape", "size": "Size",
    "data": "Identity", "values": "Identity",
}  # fmt: skip
"""The ONNX operators for properties of arrays in Python."""
_AUGMENTED = {
    "+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "@": "MatMul", "%": "Mod", "&": "And",
    "|": "Or", "^": "Xor",
}  # fmt: skip
_NO_EXPRESSIONS = "expressions are not supported: every operation must be a node"
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
    found = _explain(context, match, str(done[0]))
    if found is not None:
        message, help = found
        span = Span(*match.span())
        edits = (Edit(Span(start, max(match.end(), done[-1].end)), "A ()"),)
        yield Diagnosis("not-a-name", message, span, edits, help=help)


def _explain(context: ErrorContext, match: re.Match[str], name: str) -> tuple[str, str] | None:
    """Return the message and the help for a match of `_FORMS`; None if it may be a node.

    `name` is the output before the `=`.
    """
    written = match[0]
    quoted = f"`{written}`" if len(written) < _SHORT else "this"
    is_value = f"{quoted} is a value, not a node"
    first = re.split(r"[ \t]*,", written)[0]
    if match["names"]:
        help = f"write `{name} = Identity ({first})` for each value"
        help = f"write `{name} = {match['of']} ({match['names']})`" if match["of"] else help
        return "a list of values is not a node", help
    if match["value"]:
        return is_value, _NODE if written in NOTHING else _CONSTANT
    if match["subscript"]:
        help = "write a node for each subscript, such as `Gather` or `Slice`"
        return "a value cannot have a subscript", help
    if match["property"]:
        operator = _PROPERTIES.get(match["field"])
        if operator is None and not is_defined(context, match["object"], match.start()):
            return None
        operator = operator or "OPERATOR"
        return is_value, f"write a node, such as `{name} = {operator} ({match['object']})`"
    if match["layer"]:
        return "a node cannot have two lists in parentheses", _NODE
    if match["method"]:
        if not is_defined(context, match["self"], match.start()):
            return None
        operator = match["called"].title().replace("_", "")
        help = f"write a node, such as `{name} = {operator} ({match['self']}, …)`"
        return f"{quoted} is a call of a method, not a node", help
    operands = ", ".join(match[group].strip() for group in ("condition", "yes", "no"))
    return _NO_EXPRESSIONS, f"write `{name} = Where ({operands})`"


def augmented_assignments(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `x += y`, which assigns a name again."""
    done, ahead, token = context.done, context.ahead, context.token
    if token not in _AUGMENTED or ahead[:1] != ["="] or "node" not in context.rules:
        return
    if len(done) != 1 or ahead[0].at != token.end:
        return
    value = "…" if not ahead[1:] else str(ahead[1])
    help = f"write `NAME = {_AUGMENTED[token]} ({done[0]}, {value})`: a name is assigned only once"
    span = Span(token.at, ahead[0].end)
    yield Diagnosis("not-a-name", _NO_EXPRESSIONS, span, help=help, skip_to=context.line_end + 1)


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
