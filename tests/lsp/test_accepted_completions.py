# SPDX-License-Identifier: Apache-2.0
"""A text stays valid when a completion is accepted in place of a name."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types as t
from pytest_lsp import LanguageClient

from onnxtext.checker.engine.partial_parse import read_partial
from onnxtext.lsp.features.completion import complete
from onnxtext.lsp.index.positions import LineIndex
from onnxtext.source import Source
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.grammar.lexer import load_lexer
from onnxtext.syntax.parser.lalr import Unexpected
from onnxtext.syntax.parser.parser import Parser
from tests.lsp.session import Session
from tests.lsp.test_caches import URI, opened, texts
from tests.seeds import draws, seeded

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
@pytest.mark.asyncio(loop_scope="session")
async def test_what_follows_a_name_is_not_inserted_again(
    client: LanguageClient, tmp_path: Path, cursor: str
) -> None:
    at = TEXT.index(cursor.replace("|", "")) + cursor.index("|")
    end = at + len(re.match(r"\w*", TEXT[at:])[0])  # type: ignore[index]
    text = TEXT[:at] + TEXT[end:]
    session = Session(client, tmp_path / "m.onnxtxt", text)
    found = await session.ask(t.CompletionParams(session.document, session.position(at)))
    assert found.items
    for item in found.items:
        start = session.offset(item.text_edit.range.start)
        new = re.sub(r"\$\{\d+:((?:\\.|[^}])*)\}", r"\1", item.text_edit.new_text)
        result = text[:start] + re.sub(r"\$\d", "", new) + text[at:]
        errors = [each.message for each in read_partial(Source(result))[1]]
        assert not [each for each in errors if each.startswith("expected") and "`" in each], result


@pytest.mark.parametrize("place", ['"m\\"n"|', '(t, "u"|', '"my.ops"|: 1', '"d"|'])
@pytest.mark.asyncio(loop_scope="session")
async def test_nothing_is_offered_behind_a_string(
    client: LanguageClient, tmp_path: Path, place: str
) -> None:
    session = Session(client, tmp_path / "m.onnxtxt", TEXT)
    found = await session.ask_at(t.CompletionParams, place)
    assert not found.items


@pytest.mark.asyncio(loop_scope="session")
async def test_types_of_attributes_are_offered(client: LanguageClient, tmp_path: Path) -> None:
    session = Session(client, tmp_path / "m.onnxtxt", TEXT)
    found = await session.ask_at(t.CompletionParams, "a: |int = 1")
    labels = {item.label for item in found.items}
    assert {"int", "floats", "sparse_tensor", "type_proto"} <= labels
    assert not labels & {"int64", "seq", "bool"}


@pytest.mark.parametrize(
    ("before", "wanted"),
    [("<opset_import: ", '["ai.onnx.ml": 5]'), ("<opset_import: [", '"ai.onnx.ml": 5'),
     ('<opset_import: ["ai.onnx.ml": ', "3"), ('<opset_import: [21, "my.ops": ', "1")],
)  # fmt: skip
def test_operator_sets_and_their_versions_are_offered(before: str, wanted: str) -> None:
    assert wanted in [item.text_edit.new_text for item in completions(before)]


@pytest.mark.parametrize(
    "before",
    ["<ir_version: [", "g (float x) =", "g (float x) => () <float[2] w = [[1, 2], ",
     "g (float x = external(\"a\", ", "<ir_version: 10>\n@doc(\"d\") ", "<ir_version: 10>\nF <a = ",
     "g (float x) => () {\n  y = Constant <value = float(",
     "# A long comment.\n" * 20_000 + "<ir_version: 10>\n@doc(\"d\") "],
)  # fmt: skip
def test_nothing_is_offered_where_no_completion_is_valid(before: str) -> None:
    assert not completions(before)


def test_the_header_of_a_function_has_the_keys_of_functions() -> None:
    found = {item.label for item in completions(TEXT[: TEXT.index("domain:")])}
    assert {"domain", "overload"} <= found
    assert "producer_name" not in found


@pytest.mark.thorough
def test_what_is_offered_is_valid_after_the_text_before_it() -> None:
    for text in [TEXT, *texts()[:-2]]:
        tokens = load_lexer().tokens(text, 0, len(text))
        for token in seeded().sample(tokens, min(draws(20), len(tokens))):
            before = text[: token.at]
            found = completions(before)
            for item in seeded().sample(found, min(3, len(found))):
                edited = with_edit(before, item.text_edit)
                assert error_offset(edited) >= len(edited.rstrip()), edited[-200:]


def completions(before: str) -> list[Any]:
    """Return the completions at the end of a text, for an editor without snippets."""
    document = opened(before)
    server: Any = SimpleNamespace(
        documents={URI: document},
        client_capabilities=SimpleNamespace(text_document=None, workspace=None),
    )
    at = document.version.lines.position(len(before))
    found = complete(server, t.CompletionParams(t.TextDocumentIdentifier(URI), at))
    assert found is not None
    return list(found.items)


def with_edit(text: str, edit: t.TextEdit) -> str:
    """Return the text after an edit, such as one that replaces the start of a word."""
    lines = LineIndex(text, "utf-16")
    start, end = lines.offset(edit.range.start), lines.offset(edit.range.end)
    return text[:start] + edit.new_text + text[end:]


def error_offset(text: str) -> int:
    """Return the offset of the first token that the grammar does not allow; else the end."""
    try:
        Parser(text, "model").parse()
    except Unexpected as error:
        return error.at
    except SemanticError:
        pass
    return len(text)
