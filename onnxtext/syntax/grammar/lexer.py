# SPDX-License-Identifier: Apache-2.0
"""Split texts into tokens with one regular expression built from the grammar's terminals.

A token's *kind* is the name of its terminal: `STRING`, `WORD`, `COMMA`. The kind depends only on
the token's text, not on its context.

Outside of the regular expression, a dictionary looks up punctuation and special words such as
`float`, and `closing_bracket` finds the end of a NESTED token, because nested brackets are not
regular.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import product

from onnxtext.source import Span, find_by_quote
from onnxtext.syntax.grammar.long_literals import UNCLOSED, literal_end
from onnxtext.syntax.grammar.table_cache import load_tables
from onnxtext.syntax.grammar.tables import (
    BAD_KIND,
    END_KIND,
    ParserTables,
    Terminal,
    order_terminals,
)

_BRACKET = re.compile(r"[\[\]]")
_BLANKS = r"[ \t\n\v\f\r]*"

_PUNCTUATION = "punctuation"
_LONG = "long"
"""Kinds that are not terminals; `_LONG` is the start of a long token."""

_RARE = frozenset((_LONG, "NESTED", END_KIND))

_LONG_LIST = r"[\[{](?=[-+0-9.eE, \t\n\v\f\r\[\]]{400})"
"""The start of a list of numbers that may be long.

If at least 400 characters of numbers follow the bracket, the lexer asks `long_literals`. That
module finds the end of a list of at least 8000 characters; `Lexer._whole` reads shorter ones.
"""

_LONG_BEGINNING = rf'"""|{_LONG_LIST}'
_LONG_NESTED = 500
"""In NESTED tokens longer than this, numpy finds the closing bracket."""

_LONG_TEXT = 10_000
"""The lexer stores the offset of an unclosed quote only if more characters than this follow it."""


class Token(str):
    """The text of a token, with its offset.

    Attributes:
        at: the offset of the token in its source.
        kind: the name of the terminal; "" if unknown.
    """

    __slots__ = ("at", "kind")
    at: int
    kind: str

    def __new__(cls, text: str, offset: int, kind: str = "") -> Token:
        """Create a token with a text, an offset and a kind."""
        token = str.__new__(cls, text)
        token.at = offset
        token.kind = kind
        return token

    @property
    def end(self) -> int:
        """The offset after the last character."""
        return self.at + len(self)

    @property
    def span(self) -> Span:
        """The token's range in the text."""
        return Span(self.at, self.end)

    def __getnewargs__(self) -> tuple[str, int, str]:  # type: ignore[override]
        """Return the arguments of `__new__` for `copy` and `pickle`: the AST contains tokens."""
        return str(self), self.at, self.kind


class Lexer:
    """Splits a text into tokens."""

    def __init__(self, tables: ParserTables) -> None:
        terminals = [t for t in order_terminals(tables.terminals) if not t.name.startswith("__")]
        self._terminals = terminals
        # The kinds of punctuation and special words.
        self._fixed = {text: t.name for t in terminals for text in _fixed_texts(t)}
        # The last long text with an unclosed string, and the offset of the string's opening quote.
        self._unclosed = ("", 0)

    @cached_property
    def _pattern(self) -> tuple[re.Pattern[str], list[str]]:
        """A pattern for a token or the start of a long token, and the kind for each regex group."""
        return _token_pattern(self._terminals, [(_LONG, _LONG_BEGINNING)])

    @cached_property
    def _whole(self) -> tuple[re.Pattern[str], list[str]]:
        """A pattern for a whole token, even a long token, and the kind for each regex group."""
        return _token_pattern(self._terminals, [])

    @cached_property
    def _outside_strings(self) -> tuple[re.Pattern[str], list[str]]:
        """`_pattern` without the string tokens, for the text after a quote that is never closed."""
        unquoted = [t for t in self._terminals if '"' not in t.pattern]
        return _token_pattern(unquoted, [(_LONG, _LONG_LIST)], strings=False)

    def _pattern_at(self, text: str, offset: int) -> tuple[re.Pattern[str], list[str]]:
        """Return the pattern for the tokens of a text from an offset on.

        If a quote is never closed, no string after it is closed either. The pattern then has no
        strings: searching for the end of each string would take quadratic time.
        """
        return self._outside_strings if self._is_unclosed(text, offset) else self._pattern

    def _is_unclosed(self, text: str, offset: int) -> bool:
        """Whether it is known that a quote at or before an offset is never closed."""
        unclosed, start = self._unclosed
        return unclosed is text and offset >= start

    def _note_bad(self, text: str, token: str, start: int) -> None:
        """If a BAD token is an unclosed quote and much text follows, store its offset."""
        is_long = len(text) - start > _LONG_TEXT
        if token == '"' and is_long and not self._is_unclosed(text, start):
            self._unclosed = (text, start)

    def read(self, text: str, offset: int) -> Iterator[tuple[str, str, int]]:
        """Yield (kind, text, offset) of each token from offset `offset` to the end of the text."""
        pattern, kinds = self._pattern_at(text, offset)
        fixed = self._fixed
        while True:
            for match in pattern.finditer(text, offset):
                group = match.lastindex or 0
                token = match[group]
                start = match.start(group)
                kind = kinds[group]
                if kind == _PUNCTUATION:
                    yield fixed[token], token, start
                elif kind == "WORD":
                    yield fixed.get(token, kind), token, start
                elif kind not in _RARE:
                    if kind == BAD_KIND:
                        self._note_bad(text, token, start)
                    yield kind, token, start
                elif kind == END_KIND:
                    return
                else:
                    rare = self._rare(text, start)
                    yield rare.kind, rare, start
                    offset = start + len(rare)  # the caller may change `rare.at`
                    break

    def _rare(self, text: str, offset: int) -> Token:
        """Return a token whose beginning `_pattern` has matched.

        The token is a long token, a NESTED token, or a bracket that does not begin a NESTED token.
        """
        long = self._long_token(text, offset)
        if long is not None:
            return long
        pattern, kinds = self._whole
        match = pattern.match(text, offset)
        assert match is not None  # at least one character is left
        group = match.lastindex or 0
        kind, token = kinds[group], match[group]
        if kind == "NESTED":
            token = token[: closing_bracket(token) or 1]
        return Token(token, offset, self._fixed.get(token, kind))

    def _long_token(self, text: str, offset: int) -> Token | None:
        """Read a TRIPLE string or a long number list fast, without a regular expression.

        A bracket that is never closed is a token of its own. Return None if `_whole` must read the
        token, for example a string with escapes or a short list.
        """
        if text[offset] == '"':
            # A string without escapes ends at the next three quotes.
            end = find_by_quote(text, '"""', offset + 3) + 3
            if end < 3 or text.find("\\", offset + 3, end) >= 0:
                return None
            return Token(text[offset:end], offset, "TRIPLE")
        end = literal_end(text, offset)
        if end == UNCLOSED:
            return Token(text[offset], offset, self._fixed[text[offset]])
        if not end:
            return None
        token = text[offset:end]
        kind = "NESTED" if token.find("[", 1) > 0 else "NUMBERS"
        kind = "BRACES" if token[0] == "{" else kind
        return Token(token, offset, kind)

    def token(self, text: str, offset: int) -> Token | None:
        """Return the next token at or after an offset; None if no token is left."""
        if text.startswith('"""', offset) and not self._is_unclosed(text, offset):
            long = self._long_token(text, offset)
            if long is not None:  # compiling the pattern takes longer than parsing a small model
                return long
        pattern, kinds = self._pattern_at(text, offset)
        match = pattern.match(text, offset)
        assert match is not None  # the pattern also matches the end of the text
        group = match.lastindex or 0
        token, start = match[group], match.start(group)
        kind = kinds[group]
        if kind in _RARE:
            return None if kind == END_KIND else self._rare(text, start)
        if kind == BAD_KIND:
            self._note_bad(text, token, start)
        return Token(token, start, self._fixed.get(token, kind))

    def tokens(self, text: str, start: int, end: int) -> list[Token]:
        """Return the tokens between two offsets of a text, each with its offset in this text."""
        result = []
        for kind, token, offset in self.read(text[start:end], 0):
            converted = token if isinstance(token, Token) else Token(token, offset, kind)
            converted.at = start + offset
            result.append(converted)
        return result

    def kind(self, text: str) -> str:
        """Return the kind of a token, given its text; `BAD` if the whole text is not one token."""
        if isinstance(text, Token) and text.kind:
            return text.kind
        token = self.token(text, 0)
        return BAD_KIND if token is None or len(token) < len(text) else token.kind


def closing_bracket(text: str) -> int:
    """Return the offset after the bracket that closes the first bracket; 0 if there is none.

    The text is a match of the terminal NESTED, which begins with `[` and contains no strings.
    """
    if len(text) > _LONG_NESTED:
        import numpy as np

        data = np.frombuffer(text.encode("ascii"), np.uint8)
        places = np.flatnonzero((data == ord("[")) | (data == ord("]")))
        depth = np.cumsum(np.where(data[places] == ord("["), 1, -1))
        closed = np.flatnonzero(depth == 0)
        return int(places[closed[0]]) + 1 if closed.size else 0
    open_brackets = 0
    for match in _BRACKET.finditer(text):
        open_brackets += 1 if match.group() == "[" else -1
        if not open_brackets:
            return match.end()
    return 0


def _token_pattern(
    terminals: list[Terminal], first: list[tuple[str, str]], *, strings: bool = True
) -> tuple[re.Pattern[str], list[str]]:
    """Build a pattern that skips blanks and comments, and then matches one token.

    The terminals are in order of precedence. `first` has the kinds and patterns of extra groups,
    which are tried after the most common tokens and before all other terminals. Without `strings`,
    strings do not match.

    Returns:
        The pattern, and the kind of each group by its number; "" for group 0.
    """
    word = next(t.pattern for t in terminals if t.name == "WORD")
    named = [(t.name, _terminal_pattern(t)) for t in terminals if not _fixed_texts(t)]
    fixed = "|".join([re.escape(t.literal) for t in terminals if t.literal is not None])
    last = [(_PUNCTUATION, fixed), (BAD_KIND, rf"-{word}|[^ \t\n\v\f\r#]"), (END_KIND, r"\Z")]
    groups = [*_common_tokens(word)[0 if strings else 1 :], *first, *named, *last]
    # This part of the pattern is unambiguous, so that long blanks cause no backtracking.
    skipped = rf"{_BLANKS}(?:#[^\n]*(?:\n{_BLANKS}|\Z))*"
    choices = "|".join([f"({pattern})" for _, pattern in groups])
    pattern = re.compile(f"{skipped}(?:{choices})", re.ASCII)  # ASCII, as in the official lexer
    return pattern, ["", *(kind for kind, _ in groups)]


def _common_tokens(word: str) -> list[tuple[str, str]]:
    """Return the kinds and patterns of the most frequent tokens, which are tried first.

    None of these tokens can be the beginning of a longer token. They are strings without a
    backslash, punctuation that begins no other token, the opening bracket of a label, and words and
    numbers before punctuation.
    """
    return [
        ("STRING", r'"[^"\\]+"'),
        (_PUNCTUATION, r'[,()<>\]}:?]|=(?!>)|\.(?!\.)|\[(?="|[A-Za-z_]\w*\])'),
        ("WORD", rf"{word}(?=[ ,)=.:>\]])"),
        ("INT", r"-?[0-9]+(?=[,>)\]])"),
        ("FLOAT", r"-?[0-9]+\.[0-9]+(?=[,>)\]])"),
    ]


def _fixed_texts(terminal: Terminal) -> list[str]:
    """Return all texts that a terminal matches if it is punctuation or a list of words; else [].

    For BOOL, this is `["true", "false"]`.
    """
    if terminal.literal is not None:
        return [terminal.literal]
    words = re.fullmatch(r"(\(\?i:\(\?:)?([a-z0-9_|]+)\)*", terminal.pattern)
    texts = words[2].split("|") if words else []
    if words and words[1]:  # in upper and lower case
        letters = [zip(text, text.upper(), strict=True) for text in texts]
        texts = ["".join(cased) for word in letters for cased in product(*word)]
    return texts


def _terminal_pattern(terminal: Terminal) -> str:
    """Return the pattern of a terminal; for NESTED, reject 100 consecutive opening brackets."""
    if terminal.name == "NESTED":
        return r"(?!(?:\[[ \t\n\v\f\r]*){100})" + terminal.pattern
    return terminal.pattern + (r"(?!\w)" if terminal.name == "NEGATIVE_WORD" else "")


@cache
def load_lexer() -> Lexer:
    """Return the lexer of the grammar, built once per process."""
    return Lexer(load_tables())
