# SPDX-License-Identifier: Apache-2.0
"""Add the comments of earlier texts to a text printed from a merged or edited model."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence

from onnxtext.ast.model import Graph, Model
from onnxtext.ast.visit import walk_graphs
from onnxtext.format.tokens_with_comments import read_tokens
from onnxtext.merger.texts.text_parts import comments_in
from onnxtext.merger.texts.trivia_merge import kept_comments
from onnxtext.merger.texts.verify_merged_text import parse_or_none
from onnxtext.source import Source, line_start
from onnxtext.syntax.parse import parse_model

_BLANKS = re.compile(" *")
Version = tuple[str, Model]
"""A text and its syntax tree."""
Key = tuple[Hashable, int]
"""Identifies a statement in all versions: (what the statement defines, its 1-based number among the
statements with equal definitions). For example, both branches of an `If` may define `y`."""
_END: Key = (None, 0)
"""Takes the place of a statement's key for comments that follow the last statement."""


def add_comments(text: str, base: str, ours: Version, theirs: Version) -> str:
    """Return a text with all comments that a merge keeps; put missing ones above their statements.

    Comments whose statement is not in the text go to the top. The text must be valid, and all its
    comments must be from the versions.
    """
    needed = kept_comments(comments_in(base), comments_in(ours[0]), comments_in(theirs[0]))
    needed -= comments_in(text)
    if not needed:
        return text
    placed: dict[Key, list[str]] = defaultdict(list)
    for side, model in (ours, theirs):
        for comment, key in _comment_anchors(side, dict(_statements(model))):
            if needed[comment] > 0 and key is not None:
                needed[comment] -= 1
                placed[key].append(comment)
    return _insert(text, placed)


def restore_comments(text: str, before: Version, edited: Model) -> str:
    """Return an edited text with the comments that it has lost, each above its statement.

    If a statement was removed, a comment on its line is dropped, and a comment above it moves to
    the next statement.

    Offsets of unchanged statements in the tree `edited` refer to the old text.
    """
    lost = comments_in(before[0]) - comments_in(text)
    if not lost:
        return text
    printed = parse_model(Source(text, "<merge>"))
    there = Counter(_comment_anchors(text, dict(_statements(printed))))
    placed: dict[Key, list[str]] = defaultdict(list)
    offsets = sorted([offset for offset, _ in _statements(before[1])])
    found = _comment_anchors(before[0], dict(_statements(edited)), offsets)
    lost -= Counter([name for name, key in found if key is None])
    missing = list((Counter(found) - there).elements())  # insert these first
    for name, key in [*missing, *found]:
        if key is not None and lost[name] > 0:
            lost[name] -= 1
            placed[key].append(name)
    return _insert(text, placed) if placed else text


def _comment_anchors(
    text: str, keys: Mapping[int, Key], offsets: Sequence[int] = ()
) -> list[tuple[str, Key | None]]:
    """Return each comment of a text with the key of its statement.

    The key of a comment on the line of a removed statement is None, and the key of a comment after
    the last statement is `_END`. `keys` maps the offset of each kept statement to its key.
    `offsets` are the offsets of all statements, ascending; () if no statement was removed.
    """
    kept = sorted(keys)
    offsets = offsets or kept
    result: list[tuple[str, Key | None]] = []
    for token in read_tokens(text):
        for comment in token.lead:
            at = bisect_left(kept, comment.at)
            result.append((comment.text, keys[kept[at]] if at < len(kept) else _END))
        if token.trail is not None:
            at = offsets[max(bisect_right(offsets, token.trail.at) - 1, 0)]
            result.append((token.trail.text, keys.get(at)))
    return result


def _statements(model: Model) -> list[tuple[int, Key]]:
    """Return the offset and the key of each statement that has an offset."""
    statements: list[tuple[int, Hashable]] = []
    for owner in walk_graphs(model):
        kind = "graph" if isinstance(owner, Graph) else "function"
        statements.append((owner.at, (kind, owner.name)))
        statements += [(node.at, ("node", node.outputs or node.op_type)) for node in owner.nodes]
        for value in (*owner.inputs, *owner.outputs, *owner.values):
            statements.append((value.at, ("value", value.name)))
    seen: Counter[Hashable] = Counter()
    result: list[tuple[int, Key]] = []
    for offset, defined in statements:
        seen[defined] += 1
        if offset >= 0:
            result.append((offset, (defined, seen[defined])))
    return result


def _insert(text: str, placed: dict[Key, list[str]]) -> str:
    """Insert comments above statements; `placed` maps the key of a statement to its comments.

    If the result parses to another model, insert all comments at the top of the text instead.
    """
    model = parse_model(Source(text, "<merge>"))
    if not text.endswith("\n"):
        text += "\n"
    lines: dict[int, list[str]] = defaultdict(list)
    rest = dict(placed)
    at_end = rest.pop(_END, [])
    offsets = {key: offset for offset, key in _statements(model)}
    at_top: list[str] = []
    for (defined, number), comments in rest.items():
        offset = offsets.get((defined, number), offsets.get((defined, 1)))
        if offset is None:
            at_top += comments
        else:
            lines[line_start(text, offset)] += comments
    lines[0] = at_top + lines[0]
    pieces: list[str] = []
    last = 0
    for start in sorted(lines):
        blanks = _BLANKS.match(text, start)
        indent = "" if blanks is None else blanks.group()
        pieces += [text[last:start], *[f"{indent}{comment}\n" for comment in lines[start]]]
        last = start
    result = "".join([*pieces, text[last:], *[f"{comment}\n" for comment in at_end]])
    if parse_or_none(result) == model:
        return result
    everything: Sequence[str] = [c for comments in placed.values() for c in comments]
    return "".join([*[f"{comment}\n" for comment in everything], text])
