# SPDX-License-Identifier: Apache-2.0
"""In the editor, operators of schema files and of onnxruntime work like operators of onnx."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as t
from pytest_lsp import LanguageClient

from tests.lsp.session import Session
from tests.lsp.test_features import hover
from tests.schemas.test_checking import SCHEMAS, model

pytestmark = pytest.mark.asyncio(loop_scope="session")


def opened(client: LanguageClient, directory: Path, node: str, schemas: str = SCHEMAS) -> Session:
    settings = '[tool.onnxtext]\nschemas = ["acme.onnxschema"]\n'
    (directory / "pyproject.toml").write_text(settings)
    (directory / "acme.onnxschema").write_text(schemas)
    return Session(client, directory / "m.onnxtxt", model(node))


async def completions(session: Session, needle: str) -> dict[str, t.CompletionItem]:
    found = await session.ask_at(t.CompletionParams, needle)
    assert isinstance(found, t.CompletionList)
    return {item.label: item for item in found.items}


async def test_hover_shows_operators_of_schema_files(
    client: LanguageClient, tmp_path: Path
) -> None:
    session = opened(client, tmp_path, "y = acme.Scale <factor = 1.0> (x)")
    text = await hover(session, "Sc|ale")
    assert "y: T, count?: I = acme.Scale <factor = …> (x: T, bias?: T)" in text
    assert "`acme` 1, as in acme.onnxschema" in text
    assert "`T`: `float`, `float16`" in text
    assert '`mode`: string, default `"up"`' in text
    assert "factor: float\n" in await hover(session, "fac|tor")


async def test_hover_shows_operators_of_onnxruntime(client: LanguageClient, tmp_path: Path) -> None:
    session = opened(client, tmp_path, "y = com.microsoft.FusedMatMul <alpha = 2.0> (x, x)")
    text = await hover(session, "Fused|MatMul")
    assert "Y: T = com.microsoft.FusedMatMul (A: T, B: T)" in text
    assert "as in onnxruntime " in text
    assert "`transA`: int, default `0`." in text
    assert "alpha: float = 1.0" in await hover(session, "alp|ha")


async def test_completion_offers_operators_of_schemas(
    client: LanguageClient, tmp_path: Path
) -> None:
    session = opened(client, tmp_path, "y = acme.")
    found = await completions(session, "acme.|")
    assert {"Scale", "Join", "Open"} <= found.keys()
    scale = await session.ask(found["Scale"])
    assert isinstance(scale.documentation, t.MarkupContent)
    assert "acme.Scale" in scale.documentation.value
    session = opened(client, tmp_path, "y = com.microsoft.Fused")
    assert "FusedMatMul" in await completions(session, "Fused|")


async def test_completion_offers_attributes_of_schemas(
    client: LanguageClient, tmp_path: Path
) -> None:
    schemas = SCHEMAS.replace("mode: string", '@values("up", "down") mode: string')
    session = opened(client, tmp_path, "y = acme.Scale < (x)", schemas)
    found = await completions(session, "<| (x)")
    assert list(found) == ["factor", "mode", "axes"]
    assert found["factor"].detail == "required"
    session = opened(client, tmp_path, "y = acme.Scale <mode = > (x)", schemas)
    assert {"up", "down"} <= (await completions(session, "mode = |")).keys()


async def test_signature_help_shows_inputs_of_schemas(
    client: LanguageClient, tmp_path: Path
) -> None:
    session = opened(client, tmp_path, "y = acme.Scale <factor = 1.0> (x, k)")
    found = await session.ask_at(t.SignatureHelpParams, "(x, |k)")
    (signature,) = found.signatures
    assert signature.label == "y: T, count?: I = acme.Scale (x: T, bias?: T)"
    assert found.active_parameter == 1


async def test_misspelt_operators_have_a_fix(client: LanguageClient, tmp_path: Path) -> None:
    session = opened(client, tmp_path, "y = acme.Scall <factor = 1.0> (x)")
    (wrong,) = [item for item in await session.diagnostics() if item.code == "op-unknown"]
    actions = await session.actions(wrong)
    assert any("acme.Scale" in action.title for action in actions or ())


async def test_bodies_of_schemas_give_types(client: LanguageClient, tmp_path: Path) -> None:
    session = opened(client, tmp_path, "y = acme.Wide <by = 7> (x)")
    await session.diagnostics()
    assert "float[N, 7] y" in await hover(session, "|y = acme")


async def test_changed_schema_files_are_read_again(client: LanguageClient, tmp_path: Path) -> None:
    session = opened(client, tmp_path, "y = acme.Scale <factor = 1.0> (x)")
    assert [item for item in await session.diagnostics() if item.severity == 1] == []
    path = tmp_path / "acme.onnxschema"
    path.write_text(SCHEMAS.replace("factor: float", "factor: int"))
    session.replace("1.0", "2.0")
    assert "attribute-type" in {item.code for item in await session.diagnostics()}
    path.write_text("acme.Scale (flaot x) => ()")
    session.replace("2.0", "3.0")
    (wrong,) = [item for item in await session.diagnostics() if item.code == "invalid-settings"]
    assert "acme.onnxschema:1:13" in wrong.message


async def test_open_texts_are_checked_again_if_the_editor_reports_a_changed_schema_file(
    client: LanguageClient, tmp_path: Path
) -> None:
    session = opened(client, tmp_path, "y = acme.Scale <factor = 1.0> (x)")
    assert "attribute-type" not in {item.code for item in await session.diagnostics()}
    path = tmp_path / "acme.onnxschema"
    path.write_text(SCHEMAS.replace("factor: float", "factor: int"))
    changes = [t.FileEvent(path.as_uri(), t.FileChangeType.Changed)]
    client.workspace_did_change_watched_files(t.DidChangeWatchedFilesParams(changes))
    while "attribute-type" not in {item.code for item in await session.syntax()}:
        pass  # findings of the first check
