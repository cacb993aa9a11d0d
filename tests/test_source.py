# SPDX-License-Identifier: Apache-2.0
"""Search for strings in large texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxtext.source import find_by_quote


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
