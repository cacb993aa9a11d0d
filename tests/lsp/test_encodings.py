# SPDX-License-Identifier: Apache-2.0
"""Positions in the three encodings, with characters of different widths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types as t

from onnxtext.lsp.index.positions import LineIndex, apply_change
from onnxtext.source import Span
from tests.lsp.session import Session

pytestmark = pytest.mark.thorough

TEXT = """\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
g (float[2] "é𝄞x") => (float[2] "y\u2028z") {
  "y\u2028z" = Add ("é𝄞x", "é𝄞x") # é𝄞
}
"""


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("unit", ["utf-8", "utf-16", "utf-32"])
async def test_positions_are_exact(client_that_counts: Any, unit: str, tmp_path: Path) -> None:
    client = await client_that_counts(unit)
    session = Session(client, tmp_path / "m.onnxtxt", TEXT, unit=unit)
    found = await session.ask_at(
        t.ReferenceParams, '"é𝄞x"|)', nth=1, context=t.ReferenceContext(include_declaration=True)
    )
    assert [session.part(f.range) for f in found] == ['"é𝄞x"'] * 3
    # Edits after such characters are applied at the right offset.
    session.replace(") # é𝄞", ", q) # é𝄞")
    diagnostics = await session.diagnostics()
    assert "q" in [session.part(d.range) for d in diagnostics if d.code == "value-undefined"]


CHARACTERS = st.text(st.sampled_from("ab é𝄞\n\r\u2028\t"), max_size=40)
UNITS = st.sampled_from(["utf-8", "utf-16", "utf-32"])


@given(CHARACTERS, UNITS)
def test_every_offset_has_a_position(text: str, unit: str) -> None:
    lines = LineIndex(text, unit)
    last = t.Position(0, 0)
    for offset in range(len(text) + 1):
        position = lines.position(offset)
        assert (last.line, last.character) <= (position.line, position.character)
        last = position
        if not text.startswith("\n", offset) or not text.endswith("\r", 0, offset):
            assert lines.offset(position) == offset


@given(CHARACTERS, UNITS, st.integers(0, 40), st.integers(0, 40), st.text("x𝄞\n", max_size=3))
def test_changes_are_applied_at_their_offsets(
    text: str, unit: str, one: int, other: int, new: str
) -> None:
    text = text.replace("\r", "")
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    lines = LineIndex(text, unit)
    event = t.TextDocumentContentChangePartial(lines.range(Span(start, end)), new)
    assert apply_change(text, lines, event, unit) == text[:start] + new + text[end:]
    assert apply_change(text, None, event, unit) == text[:start] + new + text[end:]


@given(CHARACTERS, UNITS, st.integers(0, 99), st.integers(0, 99))
def test_every_position_has_an_offset(text: str, unit: str, line: int, character: int) -> None:
    lines = LineIndex(text, unit)
    assert 0 <= lines.offset(t.Position(line, character)) <= len(text)
    assert lines.offset(t.Position(line, 10**9)) == lines.line_end(line)
