# SPDX-License-Identifier: Apache-2.0
"""Read and write the pipes to the editor.

A thread reads the input, so that the server knows whether unread input has arrived.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, BinaryIO

_SIZE = 1 << 16
_LINES_PER_TURN = 200
"""Number of lines after which other tasks may run, even if more input has arrived."""
_MAX_LINE_LENGTH = 1 << 16
_MAX_DIGITS = 9
"""Maximum number of digits of a `Content-Length`: each message is held in memory."""

log = logging.getLogger(__name__)


class BadHeader(ValueError):
    """The header of a message has no valid `Content-Length`."""


class PipeReader:
    """Reads messages from the editor in a thread, so that `has_input` notices unread messages."""

    def __init__(self, stream: BinaryIO) -> None:
        # Bypass the buffer of the stream, whose lock may be held at exit.
        self._stream: Any = getattr(stream, "raw", stream)
        self._arrived: deque[bytes] = deque()
        self._buffer = bytearray()
        self._ended = False
        self._started = False
        self._lines = 0
        self._waiter: asyncio.Future[None] | None = None

    def has_input(self) -> bool:
        """Whether unread input has arrived."""
        return bool(self._arrived)

    async def message(self) -> bytes | None:
        """Return the next message without its header; None at the end of the input.

        Raises:
            BadHeader: the header has no valid `Content-Length`.
        """
        length: bytes | None = None
        is_empty = True
        while line := await self._line():
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                length = value.strip()
            if line.strip():
                is_empty = False
            elif not is_empty:
                if length is None or not length.isdigit() or len(length) > _MAX_DIGITS:
                    raise BadHeader("the header of a message has no valid Content-Length")
                return await self._bytes(int(length))
        return None

    def stop(self) -> None:
        """Discard unread input, and treat the input as ended."""
        self._arrived.clear()
        self._arrived.append(b"")
        self._wake()

    async def _line(self) -> bytes:
        """Return a line with its line feed; return no bytes at the end of the input."""
        self._lines += 1
        if self._lines % _LINES_PER_TURN == 0:
            await asyncio.sleep(0)
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > _MAX_LINE_LENGTH:  # no header is that long
                self._buffer.clear()
            if not await self._more():
                return b""
        return self._take(end + 1)

    async def _bytes(self, size: int) -> bytes | None:
        """Return `size` bytes; None if the input ends earlier."""
        while len(self._buffer) < size:
            if not await self._more():
                return None
        return self._take(size)

    def _take(self, size: int) -> bytes:
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    async def _more(self) -> bool:
        """Wait for more input; return False at the end of the input."""
        loop = asyncio.get_running_loop()
        if not self._started:
            self._started = True
            threading.Thread(target=self._pump, args=(loop,), daemon=True, name="input").start()
        while not self._arrived:
            if self._ended:
                return False
            self._waiter = loop.create_future()
            await self._waiter
        data = self._arrived.popleft()
        self._buffer += data
        self._ended = self._ended or not data
        return not self._ended

    def _pump(self, loop: asyncio.AbstractEventLoop) -> None:
        """Read the stream to its end; runs in a thread."""
        data = b"x"
        while data:
            try:
                data = self._stream.read(_SIZE) or b""
            except (OSError, ValueError):  # ValueError: the stream is closed
                data = b""
            self._arrived.append(data)
            try:
                loop.call_soon_threadsafe(self._wake)
            except RuntimeError:  # the loop is closed
                return

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class PipeWriter:
    """Writes messages to the editor; `lost` is called when the connection is lost."""

    def __init__(self, stream: BinaryIO, lost: Callable[[], None]) -> None:
        self._stream = stream
        self._lost = lost
        self._is_open = True

    def write(self, data: bytes) -> None:
        """Write a message, if the editor is still connected."""
        if not self._is_open:
            return
        try:
            self._stream.write(data)
            self._stream.flush()
        except (OSError, ValueError):
            self._is_open = False
            log.error("the connection to the editor is lost")
            self._lost()

    def close(self) -> None:
        """Do nothing: each message was flushed, and the stream stays open."""
