# SPDX-License-Identifier: Apache-2.0
"""Manage memory: pause garbage collection, reuse freed blocks, recognize a lack of memory."""

from __future__ import annotations

import errno
import gc
from contextlib import AbstractContextManager, nullcontext
from functools import cache


class _Pause:
    """Disable garbage collection for the `with` block."""

    __enter__ = staticmethod(gc.disable)

    def __exit__(self, *_: object) -> None:
        gc.enable()


_PAUSE = _Pause()
_NO_PAUSE = nullcontext()
_MAPPED = 1 << 17
"""By default, glibc returns freed blocks of at least this size to the system."""
_KEPT = 31 << 20
"""After `_free_large_block`, glibc keeps freed blocks of up to this size."""


def paused_collector(size: int = 0) -> AbstractContextManager[object]:
    """Return a context manager that pauses garbage collection for the `with` block.

    While a large tree grows, the collector would traverse it repeatedly.

    Args:
        size: the number of bytes or characters to convert. If it is large, the C library keeps
            freed memory for reuse from now on.
    """
    if size > _MAPPED:
        _free_large_block()
    return _PAUSE if gc.isenabled() else _NO_PAUSE


@cache
def _free_large_block() -> None:
    """Free a block of `_KEPT` bytes, so that glibc keeps freed blocks of up to this size.

    By default, glibc returns large freed blocks to the system. The page faults of new blocks then
    take a tenth of the time of a conversion. After the program has freed a block of N bytes (up to
    32 MiB), glibc keeps freed blocks of up to N bytes. Other C libraries are not affected.
    """
    bytes(_KEPT)  # uses calloc, so the pages are not touched; a bytearray would write zeros


MEMORY_MESSAGES = ("failed to map segment", "annot allocate memory")
"""Parts of the dynamic loader's messages about a lack of memory."""


def lacks_memory(error: BaseException | None) -> bool:
    """Whether an error, or one of the errors that caused it, is a lack of memory."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            return True
        if isinstance(error, ImportError) and any(text in str(error) for text in MEMORY_MESSAGES):
            return True
        error = error.__cause__ or error.__context__
    return False
