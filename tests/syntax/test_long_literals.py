# SPDX-License-Identifier: Apache-2.0
"""Block-wise search finds the same long literals as the grammar's regular expressions."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import onnxtext
from onnxtext.syntax.grammar import lexer
from onnxtext.syntax.grammar import long_literals as literals
from onnxtext.syntax.grammar.table_cache import load_tables
from tests.running import limited
from tests.seeds import sampled

FILLERS = ["1e+5, ", "1, ", "-0.5,\n  ", "[1, 2], ", "1e-5,", "[1],"]
PIECES = ["[", "]", "{", "}", ",", " ", "1", "2.5", "1e5", "true", "nan", "x", "#\n", '"', "é"]
PIECES += ["/", "0x1f"]


@given(
    st.sampled_from(["[", "{", "[[", "[ [", "[\n[[", "[" * 101]),
    st.sampled_from(FILLERS),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.sampled_from(["", "]", "]]", "]]]", "}", "1]", "1]]", "1}", "1, ]", "1],]"]),
    st.lists(st.sampled_from(PIECES), max_size=6).map("".join),
    st.sampled_from([2_000, 9_000, 70_000]),
)
@example("[[", "1, ", "", "1], [2]]", "", 9_000)
@example("{", "1, ", "1] ", "1}", "", 70_000)
@example("[", "1, ", "1} ", "1]", "", 70_000)
def test_block_search_finds_the_same_token(
    opening: str, filler: str, middle: str, closing: str, after: str, size: int
) -> None:
    half = filler * (size // len(filler) // 2)
    text = f"{opening}1, {half}{middle}{half}{closing}{after}"
    found = lexer.load_lexer().token(text, 0)
    with mock.patch.object(lexer, "literal_end", return_value=0):
        expected = lexer.load_lexer().token(text, 0)
    assert found == expected
    if found is not None and expected is not None:
        assert lexer.load_lexer().kind(found) == lexer.load_lexer().kind(str(expected))


def test_triple_strings_are_read_without_compiling_the_pattern() -> None:
    """Compiling the pattern takes longer than parsing a small model."""
    reader = lexer.Lexer(load_tables())
    text = f'"""{"A" * 5000}""" x'
    token = reader.token(text, 0)
    assert token is not None
    assert (str(token), token.kind, token.at) == (text[:-2], "TRIPLE", 0)
    assert "_pattern" not in vars(reader)


def test_literals_across_blocks_are_found() -> None:
    text = "[" + ", ".join(f"[{index}, 0.5]" for index in range(100_000)) + "]"
    assert len(text) > 4 * literals.BLOCK
    assert literals.literal_end(text, 0) == len(text)
    assert literals.literal_end(f"{text}, [1]", 0) == len(text)
    assert literals.literal_end(text.replace("[77777,", "[1e+55,"), 0) == len(text)
    assert literals.literal_end(text[:-1], 0) == literals.UNCLOSED
    assert literals.literal_end(text.replace("[77777,", "[true,"), 0) == 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    "unit", sampled(["[[1],", "[[1,", "[[1, 2, 3],", "[ [1], ", "[[", "[1,", "{1,"], 3)
)
@pytest.mark.parametrize("head", ["g () => () <float[1] w = ", "g (x) => (y) { y = A <a = "])
def test_unclosed_brackets_are_rejected_in_time(head: str, unit: str) -> None:
    """The time for a megabyte of unclosed brackets is not quadratic."""
    with limited(2), pytest.raises(onnxtext.OnnxTextError):
        onnxtext.to_binary(head + unit * (1_000_000 // len(unit)))
