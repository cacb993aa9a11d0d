# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for constructs: headers, graph signatures, control flow, imports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.error_context import (
    CLOSING,
    OPENING,
    Diagnosis,
    ErrorContext,
    indentation,
    insert,
    replace,
)
from onnxtext.syntax.heuristics.node_errors import unopened

_LONGEST_HEADER = 4000
"""Maximum number of characters of a header or block to inspect: a text may have many errors."""
_CONTROL = re.compile(
    r"[ \t]*(?:[\w, ]+=[ \t]*)?\}?[ \t]*"
    r"(if|elif|else|for|while|switch|case|do|try|except|with|class)\b(?![ \t]*[=,.:<])"
)
_ELSE = re.compile(r"[ \t]*\}?[ \t]*(?:else|elif|except|catch|finally|while)\b")
_OPERATOR_FOR = {"for": "Loop", "while": "Loop", "do": "Loop"}
_IMPORT = re.compile(r"[ \t]*(?:import[ \t]+\w|from[ \t]+[\w.]+[ \t]+import\b|#include\b|using\b)")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)[^\n]*\n?", re.MULTILINE)
_JOINED_TYPE = re.compile(
    r"(?:bfloat16|float(?:16(?=[A-Za-z_]))?|u?int(?:64|32|16|8|4|2)|bool|string|double)(?=\w)"
)
_DEF = re.compile(r"(def|fn|func|fun|function)[ \t]+(?=[\w\"])")
_RETURN = re.compile(r"^[ \t]+(return\b[^\n]*)", re.MULTILINE)
_MAX_TOKENS_BACK = 8
_LONG = 8


def empty_text(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a text without tokens."""
    if context.token is not None or context.done or context.at > _LONGEST_HEADER:
        return
    if context.lexer.tokens(context.text, 0, context.at):
        return
    what = "contains only comments" if context.text.strip() else "is empty"
    at = context.at if context.text.strip() else 0
    message = f"the text {what}: a model needs at least a graph"
    help = "write a graph, such as `g (float[N] x) => (float[N] y) { y = Relu (x) }`"
    yield Diagnosis("syntax-error", message, Span(at, at), help=help)


def fences(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose Markdown fences, such as three backticks, around the text."""
    found = _FENCE.match(context.text, context.line_start)
    if found is None or context.text[context.line_start : context.at].strip("`~ \t"):
        return
    edits = [Edit(Span(*found.span()), "")]
    last = _FENCE.search(context.text, found.end())
    if last is not None:
        edits.append(Edit(Span(*last.span()), ""))
    span = Span(context.at, len(context.text[: found.end()].rstrip()))
    message = "unexpected Markdown fence"
    yield Diagnosis("foreign-word", message, span, tuple(edits), "remove it", "unsafe", least=1)
    yield Diagnosis("foreign-word", message, span, tuple(edits[:1]), "remove it", "unsafe", least=0)


def imports(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `import onnx` and `from onnx import helper`."""
    found = _IMPORT.match(context.text, context.line_start)
    if found is None or context.at > context.line_end:
        return
    start = context.line_start
    span = Span(start, context.line_end)
    message = "imports are not supported: operators come from the `opset_import` of the header"
    help = "remove the line; for versions of operators write `<ir_version: 10, opset_import: [21]>`"
    edits = (Edit(span, ""),)
    yield Diagnosis("foreign-word", message, span, edits, "remove it", "unsafe", help=help, least=1)
    yield Diagnosis("foreign-word", message, span, help=help, skip_to=context.line_end + 1)


def control_flow(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose whole blocks such as `if (x) {…} else {…}` and `for i in range(3):`."""
    found = _CONTROL.match(context.text, context.line_start, context.line_limit)
    if found is None:
        return
    word = found[1]
    operator = _OPERATOR_FOR.get(word, "If")
    message = f"`{word}` is not supported"
    help = f"use the operator `{operator}`, whose graph attributes hold the bodies"
    if operator == "If":
        help += ": `y = If (c) <then_branch = t () => (z) {…}, else_branch = e () => (z) {…}>`"
    end = _end_of_block(context)
    span = Span(found.start(1), found.end(1))
    yield Diagnosis("foreign-word", message, span, help=help, skip_to=end + 1)


def _end_of_block(context: ErrorContext) -> int:
    """Return the end of the block that begins on this line, including its `else` branches."""
    text, end = context.text, context.line_end
    indent = indentation(text, end)
    depth = 0
    line = text[context.line_start : end]
    while True:
        depth += line.count("{") - line.count("}")
        if end >= len(text):
            return end
        stop = text.find("\n", end + 1)
        stop = len(text) if stop < 0 else stop
        line = text[end + 1 : stop]
        deeper = indentation(text, stop) - indent
        if line.strip() and deeper <= 0 and not _ELSE.match(line) and (deeper or depth <= 0):
            return end
        end = stop


def spaced_arrow(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `= >` and `>=` in place of `=>`."""
    if context.token not in {"=", ">"} or "_ARROW" not in context.expected():
        return
    assert context.token is not None
    following = context.ahead[0] if context.ahead else None
    if following is not None and {context.token, following} == {"=", ">"}:
        span = Span(context.at, following.end)
        message = f"expected `=>`, found `{context.text[slice(*span)]}`"
        yield Diagnosis("wrong-mark", message, span, (Edit(span, "=>"),), "write `=>`", least=1)


def wrong_bracket(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a bracket of the wrong kind if many tokens parse once it is replaced."""
    if context.token is None:
        return
    for token in context.nearby(_MAX_TOKENS_BACK):
        if token not in OPENING | CLOSING:
            continue
        alike = OPENING if token in OPENING else CLOSING
        others = (OPENING | CLOSING) - {token}
        for other in sorted(others, key=lambda mark: (mark not in alike, mark)):
            outcome = context.attempt(replace(token, other))
            if outcome is None or not outcome.complete or outcome.count < _LONG:
                continue
            message = f"expected `{other}`, found `{token}`"
            edits = (replace(token, other),)
            title = f"write `{other}` instead"
            yield Diagnosis("wrong-mark", message, token.span, edits, title, "unsafe", least=1)
            return


def incomplete_graph_header(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a graph without a name or without `=> (…)`."""
    token = context.token
    if token is None or "node" in context.rules:
        return
    expected = context.expected()
    before = context.done[-1] if context.done else None
    if token == "(" and "WORD" in expected and (before is None or before == ">"):
        message = "the name of the graph or function is missing"
        edits = (insert(context.at, "g "),)
        title = "name it, such as `g`"
        yield Diagnosis("syntax-error", message, token.span, edits, title, "unsafe", least=6)
    if token in {"{", "<"} and (before == "=>" or (before == ")" and "_ARROW" in expected)):
        message = "the outputs of the graph are missing"
        edits = (insert(context.at, "() " if before == "=>" else "=> () "),)
        help = "write `=> (float[N] y)` after its inputs, with names and types as needed"
        yield Diagnosis("syntax-error", message, token.span, edits, help=help, least=1)


def python_head(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a graph that begins like a Python function: `def main (x) -> (y):`."""
    line = context.text[context.line_start : context.line_limit]
    found = _DEF.match(line.lstrip())
    if found is None or "node" in context.rules:
        return
    start = context.line_start + len(line) - len(line.lstrip())
    edits = [Edit(Span(start, start + found.end()), "")]
    arrow = context.text.find("->", start, context.line_end)
    if arrow >= 0:
        edits.append(Edit(Span(arrow, arrow + 2), "=>"))
    bare = line.rstrip()
    if bare.endswith(":"):
        colon = context.line_start + len(bare) - 1
        edits.append(Edit(Span(colon, colon + 1), " {" if arrow >= 0 else " => () {"))
    if len(edits) == 1:
        return
    returned = _RETURN.search(context.text, context.line_end, context.line_end + _LONGEST_HEADER)
    if returned is not None:
        edits.append(Edit(Span(*returned.span(1)), ""))
    message = (
        f"`{found[1]}` does not belong here: a graph must have the form `NAME (…) => (…) {{…}}`"
    )
    span = Span(start, start + len(found[1]))
    help = "write `NAME (float[N] x) => (float[N] y) {` and, after the nodes, `}`"
    least = 1 if returned is None else 0
    yield Diagnosis("foreign-word", message, span, tuple(edits), help=help, least=least)


def function_keyword(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `function <domain: "l"> F (a) => (b) {…}`: the parser reads `function` as a name."""
    tokens = context.lexer.tokens(context.text, context.line_start, context.line_limit)
    if len(tokens) < 4 or tokens[1] != "<" or tokens[3] != ":" or context.at > context.line_end:
        return
    word = tokens[0]
    if word in {"function", "def", "func", "graph", "model", "module"}:
        message = f"`{word}` does not belong here"
        title = f"remove `{word}`"
        edits = (replace(word, ""),)
        yield Diagnosis("foreign-word", message, word.span, edits, title, "unsafe", least=1)
        skip_to = context.line_end + 1
        yield Diagnosis("foreign-word", message, word.span, help=title, skip_to=skip_to)


def missing_opener(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a list without `[`: `strides = 1, 1]`, `float N, 2] x` and `floatN, 2] x`."""
    rest = context.rest
    size = unopened(rest)
    if size is None or rest[size] != "]":
        return
    tokens = [*context.done[-_MAX_TOKENS_BACK:], rest[0]]
    for before, token in reversed([*pairwise(tokens)]):
        prefix = _JOINED_TYPE.match(before)
        at = token.at
        if context.name(before) == "PRIM":
            edit = Edit(Span(before.end, at), "[")
        elif before in {"=", ":"} and token != "]":
            edit = insert(at, "[")
        elif prefix is not None and context.name(before) == "WORD":
            at = before.at + prefix.end()
            edit = insert(at, "[")
        else:
            continue
        span = Span(at, rest[size].end)
        if context.text.find("\n", *span) >= 0:
            return
        message = "the `[` of this list is missing"
        yield Diagnosis("missing-bracket", message, span, (edit,), "add `[`", least=size + 1)


IDIOMS = (
    empty_text,
    fences,
    imports,
    control_flow,
    spaced_arrow,
    wrong_bracket,
    incomplete_graph_header,
    python_head,
    function_keyword,
    missing_opener,
)
