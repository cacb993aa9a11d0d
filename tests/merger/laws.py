# SPDX-License-Identifier: Apache-2.0
"""Laws of every merge, and helpers to resolve conflicts."""

from __future__ import annotations

from collections import Counter

import onnxtext
from benchmarks.merge_trial import resolved
from onnxtext.format.tokens_with_comments import comments_of
from onnxtext.merger import MergeResult, merge


def merged(base: str, ours: str, theirs: str) -> MergeResult:
    """Merge three valid texts and check the laws."""
    result = merge(base.encode(), ours.encode(), theirs.encode())
    text = result.content.decode()
    assert result.conflicts == text.count("<<<<<<< ours\n")
    if not result.conflicts:
        onnxtext.parse(text)
    onnxtext.parse(resolved(text, "ours"))
    assert not lost_comments(base, ours, theirs, text)
    other = merge(base.encode(), theirs.encode(), ours.encode())
    assert bool(other.conflicts) == bool(result.conflicts)
    return result


def lost_comments(base: str, ours: str, theirs: str, text: str) -> list[str]:
    """Return the comments that a merge must keep but does not."""
    before, mine, others = (Counter(comments_of(version)) for version in (base, ours, theirs))
    needed = (mine - before) | (others - before) | (before & mine & others)
    return [comment for comment in needed if comment not in text]


def statements(text: str) -> Counter[str]:
    """Count the nodes of a text."""
    return Counter(map(repr, onnxtext.parse(text).graph.nodes))
