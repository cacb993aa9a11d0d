# SPDX-License-Identifier: Apache-2.0
"""Keys that identify the statements of a text, and the detection of moves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, compress
from random import Random

import pytest

from benchmarks.merge_trial import models, spelled
from onnxtext.format.concrete_syntax_tree import Tree
from onnxtext.merger.texts import item_keys
from onnxtext.merger.texts.item_order import increasing_subsequence_through
from onnxtext.merger.texts.lazy_read import read_model
from onnxtext.merger.texts.text_parts import TextPart
from onnxtext.sequences import longest_increasing_subsequence
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model
from tests.corpus import SHARED

KEYS = (item_keys.key_of, item_keys.label_of, item_keys.content_of, item_keys.kind_of)


def unread(part: TextPart) -> Iterator[TextPart]:
    """Return the statements in a part that are not tokenized."""
    if part.item is not None:
        yield part
    elif isinstance(part.tree, Tree):
        for child in part.children():
            yield from unread(child)


@pytest.mark.thorough
@pytest.mark.data
def test_keys_of_tokenized_and_untokenized_statements_agree() -> None:
    assert SHARED is not None
    draw = Random(1)
    count = 0
    for _, data in draw.sample(models(SHARED), 60):
        text = spelled(data, draw)
        for item in read_model(text, parse_model(Source(text, ""))).items:
            for part in unread(item.part):
                found = [key(part) for key in KEYS]
                assert part.tree is not None  # reads it
                assert part.item is None
                assert [key(part) for key in KEYS] == found, part.body
                count += 1
    assert count > 200


def test_rising_through_finds_a_longest_sequence_if_it_exists() -> None:
    draw = Random(2)
    for _ in range(500):
        numbers = draw.sample(range(9), draw.randrange(8))
        wanted = [draw.random() < 0.3 for _ in numbers]
        longest = sum(longest_increasing_subsequence(numbers))
        there = [
            set(found)
            for found in combinations(numbers, longest)
            if list(found) == sorted(found) and set(compress(numbers, wanted)) <= set(found)
        ]
        result = increasing_subsequence_through(numbers, wanted, longest)
        assert (result is None) == (not there)
        assert result is None or set(compress(numbers, result)) in there
