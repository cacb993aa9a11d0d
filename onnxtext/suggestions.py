# SPDX-License-Identifier: Apache-2.0
"""Suggest corrections of misspelled names and keywords."""

from __future__ import annotations

from collections.abc import Iterable

_MAX_COMPARED = 2000
_MAX_NAME_LENGTH = 120
_MIN_SIMILARITY = 0.8
_TRANSPOSED = 0.9
"""The similarity of two names with the same letters in another order, a single typing error."""


def nearest_name(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most similar to a name.

    Returns None if no candidate is similar, or if several are equally similar.

    Args:
        name: the misspelled name.
        candidates: the valid names. At most `_MAX_COMPARED` names of about the same length are
            compared, to bound the time in large models.
    """
    if not name or len(name) > _MAX_NAME_LENGTH:
        return None
    from difflib import SequenceMatcher  # only for errors, because the import is slow

    best: list[str] = []
    score = _MIN_SIMILARITY if len(name) > 3 else 0.6
    compared = 0
    lower = name.lower()
    letters = sorted(lower)
    matcher = SequenceMatcher(None, "", name)
    for candidate in candidates:
        if abs(len(candidate) - len(name)) > 2 or candidate == name:
            continue
        if candidate.lower() == lower:
            return candidate
        compared += 1
        if compared > _MAX_COMPARED:
            break
        if candidate[:1] == name[:1] and sorted(candidate.lower()) == letters:
            ratio = _TRANSPOSED
        else:
            matcher.set_seq1(candidate)
            if matcher.real_quick_ratio() < score or matcher.quick_ratio() < score:
                continue
            ratio = matcher.ratio()
        if ratio > score or (ratio == score and not best):
            best, score = [candidate], ratio
        elif ratio == score:
            best.append(candidate)
    return best[0] if len(best) == 1 else None
