# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for expressions, calls, types and constants written as in Python."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.constructs.data_errors import type_of_list
from onnxtext.syntax.heuristics.constructs.node_errors import (
    NAMES,
    closing_index,
    in_attributes,
    inputs_bracket,
)
from onnxtext.syntax.heuristics.constructs.token_errors import NOTHING
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, rewritten
from onnxtext.syntax.heuristics.error_context import (
    ErrorContext,
    begins_line,
    innermost_bracket,
    insert,
    replace,
)
from onnxtext.tensor.element_types import ELEMENTS

_BINARY = {
    "**": "Pow", "==": "Equal", "!=": "Equal", ">=": "GreaterOrEqual", "<=": "LessOrEqual",
    "&&": "And", "||": "Or", "and": "And", "or": "Or", "is": "Equal", "+": "Add", "-": "Sub",
    "*": "Mul", "/": "Div", "@": "MatMul", "%": "Mod", ">": "Greater", "<": "Less",
    "&": "And", "|": "Or", "^": "Xor",
}  # fmt: skip
"""The operators of ONNX for binary operators of Python and C++; longer marks come first."""
_UNARY = {"not": "Not", "-": "Neg", "~": "Not", "!": "Not"}
_MARKS = "|".join([re.escape(mark) for mark in _BINARY if not mark.isalpha()])
_EXPRESSION = re.compile(
    rf"(?P<mark>{_MARKS}|(?:and|or|is)\b)(?![=>/*])(?<!%(?=\S))[ \t]*(?=[\w(\"-])"
)
_CONDITIONAL = re.compile(r"=[^\n\"#<]*[\w)][ \t]+(if)[ \t]+[\w(]")
_LAMBDA = re.compile(r"[^=#\n]+=[ \t]*(lambda)\b[ \t\w,]*:")
_CALL = re.compile(r"[A-Za-z_][\w.]*[ \t]*(?=\()")
_TYPING = re.compile(
    r"(?:(?:typing|torch|np|numpy|onnx|tf|t)\.)?"
    r"(?:(?P<generic>Optional|List|Sequence|Iterable|Dict|Mapping|Tuple|Union)|Any"
    r"|Tensor|[A-Z][a-z]+Tensor|ndarray|NDArray|Array|TensorProto)\b"
    r"(?:\[(?:[^][\n]|\[(?:[^][\n]|\[[^][\n]*\])*\])*\])?"
)
_BLANKS = re.compile(r"[ \t]*")
_QUOTED_NUMBER = re.compile(r'"-?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?"')
_CONVERSIONS = frozenset(("int", "float", "str", "long", "Fraction", "Decimal"))
_BOOLEANS = {"True": "true", "False": "false"}
_NO_VALUE_HELP = "remove the attribute or input that has no value"
_NO_VALUES = dict.fromkeys(NOTHING, '""')
_NUMBERS_FOR = {"true": "1", "false": "0", "True": "1", "False": "0"}
_MAX_TYPE = 200
"""Maximum number of characters of a Python type that is recognized."""
_DIMENSIONS = re.compile(
    r"(\[[\w?, \t]*\])[ \t]*(?P<name>[A-Za-z_]\w*|\"[^\"\n]*\")[ \t]*(?=[=,)]|$)"
)


def python_constants(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose the constants of Python, such as `True`, and booleans in place of numbers."""
    type = type_of_list(context)
    type = type or ("bool" if context.done[:1] == ["bool"] else "")
    others = (_NUMBERS_FOR,) if type else (_NUMBERS_FOR, _NO_VALUES)
    few = 2 if context.token in {",", ">"} and in_attributes(context) else 4
    for token in context.nearby(2):
        for words in (_BOOLEANS,) if type.startswith("bool") else others:
            word = words.get(token)
            if word is None:
                continue
            rest = [other for other in context.ahead if other.at > token.at and other in words]
            edits = tuple(replace(other, words[other]) for other in (token, *rest))
            message = f"`{token}` is not a value"
            if token in NOTHING:
                data = "value_info" in context.rules
                help = "write the elements" if data else _NO_VALUE_HELP
                yield Diagnosis(
                    "python-literal", message, token.span, edits, help=help, min_tokens=few
                )
            safe = not (words is _NUMBERS_FOR and (type or "header_entry" in context.rules))
            title = f"write `{word}`"
            yield Diagnosis(
                "python-literal", message, token.span, edits, title, safe=safe, min_tokens=few
            )


def expressions(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose expressions in place of a node or an input: `y = x + 1`, `y = -x`, `Abs (x > y)`."""
    token, done, text = context.token, context.done, context.text
    if token is None or "node" not in context.rules or text.startswith(("/*", "//"), token.at):
        return
    # Without a blank before it, a mark such as `<` may be a mistyped comma.
    inputs = token in {*"<>=!+-*"} and text[token.at - 1].isspace()
    inputs = inputs and (token != "<" or "=" not in context.ahead[1:])  # `x < axis = 1 >`
    inputs = inputs and done[-2:-1] in (["("], [","]) and inputs_bracket(context) is not None
    if (innermost_bracket(done) is not None and not inputs) or begins_line(text, token.at):
        return
    place, size = token.at, 1
    if done[-2:-1] == ["="] and done[-1] == "not":
        place, size, operator, operands = done[-1].at, 3, "Not", str(token)
    elif done[-1:] == ["="] and token[0] in _UNARY:
        operator, operands = _UNARY[token[0]], "…"
    else:
        match = _EXPRESSION.match(text, token.at, context.line_end)
        node = not done and text[: token.at].rstrip(" \t").endswith(")")
        operand = (inputs or done[-2:-1] == ["="]) and context.name(done[-1]) in NAMES
        if match is None or not (node or operand) or (match["mark"] == "<" and not inputs):
            return
        size, operator = len(match["mark"]), _BINARY[match["mark"]]
        operands = "…, …" if node else f"{done[-1]}, …"
    message = "expressions are not supported: every operation must be a node"
    help = f"write `{operator} ({operands})`"
    if text.startswith("!=", place):
        help = f"write `Equal ({operands})`, and then `Not (…)`"
    elif inputs or not done:
        help = f"write a node for each operation; here, `{operator} ({operands})`"
    span, edits = Span(place, place + size), tuple(_first_words(context)) if inputs else ()
    yield Diagnosis("not-a-name", message, span, edits, help=help, skip_to=context.line_end + 1)


def _first_words(context: ErrorContext) -> Iterator[Edit]:
    """Yield edits that keep only the first token of each input from the one at the error on."""
    depth, tokens = 0, list[Token]()
    for token in (*context.done[-1:], *context.rest, None):
        depth += (token == "(") - (token == ")")
        if token is not None and depth >= 0 and (depth or token != ","):
            tokens.append(token)
            continue
        if len(tokens) > 1:
            yield Edit(Span(tokens[1].at, tokens[-1].end), "")
        if depth < 0:
            return
        tokens = []


def conditional_expressions(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `y = a if c else b` and `y = lambda x: …`."""
    if "node" not in context.rules:
        return
    text, start, limit = context.text, context.line_start, context.line_limit
    match = _CONDITIONAL.search(text, start, limit)
    help = (
        "write `Where (condition, a, b)` to choose elements, or use the operator `If`, "
        "whose graph attributes hold the branches"
    )
    if match is None:
        match, help = _LAMBDA.match(text, start, limit), "write a function after the graph"
    if match is not None and context.at >= match.start(1) - 1:
        message, span = f"`{match[1]}` is not supported", Span(*match.span(1))
        yield Diagnosis("foreign-word", message, span, help=help, skip_to=context.line_end + 1)


def called_values(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a call as the value of an attribute: `value = np.array([1])`, `axis = int("1")`."""
    done = context.done
    index = max((i for i, token in enumerate(done) if token == "="), default=None)
    if index is None or not (in_attributes(context) or "(" in done[index:]):
        return
    start = _skip_blanks(context.text, done[index].end)
    match = _CALL.match(context.text, start, context.line_limit)
    if match is None or match[0].rstrip() in ELEMENTS:
        return
    if not {"attribute", "node", "parameter"} & context.rules:
        return
    tokens = context.lexer.tokens(context.text, match.end(), context.line_limit)
    end = closing_index(tokens)
    if (
        end is None
        or tokens[end + 1 : end + 2] not in ([","], [">"])
        or context.at > tokens[end + 1].at
    ):
        return
    span = Span(start, tokens[end].end)
    message = f"the value of an attribute cannot be a call such as `{match[0].rstrip()}(…)`"
    help = "write the value, such as `1`, `[1, 2]` or the tensor `float[2] {1, 2}`"
    yield Diagnosis("syntax-error", message, span, (Edit(span, "0"),), help=help)


def called_elements(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a call as an item of a list: `[int("1"), 2]`, `[float("inf")]`."""
    done, token = context.done, context.token
    index = innermost_bracket(done)
    if index and done[index] == "(":
        first, before = done[index - 1], done[: index - 1]
    elif token == "(" and done:
        first, before = done[-1], done[:-1]
    elif done[-1:] == [")"] and (index := innermost_bracket(done[:-1])):
        first, before = done[index - 1], done[: index - 1]
    elif token is not None:
        first, before = token, done
    else:
        return
    index = innermost_bracket(before)
    if index is None or before[index] != "[" or before[-1] not in {"[", ","} or "=" not in before:
        return
    match = _CALL.match(context.text, first.at, context.line_limit)
    if match is None:
        return
    tokens = context.lexer.tokens(context.text, match.end(), context.line_limit)
    end = closing_index(tokens)
    if end is None or tokens[end + 1 : end + 2] not in ([","], ["]"]):
        return
    span, number = Span(first.at, tokens[end].end), tokens[1].strip('"') if end == 2 else ""
    message = f"an element cannot be a call such as `{match[0].rstrip()}(…)`"
    converts = match[0].rstrip() in _CONVERSIONS or match[0].rpartition(".")[2].rstrip() in ELEMENTS
    is_number = _QUOTED_NUMBER.fullmatch(f'"{number}"') or number in {"inf", "-inf", "nan"}
    if converts and is_number:
        yield rewritten("syntax-error", message, span, number)
    help = "write the number, such as 0, 1.5, inf or nan"
    yield Diagnosis("syntax-error", message, span, (Edit(span, "0"),), help=help)


def python_types(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose types of Python before a name: `Tensor y`, `Optional[float[2]] y`, `[n, m] y`."""
    if not {"node", "value_info"} & context.rules or context.token is None:
        return
    text, first = context.text, (context.done or [context.token])[0]
    if context.at > first.at + _MAX_TYPE:
        return
    match = _DIMENSIONS.match(text, first.at, context.line_end)
    if match is not None and context.at <= match.end():
        message = "the element type is missing before the dimensions"
        help = f"write the element type first, such as `float{match[1]} {match['name']}`"
        edits = (insert(first.at, "float"),)
        yield Diagnosis("unknown-type", message, Span(*match.span(1)), edits, help=help)
    name = first if context.token == ":" and context.done == [first] else None
    start = first.at if name is None else _skip_blanks(text, context.at + 1)
    match = _TYPING.match(text, start, context.line_end)
    if match is None:
        return
    span, after = Span(*match.span()), "" if name is None else f" {name}"
    message = f"`{match[0]}` is not a type"
    place = span if name is None else Span(name.at, span.end)
    help = "write an element type and dimensions, such as `float[N, 3]`"
    if match["generic"] is not None:
        help = "write a type of ONNX, such as `seq(float[N, 3])` or `optional(float)`"
    elif name is not None:
        help = f"write an element type and dimensions before the name, such as `float[N, 3] {name}`"
    yield Diagnosis("unknown-type", message, span, (Edit(place, "float" + after),), help=help)


def _skip_blanks(text: str, offset: int) -> int:
    match = _BLANKS.match(text, offset)
    return offset if match is None else match.end()
