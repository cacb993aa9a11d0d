# SPDX-License-Identifier: Apache-2.0
"""Merge whitespace and comments between tokens, so that no added comment is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from onnxtext.merger.texts.merged_tree import MergedList
from onnxtext.merger.texts.text_parts import Item, ListItems, comments_in


def merge_blanks(base: str | None, ours: str | None, theirs: str | None) -> str:
    """Return the merged whitespace and comments between two tokens.

    If both sides changed this text, return ours with the comments that theirs added, and without
    the comments that theirs removed. A version is None if it lacks one of the tokens.
    """
    if ours is None or theirs is None:
        return ours if ours is not None else theirs or ""
    if theirs in (base, ours):
        return ours
    if base == ours:
        return theirs
    before, mine, others = comments_in(base or ""), comments_in(ours), comments_in(theirs)
    return with_comments(_without(ours, before - others), list((others - before - mine).elements()))


def merge_tails(base: str | None, ours: str | None, theirs: str | None) -> tuple[str, list[str]]:
    """Merge the whitespace and the comment that follow an item on its line.

    Returns:
        (the merged text, the comments that theirs adds if the line already has a comment of ours)
    """
    if ours is None or theirs is None or theirs in (base, ours) or base == ours:
        return merge_blanks(base, ours, theirs), []
    mine, others = comments_in(ours), comments_in(theirs) - comments_in(base or "")
    if not mine:
        return theirs, []
    if mine == comments_in(base or "") and not comments_in(theirs):
        return theirs, []
    return ours, list((others - mine).elements())


def kept_comments(base: Counter[str], ours: Counter[str], theirs: Counter[str]) -> Counter[str]:
    """Return the comments that a merge keeps: a side added them, or both sides kept them."""
    return (ours - base) | (theirs - base) | (base & ours & theirs)


def drop_deleted_comments(listed: MergedList, versions: Sequence[ListItems]) -> None:
    """Drop comments that one side deleted, if the other side added an item after them.

    In the base, the comment follows the last item; on the other side, it precedes the new item.
    `versions` are the list in the base, ours and theirs.
    """
    new = [item for item in listed.items if item.versions[0] is None and "#" in item.lead]
    if not new:
        return
    base, ours, theirs = [comments_in(*version.blanks()) for version in versions]
    between = [text for item in listed.items for text in (item.lead, item.tail)]
    merged = comments_in(listed.opening_tail, *between, listed.suffix)
    deleted = (merged - kept_comments(base, ours, theirs)) & base
    for item in new:
        item.lead = _without(item.lead, deleted)


def with_comments(blanks: str, comments: list[str]) -> str:
    """Insert `comments` into `blanks`, the whitespace and comments between two tokens.

    Each new comment gets its own line. If `blanks` has no line end, the first new comment is
    written after the preceding token, unless `blanks` already has a comment.
    """
    if not comments:
        return blanks
    lines, end, indent = blanks.rpartition("\n")
    if not end:
        return "\n".join(
            [blanks, *comments] if "#" in blanks else [f"  {comments[0]}", *comments[1:]]
        )
    if "#" in indent:  # the text ends with a comment without a line end
        indent = indent[: -len(indent.lstrip())]
        return "\n".join([blanks, *[f"{indent}{comment}" for comment in comments]])
    last = lines.rpartition("\n")[2]
    before = last[: -len(last.lstrip())] if last.lstrip()[:1] == "#" else indent
    return f"{lines}\n{''.join([f'{before}{comment}{chr(10)}' for comment in comments])}{indent}"


def _without(blanks: str, comments: Counter[str]) -> str:
    """Remove comments from a text, and subtract the removed comments from the counter."""
    if not comments:
        return blanks
    kept: list[str] = []
    for line in blanks.split("\n"):
        comment = line[line.find("#") :].rstrip() if "#" in line else ""
        if not comment or comments[comment] <= 0:
            kept.append(line)
            continue
        comments[comment] -= 1
        if not kept:
            kept.append("")  # the comment followed a token
    return "\n".join(kept)


def missing_comments(
    base: Item | None, ours: Item | None, theirs: Item | None, merged: str
) -> list[str]:
    """Return the comments inside an item that the merge must keep but its text `merged` lacks."""
    before, mine, others = (
        Counter() if item is None else comments_in(item.part.body) for item in (base, ours, theirs)
    )
    if not mine and not others:
        return []
    return list((kept_comments(before, mine, others) - comments_in(merged)).elements())
