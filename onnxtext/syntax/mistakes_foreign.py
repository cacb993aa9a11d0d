# SPDX-License-Identifier: Apache-2.0
"""Usual mistakes of those who come from Python, C++, MLIR, JSON or protobuf text: in nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.lexer import Token
from onnxtext.syntax.mistakes_spelling import NOTHING
from onnxtext.syntax.scene import Mistake, Scene, insert, replace, span_of

_CLOSER = {"(": ")", "[": "]", "{": "}", "<": ">"}
NAMES = frozenset(("WORD", "STRING", "ESCAPED_STRING", "BYTES", "PRIM", "CONTAINER", "BOOL"))
_VALUES = frozenset(("FLOAT", "NUMBERS", "NESTED", "BRACES", "HEX", "HEX_FLOAT", "COMPLEX", "NAN"))
_ADJACENT = re.compile(r"[0-9][A-Za-z0-9_]*")
_NO_STRINGS = {"True", "False", *NOTHING}
_OPERATORS = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "@": "MatMul"}


def closing(tokens: Sequence[Token]) -> int | None:
    """The index of the bracket that closes the first token; None if it is not among them."""
    closer, depth = _CLOSER[tokens[0]], 0
    for index, token in enumerate(tokens):
        depth += (token == tokens[0]) - (token == closer)
        if not depth:
            return index
    return None


def opening(scene: Scene, mark: str) -> int | None:
    """The index, among the tokens done, of the innermost bracket that is open, if it is this."""
    depth = 0
    for index in range(len(scene.done) - 1, -1, -1):
        token = scene.done[index]
        depth += (token in _CLOSER) - (token in _CLOSER.values())
        if depth > 0:
            return index if token == mark else None
    return None


def in_inputs(scene: Scene) -> int | None:
    """The index of the `(` of the inputs that a token stands in; None if it stands elsewhere."""
    at = opening(scene, "(")
    before = scene.done[:at]
    return at if at and "=" in before and scene.name(before[-1]) in {*NAMES, "MORETHAN"} else None


def in_attributes(scene: Scene) -> bool:
    """Whether a token stands among the attributes of a node."""
    if "attribute" in scene.rules:
        return all(token not in _CLOSER for token in scene.done)
    return "node" in scene.rules and opening(scene, "<") is not None


def _end(token: Token) -> int:
    return token.at + len(token)


def _rest(scene: Scene) -> list[Token]:
    return [scene.token, *scene.ahead] if scene.token is not None else []


def keyword_arguments(scene: Scene) -> Iterator[Mistake]:
    """`Softmax (x, axis = 1)`."""
    at = in_inputs(scene)
    if scene.token != "=" or at is None or scene.done[-2] not in {"(", ","}:
        return
    rest = [scene.done[at], *_rest(scene)]
    end = closing(rest)
    if end is None:
        return
    first, close, text = scene.done[-1], rest[end], scene.text
    written = text[first.at : close.at].rstrip()
    start = _end(scene.done[-2]) if scene.done[-2] == "(" else scene.done[-2].at
    behind = _end(scene.done[at - 1])
    blank = "" if text[behind : behind + 1].isspace() else " "
    remove = Edit(Span(start, close.at), "")
    message = "the attributes of a node stand in `<…>` behind its operator, not among its inputs"
    span = Span(first.at, first.at + len(written))
    moved = (insert(behind, f" <{written}>{blank}"), remove)
    yield Mistake("misplaced-attributes", message, span, moved, "move them there", least=1)
    help = f"write them as `{scene.done[at - 1]} <…> (…)`"
    yield Mistake("misplaced-attributes", message, span, (remove,), help=help, least=1)


def bare_string(scene: Scene) -> Iterator[Mistake]:
    """`mode = constant`."""
    if scene.token not in {",", ">"} or len(scene.done) < 3 or scene.done[-2] != "=":
        return
    value = scene.done[-1]
    if scene.name(value) == "WORD" and value not in _NO_STRINGS and in_attributes(scene):
        message = f"`{value}` is no value: strings stand in quotes"
        edits = (replace(value, f'"{value}"'),)
        title = f'write "{value}"'
        yield Mistake("unquoted-string", message, span_of(value), edits, title, "unsafe", least=2)


def no_outputs(scene: Scene) -> Iterator[Mistake]:
    """`Relu (x)` as a statement."""
    if scene.token not in {"(", "<"} or "node" not in scene.rules or not scene.done:
        return
    if not all(scene.name(t) in NAMES or t in {".", ":"} for t in scene.done):
        return
    rest = _rest(scene)
    if scene.token == "<":
        end = closing(rest)
        if end is None or rest[end + 1 : end + 2] != ["("]:
            return
    start = scene.done[0].at
    operator = scene.text[start : _end(scene.done[-1])]
    yield Mistake(
        "missing-equals",
        "a node names its outputs, and then its operator",
        Span(start, start + len(operator)),
        (insert(start, "= "),),
        help=f"write `NAME = {operator}`",
        least=2,
    )


def brackets_of_inputs(scene: Scene) -> Iterator[Mistake]:
    """`Relu [x]`, `Relu {x}` and `Relu x`."""
    if len(scene.done) < 3 or "=" not in scene.done or scene.token is None:
        return
    if scene.name(scene.done[-1]) not in NAMES or scene.done[-2] not in {"=", "."}:
        return
    rest = _rest(scene)
    message = "the inputs of a node stand in parentheses"
    if scene.token in {"[", "{"}:
        end = closing(rest)
        if end is not None and "=" not in rest[:end]:
            edits = (replace(rest[0], "("), replace(rest[end], ")"))
            span = Span(rest[0].at, _end(rest[end]))
            yield Mistake("wrong-mark", message, span, edits, "write `(…)`", least=1)
    elif all(scene.name(token) in NAMES or token == "," for token in rest):
        span = Span(rest[0].at, _end(rest[-1]))
        edits = (insert(span.start, "("), insert(span.end, ")"))
        yield Mistake("missing-bracket", message, span, edits, "write `(…)`", least=0)


def brackets_of_outputs(scene: Scene) -> Iterator[Mistake]:
    """`(a, b) = Split (x)` and `[a, b] = Split (x)`."""
    tokens = [*scene.done, *_rest(scene)]
    if not tokens or tokens[0] not in {"(", "["} or "node" not in scene.rules:
        return
    end = closing(tokens)
    if end is not None and tokens[end + 1 : end + 2] == ["="]:
        edits = (replace(tokens[0], ""), replace(tokens[end], ""))
        span = Span(tokens[0].at, _end(tokens[end]))
        message = "the outputs of a node stand in no brackets"
        yield Mistake("wrong-mark", message, span, edits, "remove the brackets", least=2)


def no_name(scene: Scene) -> Iterator[Mistake]:
    """`Relu (Neg (x))`, `Add (x, 1.0)`, `y = x + 1` and `y = -x`."""
    token = scene.token
    if token is None or not scene.done:
        return
    if in_inputs(scene) is not None:
        if token == "(" and scene.name(scene.done[-1]) in NAMES:
            end = closing(_rest(scene))
            if end is not None:
                span = Span(scene.done[-1].at, _end(_rest(scene)[end]))
                message = "an input of a node is a name, not a node"
                help = f"give what `{scene.done[-1]}` computes a name, in a statement of its own"
                edits = (Edit(Span(token.at, span.end), ""),)
                yield Mistake("not-a-name", message, span, edits, help=help, least=1)
        elif scene.name(token) in _VALUES:
            message = "an input of a node is a name, not a value"
            help = "give the value a name in the `<…>` of the graph, such as `float c = {1}`"
            edits = (replace(token, '""'),)
            yield Mistake("not-a-name", message, span_of(token), edits, help=help, least=1)
        return
    negated = scene.done[-1] == "=" and token[0] == "-" and len(scene.done) == 2
    if negated or (len(scene.done) == 3 and scene.done[1] == "=" and token[0] in _OPERATORS):
        if "node" not in scene.rules:
            return
        operator = "Neg" if negated else _OPERATORS[token[0]]
        operands = "…" if negated else f"{scene.done[-1]}, …"
        message = "there are no expressions: every operation is a node"
        help = f"write `{operator} ({operands})`"
        span = Span(token.at, token.at + 1)
        yield Mistake("not-a-name", message, span, help=help, skip_to=scene.line_end + 1)


def number_as_name(scene: Scene) -> Iterator[Mistake]:
    """`Relu (0)` and `1x = …`: exporters give such names."""
    token = scene.token
    if token is None or scene.name(token) != "INT" or token[0] == "-":
        return
    expected = scene.expected()
    found = _ADJACENT.match(scene.text, token.at)
    if found is None or "STRING" not in expected or "INT" in expected:
        return
    # Behind the name of an operator a number is something else that is missing its bracket.
    if scene.done and scene.name(scene.done[-1]) == "WORD":
        return
    span = Span(*found.span())
    message = f"`{found[0]}` is no name without quotes: it begins with a digit"
    edits = (Edit(span, f'"{found[0]}"'),)
    yield Mistake("unquoted-name", message, span, edits, "quote it", "unsafe", least=1)


def other_lists(scene: Scene) -> Iterator[Mistake]:
    """`strides = (1, 1)` and `strides = {1, 1}`."""
    if scene.token is None or not scene.done or scene.done[-1] != "=":
        return
    tensor = "value_info" in scene.rules and scene.token == "("
    if not tensor and not in_attributes(scene):
        return
    rest = _rest(scene)
    span = span_of(scene.token)
    if scene.token in {"(", "{"}:
        end = closing(rest)
        if end is None:
            return
        span = Span(scene.at, _end(rest[end]))
    elif scene.name(scene.token) != "BRACES":
        return
    inside = scene.text[span.start + 1 : span.end - 1]
    left, right = "{}" if tensor else "[]"
    edits = (Edit(span, f"{left}{inside.rstrip(' ,')}{right}"),)
    message = "the lists of attributes stand in square brackets"
    if tensor:
        message = "the elements of a tensor stand in braces or square brackets"
    yield Mistake("wrong-mark", message, span, edits, f"write `{left}…{right}`", least=1)


def tensor_among_nodes(scene: Scene) -> Iterator[Mistake]:
    """`float[2] w = {1, 2}` between nodes."""
    token = scene.token
    if token is None or len(scene.done) != 3 or scene.done[2] != "=":
        return
    if scene.name(scene.done[0]) not in {"TYPE", "PRIM"} or "node" not in scene.rules:
        return
    if scene.name(token) in _VALUES | {"INT", "BLOB", "FILE"} or token in {"[", "{"}:
        end = closing(_rest(scene)) if token in {"[", "{"} else 0
        if end is None:
            return
        span = Span(token.at, _end(_rest(scene)[end]))
        yield Mistake(
            "misplaced-tensor",
            "a tensor stands in the `<…>` of its graph, not among the nodes",
            Span(scene.done[0].at, span.end),
            (Edit(span, "A ()"),),
            help="move it there: behind the outputs of the graph, before its `{`",
            least=1,
        )


NODES = (
    keyword_arguments,
    bare_string,
    no_outputs,
    brackets_of_outputs,
    brackets_of_inputs,
    no_name,
    number_as_name,
    other_lists,
    tensor_among_nodes,
)
