# SPDX-License-Identifier: Apache-2.0
"""Split a text into items without tokenizing every statement.

Tokenizing a large text takes most of the time of a merge, and most statements are equal in all
versions. So statements are tokenized only if necessary; the syntax tree gives the offsets of nodes
and values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from onnxtext.ast.model import Function, Graph, Model, Node, ValueInfo
from onnxtext.format.concrete_syntax_tree import Tree, build_tree, top_level
from onnxtext.format.tokens_with_comments import CommentedToken
from onnxtext.merger.texts.text_parts import LazyStatement, ListItems, fill_items
from onnxtext.syntax.grammar.lexer import load_lexer

_BLANKS = " \t\n\v\f\r"

Unread = tuple[int, int, Tree, CommentedToken | None]
"""An untokenized statement: (offset, offset of the next statement, tree, comma or None)."""


def read_model(source: str, model: Model) -> ListItems:
    """Return the header, graph, functions and sections of a text as items."""
    nodes, values = [], []
    owners: list[Graph | Function] = [model.graph, *model.functions]
    for owner in owners:
        nodes.append(list(lazy_statements(source, owner.nodes, "node")))
        values.append(list(lazy_statements(source, owner.values, "value_info")))
    unread = [statement for statements in (*nodes, *values) for statement in statements]
    document = build_tree(_read_tokens(source, sorted(unread, key=lambda statement: statement[0])))
    trees = [tree for tree in top_level(document) if tree.origin in ("graph", "function")]
    for tree, own_nodes, own_values in zip(trees, nodes, values, strict=True):
        _insert_lazy(tree.child("body"), "nodes", own_nodes)
        _insert_lazy(tree.child("values"), "value_infos", own_values)
    # Wrap a header without decorators, to compare it with a header that has decorators.
    items: list[tuple[Tree | CommentedToken, None]] = [
        (Tree("head", "", [tree]) if tree.origin == "header" else tree, None)
        for tree in top_level(document)
    ]
    result = ListItems()
    fill_items(result, source, items, 0, len(source))
    return result


def lazy_statements(
    source: str, items: Sequence[Node | ValueInfo], origin: str
) -> Iterator[Unread]:
    """Yield the statements of a list without tokenizing them.

    `origin` is `node` or `value_info`. A statement is skipped if its end is uncertain without
    tokens: for example, the last statement, and a statement followed by `#`, which may begin a
    comment.
    """
    for item, after in pairwise(items):
        start, following = item.at, after.at
        if not 0 <= start < following or source.find("#", start, following) >= 0:
            continue
        body = source[start:following].rstrip(_BLANKS)
        comma = None
        if origin == "value_info":
            if body[-1:] != ",":
                continue
            comma = CommentedToken(",", "COMMA", start + len(body) - 1)
            body = body[:-1].rstrip(_BLANKS)
        tree = LazyStatement(origin, "", [CommentedToken(body, "", start)], item=item)
        yield start, following, tree, comma


def _read_tokens(source: str, unread: Sequence[Unread]) -> list[CommentedToken]:
    """Return the tokens outside of untokenized statements, and an empty token at the end."""
    lexer = load_lexer()
    tokens: list[CommentedToken] = []
    offset = 0
    for end, following in [*[statement[:2] for statement in unread], (len(source), len(source))]:
        for terminal, token, start in lexer.read(source, offset):
            if start >= end:
                break
            tokens.append(CommentedToken(str(token), terminal, start))
        offset = following
    tokens.append(CommentedToken("", "", len(source)))
    return tokens


def _insert_lazy(tree: Tree | None, origin: str, unread: Sequence[Unread]) -> None:
    """Insert untokenized statements into the list with the grammar rule `origin` in `tree`."""
    child = None if tree is None else tree.child(origin)
    if child is None or not unread:
        return
    parts: list[tuple[int, Tree | CommentedToken]] = []
    for part in child.parts:
        first = part if isinstance(part, CommentedToken) else part.first()
        assert first is not None
        parts.append((first.at, part))
    for start, _, statement, comma in unread:
        parts.append((start, statement))
        if comma is not None:
            parts.append((comma.at, comma))
    child.parts[:] = [part for _, part in sorted(parts, key=lambda part: part[0])]
