# SPDX-License-Identifier: Apache-2.0
"""The action `Suppress` adds a comment that suppresses a finding."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_lsp import LanguageClient

import onnxtext
from tests.lsp.session import Session
from tests.lsp.test_features import edited

pytestmark = pytest.mark.asyncio(loop_scope="session")

SUPPRESSIBLE = [  # (text, code of its finding)
    (
        "main (bool c, float[N] x) => (float[N] y) {\n"
        "  y = If (c) <\n"
        "    then_branch = yes (float q) => (float[N] a) { a = Relu (x) },\n"
        "    else_branch = no () => (float[N] b) { b = Neg (x) },\n  >\n}\n",
        "subgraph-arity",
    ),
    (
        "main (float[N] x) => (float[N] y) {\n"
        '  @doc("""\n    a\n    """) y = Relu (x) u = Abs (x)\n}\n',
        "value-unused",
    ),
    (
        'main (float[N] x) => (float[N] y) {\n  y = Relu (x) @doc("\n a\n b") u = Abs (x)\n}\n',
        "value-unused",
    ),
]
LOST = [  # texts with the string $
    "<onnxtext: 1, ir_version: 10, opset_import: [21], doc_string: $>\n"
    "main (float[N] x) => (float[N] y) { y = Relu (x) }\n",
    "<onnxtext: 1, ir_version: 10, opset_import: [21]>\n"
    "@doc($) main (@doc($) float[N] x) => (float[N] y) {\n  @doc($) y = Relu (x)\n}\n",
    '<onnxtext: 1, ir_version: 10, opset_import: [21, "ai.x": 1]>\n'
    "main (float[N] x) => (float[N] y) <\n  string[1] s = {$},\n> {\n  y = ai.x.Op <\n"
    "    a = $,\n    b = 1, c = g () => () { z = ai.x.Op <d = $> () },\n  > (x)\n}\n"
    "metadata { value x { k: $ } }\n",
]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("text", "code"), SUPPRESSIBLE)
async def test_a_finding_is_suppressed(
    client: LanguageClient, tmp_path: Path, text: str, code: str, newline: str
) -> None:
    head = "<onnxtext: 1, ir_version: 10, opset_import: [21]>\n"
    (tmp_path / "pyproject.toml").write_text('[tool.onnxtext]\nselect = ["value-unused"]\n')
    text = (head + text).replace("\n", newline)
    session = Session(client, tmp_path / "m.onnxtxt", text)
    (finding,) = [each for each in await session.diagnostics() if each.code == code]
    (action,) = [each for each in await session.actions(finding) if "Suppress" in each.title]
    result = edited(session, action.edit)
    assert onnxtext.to_binary(result) == onnxtext.to_binary(text)
    assert result.count("\n") == result.count(newline)
    other = Session(client, tmp_path / "n.onnxtxt", result)
    assert await other.diagnostics() == []


async def test_an_unused_comment_is_not_suppressed(client: LanguageClient, tmp_path: Path) -> None:
    text = (
        "<onnxtext: 1, ir_version: 10, opset_import: [21]>\n"
        "main (float[N] x) => (float[N] y) {\n"
        "  y = Relu (x) # onnxtext: ignore[value-undefined]\n}\n"
    )
    session = Session(client, tmp_path / "m.onnxtxt", text)
    (finding,) = await session.diagnostics()
    assert finding.code == "unused-suppression"
    assert not [each for each in await session.actions(finding) if "Suppress" in each.title]


@pytest.mark.parametrize("string", [r'"a\q"', '"a\n  b\\q\n  c"', '"\n\\\n"'])
@pytest.mark.parametrize("text", LOST)
async def test_a_lost_backslash_is_suppressed(
    client: LanguageClient, tmp_path: Path, text: str, string: str
) -> None:
    text = text.replace("$", string)
    session = Session(client, tmp_path / "m.onnxtxt", text)
    found = await session.diagnostics()
    lost = [finding for finding in found if finding.code == "backslash-lost"]
    assert len(lost) == text.count(string)
    for finding in lost:
        (action,) = [each for each in await session.actions(finding) if "Suppress" in each.title]
        made = edited(session, action.edit)
        assert onnxtext.to_binary(made) == onnxtext.to_binary(text)
        other = Session(client, tmp_path / "n.onnxtxt", made)
        assert len(await other.diagnostics()) < len(found)


async def test_nothing_is_suppressed_near_a_syntax_error(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = 'main (float[N] x) => (float[N] y) {\n  y = Op <s = "> (x)\n  z = Reluu (x)\n}\n'
    session = Session(client, tmp_path / "m.onnxtxt", text)
    for finding in await session.diagnostics():
        assert not [each for each in await session.actions(finding) if "Suppress" in each.title]
