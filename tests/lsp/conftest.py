# SPDX-License-Identifier: Apache-2.0
"""Start a server for the tests of features: a real process, connected by pipes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest_asyncio
import pytest_lsp
from lsprotocol import types as t
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

from onnxtext.lsp.server.server import STRICT


def make_client() -> LanguageClient:
    """Return a client that queues published diagnostics and lists the documents of its test.

    pytest-lsp's `wait_for_notification` misses a notification that arrives before it is called.
    """
    client = LanguageClient(converter_factory=default_converter)
    published: asyncio.Queue[t.PublishDiagnosticsParams] = asyncio.Queue()

    def publish_diagnostics(params: t.PublishDiagnosticsParams) -> None:
        client.diagnostics[params.uri] = params.diagnostics
        published.put_nowait(params)

    method = t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS
    register_lsp_features(client, {**DEFAULT_CLIENT_FEATURES, method: publish_diagnostics})
    client.published = published  # type: ignore[attr-defined]
    client.opened = []  # type: ignore[attr-defined]
    return client


CONFIG = ClientServerConfig(
    server_command=[sys.executable, "-m", "onnxtext", "lsp"],
    client_factory=make_client,
    server_env={**os.environ, STRICT: "1"},
)


@pytest_lsp.fixture(config=CONFIG, scope="session")  # type: ignore[untyped-decorator]
async def server(lsp_client: LanguageClient) -> AsyncIterator[None]:
    """A client with the capabilities of VS Code; one server for all modules."""
    await lsp_client.initialize_session(
        t.InitializeParams(capabilities=client_capabilities("visual-studio-code"))
    )
    yield
    await lsp_client.shutdown_session()


@pytest_asyncio.fixture(loop_scope="session")
async def client(server: LanguageClient) -> AsyncIterator[LanguageClient]:
    """The client without open documents; internal errors of the server fail the test."""
    process = server._server
    # Otherwise, pygls only says that the client has been stopped.
    assert process is not None
    assert process.returncode is None, f"the server has ended with status {process.returncode}"
    opened: list[str] = []
    server.opened = opened  # type: ignore[attr-defined]
    yield server
    for uri in opened:
        server.text_document_did_close(t.DidCloseTextDocumentParams(t.TextDocumentIdentifier(uri)))
    # The next test may open the same file with the same version number. What the server publishes
    # about these documents comes before the answer.
    protocol: Any = server.protocol
    answer = protocol.send_request_async("onnxtext/checked", {"uri": "file:///none"})
    await asyncio.wait_for(answer, 60)
    published = server.published  # type: ignore[attr-defined]
    while not published.empty():
        published.get_nowait()
    assert not server.log_messages
    server.diagnostics.clear()


@pytest_asyncio.fixture(loop_scope="session")
async def client_that_counts() -> AsyncIterator[Callable[[str], Awaitable[LanguageClient]]]:
    """Return a function that starts a client with only one position encoding, such as `utf-8`."""
    started: list[LanguageClient] = []

    async def start(unit: str) -> LanguageClient:
        client = make_client()
        await client.start_io(*CONFIG.server_command, env=CONFIG.server_env)
        started.append(client)
        capabilities = client_capabilities("visual-studio-code")
        assert capabilities.general is not None
        capabilities.general.position_encodings = [t.PositionEncodingKind(unit)]
        result = await client.initialize_session(t.InitializeParams(capabilities=capabilities))
        assert result.capabilities.position_encoding == unit
        return client

    yield start
    for client in started:
        await client.shutdown_session()
        await client.stop()  # type: ignore[no-untyped-call]
