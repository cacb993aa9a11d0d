# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for look-alike and invisible characters, as in text copied from web pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import COMMENT, STRING, Span
from onnxtext.syntax.heuristics.certainty import occurs_elsewhere
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, written_title
from onnxtext.syntax.heuristics.error_context import ErrorContext

_BLANKS = dict.fromkeys("\u00a0\u1680\u202f\u205f\u3000", " ") | {
    chr(code): " " for code in range(0x2000, 0x200B)
}
_INVISIBLE = dict.fromkeys("\u00ad\u061c\u180e\u2060\ufeff", "") | {
    chr(code): ""
    for first, last in ((0x200B, 0x200F), (0x202A, 0x202E), (0x2066, 0x2069))
    for code in range(first, last + 1)
}
_MARKS = (
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}  # full-width forms
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63", "-")
    | dict.fromkeys("\u2192\u21d2\u27f9", "=>")
    | {"\u2026": "...", "\u3001": ",", "\u2236": ":"}
)
_LETTERS = dict(
    zip(
        "\u0410\u0412\u0415\u0405\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422"
        "\u0425\u0423\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455"
        "\u04bb\u0501\u051b\u051d\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c"
        "\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03bd\u0474\u0475",
        "ABESJKMHOPCTXYaeopcyxijshdqwABEZHIKMNOPTYXovVv",
        strict=True,
    )
)
"""Cyrillic and Greek letters that look like Latin ones."""
_WORD = re.compile(f"[A-Za-z0-9_{''.join(_LETTERS)}]+")
_LATIN_WORD = re.compile(r"[A-Za-z0-9_]+")
_NEAR = 20_000
"""Number of characters before and after an error to search for Latin words."""
_WORDS = re.compile(f"{STRING}|{COMMENT}|{_WORD.pattern}", re.DOTALL)
_MEANT = _BLANKS | _INVISIBLE | _MARKS
_RUN = re.compile(f"[{re.escape(''.join(_MEANT))}]+")
_JOINED = re.compile(f"([A-Za-z0-9_]+)(?:[{re.escape(''.join(_INVISIBLE))}]+[A-Za-z0-9_]+)+")
_SKIPPED = re.compile(f"{STRING}|{COMMENT}|{_RUN.pattern}", re.DOTALL)


def letters(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose Cyrillic and Greek letters in a Latin word."""
    text, offset = context.text, context.at
    letter, start = text[offset : offset + 1], offset
    if letter not in _LETTERS:
        return
    while start > context.line_start and _WORD.match(text[start - 1]):
        start -= 1
    edits: list[Edit] = []
    latin_words = set(_LATIN_WORD.findall(text, max(0, offset - _NEAR), offset + _NEAR))
    for match in _WORDS.finditer(text, start, context.ahead_limit):
        meant = _latin(latin_words, match[0])
        if meant is not None:
            edits.append(Edit(Span(*match.span()), meant))
    if not edits or edits[0].span.start != start:
        return
    message = f"`{letter}` is the letter U+{ord(letter):04X}, not `{_LETTERS[letter]}`"
    span, title = Span(offset, offset + 1), f"{written_title(edits[0].text)} in ASCII"
    for some in (tuple(edits), tuple(edits[:1])):
        yield Diagnosis("lookalike-character", message, span, some, title, safe=True, min_tokens=0)


def _latin(latin_words: set[str], word: str) -> str | None:
    """Return a word with Latin letters for Cyrillic and Greek ones; in a number, with 0 for O.

    Return None for strings, for comments, and for words that are probably right. A word without
    Latin letters is probably right unless its Latin form is in `latin_words`.
    """
    if not (set(word) & _LETTERS.keys()) or word[0] == '"' or word[0] == "#":
        return None
    meant = "".join(_LETTERS.get(letter, letter) for letter in word)
    if re.fullmatch("O*[0-9][0-9O]*", meant):
        return meant.replace("O", "0")
    # A word in another alphabet may consist only of letters that look like Latin ones.
    return meant if re.search("[A-Za-z]", word) or meant in latin_words else None


def lookalikes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose characters such as `（`, a no-break space, U+2212 or a byte order mark."""
    text = context.text
    match = _RUN.match(text, context.at)
    if match is None:
        return
    later = _SKIPPED.finditer(text, match.end(), context.ahead_limit)
    runs = [match, *[other for other in later if other[0][0] in _MEANT]]
    edits = tuple(
        [Edit(Span(*run.span()), "".join(map(_MEANT.__getitem__, run[0]))) for run in runs]
    )
    # An invisible character between two words may stand for a blank.
    starts = {run.start() for run in runs}
    first = match.start()
    while _WORD.match(text[first - 1 : first]):
        first -= 1
    joined = {
        _RUN.sub("", word[0])
        for word in _JOINED.finditer(text, first, context.ahead_limit)
        if word.end(1) in starts
    }
    safe = all(occurs_elsewhere(text, word, edits[0].span) for word in joined)
    character = text[context.at]
    name = f"U+{ord(character):04X}"
    if character in _BLANKS:
        message, title = f"the character {name} is not a plain space", "write plain spaces"
    elif character in _INVISIBLE:
        message, title = f"the character {name} is invisible", "remove it"
    else:
        message = f"`{character}` is the character {name}, not `{_MEANT[character]}`"
        title = f"write `{edits[0].text}`"
    # First try to replace all look-alikes of the line, because they probably have one origin. If
    # that does not help, try to replace only the first.
    for some in (edits, edits[:1]):
        span = some[0].span
        yield Diagnosis("lookalike-character", message, span, some, title, safe=safe, min_tokens=0)
