# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for nodes and attributes in JSON, YAML, protobuf text, TorchScript and MLIR."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit, Label
from onnxtext.source import Span
from onnxtext.syntax.heuristics.error_context import (
    Diagnosis,
    ErrorContext,
    begins_line,
    indentation,
)

_FORMATS = (
    (
        re.compile(
            r"[ \t]*\{[ \t\r\n]*[\"'](?:op_?[tT]ype|name|inputs?|outputs?|type)[\"'][ \t]*:"
        ),
        "JSON",
    ),
    (re.compile(r"[ \t]*node[ \t]*:?[ \t]*\{"), "protobuf text"),
    (
        re.compile(
            r"[ \t]*(?:op_type|input|output)[ \t]*:[ \t]*\"[^\"\n]*\"[ \t\r]*$", re.MULTILINE
        ),
        "protobuf text",
    ),
    (
        re.compile(
            r"[ \t]*(?:-[ \t]+)?(?:name|op|op_?[tT]ype|type|inputs?|outputs?|attributes?)[ \t]*:"
            r"(?:[ \t]+[^\n=(]*)?$|[ \t]*-[ \t]+[\w/.:]+[ \t\r]*$",
            re.MULTILINE,
        ),
        "YAML",
    ),
    (re.compile(r"[ \t]*%[\w.]+[ \t]*:[ \t]*[\w*]+(?:\([^)\n]*\))?[ \t]*="), "TorchScript"),
)
_LISTS = frozenset(("attribute", "value_info", "header_entry"))
_MLIR = re.compile(
    r"[ \t]*(?:%[\w.$:%, \t-]+=[^\n]*\)[ \t]*(?:\{[^\n]*\}[ \t]*)?:"
    r"|[ \t]*%[\w.$:]+[ \t]*=[ \t]*[\w.]+[ \t]+%[^\n]*:"
    r'|(?:func\.)?return[ \t]+%|"?(?:onnx|func)\.[Rr]eturn"?[ \t]*\(?%)'
)
_IN_BRACES = re.compile(r"\{(?P<attributes>[ \t]*\w+[ \t]*=[^{}\n]*)\}")
_MLIR_TYPE = re.compile(r"[ \t]*:[ \t]*(?:[su]?i|f|bf)[0-9]+(?=[ \t]*(?:[,>]|$))")


def foreign_nodes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose nodes in other formats, such as `node { op_type: "Relu" }`."""
    if "node" not in context.rules and _LISTS.isdisjoint(context.rules):
        return
    for pattern, name in _FORMATS:
        match = pattern.match(context.text, context.line_start)
        if match is None or context.at > match.end():
            continue
        if "node" not in context.rules and not match[0].endswith("{"):
            continue  # in a list, `name: …` and `{…` are often other mistakes
        end = _end_of_nodes(context, pattern, match)
        start = context.line_start + indentation(context.text, context.line_end)
        yield _foreign_node(context, f"this is {name}, not a node", start, end + 1)


def mlir_node(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an operation of MLIR, such as `%1 = "onnx.Relu"(%0) : (f32) -> f32`."""
    match = _MLIR.match(context.text, context.line_start, context.line_limit)
    if match is not None and {"node", "attribute"} & context.rules:
        start = context.line_start + indentation(context.text, context.line_end)
        message = "this is an operation of MLIR, not a node"
        yield _foreign_node(context, message, start, context.line_end + 1)


def _foreign_node(context: ErrorContext, message: str, start: int, skip_to: int) -> Diagnosis:
    """Return the diagnosis of a node in another format; also label an incomplete node before it."""
    help = "write `OUTPUTS = OPERATOR <ATTRIBUTES> (INPUTS)`, such as `y = Relu (x)`"
    before = [token for token in context.done if token.at < context.line_start]
    labels = tuple([Label(token.span, "this statement is incomplete") for token in before[-1:]])
    span = Span(start, context.line_end)
    return Diagnosis("other-format", message, span, help=help, other_labels=labels, skip_to=skip_to)


def _end_of_nodes(context: ErrorContext, pattern: re.Pattern[str], match: re.Match[str]) -> int:
    """Return the end of the last line of adjacent nodes in another format.

    `pattern` matches the start of a node, `match` is its match for the first node. The tokens are
    read only once, since thousands of nodes may follow. A node whose `{` is never closed ends
    before a `}` that is indented less, or at the end of the text.
    """
    text = context.text
    brace = match[0].find("{")
    if brace < 0:
        following: re.Match[str] | None = match
        while following is not None:
            end = text.find("\n", following.end()) % (len(text) + 1)
            following = pattern.match(text, end + 1)
        return end
    depth, indent = 0, indentation(text, match.start() + brace)
    for _, token, offset in context.lexer.read(text, match.start() + brace):
        if token == "{":
            depth += 1
        elif token == "}":
            if begins_line(text, offset) and indentation(text, offset) < indent:
                return text.rfind("\n", 0, offset)
            depth -= 1
            end = text.find("\n", offset) % (len(text) + 1)
            if depth <= 0 and pattern.match(text, end + 1) is None:
                return end
    return len(text)


def foreign_attributes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose attributes as in MLIR: `y = Softmax (x) {axis = -1 : si64}`."""
    text = context.text
    if context.token != "{":
        return
    match = _IN_BRACES.match(text, context.at, context.line_limit)
    before = text[context.line_start : context.at].rstrip()
    if match is not None and "node" in context.rules and before.endswith(")") and "=" in before:
        span, attributes = Span(*match.span()), _MLIR_TYPE.sub("", match["attributes"])
        message = "the attributes of a node must be in `<…>`"
        edits, title = (Edit(span, f"<{attributes}>"),), "write `<…>`"
        yield Diagnosis("wrong-mark", message, span, edits, title)
        skip_to = context.line_end + 1  # the parser has completed the node
        yield Diagnosis("wrong-mark", message, span, help=title, skip_to=skip_to)
