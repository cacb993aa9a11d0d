# SPDX-License-Identifier: Apache-2.0
"""Tokens: one regular expression made from the grammar's terminals.

A token's *kind* is one character that stands for its terminal, and a function of the token's text
alone. So a statement's kinds are a string, which the jumps of `run` use as a key.

One thing no regular expression can say: a NESTED token ends where its first bracket is closed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from onnxtext.source import find_by_quote
from onnxtext.syntax.literals import UNCLOSED, literal_end
from onnxtext.syntax.tables import Tables, Terminal, compile_pattern, load_tables, order_terminals
from onnxtext.tensor.brackets import PlainText

END_KIND = "\x00"
BAD_KIND = "\x01"
SPECIAL_WORD_PRIORITY = 1


class Token(str):
    """A token's text that knows where it stands.

    Attributes:
        at: character offset of its first character.
    """

    __slots__ = ("at",)
    at: int

    def __new__(cls, text: str, at: int) -> Token:
        """A token of this text at this offset."""
        token = str.__new__(cls, text)
        token.at = at
        return token

    def __getnewargs__(self) -> tuple[str, int]:  # type: ignore[override]
        """What a copy is made of: records in the syntax tree hold tokens."""
        return str(self), self.at


class LongToken(Token):
    """A token of any size, whose kind was known when it was found.

    Attributes:
        kind: its kind.
    """

    __slots__ = ("kind",)
    kind: str


class PlainToken(LongToken, PlainText):
    """A literal of plain numbers."""

    __slots__ = ()


class ShortKinds(dict[str, str]):
    """The kinds of tokens by their texts; only short texts are kept."""

    def __init__(self, find: Callable[[str], str]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, text: str) -> str:
        """The kind of a text that is not kept yet."""
        kind = self._find(text)
        if len(text) <= 64:
            if len(self) >= 100_000:
                self.clear()
            self[str(text)] = kind
        return kind


class Lexer:
    """Cuts a text into tokens.

    Attributes:
        kinds: terminal name to kind.
        names: kind to terminal name.
        short_kinds: a token's text to its kind, as `kind` says it; for loops.
    """

    def __init__(self, tables: Tables) -> None:
        terminals = [t for t in order_terminals(tables.terminals) if not t.name.startswith("__")]
        self.kinds = {t.name: chr(0x41 + n) for n, t in enumerate(terminals)}
        self.kinds["$END"] = END_KIND
        self.names = {kind: name for name, kind in self.kinds.items()}
        self.names[BAD_KIND] = "BAD"
        self._known = {t.literal: self.kinds[t.name] for t in terminals if t.literal}
        patterns = [f"(?P<{t.name}>{t.pattern})" for t in terminals if t.literal is None]
        self._any = compile_pattern("|".join(patterns)).fullmatch
        self.short_kinds = ShortKinds(self._find_kind)
        self.token_pattern = _token_pattern(terminals)
        self._common = compile_pattern(f"{_BLANKS}({_common_tokens(terminals)})").match

    def kind(self, text: str) -> str:
        """The kind of a token with this text; `BAD_KIND` if no terminal matches it whole."""
        return self.short_kinds[text] if len(text) <= _LONG else self._find_kind(text)

    def _find_kind(self, text: str) -> str:
        if isinstance(text, LongToken):
            return text.kind
        literal = self._known.get(text)
        if literal is not None:
            return literal
        found = self._any(text)
        if found is None:
            return BAD_KIND
        name = found.lastgroup
        assert name is not None
        if name == "NESTED" and closing_bracket(text) != len(text):
            return BAD_KIND
        return self.kinds[name]

    def token(self, text: str, at: int) -> Token | None:
        """The next token at or after an offset; None if only blanks and comments are left."""
        common = self._common(text, at)
        if common is not None:
            made = _new(Token, common[1])
            made.at = common.start(1)
            return made
        long = _LONG_TOKEN.match(text, at)
        if long is not None:
            found_long = self._long_token(text, long.start(1))
            if found_long is not None:
                return found_long
        found = self.token_pattern.match(text, at)
        if found is None:
            return None
        token = found.group(1)
        if token[0] == "[" and token.find("[", 1) > 0:
            token = token[: closing_bracket(token) or 1]
        if len(token) > _LONG and token[0] in "[{":
            return self._literal(token, found.start(1))
        return Token(token, found.start(1))

    def _long_token(self, text: str, at: int) -> Token | None:
        """What may be gigabytes, found as the pattern would find it; None for the pattern to do."""
        if text[at] == '"':
            # Without escapes it ends at the next three quotes.
            end = find_by_quote(text, '"""', at + 3) + 3
            if end < 3 or text.find("\\", at + 3, end) >= 0:
                return None
            token = LongToken(text[at:end], at)
            token.kind = self.kinds["TRIPLE"]
            return token
        end, is_plain = literal_end(text, at)
        if end == UNCLOSED:
            return Token(text[at], at)
        return self._literal(text[at:end], at, is_plain=is_plain) if end else None

    def _literal(self, text: str, at: int, *, is_plain: bool = False) -> LongToken:
        """A literal of numbers or words in brackets."""
        token = PlainToken(text, at) if is_plain else LongToken(text, at)
        name = "NESTED" if text.find("[", 1) > 0 else "NUMBERS"
        token.kind = self.kinds["BRACES" if text[0] == "{" else name]
        return token

    def tokens(self, text: str, start: int, end: int) -> list[Token]:
        """The tokens of a part of a text."""
        part = text[start:end]
        found: list[Token] = []
        at = 0
        while (token := self.token(part, at)) is not None:
            at = token.at + len(token)
            token.at += start
            found.append(token)
        return found

    def texts(self, chunk: str) -> list[str]:
        """The texts of the tokens of a chunk that begins between tokens."""
        if _DEEP in chunk:  # brackets without end would be looked for again and again
            return [BAD_KIND]
        if "#" in chunk or "[[" in chunk:
            return [str(token) for token in self.tokens(chunk, 0, len(chunk))]
        return self.token_pattern.findall(chunk)


def closing_bracket(text: str) -> int:
    """The offset behind the bracket that closes the first one; 0 if it is never closed.

    Args:
        text: what the pattern of NESTED matches: begins with `[`, holds no strings.
    """
    if len(text) > _LONG:
        import numpy as np

        data = np.frombuffer(text.encode("ascii"), np.uint8)
        places = np.flatnonzero((data == ord("[")) | (data == ord("]")))
        depth = np.cumsum(np.where(data[places] == ord("["), 1, -1))
        closed = np.flatnonzero(depth == 0)
        return int(places[closed[0]]) + 1 if closed.size else 0
    open_brackets = 0
    for found in _BRACKET.finditer(text):
        open_brackets += 1 if found.group() == "[" else -1
        if not open_brackets:
            return found.end()
    return 0


_new = str.__new__
_BLANKS = r"[ \t\n\v\f\r]*"
_DEEP = "[" * 100
_LONG_TOKEN = re.compile(r'[ \t\n\v\f\r]*("""|[\[{](?=[-+0-9.eE, \t\n\v\f\r\[\]]{400}))')
_BRACKET = re.compile(r"[\[\]]")
_LONG = 500


def _token_pattern(terminals: list[Terminal]) -> re.Pattern[str]:
    """Blanks and comments, then one token as group 1; any other character is a bad token."""
    specials = [t for t in terminals if t.priority == SPECIAL_WORD_PRIORITY]
    word = next(t for t in terminals if t.name == "WORD")
    rest = [t for t in terminals if t not in specials and t is not word]
    named = [_guarded(t) for t in rest if t.literal is None]
    punctuation = [re.escape(t.literal) for t in rest if t.literal is not None]
    rare = [*named, "-?" + word.pattern, *punctuation, r"[^ \t\n\v\f\r#]"]
    choices = [_common_tokens(terminals), *rare]
    # Written so that it can be matched in one way only: no backtracking on long blanks.
    skipped = rf"{_BLANKS}(?:#[^\n]*(?:\n{_BLANKS}|\Z))*"
    return compile_pattern(rf"{skipped}({'|'.join(choices)})")


def _common_tokens(terminals: list[Terminal]) -> str:
    """The most frequent tokens, which come first, because no other can begin like this.

    They are a word with one of these characters behind it, marks that begin no other token, and a
    string without a backslash.
    """
    word = next(t for t in terminals if t.name == "WORD")
    return rf'{word.pattern}(?=[ ,)=])|[,()]|=(?!>)|"[^"\\]+"'


def _guarded(terminal: Terminal) -> str:
    """A pattern; that of NESTED does not look for the end of more brackets than make sense."""
    guard = r"(?!(?:\[[ \t\n\v\f\r]*){100})" if terminal.name == "NESTED" else ""
    return guard + terminal.pattern


@cache
def load_lexer() -> Lexer:
    """The lexer of the grammar, made once a process."""
    return Lexer(load_tables())
