# SPDX-License-Identifier: Apache-2.0
"""Error heuristics: keywords of other languages, misplaced types, constructs in the wrong order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.error_context import (
    Diagnosis,
    ErrorContext,
    indentation,
    insert,
    line_end,
    replace,
)
from onnxtext.syntax.heuristics.node_errors import NAMES, closing, in_attributes
from onnxtext.syntax.heuristics.token_errors import ALIASES
from onnxtext.tensor.elements import ELEMENTS

_WORDS = frozenset((
    "auto", "const", "constexpr", "def", "fn", "func", "function", "graph", "import", "input",
    "inputs", "let", "module", "node", "output", "outputs", "return", "static", "tensor", "val",
    "var",
))  # fmt: skip
_TYPES = frozenset(("TYPE", "PRIM", "CONTAINER"))
_ATTRIBUTE_TYPES = frozenset(
    ["int", "float", "string", "ints", "floats", "strings", "tensor", "graph"]
)
_SECTIONS = frozenset(
    ["metadata", "quantization", "training", "configuration", "order", "encoding", "resources"]
)
_OTHER_FORMATS = (
    (re.compile(r'\s*\{\s*"'), "JSON"),
    (re.compile(r"\s*(?:builtin\.)?(?:module\b[^\n<(]*|func\.func\b[^\n]*)\{"), "MLIR"),
    (
        re.compile(r"\s*[a-z_]+: *(?:-?[0-9]+|\"[^\"\n]*\")\s*\n\s*[a-z_]+ *[:{]"),
        "protobuf text",
    ),
)
_HEAD = re.compile(r"[ \t]*,?[ \t]*(\w+) *= *\w* *\([^()\n]*\) *=>")
_PROSE = re.compile(
    r"[ \t]*([A-Za-z][^\s=<>{}()\[\]\"#]*(?:[ \t]+[^\s=<>{}()\[\]\"#]+){2,})[ \t]*$"
)
_TENSOR = re.compile(
    r"[Tt]ensor *(?:\((?P<onnx>[a-z][a-z0-9]*)\)"
    r"|<(?P<sizes>(?:[0-9?]+x)*)(?P<mlir>[A-Za-z]\w*)(?:, *(?P<list>\[[^]\n]*\]))?>)"
    r"(?P<dims>\[[^]\n]*\])?"
)
"""Matches `tensor<2x3xf32>`, `tensor<float, [2, 3]>`, `tensor(float)` and `tensor(float)[2, 3]`."""
_DOTTED_TYPE = re.compile(r"(?:np|numpy|torch|tf|jnp|ml_dtypes)\.(\w+)")
_MLIR = re.compile(
    r"[ \t]*(?:%[\w.$:%, \t-]+=[^\n]*\)[ \t]*(?:\{[^\n]*\}[ \t]*)?:"
    r'|(?:func\.)?return[ \t]+%|"?(?:onnx|func)\.[Rr]eturn"?[ \t]*\(?%)'
)
_OTHER_COMMENT = re.compile(r"--(?![->])|;+(?=[ \t]*\w)|<!--")


def other_format(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a text in another format: JSON, MLIR or protobuf text."""
    for pattern, name in _OTHER_FORMATS:
        found = pattern.match(context.text)
        if found is not None and context.at <= found.end():
            yield Diagnosis(
                "other-format",
                f"this is {name}, not the text form of ONNX",
                Span(len(context.text) - len(context.text.lstrip()), context.at + 1),
                help="load it with the tool that wrote it, save a binary model, and convert that: "
                "`onnxtext from-binary`",
                skip_to=len(context.text) + 1,
            )


def mlir_node(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an operation of MLIR, such as `%1 = "onnx.Relu"(%0) : (f32) -> f32`."""
    found = _MLIR.match(context.text, context.line_start, context.line_limit)
    if found is not None and "node" in context.rules:
        at = context.line_start + indentation(context.text, context.line_end)
        message = "this is an operation of MLIR, not a node"
        help = "write `OUTPUTS = OPERATOR <ATTRIBUTES> (INPUTS)`, such as `y = Relu (x)`"
        span, skip_to = Span(at, context.line_end), context.line_end + 1
        yield Diagnosis("other-format", message, span, help=help, skip_to=skip_to)


def other_comments(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `-- comment`, `; comment` and `<!-- comment -->` on their own lines."""
    start = context.line_start + indentation(context.text, context.at)
    found = _OTHER_COMMENT.match(context.text, start)
    if found is None or context.at > found.end():
        return
    span = Span(start, context.line_end)
    words = context.text[found.end() : context.line_end].strip().removesuffix("-->").strip()
    message = "a comment must start with `#`"
    if start < context.region.start:  # `<` of `<!--` may have begun attributes
        skip_to = context.line_end + 1
        yield Diagnosis("slash-comment", message, span, help="write `#`", skip_to=skip_to)
    edits = (Edit(span, f"# {words}"),)
    yield Diagnosis("slash-comment", message, span, edits, "write `#`", least=0)


def lone_string(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a statement that is only a triple-quoted string, like a docstring in Python."""
    tokens = [*context.done, *context.rest]
    if not tokens or not tokens[0].startswith('"""') or "header_entry" in context.rules:
        return
    if len(context.done) > 1 and context.done[1].at < (context.next_statement or 0):
        return
    string = tokens[0]
    span = string.span
    words = string.strip('" \t\r\n')
    alone = not context.text[span.end : line_end(context.text, span.end)].strip()
    comment = f"# {words}" if alone and words and "\n" not in words else ""
    yield Diagnosis(
        "lone-string",
        "a string cannot be a statement",
        span,
        (Edit(span, comment),),
        "write a comment" if comment else "remove it",
        "unsafe",
        help='write a comment, `# …`, or `@doc("…")` before the item it describes',
        least=1,
        instead=True,
    )


def foreign_words(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose words of other languages: `const float[3] x`, `graph main (…)`, `return y`."""
    if context.token is None or not context.done or context.done[-1] not in _WORDS:
        return
    word, rest = context.done[-1], context.rest
    if context.name(context.token) not in NAMES | {"TYPE"}:
        return
    if word == "return" and len(context.done) == 1:
        if all(context.name(token) in NAMES or token == "," for token in rest):
            span = Span(word.at, rest[-1].end)
            message = "the outputs of a graph belong after `=>` in its first line"
            edits = (Edit(span, ""),)
            yield Diagnosis("foreign-word", message, span, edits, "remove it", "unsafe", least=0)
        return
    if context.next_statement == context.at:  # the word ends an incomplete statement
        return
    edits = (Edit(Span(word.at, context.at), ""),)
    message = f"`{word}` does not belong here"
    title = f"remove `{word}`"
    yield Diagnosis("foreign-word", message, word.span, edits, title, "unsafe", least=3)


def misplaced_types(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose types in a wrong position: `x: float[N]`, `float x[3]`, `<int axis = 1>`."""
    rest = context.rest
    if context.token is None or not context.done:
        return
    name = context.done[-1]
    before = context.done[-2] if len(context.done) > 1 else None
    least = 1
    if context.token == ":" and len(rest) > 1:
        type = _type_at(context, rest[1:])
        if not type or before not in {None, "(", ",", "<"} or context.name(name) not in NAMES:
            return
        span = Span(name.at, type[0])
        written = f"{type[1]} {name}"
        message = "the type of a value belongs before its name"
    elif before is not None and context.name(before) == "PRIM":
        end = closing(rest) if context.token == "[" else 0
        if end is None or (context.token != "[" and context.name(context.token) != "NUMBERS"):
            return
        span = Span(before.at, rest[end].end)
        written = f"{before}{context.text[context.at : span.end]} {name}"
        message = "dimensions belong after the element type"
    elif name in _ATTRIBUTE_TYPES and rest[1:2] == ["="] and in_attributes(context):
        span = Span(name.at, context.token.end)
        written = f"{context.token}: {name}"
        message = "the type of an attribute belongs after its name"
        least = 2
    else:
        return
    title = f"write `{written}`"[:60]
    yield Diagnosis("misplaced-type", message, span, (Edit(span, written),), title, least=least)


def _type_at(context: ErrorContext, tokens: list[Token]) -> tuple[int, str] | None:
    """Return the end and the text of the type at the start of some tokens; None if there is none.

    Types of other languages are translated.
    """
    first = tokens[0]
    found = _TENSOR.match(context.text, first.at)
    if found is not None:
        return found.end(), _translated(found)
    stop = first.end
    if context.name(first) in _TYPES:
        if tokens[1:2] == ["("]:
            end = closing(tokens[1:])
            if end is None:
                return None
            stop = tokens[1 + end].end
        return stop, context.text[first.at : stop]
    if first not in ALIASES:
        return None
    end = closing(tokens[1:]) if tokens[1:2] == ["["] else None
    if end is not None:
        stop = tokens[1 + end].end
    elif tokens[1:] and context.name(tokens[1]) == "NUMBERS":
        stop = tokens[1].end
    return stop, ALIASES[first] + context.text[first.end : stop]


def _translated(found: re.Match[str]) -> str:
    """Return the type for a match of `_TENSOR`."""
    element = found["mlir"] or found["onnx"]
    sizes = (found["sizes"] or "").rstrip("x").replace("x", ", ")
    dims = found["list"] or found["dims"] or (f"[{sizes}]" if sizes else "")
    return f"{ALIASES.get(element, element)}{dims}"


def tensor_types(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose types of other languages: `tensor<2xf32>`, `tensor(float)[2]`, `np.int8`."""
    dotted = _DOTTED_TYPE.match(context.text, context.done[-1].at) if context.done else None
    if context.token == "." and dotted is not None:
        element = ALIASES.get(dotted[1], dotted[1])
        if element in ELEMENTS:
            edits = (Edit(Span(*dotted.span()), element),)
            message = f"`{dotted[0]}` is not a type"
            title = f"write `{element}`"
            yield Diagnosis("unknown-type", message, edits[0].span, edits, title, least=1)
        return
    if context.token not in {"<", "("} or not context.done:
        return
    found = _TENSOR.match(context.text, context.done[-1].at)
    if found is None:
        return
    written = _translated(found)
    span = Span(*found.span())
    message = "a tensor type must be written as an element type and dimensions"
    edits = (Edit(span, written),)
    yield Diagnosis(
        "unknown-type", message, span, edits, f"write `{written}`"[:60], "unsafe", least=1
    )


def brackets_of_types(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose types with wrong brackets: `float<3>`, `float(1, 3)`, `seq<float>`."""
    if context.token not in {"<", "("} or not context.done:
        return
    kind, rest = context.name(context.done[-1]), context.rest
    end = closing(rest)
    if (
        end is None
        or kind not in {"PRIM", "CONTAINER"}
        or (kind, context.token) == ("CONTAINER", "(")
    ):
        return
    left, right = "[]" if kind == "PRIM" else "()"
    what = "dimensions must be in `[…]`" if kind == "PRIM" else "inner types must be in `(…)`"
    span = Span(context.at, rest[end].end)
    marks = (replace(rest[0], left), replace(rest[end], right))
    yield Diagnosis("wrong-mark", what, span, marks, f"write `{left}…{right}`", least=1)


def graph_without_head(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `name {`: a graph without inputs and outputs, or a section before the graph."""
    if context.token != "{" or len(context.done) != 1 or "node" in context.rules:
        return
    name = context.done[0]
    if name in _SECTIONS:
        end = context.text.find("\n}", context.at)
        line = context.text.find("\n", end + 1) if end >= 0 else -1
        yield Diagnosis(
            "misplaced-section",
            f"the section `{name}` belongs after the graph",
            name.span,
            help="move it after the graph and the functions",
            skip_to=(line if line >= 0 else len(context.text)) + 1,
        )
    elif context.before.takes("LPAR"):
        yield Diagnosis(
            "graph-without-inputs",
            "the graph lacks its inputs and outputs",
            Span(name.at, context.at + 1),
            (insert(context.at, "() => () "),),
            help=f"write `{name} (float[N] x) => (float[N] y) {{`, with names and types as needed",
            least=0,
        )


def graph_among_nodes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `else_branch = e () => …` after a graph whose closing `}` is missing."""
    if context.token != "=>" or "node" not in context.rules:
        return
    before = context.text[: context.line_start].rstrip()
    found = _HEAD.match(context.text, context.line_start)
    if found is not None and found.end() >= context.at:
        comma = len(before) - 1 if before.endswith(",") else found.start(1)
        yield Diagnosis(
            "unclosed-bracket",
            f"`{found[1]}` is a graph among the nodes of another graph",
            Span(comma, found.end(1)),
            help="add the missing `}` before this graph",
            instead=True,
        )


def prose(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a line of prose, such as `Here is the model:`."""
    found = _PROSE.match(context.text, context.line_start, context.line_end)
    opened = context.opened
    if found is None or (opened is not None and context.text[slice(*opened)] != "{"):
        return
    if context.name(context.lexer.token(context.text, found.start(1))) in _TYPES:
        return
    message = "this line is neither a statement nor a comment"
    edits = (insert(found.start(1), "# "),)
    title = "make it a comment"
    yield Diagnosis(
        "syntax-error", message, Span(*found.span(1)), edits, title, "unsafe", least=1, instead=True
    )


ORDER = (
    other_format,
    mlir_node,
    other_comments,
    lone_string,
    foreign_words,
    misplaced_types,
    brackets_of_types,
    graph_without_head,
    graph_among_nodes,
    prose,
)
