# SPDX-License-Identifier: Apache-2.0
"""Nouns after numbers are in the singular or plural, and have the right article."""

from __future__ import annotations

import pytest

from onnxtext.plurals import count_noun, with_article


def test_a_noun_is_singular_only_after_1() -> None:
    assert [count_noun(count, "byte") for count in (0, 1, 2)] == ["0 bytes", "1 byte", "2 bytes"]
    assert count_noun(2, "entry", "entries") == "2 entries"


def test_thousands_are_separated() -> None:
    assert count_noun(1_048_576, "byte") == "1,048,576 bytes"


@pytest.mark.parametrize(
    "phrase",
    [
        "an int8",
        "an `int8`",
        "a uint8",
        "a `uint8`",
        "an AttributeProto",
        "a map",
        "an undefined",
        "an uninitialized",
        "a one",
        "an only",
    ],
)
def test_article(phrase: str) -> None:
    assert with_article(phrase.partition(" ")[2]) == phrase
