# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for nodes and attributes in JSON, YAML, protobuf text, TorchScript and MLIR."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit, Label
from onnxtext.source import Span
from onnxtext.syntax.heuristics.constructs.node_errors import closing_index, in_attributes
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, rewritten
from onnxtext.syntax.heuristics.error_context import ErrorContext, begins_line, indentation

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
_MAX_BLOCK = 4000
"""Maximum number of characters of a block in braces to inspect."""
_LIKE_JSON = re.compile(
    r"""\{[ \t]*["']?(?P<key>\w+)["']?[ \t]*:[ \t]*"""
    r"""(?P<value>-?[\w.]+|"[^"\n]*"|\[[^]\n]*\])[ \t]*\}"""
)
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
    """Diagnose attributes in other formats: `<axis = -1 : si64>` and `{"axis": -1}`."""
    text, token = context.text, context.token
    typed = _MLIR_TYPE.match(text, context.at) if token == ":" else None
    if typed is not None and in_attributes(context) and context.done[-2:-1] == ["="]:
        span, message = Span(*typed.span()), "the value of an attribute cannot have a type after it"
        edits = (Edit(Span(context.done[-1].end, span.end), ""),)
        yield Diagnosis("misplaced-type", message, span, edits, f"remove `{typed[0].strip()}`")
    if token != "{":
        return
    match = _LIKE_JSON.match(text, context.at, context.line_limit)
    if match is not None and "node" in context.rules and context.done[-2:-1] in (["="], ["."]):
        span, message = Span(*match.span()), "the attributes of a node must be in `<…>`"
        written = f"<{match['key']} = {match['value']}>"
        yield rewritten("wrong-mark", message, span, written)


def unnamed_graph(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a graph without a name in an attribute: `body = (float x) => (y) {…}`."""
    done, token = context.done, context.token
    if token != "(" or done[-1:] != ["="] or not in_attributes(context):
        return
    tokens = context.lexer.tokens(context.text, context.at, context.at + _MAX_BLOCK)
    end = closing_index(tokens)
    if end is not None and tokens[end + 1 : end + 2] == ["=>"]:
        edits, title = (Edit(Span(token.at, token.at), "g "),), "name it, such as `g`"
        message = "the name of the graph is missing"
        yield Diagnosis("syntax-error", message, token.span, edits, title)
