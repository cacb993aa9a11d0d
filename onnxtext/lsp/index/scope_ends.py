# SPDX-License-Identifier: Apache-2.0
"""Find the ends of graphs, functions and statements, which the syntax tree does not store."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from onnxtext.checker.context.scopes import Scope
from onnxtext.syntax.grammar.lexer import load_lexer

if TYPE_CHECKING:
    from onnxtext.lsp.index.index import Index

_MOST_TOKENS = 10_000


def find_end(index: Index, scope: Scope) -> int:
    """Return the offset after the closing brace of a graph or function.

    The search starts at the end of the last statement. If no closing brace is found, return the end
    of the node that contains a nested graph; for other graphs, the start of the next graph.
    """
    at, in_body = max(scope.original.at, 0), False
    groups = (scope.inputs, scope.outputs, scope.infos, scope.initializers, scope.nodes)
    for item in (group[-1] for group in groups if group):
        statement = index.statement_of.get(id(index.original(item)))
        located = None if statement is None else index.located(statement)
        if statement is not None and located is not None and located.span.end > at:
            at, in_body = located.span.end, statement.kind == "node"
    limit = _limit_of(index, scope)
    lexer, depth = load_lexer(), int(in_body)
    for _ in range(_MOST_TOKENS):
        token = lexer.token(index.source.text, at)
        if token is None or token.at >= limit:
            break
        at = token.at + len(token)
        depth += (token == "{") - (token == "}")
        if depth <= 0 and token == "}":
            return at
    return limit


def _limit_of(index: Index, scope: Scope) -> int:
    """Return the offset at which a graph must have ended.

    For a nested graph, this is the end of its node; for others, the start of the next graph.
    """
    if scope.holder is not None:
        statement = index.statement_of.get(id(index.original(scope.holder)))
        if statement is not None:
            located = index.located(statement)
            return located.span.end if located is not None else statement.limit
    at = scope.original.at
    starts = [other.original.at for other in index.scopes if other.holder is None]
    starts += [name.at for name in index.sections[:1]]
    return min([start for start in starts if start > at], default=len(index.source.text))


def limit_statements(index: Index) -> None:
    """Set `Statement.limit`, the last possible end, of each statement."""
    starts = index.starts
    others = {scope.original.at for scope in index.scopes if scope.original.at >= 0}
    others |= {section.at for section in index.sections[:1]}
    resources = index.source.text.find("\nresources ")
    if resources >= 0:
        others.add(resources + 1)
    ordered = sorted([*starts, *others])
    ordered.append(len(index.source.text))
    following = 0
    last_at = ordered[-1]
    for statement in index.statements:
        at = statement.at
        while ordered[following] <= at < last_at:
            following += 1
        statement.limit = ordered[following]
    _limit_holders(index, ordered)


def _limit_holders(index: Index, ordered: list[int]) -> None:
    """Set the limit of a statement that contains graphs to the first start after these graphs."""
    last: dict[int, int] = {}
    for scope in reversed(index.scopes):  # inner ones first
        if scope.parent is None:
            continue
        inside = [node.at for node in scope.nodes]
        for values in (scope.inputs, scope.outputs, scope.infos, scope.initializers):
            inside += [value.at for value in values]
        inside += [last[id(child)] for group in scope.children.values() for child in group]
        last[id(scope)] = max([scope.original.at, *inside])
    for statement in index.statements:
        children = statement.scope.children.get(statement.number) if last else None
        if children is not None:
            deepest = max(last[id(child)] for child in children)
            behind = bisect_right(ordered, max(deepest, statement.at), hi=len(ordered) - 1)
            statement.limit = ordered[behind]
