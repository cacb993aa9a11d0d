# SPDX-License-Identifier: Apache-2.0
"""Types in the editor: explanations of sizes, and actions that write or change types."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as t
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

from onnxtext import editing
from tests.lsp.session import Session
from tests.lsp.test_features import edited, hover

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT = """\
<onnxtext: 1, ir_version: 10, opset_import: ["": 21, "custom": 1]>
g (float[1, 4] x, float[1, 2] z, int64[2] s) => (float[1, 4] y) <int64[2] c = {1, 4}> {
  a = Relu (x)  # kept
  b = Concat <axis = 1> (a, z)
  n = NonZero (b)
  r = Reshape (b, s)
  d = custom.Foo (x)
  v = Reshape (a, c)
  y = Identity (v)
}
"""


async def ready(client: LanguageClient, path: Path, text: str = TEXT) -> Session:
    session = Session(client, path / "m.onnxtxt", text)
    await session.diagnostics()
    protocol: Any = client.protocol
    await protocol.send_request_async("onnxtext/checked", {"uri": session.uri})
    return session


async def actions(session: Session, needle: str) -> dict[str, t.CodeAction]:
    at = session.at(needle)
    found = await session.ask(
        t.CodeActionParams(
            session.document,
            t.Range(at, at),
            t.CodeActionContext([], only=[t.CodeActionKind.RefactorRewrite]),
        )
    )
    return {action.title: action for action in found or ()}


async def resolved(session: Session, action: t.CodeAction) -> str:
    result = await session.ask(action)
    return edited(session, result.edit)


async def test_hover_tells_where_sizes_come_from(client: LanguageClient, tmp_path: Path) -> None:
    session = await ready(client, tmp_path)
    found = await hover(session, "b| = Concat")
    assert "float[1, 6] b" in found
    link = f"([line 4]({session.uri}#L4))"
    assert f"- dimension 1 `6`: `Concat` computes it from 2 sizes {link}" in found
    assert "- dimension 0 `1`: the input `x` declares it" in found
    assert "dimension 1 unknown: `NonZero` depends on data" in await hover(session, "n| = NonZero")
    assert "the caller chooses the elements of the input `s`" in await hover(session, "r| = Resh")
    assert "`Foo` is an unknown operator of the domain `custom`" in await hover(session, "d| = cus")
    assert "dimension" not in await hover(session, "x|, float")
    session.replace("Relu (x)", "Relu (q)")
    stale = await hover(session, "b| = Concat")
    assert "Concat` computes" not in stale


async def test_types_are_written(client: LanguageClient, tmp_path: Path) -> None:
    session = await ready(client, tmp_path)
    offered = await actions(session, "b| = Concat")
    one = await resolved(session, offered["Write the inferred types of this node"])
    assert one == TEXT.replace("  b = ", "  float[1, 6] b = ")
    whole = await resolved(session, offered["Write all inferred types into the text"])
    assert whole == editing.apply(TEXT, editing.write_types).content
    assert "  float[1, 4] a = Relu (x)  # kept" in whole
    assert "Write the inferred types of this node" not in await actions(session, "<on|nxtext")


async def test_a_dimension_becomes_symbolic(client: LanguageClient, tmp_path: Path) -> None:
    session = await ready(client, tmp_path)
    offered = await actions(session, "float[1|, 4] x")
    assert {title for title in offered if "symbolic" in title} == {
        "Make dimension 0 of `x` symbolic: batch",
        "Make dimension 0 of 2 inputs symbolic: batch",
        "Make dimension 1 of `x` symbolic: x_1",
    }
    action = offered["Make dimension 0 of 2 inputs symbolic: batch"]
    result = await resolved(session, action)
    wanted = partial(editing.make_symbolic, dims=[("x", 0), ("z", 0)], symbol="batch")
    assert result == editing.apply(TEXT, wanted).content
    assert "(float[batch, 4] x, float[batch, 2] z," in result
    said = client.messages[-1]
    assert said.type == t.MessageType.Warning
    assert "`batch` must be 1: `Reshape` accepts no other size" in said.message
    session.replace("# kept", "# changed")
    with pytest.raises(JsonRpcException, match="has changed"):
        await session.ask(action)


OPSETS = """\
<onnxtext: 1, ir_version: 10, opset_import: [12, "ai.onnx.ml": 3]>
g (float[2, 3] x) => (float[1, 2, 3] y, int64[1, 3] z) {
  y = Unsqueeze <axes = [0]> (x)  # moved
  z = ArgMax <select_last_index = 1> (x)
}
"""


async def test_a_model_is_converted(client: LanguageClient, tmp_path: Path) -> None:
    session = await ready(client, tmp_path, OPSETS)
    offered = await actions(session, "[1|2")
    titles = [title for title in offered if title.startswith("Convert")]
    assert titles[:2] == ["Convert to opset 13", "Convert to opset 14"]
    assert titles[-2:] == ["Convert to opset 2", "Convert to opset 1"]
    result = await resolved(session, offered["Convert to opset 13"])
    wanted = partial(editing.set_opset, version=13)
    assert result == editing.apply(OPSETS, wanted).content
    assert 'opset_import: [13, "ai.onnx.ml": 3]' in result
    assert "y = Unsqueeze (x, axes)  # moved" in result
    with pytest.raises(JsonRpcException, match="line 4: this `ArgMax` of opset 12"):
        await resolved(session, offered["Convert to opset 11"])
    others = await actions(session, '"ai.on|nx')
    assert "Convert to version 4 of `ai.onnx.ml`" in others
    result = await resolved(session, others["Convert to version 4 of `ai.onnx.ml`"])
    assert result == OPSETS.replace('ml": 3', 'ml": 4')
    assert "Convert to opset 13" in await actions(session, "opset|_import")
    for place in ("<on|nx", "ir_ver|sion", "g |(", "y| = "):
        assert not [title for title in await actions(session, place) if "Convert" in title]


async def test_actions_know_the_schemas_of_the_project(
    client: LanguageClient, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.onnxtext]\nschemas = ["a.onnxschema"]\n')
    schema = "custom.Foo (T x) => (T y) where T: float { y = Identity (x) }\n"
    (tmp_path / "a.onnxschema").write_text(schema)
    session = await ready(client, tmp_path)
    offered = await actions(session, "d| = custom")
    whole = await resolved(session, offered["Write the inferred types of this node"])
    assert "  float[1, 4] d = custom.Foo (x)" in whole


async def test_nothing_is_offered_for_broken_texts(client: LanguageClient, tmp_path: Path) -> None:
    session = Session(client, tmp_path / "m.onnxtxt", TEXT.replace("Relu (x)", "Relu (x"))
    await session.syntax()
    assert not await actions(session, "b| = Concat")


async def test_odd_data_is_refused(client: LanguageClient, tmp_path: Path) -> None:
    session = await ready(client, tmp_path)
    own = {"uri": session.uri, "version": session.number}
    odd: list[Any] = [
        7,
        [],
        {},
        {**own, "dims": 7},
        {**own, "dims": [["x", 9]], "symbol": "b"},
        {**own, "dims": [["x"]]},
        {**own, "at": "a"},
        {**own, "opset": "a"},
        {**own, "opset": 0},
        {**own, "opset": [9]},
        {**own, "opset": 999},
        {**own, "opset": 9, "domain": 7},
        {**own, "version": -1},
    ]
    for data in odd:
        with pytest.raises(JsonRpcException):
            await session.ask(t.CodeAction("x", data=data))
