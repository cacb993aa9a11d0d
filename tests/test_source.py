# SPDX-License-Identifier: Apache-2.0
"""Search for strings in large texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxtext.source import Source, find_by_quote


@pytest.mark.parametrize("wanted", ['"""', 'file"'])
@given(
    st.lists(st.sampled_from(['"', '""', '"""', 'file"', "file", "e", "a" * 9])), st.integers(0, 9)
)
def test_searching_by_quote_equals_find(wanted: str, parts: list[str], start: int) -> None:
    text = "".join(parts)
    assert find_by_quote(text, wanted, start) == text.find(wanted, start)


@pytest.mark.parametrize("end", ["", '"""', 'file"'])
def test_searching_among_many_quotes_equals_find(end: str) -> None:
    text = 'a" ' * 3000 + end
    for wanted in ('"""', 'file"'):
        assert find_by_quote(text, wanted) == text.find(wanted)


@given(st.text("a\r\n\ufeffé"), st.lists(st.integers(-1, 40), max_size=60))
def test_positions_do_not_depend_on_the_order_of_calls(text: str, offsets: list[int]) -> None:
    indexed, counted = Source(text), Source(text)
    assert indexed.line_starts[0] == 0  # now computed, and used by `position`
    for offset in offsets:
        assert counted.position(offset) == indexed.position(offset)
