# SPDX-License-Identifier: Apache-2.0
"""Find the sections at the end of a text (SPEC 13): the syntax tree does not store their positions.

The text may have syntax errors.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from onnxtext.source import COMMENT, LINE_STRING, NAMED_SECTION, SECTIONS, STRING

_GAP = rf"(?:\s|{COMMENT}\n)*"
"""Matches blanks and comments without ambiguity, so that a failed match takes linear time."""
_HEAD = (
    rf"(?P<word>{'|'.join([word for word in SECTIONS if word != NAMED_SECTION])})\b"
    rf"{_GAP}(?:\{{|none\b)|(?P<named>{NAMED_SECTION})\b{_GAP}(?:b?(?:{STRING})|\w+){_GAP}\{{"
)


@cache  # compiled for the first text with sections
def _piece_pattern(*, is_balanced: bool) -> re.Pattern[str]:
    string = STRING if is_balanced else LINE_STRING
    before_head = r"\b" if is_balanced else r"(?:^|\}|\bnone\b)[^\S\n]*"
    return re.compile(
        rf"{string}|{COMMENT}|{before_head}(?:{_HEAD})|(?P<mark>[{{}}\"])", re.DOTALL | re.MULTILINE
    )


_MAY_BE_HEAD = re.compile(
    rf"(?:{'|'.join(SECTIONS)})(?:\s*[{{#]|\s+none\b)|{NAMED_SECTION}\s*[\w\"]"
)


class SectionSpan(NamedTuple):
    """The position of a section in the text.

    Attributes:
        keyword: its keyword, such as `metadata`.
        at: the offset of the keyword.
        inside: the offset after its opening brace, or after `none`.
        end: the offset after its closing brace, or after `none`; in a text with errors, after its
            last `}`.
    """

    keyword: str
    at: int
    inside: int
    end: int


def section_spans(text: str) -> list[SectionSpan]:
    """Return the sections of a text, in their order.

    In a text whose braces do not match, a section begins at the start of a line, or after `}` or
    `none`.
    """
    # Searching words is much faster than the regular expression; most texts have no section.
    if not any(word in text for word in SECTIONS) or not _MAY_BE_HEAD.search(text):
        return []
    spans = _read(text, is_balanced=True)
    return _read(text, is_balanced=False) or [] if spans is None else spans


def _read(text: str, *, is_balanced: bool) -> list[SectionSpan] | None:
    """Return the sections of a text.

    If `is_balanced`, sections begin only outside of braces; return None if braces or quotes do
    not match.
    """
    spans: list[SectionSpan] = []
    depth, closed = 0, -1  # `closed` is the offset after the last closing brace
    for piece in _piece_pattern(is_balanced=is_balanced).finditer(text):
        name = piece.lastgroup
        if name is None:  # a string or comment
            continue
        if name == "mark":
            mark = piece[name]
            if mark == "}":
                closed = piece.end()
            if is_balanced and (mark == '"' or (mark == "}" and not depth)):
                return None
            depth += 1 if mark == "{" else -1
            continue
        if piece.group()[0] == "}":
            closed = piece.start() + 1
        if not depth or not is_balanced:
            _end(spans, closed)
            spans.append(SectionSpan(piece[name], piece.start(name), piece.end(), piece.end()))
        depth += text[piece.end() - 1] == "{"
    _end(spans, closed)
    return None if is_balanced and depth else spans


def _end(spans: list[SectionSpan], closed: int) -> None:
    """End the last span at `closed`, the offset after its last closing brace, if it has one."""
    if spans and closed > spans[-1].inside:
        spans[-1] = spans[-1]._replace(end=closed)
