# SPDX-License-Identifier: Apache-2.0
"""A server for the tests of its features: a real process, spoken to over its pipes."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest_asyncio
import pytest_lsp
from lsprotocol import types as t
from pytest_lsp import (
    ClientServerConfig,
    LanguageClient,
    client_capabilities,
    make_test_lsp_client,
)

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


@pytest_asyncio.fixture
async def client_that_counts() -> AsyncIterator[Callable[[str], Awaitable[LanguageClient]]]:
    """Makes editors that know one encoding of positions only."""
    started: list[LanguageClient] = []

    async def start(unit: str) -> LanguageClient:
        client = make_test_lsp_client()
        await client.start_io(*CONFIG.server_command, env=CONFIG.server_env)
        started.append(client)
        capabilities = client_capabilities("visual-studio-code")
        assert capabilities.general is not None
        capabilities.general.position_encodings = [t.PositionEncodingKind(unit)]
        made = await client.initialize_session(t.InitializeParams(capabilities=capabilities))
        assert made.capabilities.position_encoding == unit
        return client

    yield start
    for client in started:
        await client.shutdown_session()
        await client.stop()  # type: ignore[no-untyped-call]
