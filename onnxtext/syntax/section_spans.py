# SPDX-License-Identifier: Apache-2.0
"""Find the sections at the end of a text (SPEC 13): the syntax tree does not store their positions.

The text may have syntax errors.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from onnxtext.source import COMMENT, LINE_STRING, STRING

SECTIONS = (
    "metadata",
    "quantization",
    "training",
    "configuration",
    "order",
    "encoding",
    "resources",
)

_GAP = rf"(?:\s|{COMMENT})*"
_HEAD = (
    rf"(?P<word>metadata|quantization|training|order|encoding|resources)\b{_GAP}(?:\{{|none\b)"
    rf"|(?P<named>configuration)\b{_GAP}(?:b?(?:{STRING})|\w+){_GAP}\{{"
)


def _pieces(string: str, before_head: str) -> re.Pattern[str]:
    return re.compile(
        rf"{string}|{COMMENT}|{before_head}(?:{_HEAD})|[{{}}\"]", re.DOTALL | re.MULTILINE
    )


_BALANCED = _pieces(STRING, r"\b")
_BROKEN = _pieces(LINE_STRING, r"(?:^|\}|\bnone\b)[^\S\n]*")
_HEAD_AT = re.compile(_HEAD, re.DOTALL)


class SectionSpan(NamedTuple):
    """The position of a section.

    Attributes:
        keyword: its keyword, such as `metadata`.
        at: the offset of the keyword.
        inside: the offset behind its opening brace, or behind `none`.
        end: the offset behind its closing brace; behind its last brace if the text has an error.
    """

    keyword: str
    at: int
    inside: int
    end: int


def section_spans(text: str) -> list[SectionSpan]:
    """Return the sections of a text, in their order.

    In a text whose braces do not match, a section begins at the start of a line or behind a brace.
    """
    # Searching words is much faster than the regular expression; most texts have no section.
    if not any(_has_head(text, word) for word in SECTIONS):
        return []
    found = _read(text, _BALANCED, is_balanced=True)
    return _read(text, _BROKEN, is_balanced=False) or [] if found is None else found


def _has_head(text: str, word: str) -> bool:
    at = text.find(word)
    while at >= 0:
        if _HEAD_AT.match(text, at) is not None:
            return True
        at = text.find(word, at + 1)
    return False


def _read(text: str, pieces: re.Pattern[str], *, is_balanced: bool) -> list[SectionSpan] | None:
    """Return the sections of a text.

    If `is_balanced`, sections begin outside of braces; None for a text whose braces do not match.
    """
    found: list[SectionSpan] = []
    depth = 0
    for piece in pieces.finditer(text):
        last = text[piece.end() - 1]
        name = piece.lastgroup
        if name is None:
            is_brace = piece.end() - piece.start() == 1
            if is_balanced and is_brace and (last == '"' or (last == "}" and not depth)):
                return None
            if is_brace and last == "}" and found:
                found[-1] = found[-1]._replace(end=piece.end())
        elif not depth or not is_balanced:
            if piece.group()[0] == "}" and found:
                found[-1] = found[-1]._replace(end=piece.start() + 1)
            found.append(SectionSpan(piece[name], piece.start(name), piece.end(), piece.end()))
        if name is not None or piece.end() - piece.start() == 1:
            depth += (last == "{") - (last == "}")
    return None if is_balanced and depth else found
