# SPDX-License-Identifier: Apache-2.0
"""Extend the protocol of pygls: validate messages, queue requests, bypass its document store.

pygls answers each request before it reads the next message, so it would compute requests that are
already cancelled or outdated. Here, requests wait in a queue until all input is read. pygls drops
messages with invalid parameters; this module answers such requests with an error (JSON-RPC 2.0,
section 5.1).

pygls also keeps the text of each document. Like Python, it splits lines at U+2028 and other
characters that are not line breaks in the protocol (LSP 3.18, Text Documents). So it would misplace
a change after such a character, or raise an error. Only `Server.documents` has the texts.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
import logging
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from lsprotocol import types as t
from lsprotocol.types import ErrorCodes, LSPErrorCodes
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.protocol.json_rpc import JsonRPCNotification, JsonRPCRequestMessage

from onnxtext.lsp.server.message_validation import CUSTOM, check_custom, check_types

if TYPE_CHECKING:
    from onnxtext.lsp.index.document import DocumentVersion
    from onnxtext.lsp.server.server import Server

_AT_ONCE = (t.INITIALIZE, t.SHUTDOWN)
"""Requests that change the state of the server: answered immediately, in order."""

log = logging.getLogger(__name__)


class RequestError(JsonRpcException):
    """A request has failed. The message gives the reason; editors show it to the user."""

    def __init__(self, message: str, data: Any = None) -> None:
        super().__init__(message, LSPErrorCodes.RequestFailed.value, data)


@dataclass(slots=True)
class PendingRequest:
    """A request that is not answered yet.

    Attributes:
        uri: the URI of its document; None for a request about no document.
        version: the version of the document when the request arrived; None if it is not open.
        dropped: whether the request was answered with an error before its handler finished.
    """

    id: int | str
    method: str
    params: Any
    uri: str | None
    version: DocumentVersion | None
    dropped: bool = False


def _without_pygls(method: str) -> Callable[..., Any]:
    """Return a method that passes a notification to the handler of `Server`, but not to pygls."""

    @lsp_method(method)
    def handle(self: Protocol, params: Any) -> Generator[Any, Any, None]:
        yield self.fm.features[method], (params,), None

    return handle


class Protocol(LanguageServerProtocol):
    """Validates messages, queues requests, and keeps pygls from storing documents.

    Attributes:
        has_input: a function that returns whether unread input has arrived.
        computed: the number of requests that were passed to handlers.
        running: the requests whose handlers have started and not ended, by their id.
    """

    _server: Server

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.has_input: Callable[[], bool] = lambda: False
        self.computed = 0
        self._queue: list[PendingRequest] = []
        self.running: dict[int | str, PendingRequest] = {}
        self._worker: asyncio.Task[None] | None = None
        self._initialized = False
        self._sending: asyncio.Future[Any] | None = None

    # ---- Validation ---------------------------------------------------------------------------

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return the data unchanged: `handle_message` converts the whole message."""
        return data

    def handle_message(self, message: Any) -> None:
        """Handle a message; answer an invalid request with an error."""
        if not isinstance(message, dict) or message.get("jsonrpc") != self.VERSION:
            self._refuse(
                None, ErrorCodes.InvalidRequest, "a message must be an object with `jsonrpc`: `2.0`"
            )
            return
        if "method" not in message:
            self._handle_answer(message)
            return
        method, message_id = message["method"], message.get("id")
        is_request = "id" in message
        if is_request and (isinstance(message_id, bool) or not isinstance(message_id, (int, str))):
            self._refuse(
                None, ErrorCodes.InvalidRequest, "the id of a request must be a number or a string"
            )
            return
        wrong = self._state_error(method)
        if wrong is not None:
            if is_request:
                self._refuse(message_id, *wrong)
            return
        message.setdefault("params", None)
        try:
            if method in CUSTOM:
                check_custom(CUSTOM[method], message["params"])
            elif method != t.INITIALIZE:
                check_types(message["params"])
            structured = self._structured(message)
        except Exception:  # the converter raises various errors for invalid messages
            log.warning("%s: invalid parameters", method)
            if is_request:
                self._refuse(message_id, ErrorCodes.InvalidParams, f"{method}: invalid parameters")
            return
        if is_request and not hasattr(structured, "id") and method != t.EXIT:
            self._refuse(
                message_id, ErrorCodes.InvalidRequest, f"{method} is a notification, not a request"
            )
            return
        super().handle_message(structured)

    def _structured(self, message: dict[str, Any]) -> Any:
        """Convert a message to an object; unlike pygls, log no traceback on failure."""
        other = JsonRPCRequestMessage if "id" in message else JsonRPCNotification
        return self._converter.structure(message, self.get_message_type(message["method"]) or other)

    def _state_error(self, method: Any) -> tuple[int, str] | None:
        """Return an error (code, message) if `method` is invalid or not allowed now; else None."""
        if not isinstance(method, str):
            return ErrorCodes.InvalidRequest, "the method of a message must be a string"
        if method == t.EXIT:
            return None
        if self._shutdown:
            return ErrorCodes.InvalidRequest, f"{method}: the server has been shut down"
        if method == t.INITIALIZE:
            if self._initialized:
                return ErrorCodes.InvalidRequest, "the server has already been initialized"
            return None
        if not self._initialized:
            return ErrorCodes.ServerNotInitialized, f"{method}: the server has not been initialized"
        return None

    def _handle_answer(self, message: dict[str, Any]) -> None:
        """Handle the client's answer to one of our requests."""
        try:
            super().handle_message(super().structure_message(message))
        except Exception:
            log.warning("an unexpected or invalid response")

    def refuse_unread(self) -> None:
        """Send a parse error as the answer to input that is not a valid message."""
        self._refuse(None, ErrorCodes.ParseError, "the message is not valid JSON")

    def _refuse(self, message_id: int | str | None, code: int, message: str) -> None:
        error = {"code": code, "message": message}
        self._send_data({"jsonrpc": self.VERSION, "id": message_id, "error": error})

    # ---- The queue ----------------------------------------------------------------------------

    def _handle_request(self, msg_id: int | str, method_name: str, params: Any) -> None:
        """Queue a request; answer `initialize`, `shutdown` and unknown methods immediately.

        `shutdown` also answers the queued requests with an error.
        """
        if method_name == t.INITIALIZE:
            self._initialized = True
        if method_name == t.SHUTDOWN:
            for waiting in self._queue:
                self._drop(waiting, LSPErrorCodes.RequestCancelled, "the server was shut down")
        is_known = method_name in self.fm.features or method_name in self.fm.builtin_features
        if method_name in _AT_ONCE or not is_known:
            super()._handle_request(msg_id, method_name, params)
            return
        is_graph = method_name.startswith("onnxtext/graph")
        named = params if is_graph else getattr(params, "text_document", None)
        uri = getattr(named, "uri", None)
        document = self._server.documents.get(uri) if isinstance(uri, str) else None
        version = None if document is None else document.version
        self._queue.append(PendingRequest(msg_id, method_name, params, uri, version))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        """Answer queued requests, one after the other, while no input is pending."""
        while self._queue:
            await asyncio.sleep(0)
            if self.has_input():
                continue
            waiting = self._queue[0] if self._queue else None
            if waiting is None or waiting.dropped or self._is_outdated(waiting):
                self._queue[:1] = []
                continue
            try:
                ready = await self._server.prepare(waiting.version, waiting.method)
            except Exception:  # the handler will fail, too, and report it
                ready = True
            if not ready:
                continue
            if waiting in self._queue and not waiting.dropped:
                self._queue.remove(waiting)
                self._run(waiting)

    async def settle(self, seconds: float) -> None:
        """Wait until all requests are answered, but no longer than `seconds`."""
        end = time.monotonic() + seconds
        while (self._queue or self.running) and time.monotonic() < end:
            await asyncio.sleep(0.01)

    def _run(self, waiting: PendingRequest) -> None:
        """Pass a request to its handler."""
        self.computed += 1
        self.running[waiting.id] = waiting
        context = contextvars.copy_context()
        handle = super()._handle_request
        context.run(handle, waiting.id, waiting.method, waiting.params)
        if waiting.id not in self._request_futures:
            self.running.pop(waiting.id, None)

    def _send_handler_result(self, future: Any, *, msg_id: int | str) -> None:
        waiting = self.running.pop(msg_id, None)
        if waiting is not None and waiting.dropped:
            self._request_futures.pop(msg_id, None)
            if not future.cancelled():
                future.exception()  # else asyncio reports an unretrieved exception
            return
        super()._send_handler_result(future, msg_id=msg_id)

    def _send_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        """Send a response; encoded JSON is sent unchanged."""
        if error is not None or not isinstance(result, orjson.Fragment):
            super()._send_response(msg_id, result, error)
            return
        self._result_types.pop(msg_id, None)
        head = f'{{"jsonrpc":"{self.VERSION}","id":{json.dumps(msg_id)},"result":'
        body = b"".join((head.encode(), orjson.dumps(result), b"}"))
        if self._include_headers:
            body = b"Content-Length: %d\r\n\r\n" % len(body) + body
        writer: Any = self.writer
        sent = writer.write(body)
        if inspect.isawaitable(sent):
            self._sending = asyncio.ensure_future(sent)

    def _is_outdated(self, waiting: PendingRequest) -> bool:
        """Whether the document has changed since the request; if so, answer with an error."""
        if waiting.version is None or waiting.uri is None:
            return False
        document = self._server.documents.get(waiting.uri)
        if document is not None and document.version is waiting.version:
            return False
        self._drop(waiting, LSPErrorCodes.ContentModified, "the document was changed")
        return True

    def _drop(self, waiting: PendingRequest, code: int, message: str) -> None:
        """Answer a request with an error, unless an error was already sent for it."""
        if not waiting.dropped:
            waiting.dropped = True
            self._refuse(waiting.id, code, message)

    def outdate(self, uri: str) -> None:
        """Cancel the running requests for old versions of a document; answer them with an error."""
        for waiting in list(self.running.values()):
            if waiting.uri == uri and self._is_outdated(waiting):
                self._cancel(waiting)

    def _cancel(self, waiting: PendingRequest) -> None:
        future = self._request_futures.get(waiting.id)
        if future is not None:
            future.cancel()

    def _handle_cancel_notification(self, msg_id: int | str) -> None:
        for waiting in (*self._queue, *self.running.values()):
            if waiting.id == msg_id:
                self._drop(waiting, LSPErrorCodes.RequestCancelled, "cancelled")
                self._cancel(waiting)
                return

    # ---- Documents ----------------------------------------------------------------------------

    lsp_text_document__did_open = _without_pygls(t.TEXT_DOCUMENT_DID_OPEN)
    lsp_text_document__did_change = _without_pygls(t.TEXT_DOCUMENT_DID_CHANGE)
    lsp_text_document__did_close = _without_pygls(t.TEXT_DOCUMENT_DID_CLOSE)
