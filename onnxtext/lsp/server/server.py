# SPDX-License-Identifier: Apache-2.0
"""The language server: manages documents, answers requests and publishes diagnostics."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any, BinaryIO, cast

from lsprotocol import types as t
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from onnxtext import __version__
from onnxtext.checker.engine.dangling_entries import join_findings, only_dangling
from onnxtext.diagnostics import Diagnostic
from onnxtext.lsp.features.diagnostics import to_lsp_diagnostics
from onnxtext.lsp.index.document import MAX_CHARACTERS, Document, DocumentVersion, path_of
from onnxtext.lsp.server.check_document import Analysis, WorkerError
from onnxtext.lsp.server.check_process import CheckJob
from onnxtext.lsp.server.check_scheduler import DELAY, Checker
from onnxtext.lsp.server.protocol import Protocol
from onnxtext.lsp.server.stdio import PipeReader, PipeWriter

STRICT = "ONNXTEXT_LSP_STRICT"
"""If this environment variable is set, internal errors are sent to the client. By default, they are
only logged and the request has no result, since editors show each error to the user."""

SYNTAX_DELAY = 0.01
"""Seconds before a changed text is parsed, to batch changes."""

PAUSE = 0.06
"""Seconds without a change before a slow text is parsed for a request. A slow text is then usually
parsed only once, after the last keystroke."""
LONG = 0.03
"""A text is slow if parsing it takes longer than this number of seconds."""

LAST = 5.0
"""Maximum number of seconds to answer pending requests after the input has ended."""

TREE_ONLY = frozenset(
    (
        t.TEXT_DOCUMENT_FORMATTING,
        t.TEXT_DOCUMENT_RANGE_FORMATTING,
        t.TEXT_DOCUMENT_ON_TYPE_FORMATTING,
        t.TEXT_DOCUMENT_DOCUMENT_LINK,
        t.TEXT_DOCUMENT_CODE_ACTION,
    )
)
"""Requests whose handlers need the syntax tree, but not the index."""

Handler = Callable[..., Any]
log = logging.getLogger(__name__)


class Server(LanguageServer):
    """The language server of onnxtext.

    Attributes:
        documents: the open documents, by URI.
        strict: whether internal errors are sent to the client as errors of requests.
        status: the exit status of the session.
    """

    protocol: Protocol

    def __init__(self) -> None:
        super().__init__("onnxtext", __version__, protocol_cls=Protocol)
        self.documents: dict[str, Document] = {}
        self.checker = Checker(self._store_check, self._publish_findings)
        self.strict = bool(os.environ.get(STRICT))
        self.status = 0
        self._reading: dict[str, asyncio.TimerHandle] = {}
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}

    # ---- Input --------------------------------------------------------------------------------

    def start_io(self, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
        """Serve an editor on two pipes (by default stdin and stdout); set `status` at the end."""
        reader = PipeReader(stdin or sys.stdin.buffer)
        self.protocol.set_writer(PipeWriter(stdout or sys.stdout.buffer, reader.stop))
        self.protocol.has_input = reader.has_input
        try:
            asyncio.run(self._serve(reader))
        except (KeyboardInterrupt, asyncio.CancelledError):
            pass
        except SystemExit as end:  # 1 for `exit` without `shutdown` (LSP 3.18, Exit Notification)
            self.status = int(end.code or 0)
        finally:
            self.shutdown()  # type: ignore[no-untyped-call]

    def start_tcp(self, host: str, port: int) -> None:
        """Serve the first editor that connects to a port."""
        with socket.create_server((host, port)) as listener:
            connection, _ = listener.accept()
        with (
            connection,
            connection.makefile("rb", buffering=0) as reader,
            connection.makefile("wb") as writer,
        ):
            self.start_io(cast(BinaryIO, reader), cast(BinaryIO, writer))

    async def _serve(self, reader: PipeReader) -> None:
        """Handle messages until the end of the input or a signal to end."""
        self._handle_signals()
        while True:
            try:
                body = await reader.message()
                if body is None:
                    break
                message = json.loads(body)
            except (ValueError, RecursionError) as error:
                log.error("%s", error)
                self.protocol.refuse_unread()
                continue
            self.protocol.handle_message(message)
        await self.protocol.settle(LAST)

    def _handle_signals(self) -> None:
        """Let signals cancel the current task.

        An exception from a signal handler could interrupt asyncio after it has taken a callback
        from its queue. The task that waits for this callback would then never end.
        """
        task = asyncio.current_task()
        assert task is not None

        def end(number: int) -> None:
            self.status = 128 + number
            task.cancel()

        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            signal_number = getattr(signal, name, None)
            if signal_number is None or signal.getsignal(signal_number) == signal.SIG_IGN:
                continue
            # On Windows, and outside the main thread, asyncio cannot handle signals.
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                asyncio.get_running_loop().add_signal_handler(signal_number, end, signal_number)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an error that pygls reports."""
        log.error("%s", error)

    async def prepare(self, version: DocumentVersion | None, method: str) -> bool:
        """Parse a version of a document and, if the request needs it, index it.

        `version` is None for a request about no open document; for `workspace/symbol`, it stands
        for all open documents. Return whether the version is ready. If not, the caller should
        handle waiting input and then call this method again.
        """
        if version is None:
            documents = self.documents.values() if method == t.WORKSPACE_SYMBOL else ()
            for document in list(documents):
                if not await self.prepare(document.version, method):
                    return False
            return True
        if not version.is_parsed and version.cost > LONG:
            left = version.created + PAUSE - time.monotonic()
            if left > 0:
                await asyncio.sleep(left)
                return False
        while version.advance(with_index=method not in TREE_ONLY):
            await asyncio.sleep(0)
            if self.protocol.has_input():
                return False
        return True

    # ---- Requests -----------------------------------------------------------------------------

    def answer(self, method: str, handler: Handler, options: Any = None) -> None:
        """Register the handler of a request or notification, and log its internal errors.

        `handler` is a function or coroutine function of the server and the parameters. If its first
        parameter is named `document`, it gets the open document in place of the server; a request
        about a document that is not open has the result null. `options` are those of the capability
        to announce.
        """
        takes_document = next(iter(inspect.signature(handler).parameters)) == "document"

        def answered(params: Any) -> Any:
            subject = self.documents.get(params.text_document.uri) if takes_document else self
            return None if subject is None else handler(subject, params)

        async def waiting(params: Any) -> Any:
            try:
                result = answered(params)
                return result if result is None else await result
            except Exception as error:
                return self._internal_error(method, error)

        def direct(params: Any) -> Any:
            try:
                return answered(params)
            except Exception as error:
                return self._internal_error(method, error)

        guarded: Handler = waiting if inspect.iscoroutinefunction(handler) else direct
        self.feature(method, options)(guarded)

    def _internal_error(self, method: str, error: Exception) -> None:
        if self.strict or isinstance(error, JsonRpcException):
            raise error
        log.error("%s failed", method, exc_info=error)
        message = f"{method}: {type(error).__name__}: {error}"
        self.window_log_message(t.LogMessageParams(t.MessageType.Error, message))

    @property
    def encoding(self) -> str:
        """The negotiated unit of columns, such as `utf-16`."""
        chosen = self.server_capabilities.position_encoding
        return str(getattr(chosen, "value", chosen) or "utf-16")

    # ---- Documents ----------------------------------------------------------------------------

    def opened(self, params: t.DidOpenTextDocumentParams) -> None:
        """Store an opened document, parse it, and check it."""
        item = params.text_document
        document = Document.open(
            item.uri, path_of(item.uri), item.text, item.version, self.encoding
        )
        self.documents[item.uri] = document
        self._read(item.uri)
        self._check(document, delay=0)

    def changed(self, params: t.DidChangeTextDocumentParams) -> None:
        """Apply the changes of a document; parse and check the new version after short delays."""
        uri = params.text_document.uri
        document = self.documents.get(uri)
        if document is None:
            return
        document.update(params.text_document.version, params.content_changes)
        self.protocol.outdate(uri)
        waiting = self._reading.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        loop = asyncio.get_running_loop()
        delay = PAUSE if document.version.cost > LONG else SYNTAX_DELAY
        self._reading[uri] = loop.call_later(delay, self._read, uri)
        self._check(document)

    def closed(self, params: t.DidCloseTextDocumentParams) -> None:
        """Forget a closed document, and remove its diagnostics from the editor."""
        uri = params.text_document.uri
        if self.documents.pop(uri, None) is not None:
            self.checker.cancel(uri)
            self.protocol.outdate(uri)
            self._publish(uri, None, [])
            self._wake(uri)

    def saved(self, params: t.DidSaveTextDocumentParams) -> None:
        """Check a saved document again, because files beside it may have changed."""
        document = self.documents.get(params.text_document.uri)
        if document is not None:
            self._check(document, delay=0)

    def files_changed(self, params: t.DidChangeWatchedFilesParams) -> None:
        """Check all open documents again, because the schemas or settings of a project changed."""
        for document in self.documents.values():
            self._check(document)

    def _read(self, uri: str) -> None:
        """Parse the newest text and publish its syntax errors.

        Without syntax errors, publish [] to remove earlier errors from the editor.
        """
        self._reading.pop(uri, None)
        document = self.documents.get(uri)
        if document is None:
            return
        try:
            syntax = document.version.syntax
        except Exception as error:
            self._internal_error("reading", error)
            return
        if syntax or document.reported_syntax:
            document.reported_syntax = bool(syntax)
            self._show(document, list(syntax))

    def _check(self, document: Document, delay: float = DELAY) -> None:
        version = document.version
        if len(version.text) > MAX_CHARACTERS:
            self.checker.cancel(document.uri)
            document.analysis, document.analyzed = Analysis(), version.number
            self._wake(document.uri)
            return
        job = CheckJob(version.text, version.source.name, version.directory)
        self.checker.submit(document.uri, version.number, job, delay)

    def _publish_findings(self, uri: str, version: int, diagnostics: list[Diagnostic]) -> None:
        """Publish the syntax errors and the findings of a check, unless `version` is outdated."""
        document = self.documents.get(uri)
        if document is None or document.version.number != version:
            return
        syntax = list(document.version.syntax)
        document.reported_syntax = bool(syntax)
        if only_dangling(syntax):
            self._show(document, join_findings(syntax, diagnostics))
        else:
            self._show(document, [*syntax, *diagnostics])
        document.reported_check = version

    def _store_check(self, uri: str, version: int, outcome: Analysis | WorkerError) -> None:
        """Store the result of a check, and publish its findings if they are not published yet.

        The result of a failed check is empty; the error is logged. An outdated result is dropped.
        """
        document = self.documents.get(uri)
        if document is None or document.version.number != version:
            return
        if isinstance(outcome, WorkerError):
            log.error("checking %s: %s", uri, outcome.message)
            self.window_log_message(t.LogMessageParams(t.MessageType.Error, outcome.message))
            outcome = Analysis()
        document.analysis, document.analyzed = outcome, version
        if document.reported_check != version:
            self._publish_findings(uri, version, outcome.diagnostics)
        if get_capability(self.client_capabilities, "workspace.inlay_hint.refresh_support"):
            self.workspace_inlay_hint_refresh(None)  # the hints depend on the checker
        self._wake(uri)

    async def checked(self, params: Any) -> dict[str, Any]:
        """Answer `onnxtext/checked` {uri} -> {version} when the current version is checked.

        The version is null if the document is not open.
        """
        while True:
            document = self.documents.get(params.uri)
            if document is None:
                return {"version": None}
            if document.current is not None:
                return {"version": document.version.number}
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(document.uri, []).append(waiter)
            await waiter

    def _wake(self, uri: str) -> None:
        for waiter in self._waiting.pop(uri, ()):
            if not waiter.done():
                waiter.set_result(None)

    def _show(self, document: Document, diagnostics: list[Diagnostic]) -> None:
        version = document.version
        document.diagnostics = diagnostics
        document.diagnosed = version.number
        self._publish(
            document.uri,
            version.number,
            to_lsp_diagnostics(diagnostics, version.lines, document.uri),
        )

    def _publish(self, uri: str, number: int | None, found: list[t.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(t.PublishDiagnosticsParams(uri, found, number))


def create_server() -> Server:
    """Return a server with the handlers of all features."""
    from onnxtext.lsp.features.handlers import HANDLERS, OPTIONS

    server = Server()
    server.answer(t.INITIALIZED, lambda server, params: server.checker.start())
    server.answer(t.SHUTDOWN, lambda server, *params: server.checker.close())
    server.answer(t.TEXT_DOCUMENT_DID_OPEN, Server.opened)
    server.answer(t.TEXT_DOCUMENT_DID_CHANGE, Server.changed)
    server.answer(t.TEXT_DOCUMENT_DID_CLOSE, Server.closed)
    server.answer(t.TEXT_DOCUMENT_DID_SAVE, Server.saved, t.SaveOptions(include_text=False))
    server.answer(t.WORKSPACE_DID_CHANGE_WATCHED_FILES, Server.files_changed)
    server.answer("onnxtext/checked", Server.checked)
    for method, handler in HANDLERS.items():
        server.answer(method, handler, OPTIONS.get(method))
    return server
