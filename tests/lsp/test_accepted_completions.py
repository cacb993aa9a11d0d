# SPDX-License-Identifier: Apache-2.0
"""A text stays valid when a completion is accepted in place of a name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as t
from pytest_lsp import LanguageClient

from onnxtext.checker.engine.partial_parse import read_partial
from onnxtext.source import Source
from tests.lsp.session import Session

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = """\
<onnxtext: 1, ir_version: 10, opset_import: [21, "my.ops": 1]>
g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
  @doc("d")
  t = Softmax <axis = 0> (x)
  u = my.ops.F:one <a: int = 1, mode = "m\\"n"> (t)
  y = Add (t, "u")
}

<domain: "my.ops", overload: "one", opset_import: [21]>
F <a, mode> (x) => (y) {
  y = Softmax <axis: int = @a> (x)
}

metadata {
  graph {
    k: "v"
  }
  node t {
    k: "v"
  }
}
"""


@pytest.mark.parametrize(
    "cursor",
    ["So|ftmax <axis = 0", "ax|is = 0", "Add| (t", "(|t, ", "|int = 1", "m|ode = ", "my|.ops.F",
     "F|:one", "ir_|version", "do|c(", "domain|:", "gr|aph {", "no|de t", "  k|: ",
     "node t|"],
)  # fmt: skip
async def test_what_follows_a_name_is_not_inserted_again(
    client: LanguageClient, tmp_path: Path, cursor: str
) -> None:
    at = TEXT.index(cursor.replace("|", "")) + cursor.index("|")
    end = at + len(re.match(r"\w*", TEXT[at:])[0])  # type: ignore[index]
    text = TEXT[:at] + TEXT[end:]
    session = Session(client, tmp_path / "m.onnxtxt", text)
    found: Any = await client.text_document_completion_async(
        t.CompletionParams(session.document, session.position(at))
    )
    assert found.items
    for item in found.items:
        start = session.offset(item.text_edit.range.start)
        new = re.sub(r"\$\{\d+:((?:\\.|[^}])*)\}", r"\1", item.text_edit.new_text)
        result = text[:start] + re.sub(r"\$\d", "", new) + text[at:]
        errors = [each.message for each in read_partial(Source(result))[1]]
        assert not [each for each in errors if each.startswith("expected") and "`" in each], result


@pytest.mark.parametrize("place", ['"m\\"n"|', '(t, "u"|', '"my.ops"|: 1', '"d"|'])
async def test_nothing_is_offered_behind_a_string(
    client: LanguageClient, tmp_path: Path, place: str
) -> None:
    session = Session(client, tmp_path / "m.onnxtxt", TEXT)
    params = session.params(t.CompletionParams, place)
    found: Any = await client.text_document_completion_async(params)
    assert not found.items


async def test_types_of_attributes_are_offered(client: LanguageClient, tmp_path: Path) -> None:
    session = Session(client, tmp_path / "m.onnxtxt", TEXT)
    params = session.params(t.CompletionParams, "a: |int = 1")
    found: Any = await client.text_document_completion_async(params)
    labels = {item.label for item in found.items}
    assert {"int", "floats", "sparse_tensor", "type_proto"} <= labels
    assert not labels & {"int64", "seq", "bool"}
