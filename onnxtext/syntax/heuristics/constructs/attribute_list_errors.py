# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for the `<…>` of nodes, for named inputs, and for first lines cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace as replace_fields
from itertools import pairwise

from onnxtext.diagnostics import Edit
from onnxtext.source import Span, line_start
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.constructs.node_errors import (
    NAMES,
    TYPES,
    closing_index,
    in_attributes,
    inputs_bracket,
    opening_index,
    unopened_bracket,
)
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, advice, incomplete_statement, unclosed
from onnxtext.syntax.heuristics.error_context import (
    ErrorContext,
    begins_line,
    bracket_on_own_line,
    indentation,
    insert,
    line_end,
    replace,
)

_MAX_ATTRIBUTES_LENGTH = 4000
_VALUES = frozenset(("FLOAT", "NUMBERS", "INT", "STRING", "ESCAPED_STRING", "WORD"))

_NAME = r"(?:\w+|\"[^\"\n]*\")"
NODE = re.compile(
    rf"(?:\[{_NAME}?\][ \t]*)?(?:\w+(?:\[[^]\n]*\])?[ \t]+)?{_NAME}(?:[ \t]*,[ \t]*{_NAME})*[ \t]*="
    rf"[ \t]*(?:{_NAME}\.)*{_NAME}(?::\w+)?[ \t]*(?:<|\((?![^\n]*[-=]>))"
)
"""Matches the beginning of a node, but not an attribute whose value is a graph."""


def node_among_attributes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose attributes that do not end before the next node: `y = Op <`, then `z = Op (y)`.

    Also diagnose an attribute whose value is a nested graph without its first line.
    """
    opener, tokens = _open_attributes(context)
    if opener is None or not tokens:
        return
    yield from _headless_graph(context)
    text, indent = context.text, indentation(context.text, opener)
    for before, token in zip([",", *tokens], tokens, strict=False):
        begins = before in {",", "<", ")"} or before[:1] == "@"
        if not begins or not begins_line(text, token.at) or indentation(text, token.at) > indent:
            continue
        if token[:1] != "@" and not NODE.match(text, token.at, line_end(text, token.at)):
            return
        last = before if isinstance(before, Token) else None
        yield from _unfinished_attributes(context, opener, token.at, last)
        return


def _headless_graph(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose nodes or outputs of a nested graph whose first line is missing."""
    first, text = context.first, context.text
    if first is None or "attribute" not in context.rules or not begins_line(text, first.at):
        return
    node = NODE.match(text, first.at) is not None
    if not node and context.name(first) not in TYPES:
        return
    deeper = indentation(text, first.at) > indentation(text, context.until(first.at).previous_end)
    tokens = context.lexer.tokens(text, first.at, first.at + _MAX_ATTRIBUTES_LENGTH)
    index = unopened_bracket(tokens)
    ends = [] if index is None else tokens[index : index + 2]
    if not deeper or index is None or (ends[0] != "}" and ends != [")", "{"]):
        return
    head, written = "NAME = GRAPH () => (…) {", "x = g () => () { "
    if tokens[index] == ")":
        head, written = "NAME = GRAPH (…) => (", "x = g () => ("
    yield _missing_first_line("graph", head, insert(first.at, written), first.span)


def unopened_inputs(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a missing first line of a node, `y = Op (`, before inputs on lines of their own."""
    done = context.done
    if context.token != ")" or not done or "node" not in context.rules:
        return
    listed = all(context.name(token) in NAMES for token in done[::2]) and {*done[1::2]} == {","}
    if listed and begins_line(context.text, context.at):
        edit = insert(done[0].at, "x = X (")
        yield _missing_first_line("node", "NAME = OPERATOR (", edit, done[0].span)


def _missing_first_line(construct: str, head: str, edit: Edit, span: Span) -> Diagnosis:
    """Return the diagnosis of a construct without its first line, `head`, before `span`."""
    message = f"the first line of this {construct} is missing: `{head}`"
    help = f"write `{head}` before this line"
    return advice("syntax-error", message, span, help, edit, min_tokens=2)


def _unfinished_attributes(
    context: ErrorContext, opener: int, at: int, last: Token | None
) -> Iterator[Diagnosis]:
    """Diagnose a `<` at `opener` that is not closed before the node at `at`.

    `last` is the token before the node; None if unknown.
    """
    text = context.text
    last = context.lexer.tokens(text, opener, at)[-1] if last is None else last
    if text.find("\n", opener, last.at) >= 0:
        message = "expected `>` after the attributes"
        opened = Span(opener, opener + 1)
        place = bracket_on_own_line(context, opened, last.end, ">")
        span, edit = place or (last.span, insert(at, ">\n"))
        yield unclosed(message, span, edit, "add `>`", opened)
    for closer in (" x = 0> ()\n", " x = 0>\n"):
        edits = (insert(at, closer),)
        unfinished = incomplete_statement("an attribute or `>`", last, last.span, edits)
        yield replace_fields(unfinished, min_tokens=2)


def _open_attributes(context: ErrorContext) -> tuple[int | None, list[Token]]:
    """Return the offset of an unclosed `<` of attributes and the tokens after it, or (None, [])."""
    tokens = [*context.done, *context.rest[:1]]
    if "attribute" in context.rules:
        if context.opened is None:
            return None, []
        opener = context.opened.start
        return opener, [token for token in tokens if token.at > opener]
    index = opening_index(context, "<")
    if "node" not in context.rules or index is None:
        return None, []
    return context.done[index].at, tokens[index + 1 :]


_HEAD_ENDS = (
    " () => () {", "() => () {", "=> () {", "() {", ") => () {", ") {", "0] x) => () {", "0] x) {",
    "] x) => () {", "] x) {", "x) => () {", "x) {",
)  # fmt: skip
"""Ends that the first line of a graph may lack."""
_NODE_ENDS = (") <", "x) <", "() <", "A () <", "= A () <", "] x = A () <", "x = A () <")
"""Ends that the first line of a node with attributes may lack."""


_ATTRIBUTE = re.compile(r"\w+(?:[ \t]*:[ \t]*\w+)?[ \t]*=")
_INITIALIZER = re.compile(r"\w+(?:\[[^\]\n]*\])?[ \t]+[\w\".:/]+[ \t]*=")


def unfinished_head(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a first line that is cut off: `g (float[N] x) => (`, then `y = Relu (x)`.

    The line begins a graph, and nodes or initializers follow, or it begins a node, and attributes
    follow.
    """
    text, start, rules = context.text, context.line_start, context.rules
    start += indentation(text, line_end(text, start))
    attribute, node = "attribute" in rules, "node" in rules
    listed = context.bracket == "<" and not attribute
    if listed or not context.region.start <= start <= context.at:
        return
    end = context.until(start).previous_end
    above = context.lexer.tokens(text, line_start(text, end), end)
    last = above[-1:]
    deeper = indentation(text, start) > indentation(text, end)
    if not last or not (deeper or not (attribute or node)) or (node and last[0] in {*")<>{}"}):
        return
    if last == [")"] and not deeper and NODE.match(text, above[0].at):
        return  # both lines are nodes: the first line is missing above them
    marks: tuple[str, ...] = _HEAD_ENDS
    words = "the rest of `NAME (…) => (…) {`"
    if node:
        marks, words = _NODE_ENDS, "the rest of `NAME = OPERATOR (…) <`"
    elif attribute:
        marks = ("g () => () {", "= g () => () {")
        words = "a graph or another value" if last == ["="] else "`=` and a graph"
    elif _INITIALIZER.match(text, start):
        marks = tuple([mark.replace("{", "<") for mark in marks])
    elif not NODE.match(text, start, context.line_end):
        return
    pattern = _ATTRIBUTE if node else NODE if attribute else None
    if pattern is not None and not pattern.match(text, start, context.line_end):
        return
    for mark in marks:
        edits = (insert(start, f"{mark} "),)
        if context.is_certain(edits):
            yield incomplete_statement(words, last[0], last[0].span, edits)
            return


def unopened_attributes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose attributes among nodes: the line above lacks its `<`, or is missing."""
    done, text = context.done, context.text
    if done[1:2] != ["="] or "node" not in context.rules or not begins_line(text, done[0].at):
        return
    end = node_above(text, done[0].at)
    if end is not None:
        edit = insert(done[0].at, "= A () <")
        yield replace_fields(missing_opening(end), edits=(edit,), min_tokens=6)
        return
    previous_end = context.until(done[0].at).previous_end
    if indentation(text, done[0].at) <= indentation(text, previous_end):
        return
    following = context.lexer.tokens(text, done[0].at, done[0].at + _MAX_ATTRIBUTES_LENGTH)
    index = unopened_bracket(following)
    if index is not None and following[index] == ">":
        edit = insert(done[0].at, "x = X () < ")
        yield _missing_first_line("node", "NAME = OPERATOR (…) <", edit, done[0].span)


def node_above(text: str, offset: int) -> int | None:
    """Return the end of the node on the line above the token at `offset`; None if there is none.

    The token must begin its line, and be indented deeper than the line above.
    """
    before = text[:offset].rstrip()
    start = before.rfind("\n") + 1
    margin = start + len(before[start:]) - len(before[start:].lstrip())
    is_node = before.endswith(")") and "=" in before[start:] and "\n" in text[len(before) : offset]
    deeper = indentation(text, offset) > indentation(text, margin)
    return len(before) if is_node and deeper else None


def missing_opening(end: int) -> Diagnosis:
    """Return the diagnosis for attributes without `<` after a node that ends at an offset."""
    message, help = "the `<` before the attributes is missing", "add `<` at the end of this line"
    return Diagnosis("missing-bracket", message, Span(end - 1, end), help=help)


def unclosed_attributes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose attributes without `>` before the inputs: `Pad <mode = "edge" (x, y)`."""
    if not in_attributes(context) and "attribute" not in context.rules:
        return
    tokens = [*context.done, *context.rest]
    for index in range(3, len(tokens)):
        value, mark = tokens[index - 1], tokens[index]
        if mark != "(" or tokens[index - 2] != "=" or context.name(value) not in _VALUES:
            continue
        is_word = context.name(value) == "WORD"
        if is_word and begins_line(context.text, tokens[index - 3].at):
            continue  # probably a node after attributes without `>`
        edit = replace(value, f'"{value}">') if is_word else insert(value.end, ">")
        if context.is_certain([edit]):
            message = "expected `>` after the attributes"
            yield Diagnosis("unclosed-bracket", message, mark.span, (edit,), "add `>`")
            return


def unclosed_attribute_list(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a list without `]` before another attribute: `<strides = [1, 1, pads = [0, 0]>`."""
    done = context.done
    if context.token not in {"=", ":"} or done[-2:-1] != [","]:
        return
    index = opening_index(context, "[")
    if not index or done[index - 1] != "=" or not in_attributes(context.until(done[index].at)):
        return
    span, edit = done[-3].span, insert(done[-3].end, "]")
    yield unclosed("expected `]`", span, edit, "add `]`", done[index].span, min_tokens=2)


def named_inputs(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose inputs with names, as in Python: `Gemm (A = x, B = y)`."""
    index = inputs_bracket(context)
    if context.token != "=" or index is None or context.done[-2] not in {"(", ","}:
        return
    tokens = [*context.done[index:], *context.rest]
    end = closing_index(tokens)
    if end is None:
        return
    items = tokens[1:end]
    edits: list[Edit] = []
    for name, mark, value in zip(items, items[1:], items[2:], strict=False):
        if mark == "=":
            if context.name(value) not in NAMES or value.startswith(("'", "True", "False")):
                return
            edits.append(Edit(Span(name.at, value.at), ""))
    if edits and _are_inputs(items):
        message = "the inputs of a node have no names: they are identified by their order"
        span = Span(context.done[-1].at, context.at + 1)
        yield Diagnosis("not-a-name", message, span, tuple(edits), "write only the values")


def _are_inputs(items: Sequence[str]) -> bool:
    """Whether each name before `=` looks like an ONNX input: `A`, `X`, or a word in `_INPUTS`."""
    names = [name for name, mark in pairwise(items) if mark == "="]
    return all(name[:1].isupper() or name in _INPUTS for name in names)


_INPUTS = frozenset(
    ("data", "indices", "input", "inputs", "scale", "shape", "starts", "ends", "steps", "updates")
)


def empty_attributes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `<>` after an operator or the name of a function."""
    end, text = context.previous_end, context.text
    if context.token == ">" and text.endswith("<", 0, end) and not text[end : context.at].strip():
        message, span = "the list in `<…>` must not be empty", Span(end - 1, context.token.end)
        yield Diagnosis("syntax-error", message, span, help="remove `<>`")
