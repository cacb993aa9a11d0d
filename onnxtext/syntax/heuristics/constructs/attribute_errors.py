# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for the `<…>` of nodes: missing brackets, and named inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace as replace_fields
from itertools import pairwise

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.constructs.node_errors import (
    NAMES,
    closing_index,
    in_attributes,
    inputs_bracket,
)
from onnxtext.syntax.heuristics.error_context import (
    Diagnosis,
    ErrorContext,
    begins_line,
    indentation,
    innermost_bracket,
    insert,
    replace,
)

_VALUES = frozenset(("FLOAT", "NUMBERS", "INT", "STRING", "ESCAPED_STRING", "WORD"))


def unopened_attributes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose attributes without `<` on the lines after a node: `y = If (c)`, then `a = …`."""
    done, text = context.done, context.text
    if done[1:2] != ["="] or "node" not in context.rules or not begins_line(text, done[0].at):
        return
    end = node_above(text, done[0].at)
    if end is not None:
        edits = (insert(done[0].at, "= A () <"),)
        yield replace_fields(missing_opening(end), edits=edits, min_tokens=6)


def node_above(text: str, offset: int) -> int | None:
    """Return the end of the node on the line above a token.

    Return None if the line above does not end a node, or is not indented less than the token.

    Args:
        text: the whole text.
        offset: the offset of the first token of a line.
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
            yield Diagnosis(
                "unclosed-bracket", message, mark.span, (edit,), "add `>`", "unsafe", min_tokens=1
            )
            return


def unclosed_attribute_list(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a list without `]` before another attribute: `<strides = [1, 1, pads = [0, 0]>`."""
    done = context.done
    if context.token not in {"=", ":"} or done[-2:-1] != [","]:
        return
    index = innermost_bracket(done)
    if (
        not index
        or done[index] != "["
        or done[index - 1] != "="
        or not in_attributes(context.until(done[index].at))
    ):
        return
    opener = done[index]
    edits = (insert(done[-3].end, "]"),)
    message = "this bracket is never closed"
    yield Diagnosis(
        "unclosed-bracket", message, opener.span, edits, "add `]`", "unsafe", min_tokens=2
    )


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
        message = "the inputs of a node have no names: their order tells which is which"
        span = Span(context.done[-1].at, context.at + 1)
        title = f"remove `{context.done[-1]} =`"
        yield Diagnosis("not-a-name", message, span, tuple(edits), title, "unsafe", min_tokens=1)


def _are_inputs(items: Sequence[str]) -> bool:
    """Whether each name before `=` looks like an ONNX input: `A`, `X`, or a word in `_INPUTS`."""
    names = [name for name, mark in pairwise(items) if mark == "="]
    return all(name[:1].isupper() or name in _INPUTS for name in names)


_INPUTS = frozenset(
    ("data", "indices", "input", "inputs", "scale", "shape", "starts", "ends", "steps", "updates")
)
