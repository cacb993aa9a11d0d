# SPDX-License-Identifier: Apache-2.0
"""Suggestions for misspelt words."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

_LONGEST = 40


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that is most similar to a word; None if none is similar enough.

    Args:
        word: the misspelt word.
        candidates: the known words.
    """
    if not word or len(word) > _LONGEST:
        return None
    lower = word.lower()
    best, score = None, 0.75 if len(word) > 3 else 0.65
    for candidate in candidates:
        if candidate == lower:
            return candidate
        if abs(len(candidate) - len(word)) > 2:
            continue
        # Transposed letters count as one typing error, not as two.
        ratio = 0.9 if sorted(candidate) == sorted(lower) and candidate[0] == lower[0] else 0.0
        ratio = max(ratio, SequenceMatcher(None, candidate, lower).ratio())
        if ratio > score:
            best, score = candidate, ratio
    return best
