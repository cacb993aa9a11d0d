# SPDX-License-Identifier: Apache-2.0
"""Putting the comments of merged texts into a text that was printed anew."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

from onnxtext.ast.model import Graph, Model
from onnxtext.ast.visit import walk_graphs
from onnxtext.diagnostics import OnnxTextError
from onnxtext.format.trivia import comments_of, read_pieces
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model

Version = tuple[str, Model]
"""A text and its syntax tree."""
_END = None


def add_comments(text: str, base: str, ours: Version, theirs: Version) -> str:
    """Add the comments that a merge keeps to a text, each above its statement if that is there.

    Args:
        text: parses, and has only comments of the versions.
        base: the text of the common ancestor.
        ours: one version.
        theirs: the other one.
    """
    before, mine, others = [Counter(comments_of(one)) for one in (base, ours[0], theirs[0])]
    needed = (mine - before) | (others - before) | (before & mine & others)
    needed -= Counter(comments_of(text))
    if not needed:
        return text
    placed: dict[Hashable, list[str]] = defaultdict(list)
    for version in (ours, theirs):
        for comment, key in _anchored(*version):
            if needed[comment] > 0:
                needed[comment] -= 1
                placed[key].append(comment)
    return _inserted(text, placed)


def _anchored(text: str, model: Model) -> list[tuple[str, Hashable]]:
    """The comments of a text, and the statements that they are about."""
    starts = sorted(_statements(model), key=lambda found: found[0])
    ats = [at for at, _ in starts]
    found: list[tuple[str, Hashable]] = []
    for piece in read_pieces(text):
        for comment in piece.lead:
            at = bisect_left(ats, comment.at)
            found.append((comment.text, starts[at][1] if at < len(starts) else _END))
        if piece.trail is not None:
            at = bisect_right(ats, piece.trail.at) - 1
            found.append((piece.trail.text, starts[max(at, 0)][1]))
    return found


def _statements(model: Model) -> list[tuple[int, Hashable]]:
    """The offsets of statements, and what identifies them in other versions."""
    found: list[tuple[int, Hashable]] = []
    for owner in walk_graphs(model):
        kind = "graph" if isinstance(owner, Graph) else "function"
        found.append((owner.at, (kind, owner.name)))
        found += [(node.at, ("node", node.outputs or node.op_type)) for node in owner.nodes]
        for value in (*owner.inputs, *owner.outputs, *owner.values):
            found.append((value.at, ("value", value.name)))
    return [(at, key) for at, key in found if at >= 0]


def _inserted(text: str, placed: dict[Hashable, list[str]]) -> str:
    model = parse_model(Source(text, "<merge>"))
    lines: dict[int, list[str]] = defaultdict(list)
    rest = dict(placed)
    at_end = rest.pop(_END, [])
    for at, key in _statements(model):
        if key in rest:
            lines[text.rfind("\n", 0, at) + 1] += rest.pop(key)
    lines[0] = [comment for comments in rest.values() for comment in comments] + lines[0]
    made: list[str] = []
    last = 0
    for start in sorted(lines):
        indent = text[start : start + len(text[start:]) - len(text[start:].lstrip(" "))]
        made += [text[last:start], *[f"{indent}{comment}\n" for comment in lines[start]]]
        last = start
    result = "".join([*made, text[last:], *[f"{comment}\n" for comment in at_end]])
    if _says(result, model):
        return result
    everything: Sequence[str] = [c for comments in placed.values() for c in comments]
    return "".join([*[f"{comment}\n" for comment in everything], text])


def _says(text: str, model: Model) -> bool:
    try:
        return parse_model(Source(text, "<merge>")) == model
    except OnnxTextError:
        return False
