# SPDX-License-Identifier: Apache-2.0
"""Suggest corrections of misspelled names and keywords."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MAX_SHOWN = 8
_MAX_COMPARED = 2000
_MAX_NAME_LENGTH = 120
_MIN_SIMILARITY = 0.8
_TRANSPOSED = 0.9
"""The similarity of two names with equal first letters, if the other letters are only reordered."""
_CLEAR_MARGIN = 0.1
_SHORT = 3
"""Maximum length of a short name."""
_NUMBERS = re.compile(r"\d+")


def nearest_name(name: str, candidates: Iterable[str], *, margin: float = 0) -> str | None:
    """Return the candidate most similar to a name.

    A candidate that differs only in letter case is returned at once. Return None if no candidate is
    similar, if several are equally similar, or if the name is empty or longer than
    `_MAX_NAME_LENGTH`.

    Args:
        name: the misspelled name.
        candidates: the valid names; `name` itself is ignored. To bound the time in large models, at
            most `_MAX_COMPARED` names of about the same length are compared.
        margin: two names count as equally similar if their similarities, numbers from 0 to 1,
            differ by at most this number.
    """
    if not name or len(name) > _MAX_NAME_LENGTH:
        return None
    from difflib import SequenceMatcher  # only for errors, because the import is slow

    best = None
    score, second = _MIN_SIMILARITY if len(name) > 3 else 0.6, 0.0
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
            min_ratio = score - margin
            if matcher.real_quick_ratio() < min_ratio or matcher.quick_ratio() < min_ratio:
                continue
            ratio = matcher.ratio()
        if ratio > score or (ratio == score and best is None):
            second = score if best is not None else second
            best, score = candidate, ratio
        else:
            second = max(second, ratio)
    return best if second < score - margin else None


def suggest_name(name: str, candidates: Iterable[str]) -> str | None:
    """Return a hint for an unknown name in a model.

    The hint names the most similar candidate, or else the first candidates. Return None if
    `candidates` is empty.
    """
    names = list(dict.fromkeys(candidates))
    suggestion = nearest_name(name, names)
    if suggestion is not None:
        return f"did you mean `{suggestion}`?"
    shown = ", ".join([f"`{item}`" for item in names[:_MAX_SHOWN]])
    ending = f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else ""
    return f"the model has {shown}{ending}" if names else None


def is_clear_correction(wrong: str, right: str, candidates: Iterable[str]) -> bool:
    """Whether a name is certainly a misspelling of another name.

    The other name must be clearly the most similar candidate (see `nearest_name`), and have the
    same numbers (unlike `layer_12`, `layer_1`). The lengths of the names must not differ by more
    than one letter if `wrong` is short (unlike `up`, `W_up`).
    """
    if _NUMBERS.findall(wrong) != _NUMBERS.findall(right):
        return False
    if len(wrong) <= _SHORT and abs(len(wrong) - len(right)) > 1:
        return False
    return nearest_name(wrong, candidates, margin=_CLEAR_MARGIN) == right
