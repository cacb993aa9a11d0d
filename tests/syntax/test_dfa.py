# SPDX-License-Identifier: Apache-2.0
"""The DFA of the terminals finds the same tokens as the lexer's regular expression."""

from __future__ import annotations

import random
from array import array
from base64 import b64decode

import pytest

from onnxtext.syntax.grammar.lexer import load_lexer
from onnxtext.syntax.grammar.scanner_tables import IGNORED, ScannerTables, make_scanner
from onnxtext.syntax.grammar.table_cache import load_tables
from tests.seeds import draws, seeded
from tests.syntax.texts import mutate, official_texts, texts

Found = tuple[str, int, int]

PIECES = (
    *('"', '"', '""', '"""', "\\", '\\"', "a", 'b"', 'blob"', 'file"', "0f", "[", "]", "[[", "]]"),
    *("{", "}", "1", "-", "+", ".", "...", "e", "E5", "inf", "nan", "nan(0x7f)", "infinity", "j"),
    *("1+2j", "0x1", "x", "p3", "3i32", "i64", "@", "a.b", "(", ")", "float", "float8e4m3fnuz"),
    *("undefined", "seq", "true", "metadata", "=", "=>", ">", "<", ",", ":", "?", " ", "\n", "\t"),
    *("#", "# c\n", "\u20ac", "\xe9", "\U0001f600", "\x0b", "\x00", "NaN", "-Inf", "-", "0"),
)


def scanned(scanner: ScannerTables, text: str) -> list[Found]:
    """Return the tokens that the tables find, one character at a time."""
    classes, accepts = scanner.classes, scanner.accepts
    moves = array("h", b64decode(scanner.moves))
    width = max(classes) + 1
    found: list[Found] = []
    at = 0
    while at < len(text):
        state, end, name, depth = 0, at + 1, "BAD", 0
        brackets = text[at] == "["
        for place in range(at, len(text)):
            character = text[place]
            state = moves[state * width + classes[min(ord(character), 128)]]
            if state < 0:
                break
            depth += (character == "[") - (character == "]")
            if accepts[state] and (accepts[state] != "NESTED" or depth == 0):
                name, end = accepts[state], place + 1
            if brackets and depth == 0:
                break
        if not name.startswith(IGNORED):
            found.append((name, at, end))
        at = end
    return found


def expected(text: str) -> list[Found]:
    lexer = load_lexer()
    tokens = lexer.tokens(text, 0, len(text))
    return [(token.kind, token.at, token.at + len(token)) for token in tokens]


def assert_same_tokens(text: str) -> None:
    assert scanned(load_tables().scanner, text) == expected(text), repr(text)[:200]


@pytest.mark.thorough
def test_both_lexers_find_the_same_tokens_in_random_text() -> None:
    chance = seeded()
    for _ in range(draws(10_000)):
        assert_same_tokens("".join(chance.choices(PIECES, k=chance.randint(1, 12))))


def test_real_texts_give_the_same_tokens() -> None:
    chance = random.Random(3)
    for text in texts()[::4]:
        if len(text) < 20_000:
            assert_same_tokens(text)
            assert_same_tokens(mutate(text, chance))


@pytest.mark.slow
def test_all_real_texts_give_the_same_tokens() -> None:
    for text in texts():
        assert_same_tokens(text)


@pytest.mark.data
def test_official_texts_give_the_same_tokens() -> None:
    for text, _ in official_texts()[::5]:
        assert_same_tokens(text)


@pytest.mark.parametrize("pattern", ["a(?=b)", "(?<!a)b", r"(a)\1", "a*?", r"\bword", r"\d"])
def test_patterns_that_are_not_regular_are_rejected(pattern: str) -> None:
    with pytest.raises(NotImplementedError):
        make_scanner([("ODD", pattern)])


@pytest.mark.parametrize(
    ("patterns", "text", "names"),
    [
        (["a{2,3}", "a"], "aaaa", ["0", "1"]),
        (["if", "[a-z]+"], "ififf", ["1"]),
        (["(?i:ab)", "[^ab]", "x|yz"], "aBAbyzq", ["0", "0", "2", "1"]),
        (["(?s:a.c)", "b.*"], "a\ncbcd", ["0", "1"]),
    ],
)
def test_small_automata_find_the_expected_tokens(
    patterns: list[str], text: str, names: list[str]
) -> None:
    scanner = make_scanner([(str(n), pattern) for n, pattern in enumerate(patterns)])
    assert [name for name, _, _ in scanned(scanner, text)] == names
