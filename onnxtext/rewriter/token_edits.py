# SPDX-License-Identifier: Apache-2.0
"""Edit a statement token by token, so that its comments and layout stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from operator import attrgetter

from onnxtext.format.token_text import decode_token
from onnxtext.format.tokens_with_comments import CommentedToken, read_tokens

_MAX_TOKENS = 20_000
"""Maximum number of tokens to compare; statements with more are replaced, to save time."""


def edit_tokens(text: str, before: str, after: str) -> str | None:
    """Apply the changes from `before` to `after`, printed forms of a statement, to its text.

    Return None if the statement is too long, or if a change cannot be placed in the text, for
    example because a comment is between changed tokens.
    """
    spelled, old, new = (read_tokens(code)[:-1] for code in (text, before, after))
    if len(spelled) + len(old) + len(new) > _MAX_TOKENS:
        return None
    places: dict[int, int] = {}
    for offset, other, size in _matcher(old, spelled, decode_token).get_matching_blocks():
        places.update(zip(range(offset, offset + size), range(other, other + size), strict=True))
    parts: list[str] = []
    done = 0
    for tag, first, last, start, end in _matcher(old, new, attrgetter("text")).get_opcodes():
        if tag == "equal":
            continue
        if tag == "insert":
            edit = _insertion(spelled, places, first, after, new, start, end)
        else:
            replacement = after[new[start].at : new[end - 1].end] if start < end else ""
            edit = _replacement(spelled, places, first, last, replacement)
        if edit is None:
            return None
        left, right, replacement = edit
        parts += [text[done:left], replacement]
        done = right
    return "".join([*parts, text[done:]])


def _insertion(
    spelled: Sequence[CommentedToken],
    places: Mapping[int, int],
    offset: int,
    after: str,
    new: Sequence[CommentedToken],
    start: int,
    end: int,
) -> tuple[int, int, str] | None:
    """Return the edit that inserts `new[start:end]`: (start, end, text); None if impossible.

    `spelled` has the tokens in the text, `new` the tokens of the printed edited statement `after`.
    `places` maps indices of tokens in the printed statement before the edit to indices in
    `spelled`. The new tokens go before the token `offset` of that printed statement.
    """
    if offset > 0:
        if offset - 1 not in places:
            return None
        place = spelled[places[offset - 1]].end
        return place, place, after[new[start - 1].end : new[end - 1].end]
    if places.get(0) != 0:
        return None
    return spelled[0].at, spelled[0].at, after[: new[end].at]


def _replacement(
    spelled: Sequence[CommentedToken], places: Mapping[int, int], first: int, last: int, text: str
) -> tuple[int, int, str] | None:
    """Return the edit that replaces tokens: (start, end, text); None if it is impossible.

    The tokens have the indices from `first` to `last - 1` in the printed statement. It is
    impossible if the text lacks one of the tokens, or has a comment or another token between
    them. `places` is as in `_insertion`.
    """
    mapped = [places[index] for index in range(first, last) if index in places]
    if len(mapped) < last - first or mapped[-1] - mapped[0] != last - first - 1:
        return None
    tokens = spelled[mapped[0] : mapped[-1] + 1]
    if any(token.lead for token in tokens[1:]) or any(token.trail for token in tokens[:-1]):
        return None
    left, right = tokens[0].at, tokens[-1].end
    is_first = mapped[0] == 0 or spelled[mapped[0] - 1].end == left  # no blanks to remove before
    following = spelled[mapped[-1] + 1] if mapped[-1] + 1 < len(spelled) else None
    if not text and is_first and following is not None and not tokens[-1].trail:
        right = right if following.lead else following.at
    elif not text and not tokens[0].lead and spelled[mapped[0] - 1].trail is None:
        left = spelled[mapped[0] - 1].end
    return left, right, text


def _matcher(
    left: Sequence[CommentedToken],
    right: Sequence[CommentedToken],
    spelling: Callable[[CommentedToken], str],
) -> SequenceMatcher[str]:
    texts = list(map(spelling, left)), list(map(spelling, right))
    return SequenceMatcher(None, *texts, autojunk=False)
