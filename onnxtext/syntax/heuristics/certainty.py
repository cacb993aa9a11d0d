# SPDX-License-Identifier: Apache-2.0
"""Decide whether a fix that adds a comma or `=`, or quotes a name, is certain.

Most of these fixes are certain only if the names that result from them occur elsewhere in the text:
a word that occurs only once may be a typo. Fixes that are not certain are marked `unsafe`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.source import Span, line_start
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.constructs.node_errors import NAMES, TYPES
from onnxtext.syntax.heuristics.error_context import OPENING, ErrorContext, begins_line, indentation

_AROUND = 20_000
"""Number of characters to search before and after a name."""
_MAX_HITS = 50
"""Maximum number of matches to check in the search for a name."""
_NAME_CHARACTER = re.compile(r"[^\s\"'(){}\[\]<>,=#]")
_NAMES = NAMES - {"PRIM", "CONTAINER"}
_NUMBERS = frozenset(("INT", "FLOAT", "HEX"))


def _places(text: str, name: str, span: Span) -> Iterator[int]:
    """Yield the offsets at which a whole name, quoted or not, occurs near a range but not in it."""
    end, limit = max(0, span.start - _AROUND), span.end + _AROUND
    for _ in range(_MAX_HITS):
        place = text.find(name, end, limit)
        if place < 0:
            return
        end = place + len(name)
        before = text[place - 1 : place] if place else ""
        inside = span.start <= place < span.end
        if not (inside or _NAME_CHARACTER.match(before) or _NAME_CHARACTER.match(text, end)):
            yield place


def occurs_elsewhere(text: str, name: str, span: Span) -> bool:
    """Whether a name, with or without quotes, occurs near a range but not in it."""
    return next(_places(text, name, span), None) is not None


def is_defined(text: str, name: Token, pair: tuple[Token, Token]) -> bool:
    """Whether a name occurs elsewhere as a value, rather than as an operator, label or attribute.

    Args:
        text: the text.
        name: the first or second of two adjacent names.
        pair: both names; a place where they are adjacent does not count.
    """
    word = name.strip('"')
    for place in _places(text, word, name.span):
        line, end = line_start(text, place), place + len(word)
        before, after = text[line:place].rstrip(' \t"'), text[end : end + 100].lstrip(' \t"')
        if "#" in before or after[:1] not in {",", ")", "="}:
            continue
        is_attribute = after[0] == "=" and before[-1:] in ("<", ",")
        if not (is_attribute or before.endswith(("[", pair[0])) or after.startswith(pair[1])):
            return True
    return False


def is_certain_comma(context: ErrorContext) -> bool:
    """Whether a comma is certainly missing before the unexpected token."""
    token, last = context.token, context.done[-1] if context.done else None
    if token is None or last is None:
        return True
    if last == "=" or last.endswith("."):  # the value is missing, or `.` was typed for `,`
        return False
    item = _item(context)
    before = [token for token in context.done if token.at < item[0].at][-2:]
    if before[1:] == [","] and before[0] in {",", *OPENING}:  # the comma may be misplaced: `(,a b`
        return False
    blank = context.text[last.end : token.at]
    marks = {"=": {"="}, ":": {"=", ":"}}.get(context.ahead[0] if context.ahead else "", set())
    if marks & {*item}:  # `b = 2` in `a = 1 b = 2`
        return token != item[0]
    single = len(item) == 1 and _is_plain(context, item[0])
    if context.name(token) in TYPES or "\n" in blank:
        # If the next line has another indentation, the item may be a pasted part of a line.
        margins = [indentation(context.text, t.at) for t in (item[0], token)]
        pasted = begins_line(context.text, item[0].at) and margins[0] != margins[1]
        # At the end of a line, a name that occurs only once may be cut off.
        cut_off = "\n" in blank and context.name(last) in _NAMES and last[0] != '"'
        if pasted or (cut_off and not occurs_elsewhere(context.text, last, last.span)):
            return False
        return not single or _are_known(context, last, token)
    if context.name(item[0]) in TYPES:
        return False
    if not (_is_plain(context, last) and _is_plain(context, token)):
        return token != last  # in `[@denotation("d") ? ?]`, the `?` may be written twice
    return blank != "" and _are_known(context, last, token)


def _is_plain(context: ErrorContext, token: Token) -> bool:
    """Whether a token is a word, a string or a number."""
    return context.name(token) in NAMES | _NUMBERS or token.isidentifier()


def _are_known(context: ErrorContext, last: Token, token: Token) -> bool:
    """Whether `last` and `token` occur elsewhere as names of values, but not joined to one name."""
    if token == last or not {context.name(last), context.name(token)} <= _NAMES:
        return False
    text, pair = context.text, (last, token)
    return (
        not occurs_elsewhere(text, f"{last}{token}", Span(last.at, token.end))
        and is_defined(text, last, pair)
        and is_defined(text, token, pair)
    )


def _item(context: ErrorContext) -> list[Token]:
    """Return the tokens of the list item that the unexpected token follows."""
    done = context.done
    first = len(done) - 1
    while first > 0 and done[first - 1] != "," and done[first - 1] not in OPENING:
        first -= 1
    return done[first:]


def is_certain_equals(context: ErrorContext) -> bool:
    """Whether a `=` is certainly missing before the unexpected token."""
    same_line = context.text.find("\n", context.previous_end, context.at) < 0
    # In the declaration `float w 1`, the `1` may be a part of the name; `x {` may begin a block.
    last, token = context.last, context.name(context.token)
    if last is None or context.name(last) not in NAMES or last.endswith("equals"):
        return False
    return same_line and token not in {*TYPES, *_NUMBERS, "LBRACE"}


_MARKS = re.compile(r"[^\w]+")
_PATH = re.compile(r"/?\w+(?:[./:]+\w+)*")


def is_certain_name(context: ErrorContext, name: str, span: Span) -> bool:
    """Whether a text that is not a word is certainly a name that lacks its quotes.

    The text must occur elsewhere with quotes, or it must look like a path, such as `layer.0/out`,
    and occur elsewhere. `x.c` is not certain if `x` and `c` occur elsewhere as separate names.
    """
    quoted = occurs_elsewhere(context.text, f'"{name}"', span)
    repeated = _PATH.fullmatch(name) and occurs_elsewhere(context.text, name, span)
    if not quoted and not repeated:
        return False
    parts = [part for part in _MARKS.split(name) if part]
    return len(parts) < 2 or not all(
        part.isidentifier() and occurs_elsewhere(context.text, part, span) for part in parts
    )
