# SPDX-License-Identifier: Apache-2.0
"""Find positions that the syntax tree does not store.

These are the ends of graphs, functions and statements, and the names in the heads of functions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from onnxtext.ast.model import Function, Node, ValueInfo
from onnxtext.checker.context.checked_model import function_key
from onnxtext.checker.context.scopes import Scope
from onnxtext.source import Span
from onnxtext.syntax.actions.strings import name_of
from onnxtext.syntax.grammar.lexer import load_lexer

if TYPE_CHECKING:
    from onnxtext.lsp.index.index import Index
    from onnxtext.lsp.index.symbols import Key, Statement

_MAX_HEAD_LENGTH = 10_000
"""Maximum number of characters to read of a function's head."""
_MAX_TOKENS = 10_000
"""Maximum number of tokens to read for the end of a graph or statement."""


def find_end(index: Index, scope: Scope) -> int:
    """Return the offset after the closing brace of a graph or function.

    The search begins at the end of the last statement. If no closing brace is found, return
    an upper bound: for a nested graph, the end of the node that contains it; otherwise the start of
    the next graph, function or section, or the end of the text. The result is never before the end
    of the last statement.
    """
    offset, in_body = max(scope.original.at, 0), False
    groups: tuple[Sequence[Node | ValueInfo], ...]
    groups = (scope.inputs, scope.outputs, scope.infos, scope.initializers, scope.nodes)
    for item in (group[-1] for group in groups if group):
        statement = index.statement_of(item)
        end = item.at if statement is None else _statement_end(index, statement)
        if end > offset:
            offset, in_body = end, isinstance(item, Node)
    limit = max(_limit_of(index, scope), offset)
    lexer, depth = load_lexer(), int(in_body)
    for _ in range(_MAX_TOKENS):
        token = lexer.token(index.source.text, offset)
        if token is None or token.at >= limit:
            break
        offset = token.end
        depth += (token == "{") - (token == "}")
        if depth <= 0 and token == "}":
            return offset
    return limit


def _statement_end(index: Index, statement: Statement) -> int:
    located = index.located(statement)
    if located is not None:
        return located.span.end
    return statement.at + broken_statement_end(index.chunk(statement))


def broken_statement_end(chunk: str) -> int:
    """Return the offset in `chunk` of the end of a statement with an error.

    It is the end of the last token, or of the last token before the brace that closes the graph.
    """
    depth = end = 0
    for _, token, offset in islice(load_lexer().read(chunk, 0), _MAX_TOKENS):
        depth += (token == "{") - (token == "}")
        if depth < 0:
            break
        end = offset + len(token)
    return end


def _limit_of(index: Index, scope: Scope) -> int:
    """Return an upper bound for the end of a graph or function.

    For a nested graph, it is the end of the node that contains it; for others, the start of the
    next graph, function or section, or the end of the text.
    """
    if scope.holder is not None:
        statement = index.statement_of(scope.holder)
        if statement is not None:
            located = index.located(statement)
            return statement.limit if located is None else located.span.end
    following = bisect_right(index.outer_starts, scope.original.at)
    starts = index.outer_starts[following : following + 1]
    return starts[0] if starts else len(index.source.text)


def find_heads(index: Index, scope: Scope) -> Iterator[tuple[Key, Span]]:
    """Yield (`Symbol.key`, span) for a function's name and its attribute parameters in the head."""
    function = scope.original
    if not isinstance(function, Function) or function.at < 0:
        return
    span = index.name_span(function)
    yield ("function", 0, function_key(function)), span
    scope_number, depth, before = index.number(scope), 0, ""
    head = index.source.text[span.end : span.end + _MAX_HEAD_LENGTH]
    for _, token, offset in load_lexer().read(head, 0):  # reads no more than the head
        if token == "<":
            depth += 1
        elif token == ">" or (not depth and token == "("):
            return
        elif depth == 1 and before in ("<", ","):
            name = name_of(token)
            start = span.end + offset
            yield ("parameter", scope_number, name), Span(start, start + len(token))
        else:
            depth += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
        before = str(token)


def limit_statements(index: Index) -> None:
    """Set `Statement.limit`, an upper bound for the end of the statement, in each statement."""
    starts = index.starts
    others = {scope.original.at for scope in index.scopes if scope.original.at >= 0}
    others |= {section.at for section in index.section_spans[:1]}
    ordered = sorted([*starts, *others])
    ordered.append(len(index.source.text))
    following = 0
    last_at = ordered[-1]
    for statement in index.statements:
        offset = statement.at
        while ordered[following] <= offset < last_at:
            following += 1
        statement.limit = ordered[following]
    _limit_holders(index, ordered)


def _limit_holders(index: Index, ordered: list[int]) -> None:
    """Set `limit` of each statement that contains graphs.

    The limit is the first offset in `ordered` after the start of the last item in these graphs.
    """
    last: dict[int, int] = {}
    for scope in reversed(index.scopes):  # nested graphs first
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
