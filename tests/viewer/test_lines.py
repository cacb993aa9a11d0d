# SPDX-License-Identifier: Apache-2.0
"""The lines of a page are those of the text, except shortened ones; positions are adjusted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onnxtext.lsp.index.positions import LineIndex
from onnxtext.viewer.colored_lines import CLASSES, LONGEST, ColoredText, color_lines
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


def check_widths(made: ColoredText) -> None:
    assert len(made.lines) == len(made.kinds) == len(made.numbers)
    for line, kinds in zip(made.lines, made.kinds, strict=True):
        assert sum(kinds[1::2]) == width(line)
        assert all(0 <= kind < len(CLASSES) for kind in kinds[::2])
        assert all(length > 0 for length in kinds[1::2])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_short_texts_are_whole(path: Path) -> None:
    text = path.read_text("utf-8")
    made = color_lines(text)
    check_widths(made)
    assert "\n".join(made.lines) == text
    assert not made.cuts


@settings(max_examples=30)
@given(pieces.map("".join))
def test_offsets_map_to_the_shown_characters(text: str) -> None:
    made = color_lines(text)
    check_widths(made)
    assert len("\n".join(made.lines)) <= len(text)
    lines = LineIndex(text, "utf-16")
    left_out = [range(start, end) for start, end, _ in made.cuts]
    last = (0, 0)
    for offset in range(0, len(text), 7):
        line, column = made.place(offset)
        assert (line, column) >= last
        last = line, column
        if any(offset in part for part in left_out):
            continue
        shown = made.lines[line].encode("utf-16-le", "surrogatepass")[2 * column :]
        if text[offset] not in "\r\n":
            assert shown.decode("utf-16-le", "surrogatepass").startswith(text[offset])
        # An offset keeps its line number, unless a part before it is cut.
        if not made.cuts:
            assert (line, column) == lines.place(offset)
    for index in range(lines.count):
        assert made.numbers[made.line(index)] <= index


@pytest.mark.parametrize("long", LONG)
def test_long_data_is_cut(long: str) -> None:
    text = f"g () => () <\n  float[900] w = {long}, # kept\n> {{ y = A (w) }}\n"
    made = color_lines(text)
    assert len(made.cuts) == 1
    assert len("\n".join(made.lines)) < LONGEST
    start, end, mark = made.cuts[0]
    assert f"{end - start:,} characters" in mark
    for kept in ("float[900] w = ", "# kept", "y = A (w)"):
        line, column = made.place(text.index(kept))
        assert made.lines[line][column:].startswith(kept)
    assert made.is_cut(text.index("float"), text.index("# kept"))
    assert not made.is_cut(text.index("# kept"), len(text))
