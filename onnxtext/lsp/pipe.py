# SPDX-License-Identifier: Apache-2.0
"""The pipes to the editor: reading in a thread, so that it is known whether input waits."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from typing import BinaryIO

_SIZE = 1 << 16
_FAIR = 200
"""So many lines are read before others may work, if input comes without end."""


class PipeReader:
    """The reader of pygls's loop; what has arrived is handed out without suspending."""

    def __init__(self, stream: BinaryIO) -> None:
        self._file = stream.fileno()
        self._arrived: deque[bytes] = deque()
        self._buffer = bytearray()
        self._ended = False
        self._started = False
        self._lines = 0
        self._waiter: asyncio.Future[None] | None = None

    def waits(self) -> bool:
        """Whether input waits to be read."""
        return bool(self._arrived)

    async def readline(self) -> bytes:
        """A line with its line feed; nothing at the end."""
        self._lines += 1
        if self._lines % _FAIR == 0:
            await asyncio.sleep(0)
        while (end := self._buffer.find(b"\n")) < 0:
            if not await self._more():
                return b""
        return self._take(end + 1)

    async def readexactly(self, size: int) -> bytes:
        """So many bytes; nothing if there are fewer before the end."""
        while len(self._buffer) < size:
            if not await self._more():
                return b""
        return self._take(size)

    def _take(self, size: int) -> bytes:
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    async def _more(self) -> bool:
        """Wait for more input; False at its end."""
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
        """Read in a thread; without the buffer of the stream, whose lock may be held at exit."""
        data = b"x"
        while data:
            try:
                data = os.read(self._file, _SIZE)
            except OSError:
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
    """Writes to the editor; the stream stays open for whoever owns it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        """Write a message."""
        self._stream.write(data)
        self._stream.flush()

    def close(self) -> None:
        """Do nothing: each message is flushed, and the command flushes standard output again."""
