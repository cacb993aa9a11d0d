# SPDX-License-Identifier: Apache-2.0
"""Definition and rename of labels in sections, and of names in `@value_info(…)`."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as t
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

import onnxtext
from tests.lsp.session import Session
from tests.lsp.test_features import rename

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_labels_in_sections_are_found_and_renamed(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = """\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
g (float[2] x) => (float[2] y) {
  [first] t = Relu (x)
  [second] y = Relu (t)
}

metadata {
  node [first] {
    k: "v"
  }
}
"""
    session = Session(client, tmp_path / "m.onnxtxt", text)
    found = await session.ask_at(t.DefinitionParams, "node [fi|rst]")
    assert [session.part(place.range) for place in found] == ["first"]
    assert found[0].range.start.line == 2
    for place in ("node [fi|rst]", "  [fi|rst] t"):
        result = await rename(session, place, "a b")
        assert '  ["a b"] t = Relu (x)' in result
        assert '  node ["a b"] {' in result
    with pytest.raises(JsonRpcException, match="already has the label"):
        await rename(session, "node [fi|rst]", "second")


async def test_names_in_the_section_order_are_found_and_renamed(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = """\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
g (float x = 1) => (float y) <float w = 2> {
  float t = Sum (x, w)
  y = Relu (t)
}

order {
  @initializers("w", "x")
  @value_info("t", initializers)
}
"""
    session = Session(client, tmp_path / "m.onnxtxt", text)
    for place, count in (('s("|w"', 3), ("(x, |w", 3), ('o("|t"', 3), ("(|t)", 3), ("(|x,", 3)):
        result = await rename(session, place, "new")
        assert result.count("new") == count
        onnxtext.to_binary(result)


async def test_names_in_value_info_are_found_and_renamed(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = """\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
@value_info("t", "w", without: ["v"])
g (float x) => (float y) <
  float v = 1,
  float w = 2,
> {
  float t = Sum (x, v, w)
  y = Relu (t)
}
"""
    session = Session(client, tmp_path / "m.onnxtxt", text)
    for place, old in (('["|v"]', "v"), ("Sum (x, |v", "v"), ('("|t"', "t"), ("(|t)", "t")):
        result = await rename(session, place, "new")
        assert result.count("new") == text.count(old + '"') + text.count(f" {old} ") + (
            text.count(f" {old},") + text.count(f"({old})")
        )
        assert '"new"' in result
        onnxtext.to_binary(result)
