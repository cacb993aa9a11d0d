# SPDX-License-Identifier: Apache-2.0
"""A server for the tests of its features: a real process, spoken to over its pipes."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator

import pytest_lsp
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from onnxtext.lsp.server import STRICT

CONFIG = ClientServerConfig(
    server_command=[sys.executable, "-m", "onnxtext", "lsp"],
    server_env={**os.environ, STRICT: "1"},
)


@pytest_lsp.fixture(config=CONFIG)  # type: ignore[untyped-decorator]
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    """An editor with the abilities of VS Code; mistakes of the server are errors."""
    await lsp_client.initialize_session(
        t.InitializeParams(capabilities=client_capabilities("visual-studio-code"))
    )
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=CONFIG)  # type: ignore[untyped-decorator]
async def utf8_client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    """An editor that counts columns in bytes."""
    capabilities = client_capabilities("visual-studio-code")
    assert capabilities.general is not None
    capabilities.general.position_encodings = [t.PositionEncodingKind.Utf8]
    await lsp_client.initialize_session(t.InitializeParams(capabilities=capabilities))
    yield
    await lsp_client.shutdown_session()
