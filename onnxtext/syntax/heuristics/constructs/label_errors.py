# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for the label of a node, `[l]`, and for its place before the outputs."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.source import Span
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.constructs.node_errors import NAMES
from onnxtext.syntax.heuristics.error_context import Diagnosis, ErrorContext, rewritten


def labels(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose labels with a missing or extra bracket: `l] t = …`, `[[l]] t = …`."""
    if context.token is None or "node" not in context.rules or "=" in context.done:
        return
    tokens = [*_without_decorators(context), *context.rest]
    if "=" not in tokens:
        return
    head = tokens[: next(index for index, token in enumerate(tokens) if token == "=")]
    end = next((index for index, token in enumerate(head) if token == "]"), None)
    if end is None:
        return
    while head[end + 1 : end + 2] == ["]"]:
        end += 1
    inside = [token for token in head[: end + 1] if token not in {"[", "]"}]
    brackets = [token for token in head[: end + 1] if token in {"[", "]"}]
    names = all(context.name(token) in NAMES for token in inside)
    if not inside or not names or (head[end].at < context.at and head[end + 1 :] != []):
        return
    span = Span(head[0].at, head[end].end)
    if len(inside) > 1 or brackets == ["[", "]"]:
        return
    label = f"[{inside[0]}]"
    message = "the label of a node must be in one pair of brackets"
    yield rewritten("syntax-error", message, span, label, min_tokens=2)


def _without_decorators(context: ErrorContext) -> list[Token]:
    """Return the tokens from the start of the node to the error, without the decorators."""
    done = context.done
    start = depth = 0
    for index, token in enumerate(done):
        if not depth and context.name(token) != "DECORATOR":
            break
        depth += token.endswith("(") - (token == ")")
        start = index + 1
    return done[start:]
