# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for nodes: inputs, outputs, attributes and their brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace as replace_fields
from itertools import pairwise

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.constructs.token_errors import ALIASES, NARROW
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, Safe, advice, rewritten, written_title
from onnxtext.syntax.heuristics.error_context import (
    CLOSER,
    CLOSING,
    ErrorContext,
    begins_line,
    innermost_bracket,
    insert,
    replace,
)
from onnxtext.tensor.element_types import ELEMENTS

NAMES = frozenset(("WORD", "STRING", "ESCAPED_STRING", "BYTES", "PRIM", "CONTAINER", "BOOL"))
TYPES = frozenset(("TYPE", "PRIM", "CONTAINER"))
VALUES = frozenset(("FLOAT", "NUMBERS", "NESTED", "BRACES", "HEX", "HEX_FLOAT", "COMPLEX", "NAN"))
_NAME = r'(?:"[^"\n]*"|[^\s"#(){}<>=,]+)'
_OUTPUTS = re.compile(
    rf"[ \t]*[-=]>[ \t]*(?P<opener>\()?({_NAME}(?:[ \t]*,[ \t]*{_NAME})*)(?(opener)\)(?![ \t]*\{{))"
)
_DOTTED = re.compile(r"(?:\w+\.)*(\w+)")
ELEMENT_ATTRIBUTES = frozenset(("to", "dtype", "output_dtype", "output_datatype"))
"""The names of attributes whose value is the number of an element type."""
_ADJACENT = re.compile(r"[0-9][A-Za-z0-9_]*")
_MAX_BLOCK = 4000
"""Maximum number of characters between two brackets that a heuristic inspects."""
_CAPITALS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def closing_index(tokens: Sequence[Token]) -> int | None:
    """Return the index of the bracket that closes the bracket `tokens[0]`; None if none does."""
    closer, depth = CLOSER[tokens[0]], 0
    for index, token in enumerate(tokens):
        depth += (token == tokens[0]) - (token == closer)
        if not depth:
            return index
    return None


def bracketed(context: ErrorContext, opener: Token) -> list[Token]:
    """Return the tokens from a bracket to its closing bracket.

    Return [] if this bracket is not found within `_MAX_BLOCK` characters, or if the opening
    bracket begins a longer token, such as `[1, 2]`.
    """
    text, end = context.text, opener.at + _MAX_BLOCK
    depth, result = 0, list[Token]()
    if text.find(CLOSER[opener], opener.at, end) < 0:
        return []
    for kind, token, offset in context.lexer.read(text, opener.at):
        if offset >= end or (not result and token != opener):
            break
        result.append(token if isinstance(token, Token) else Token(token, offset, kind))
        depth += (token == opener) - (token == CLOSER[opener])
        if not depth:
            return result
    return []


def unopened_bracket(tokens: Sequence[str]) -> int | None:
    """Return the index of the first unmatched closing bracket; None if all are matched."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token in CLOSER) - (token in CLOSING)
        if depth < 0:
            return index
    return None


def opening_index(context: ErrorContext, token: str) -> int | None:
    """Return the index in `done` of the innermost open bracket if it is `token`; else None."""
    index = innermost_bracket(context.done)
    return None if index is None or context.done[index] != token else index


def inputs_bracket(context: ErrorContext) -> int | None:
    """Return the index in `context.done` of the `(` before a node's inputs.

    Return None if the unexpected token is not among the inputs of a node.
    """
    index = opening_index(context, "(")
    before = context.done[:index]
    among = index and "=" in before and context.name(before[-1]) in {*NAMES, "MORETHAN"}
    return index if among else None


def in_attributes(context: ErrorContext) -> bool:
    """Whether the unexpected token is among the attributes of a node."""
    if "attribute" in context.rules:
        return all(token not in CLOSER for token in context.done)
    return "node" in context.rules and opening_index(context, "<") is not None


def element_type_name(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an element type as an attribute's value: `Cast <to = TensorProto.FLOAT> (x)`."""
    if context.token not in {",", ">", "."} or not in_attributes(context):
        return
    for name, mark, value in zip(context.done, context.done[1:], context.done[2:], strict=False):
        match = _DOTTED.match(context.text, value.at)
        if mark != "=" or match is None or match.end() < context.done[-1].end:
            continue
        word = match[1].lower().rstrip("_")  # `np.bool_`
        element = ELEMENTS.get(ALIASES.get(word, word))
        if element is not None and (name in ELEMENT_ATTRIBUTES or "TensorProto" in match[0]):
            message = f"`{match[0]}` is not a value: write the element type as a number"
            span = Span(*match.span())
            yield rewritten("unknown-type", message, span, str(element.number), safe=True)


def no_outputs(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a node without outputs, or with outputs at its end: `Relu (x)`, `Relu (x) -> y`."""
    if context.token not in {"(", "<"} or "node" not in context.rules or not context.done:
        return
    # In `a, b = Relu (x), Relu (y)`, a comma is first.
    comma = context.done[0] if context.done[0] == "," else None
    names = context.done[comma is not None :]
    if names[:1] == ["["]:  # a label
        names = names[1 + (closing_index(names) or 0) :]
    if len(names) > 1 and context.name(names[0]) == "TYPE":
        names = names[1:]
    if not names or not all(context.name(t) in NAMES or t in {".", ":"} for t in names):
        return
    if names == ["return"]:  # as in Python: `return (y)`
        return
    rest = context.rest
    end = closing_index(rest)
    if context.token == "<":
        if end is None or rest[end + 1 : end + 2] != ["("]:
            return
        inner = closing_index(rest[end + 1 :])
        end = None if inner is None else end + 1 + inner
    start = names[0].at
    match = None if end is None else _OUTPUTS.match(context.text, rest[end].end)
    if end is not None and match is not None:
        call = context.text[start : rest[end].end]
        edits = (insert(start, f"{match[2]} = "), Edit(Span(rest[end].end, match.end()), ""))
        message = "the outputs of a node belong before its operator"
        title, span = written_title(f"{match[2]} = {call}", 72), Span(start, match.end())
        yield Diagnosis("missing-equals", message, span, edits, title, safe=True)
    operator = context.text[start : context.done[-1].end]
    span, help = Span(start, start + len(operator)), f"write `NAME = {operator}`"
    edit = insert(start, "= ") if comma is None else Edit(Span(comma.at, start), " A = ")
    message = "the outputs of the node are missing"
    yield advice("missing-equals", message, span, help, edit, min_tokens=2)


def brackets_of_inputs(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose inputs without parentheses: `Relu [x]`, `Relu {x}` and `Relu x`."""
    if len(context.done) < 3 or "=" not in context.done or context.token is None:
        return
    if in_attributes(context) or "value_info" in context.rules:
        return
    if context.name(context.done[-1]) not in NAMES or context.done[-2] not in {"=", "."}:
        return
    rest = context.rest
    message = "the inputs of a node must be in parentheses"
    if context.token in {"[", "{"}:
        end = closing_index(rest)
        label = begins_line(context.text, context.at) and "=" in rest
        if end is not None and "=" not in rest[:end] and not label:
            edits = (replace(rest[0], "("), replace(rest[end], ")"))
            span = Span(rest[0].at, rest[end].end)
            yield Diagnosis("wrong-mark", message, span, edits, "write `(…)`", safe=True)
        return
    if rest[-1] == "<":  # attributes that begin on this line
        rest = rest[:-1]
    if rest and rest[0] != "," and all(context.name(t) in NAMES or t == "," for t in rest):
        span = Span(rest[0].at, rest[-1].end)
        edits = (insert(span.start, "("), insert(span.end, ")"))
        # A word such as `not` is no operator.
        safe = context.done[-1][:1] in {'"', *_CAPITALS}
        result = rewritten("missing-bracket", message, span, "(…)", safe=safe, min_tokens=0)
        yield replace_fields(result, edits=edits)


def brackets_of_attributes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose attributes without brackets: `Softmax axis = 1 (x)`."""
    done, rest = context.done, context.rest
    if len(done) < 3 or done[-2] not in {"=", "."} or context.name(done[-1]) not in NAMES:
        return
    if "node" not in context.rules or rest[1:2] not in (["="], [":"]):
        return
    best: tuple[int, Token, tuple[Edit, ...]] | None = None
    for last, token in pairwise(rest[2:]):
        if token == "(":
            closing = () if last == ">" else (insert(last.end, ">"),)
            edits = (insert(context.at, "<"), *closing)
            outcome = context.attempt(*edits)
            if outcome is not None and (best is None or outcome.count > best[0]):
                best = outcome.count, last, edits
    if best is not None:
        message, span = "the attributes of a node must be in `<…>`", Span(context.at, best[1].end)
        yield Diagnosis("missing-bracket", message, span, best[2], "write `<…>`", safe=True)


def brackets_of_outputs(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose outputs in brackets: `(a, b) = Split (x)` and `[a, b] = Split (x)`."""
    tokens = [*context.done, *context.rest]
    if not tokens or tokens[0] not in {"(", "["} or "node" not in context.rules:
        return
    end = closing_index(tokens)
    if tokens[0] == "[" and end is not None and tokens[end + 1 : end + 2] == ["("]:  # a label
        tokens = tokens[end + 1 :]
        end = closing_index(tokens)
    if end is not None and tokens[end + 1 : end + 2] == ["="]:
        edits = (replace(tokens[0], ""), replace(tokens[end], ""))
        span = Span(tokens[0].at, tokens[end].end)
        message, title = "the outputs of a node cannot be in brackets", "remove the brackets"
        yield Diagnosis("wrong-mark", message, span, edits, title, safe=True, min_tokens=2)


def parentheses(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose redundant parentheses: `Add ((x, y))`, `y = (Relu (x))` and `float[(2, 3)]`."""
    done, rest = context.done, context.rest
    if context.token != "(" or len(done) < 2:
        return
    if done[-1] == "[" and context.name(done[-2]) == "PRIM":
        message = "dimensions cannot be in parentheses"
    elif "node" not in context.rules:
        return
    elif inputs_bracket(context) is not None and done[-1] in {"(", ","}:
        message = "an input of a node cannot be in parentheses"
    elif done[-2] == "(" and done[-3:-2] == ["="]:
        rest, message = [*done[-2:], *rest], "a node cannot be in parentheses"
    else:
        return
    end = closing_index(rest)
    if end is not None:
        edits, title = (replace(rest[0], ""), replace(rest[end], "")), "remove the parentheses"
        yield Diagnosis("wrong-mark", message, rest[0].span, edits, title, safe=end > 1)


def nested_expressions(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose nodes and values as inputs of a node: `Relu (Neg (x))` and `Add (x, 1.0)`."""
    token = context.token
    if token is None or inputs_bracket(context) is None:
        return
    if token == "(" and context.name(context.done[-1]) in NAMES:
        end = closing_index(context.rest)
        if end is not None:
            name, edit = context.done[-1], Edit(Span(token.at, context.rest[end].end), "")
            message = "an input of a node must be a name, not a node"
            help = f"move `{name} (…)` to its own statement, and use its output here"
            yield advice("not-a-name", message, Span(name.at, edit.span.end), help, edit)
    else:
        yield from _typed_inputs(context)
        yield from _value_as_input(context, token)


def _typed_inputs(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose types before the inputs of a node: `Add (float[2] x, float[2] y)`."""
    tokens = [*context.done[-1:], *context.rest]
    pairs = [
        (type, name)
        for mark, type, name in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if mark in {"(", ","} and context.name(type) in TYPES and context.name(name) in NAMES
    ]
    if pairs and context.token in {pairs[0][0], pairs[0][1]}:
        edits = tuple([Edit(Span(type.at, name.at), "") for type, name in pairs])
        message, title = "the inputs of a node are written without types", "remove the types"
        yield Diagnosis("misplaced-type", message, pairs[0][0].span, edits, title)


def _value_as_input(context: ErrorContext, token: Token) -> Iterator[Diagnosis]:
    """Diagnose a value as an input of a node: `Add (x, 1.0)`, `Add (x, float {1})`."""
    first, last = token, token
    if context.name(token) == "TYPE" and context.ahead:
        last = context.ahead[0]
    elif context.name(context.done[-1]) == "PRIM":
        first = context.done[-1]
    if context.name(last) in VALUES:
        message = "an input of a node must be a name, not a value"
        help = (
            "give the value a name in the `<…>` of the graph, such as `float c = {1}`; in a "
            "function, write a node `Constant`"
        )
        span = Span(first.at, last.end)
        yield advice("not-a-name", message, span, help, Edit(span, '""'))


def number_as_name(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose names that begin with a digit, which exporters generate: `Relu (0)`, `1x = …`."""
    token = context.token
    if token is None or context.name(token) != "INT" or token[0] == "-":
        return
    expected, match = context.expected(), _ADJACENT.match(context.text, token.at)
    if match is None or "STRING" not in expected or "INT" in expected:
        return
    # After the name of an operator, the number is probably an input, and the `(` is missing.
    if context.done and context.name(context.done[-1]) == "WORD":
        return
    message = f"`{match[0]}` needs quotes to be a name: it begins with a digit"
    span, help = Span(*match.span()), "quote it"
    if "=" in context.done and match[0].isdigit() and f'"{match[0]}"' not in context.text:
        help += ", or give the number a name in the `<…>` of the graph, such as `float c = 1`"
    edits = (Edit(span, f'"{match[0]}"'),)
    yield Diagnosis("unquoted-name", message, span, edits, "quote it", help=help)


def wrong_list_brackets(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose lists in wrong brackets, and nested lists: `strides = (1, 1)`, `axes = [[1, 2]]`."""
    if context.token is None or not context.done:
        return
    row = context.done[-1] in {"[", ","} and opening_index(context, "[") is not None
    if context.done[-1] != "=" and not row:
        return
    tensor = "value_info" in context.rules and context.token == "("
    if not row and not tensor and not in_attributes(context):
        return
    rest, span = context.rest, context.token.span
    if context.name(context.token) == "NESTED":
        message = "a list in an attribute cannot contain lists"
        help = "write one list, or a tensor, such as `int64[2, 2] [[1, 2], [3, 4]]`"
        yield advice("wrong-mark", message, span, help, Edit(span, "[]"))
    if context.token in {"(", "{"}:
        end = closing_index(rest)
        if end is None:
            return
        span = Span(context.at, rest[end].end)
    elif context.name(context.token) != "BRACES":
        return
    inside = context.text[span.start + 1 : span.end - 1]
    scalar = len(context.done) > 2 and context.name(context.done[-3]) == "PRIM"
    left, right = "{}" if tensor and not row and scalar else "[]"
    edits = (Edit(span, f"{left}{inside.rstrip(' ,')}{right}"),)
    message = "a list in an attribute must be in square brackets"
    if row:
        message = "a row of a tensor must be in square brackets"
    elif tensor:
        message = "the elements of a tensor must be in braces or square brackets"
    # In braces, an integer would become the bits of a narrow float.
    narrow = left == "{" and context.done[-3] in NARROW
    bits = narrow and "INT" in map(context.name, context.lexer.tokens(inside, 0, len(inside)))
    many = "," in inside.rstrip(" ,")  # `(1,)` may be `1` or `[1]`
    doubtful = bits or (left == "[" and tensor and "= {" in context.text)
    safe: Safe = (many or row or tensor) and ("evident" if doubtful else True)
    title = f"write `{left}…{right}`"
    yield Diagnosis("wrong-mark", message, span, edits, title, safe=safe)
