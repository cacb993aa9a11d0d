# SPDX-License-Identifier: Apache-2.0
"""Texts to their parts.

Reading all tokens of a large text takes most of the time of a merge, and most statements are the
same in all versions. So only the few that are not are read to the end: where the nodes and values
of graphs begin is known from the syntax tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from onnxtext.ast.model import Function, Graph, Model, Node, ValueInfo
from onnxtext.format.tree import Tree, grow
from onnxtext.format.trivia import Piece
from onnxtext.merge.versions import Items, Unread, fill
from onnxtext.syntax.lexer import load_lexer

_BLANKS = " \t\n\v\f\r"

Cut = tuple[int, int, Tree, Piece | None]
"""A statement that is not read: where it begins and what follows it, its tree, its comma."""


def read_model(source: str, model: Model) -> Items:
    """The header, graph, functions and sections of a text.

    Args:
        source: the text.
        model: its syntax tree.
    """
    nodes, values = [], []
    owners: list[Graph | Function] = [model.graph, *model.functions]
    for owner in owners:
        nodes.append(list(_cuts(source, owner.nodes, "node")))
        values.append(list(_cuts(source, owner.values, "value_info")))
    cuts = [cut for found in (*nodes, *values) for cut in found]
    whole = grow(_pieces(source, sorted(cuts, key=lambda cut: cut[0])))
    trees = [tree for tree in _top(whole) if tree.origin in ("graph", "function")]
    for tree, own_nodes, own_values in zip(trees, nodes, values, strict=True):
        _put_back(tree.child("body"), "nodes", own_nodes)
        _put_back(tree.child("values"), "value_infos", own_values)
    found = Items()
    fill(found, source, [(tree, None) for tree in _top(whole)], 0, len(source))
    return found


def _top(model: Tree) -> list[Tree]:
    """What stands at the top level; decorators with the header that is theirs."""
    trees: list[Tree] = []
    for part in model.trees():
        if part.origin in ("functions", "sections"):
            trees += part.trees()
        elif part.origin == "header" and trees:  # behind decorators
            trees = [Tree("head", "", [*trees, part])]
        else:
            trees.append(part)
    return trees


def _cuts(source: str, items: Sequence[Node | ValueInfo], origin: str) -> Iterator[Cut]:
    """The statements of a list that need not be read: not the last one, and none with comments."""
    for item, after in pairwise(items):
        start, following = item.at, after.at
        if not 0 <= start < following or source.find("#", start, following) >= 0:
            continue
        body = source[start:following].rstrip(_BLANKS)
        comma = None
        if origin == "value_info":
            if body[-1:] != ",":
                continue
            comma = Piece(",", "COMMA", start + len(body) - 1)
            body = body[:-1].rstrip(_BLANKS)
        tree = Unread(origin, "", [Piece(body, "", start)], item=item)
        yield start, following, tree, comma


def _pieces(source: str, cuts: Sequence[Cut]) -> list[Piece]:
    """The tokens of a text without what is cut out, and a piece for its end."""
    lexer = load_lexer()
    pieces: list[Piece] = []
    at = 0
    ends = [*[cut[0] for cut in cuts], len(source)]
    nexts = [*[cut[1] for cut in cuts], len(source)]
    for end, following in zip(ends, nexts, strict=True):
        for terminal, token, start in lexer.read(source, at):
            if start >= end:
                break
            pieces.append(Piece(str(token), terminal, start))
        at = following
    pieces.append(Piece("", "", len(source)))
    return pieces


def _put_back(tree: Tree | None, origin: str, cuts: Sequence[Cut]) -> None:
    """Put what was cut out into the list that it belongs to."""
    found = None if tree is None else tree.child(origin)
    if found is None or not cuts:
        return
    parts: list[tuple[int, Tree | Piece]] = []
    for part in found.parts:
        first = part if isinstance(part, Piece) else part.first()
        assert first is not None
        parts.append((first.at, part))
    for start, _, cut, comma in cuts:
        parts.append((start, cut))
        if comma is not None:
            parts.append((comma.at, comma))
    found.parts[:] = [part for _, part in sorted(parts, key=lambda part: part[0])]
