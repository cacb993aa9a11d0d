# SPDX-License-Identifier: Apache-2.0
"""Three versions of blanks and comments: no comment of either side is lost."""

from __future__ import annotations

from collections import Counter

from onnxtext.merge.versions import Item, comments_in


def merge_blanks(base: str | None, ours: str | None, theirs: str | None) -> str:
    """What stands between two tokens; None where one of them is not.

    Where both sides have changed it, it is ours with the comments that only they have added, and
    without those that they have taken away.
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
    """What stands behind an item on its line; and the comments for which there is no room."""
    if ours is None or theirs is None or theirs in (base, ours) or base == ours:
        return merge_blanks(base, ours, theirs), []
    mine, others = comments_in(ours), comments_in(theirs) - comments_in(base or "")
    if not mine:
        return theirs, []
    if mine == comments_in(base or "") and not comments_in(theirs):
        return theirs, []
    return ours, list((others - mine).elements())


def with_comments(blanks: str, comments: list[str]) -> str:
    """Blanks with more comments, each on a line of its own but for one behind a token."""
    if not comments:
        return blanks
    lines, end, indent = blanks.rpartition("\n")
    if not end:
        return "\n".join(
            [blanks, *comments] if "#" in blanks else [f"  {comments[0]}", *comments[1:]]
        )
    last = lines.rpartition("\n")[2]
    before = last[: -len(last.lstrip())] if last.lstrip()[:1] == "#" else indent
    return f"{lines}\n{''.join([f'{before}{comment}{chr(10)}' for comment in comments])}{indent}"


def _without(blanks: str, comments: Counter[str]) -> str:
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
            kept.append("")  # it stood behind something
    return "\n".join(kept)


def missing_comments(
    base: Item | None, ours: Item | None, theirs: Item | None, merged: str
) -> list[str]:
    """The comments in an item that a merge would lose."""
    before, mine, others = (
        Counter() if item is None else comments_in(item.part.body) for item in (base, ours, theirs)
    )
    if not mine and not others:
        return []
    needed = (mine - before) | (others - before) | (before & mine & others)
    return list((needed - comments_in(merged)).elements())
