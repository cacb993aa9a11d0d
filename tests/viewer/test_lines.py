# SPDX-License-Identifier: Apache-2.0
"""The lines of a page are those of the text, except shortened ones; positions are adjusted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onnxtext.lsp.index.positions import LineIndex
from onnxtext.viewer.colored_lines import CLASSES, MAX_COLORED_LENGTH, ColoredText, color_lines
from tests.corpus import EXAMPLES

PARTS = [
    "float[N] x = ",
    "[",
    "]",
    "{",
    "}",
    "# é𝒳 c\n",
    "\n",
    "\r\n",
    "\r",
    '"a𝒳"',
    '"',
    " ",
    "@m(",
]
LONG = ["[" + ", ".join(map(str, range(900))) + "]", '"' + "é" * 5000 + '"', "1,\n" * 2000]
BRACKETS = ["]" * 5000, "[" * 5000, '"' * 5001]
ODD = ["\u2028", "\u202e", "<script>"]
pieces = st.lists(st.sampled_from([*PARTS, *LONG, *BRACKETS, *ODD]), max_size=12)


def width(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def check_widths(result: ColoredText) -> None:
    assert len(result.lines) == len(result.kinds) == len(result.numbers)
    for line, kinds in zip(result.lines, result.kinds, strict=True):
        assert sum(kinds[1::2]) == width(line)
        assert all(0 <= kind < len(CLASSES) for kind in kinds[::2])
        assert all(length > 0 for length in kinds[1::2])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_short_texts_are_whole(path: Path) -> None:
    text = path.read_text("utf-8")
    result = color_lines(text)
    check_widths(result)
    assert "\n".join(result.lines) == text
    assert not result.cuts


@pytest.mark.thorough
@settings(max_examples=30)
@given(pieces.map("".join))
def test_offsets_map_to_the_shown_characters(text: str) -> None:
    result = color_lines(text)
    check_widths(result)
    assert len("\n".join(result.lines)) <= len(text)
    lines = LineIndex(text, "utf-16")
    left_out = [range(start, end) for start, end, _ in result.cuts]
    last = (0, 0)
    for offset in range(0, len(text), 7):
        line, column = result.place(offset)
        assert (line, column) >= last
        last = line, column
        if any(offset in part for part in left_out):
            continue
        shown = result.lines[line].encode("utf-16-le", "surrogatepass")[2 * column :]
        if text[offset] not in "\r\n":
            assert shown.decode("utf-16-le", "surrogatepass").startswith(text[offset])
        # An offset keeps its line number, unless a part before it is cut.
        if not result.cuts:
            assert (line, column) == lines.place(offset)
    for index in range(lines.count):
        assert result.numbers[result.line(index)] <= index


@pytest.mark.parametrize("long", LONG)
def test_long_data_is_cut(long: str) -> None:
    text = f"g () => () <\n  float[900] w = {long}, # kept\n> {{ y = A (w) }}\n"
    result = color_lines(text)
    assert len(result.cuts) == 1
    assert len("\n".join(result.lines)) < MAX_COLORED_LENGTH
    start, end, mark = result.cuts[0]
    assert f"{end - start:,} characters" in mark
    for kept in ("float[900] w = ", "# kept", "y = A (w)"):
        line, column = result.place(text.index(kept))
        assert result.lines[line][column:].startswith(kept)
    assert result.is_cut(text.index("float"), text.index("# kept"))
    assert not result.is_cut(text.index("# kept"), len(text))
