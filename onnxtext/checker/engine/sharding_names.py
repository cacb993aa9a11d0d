# SPDX-License-Identifier: Apache-2.0
"""Find values in the sharding specs of a node: `@device(… tensor_name: "x")`."""

from __future__ import annotations

from collections.abc import Iterable

from onnxtext.ast.model import Node
from onnxtext.source import Source, Span
from onnxtext.syntax.grammar.lexer import load_lexer
from onnxtext.syntax.span_map import map_spans


def unambiguous_users(name: str, uses: Iterable[tuple[Node, int]]) -> list[Node]:
    """Return the nodes that use the value `name` and have no output called `name`.

    In the sharding specs of these nodes, the name must mean the value. If a node has an output
    called `name`, the name in its sharding specs may mean the output instead. `uses` are pairs
    (node, index of the input) of the nodes that use the value.
    """
    nodes = {id(node): node for node, _ in uses}
    return [node for node in nodes.values() if name not in node.outputs]


def sharding_spans(source: Source, node: Node, quoted: str) -> list[Span]:
    """Return the spans of `quoted`, the quoted name of a value, in the sharding specs of a node."""
    if not any(decorator.name == "device" for decorator in node.decorators):
        return []
    span = map_spans(source, node.at, "node").find("decorators").span
    tokens = load_lexer().tokens(source.text, *span)
    result = []
    inside = False
    for key, colon, token in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if key.startswith("@"):
            inside = key == "@device("
        if inside and (key, colon, token) == ("tensor_name", ":", quoted):
            result.append(token.span)
    return result
